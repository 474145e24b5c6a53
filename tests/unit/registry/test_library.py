"""Check that modules are found by name, and that a job's inputs are the import closure of its modules."""

import os
from pathlib import Path

import pytest

from privarms.registry import contract, digests, extensions, library, source_files
from privarms.registry.modules import FamilyModule, PolicyModule


def closure(*modules):
    return {str(Path(f).relative_to(library.ROOT)) for f in source_files.sources(*modules)}


def test_a_policy_s_closure_holds_what_it_uses_and_no_other_policy():
    files = closure("execution.run", PolicyModule("dp_ucb").dotted, "environments.bernoulli", "protocols.bandit")
    assert {"mechanisms/tree.py", "mechanisms/laplace.py", "protocols/bandit.py", "execution/streams.py"} <= files
    own = {"__init__.py", "bandit/__init__.py", "bandit/dp_ucb.py"}
    assert {f for f in files if f.startswith("policies/")} == {f"policies/{f}" for f in own}
    assert not any(f.startswith(("papers/", "plots/", "data/")) for f in files)


@pytest.mark.parametrize("edited", ["the script", "a module", "uv.lock"])
def test_the_digest_of_a_job_changes_with_each_of_its_files(tmp_path, monkeypatch, edited):
    files = {"the script": tmp_path / "job.py", "a module": tmp_path / "a.py", "uv.lock": tmp_path / "uv.lock"}
    monkeypatch.setattr(digests, "SCRIPTS", tmp_path)
    monkeypatch.setattr(digests, "LOCK", files["uv.lock"])
    monkeypatch.setattr(digests, "sources", lambda *modules, script: (str(files["a module"]),))
    for file in files.values():
        file.write_text("# first\n")
    before = digests.of_job("job")
    files[edited].write_text("# second\n")
    digests._digest.cache_clear()
    assert digests.of_job("job") != before


@pytest.mark.parametrize("kind", ["module", "module of an extension", "table beside a module", "script", "uv.lock"])
def test_a_job_of_a_cluster_has_the_digest_of_the_texts_at_the_start(tmp_path, monkeypatch, kind):
    monkeypatch.setenv(digests.TEXTS_VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(digests, "ROOT", tmp_path / "privarms")
    monkeypatch.setattr(digests, "SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(digests, "LOCK", tmp_path / "uv.lock")
    files = {
        "module": tmp_path / "privarms/a/b.py",
        "module of an extension": tmp_path / "own/policies/c.py",
        "table beside a module": tmp_path / "privarms/a/b.csv",
        "script": tmp_path / "scripts/job.py",
        "uv.lock": tmp_path / "uv.lock",
    }
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# At the start.\n")
    monkeypatch.setenv(extensions.VARIABLE, str(tmp_path / "own"))
    used = [str(file) for name, file in files.items() if name not in ("script", "uv.lock")]
    monkeypatch.setattr(digests, "sources", lambda *modules, script: tuple(used))

    def digest():
        digests._digest.cache_clear()
        return digests.of_job("job")

    digests.record()
    planned = digest()
    assert digests.edited(planned) == []
    files[kind].write_text("# Edited.\n")
    # The processes of the run inherit the environment variable.
    inherited = os.environ[digests.TEXTS_VARIABLE]
    assert digest() == planned
    # A dry run in the same folder changes nothing for the run.
    digests.record()
    assert digest() != planned
    monkeypatch.setenv(digests.TEXTS_VARIABLE, inherited)
    assert digest() == planned
    assert digests.edited(digest()) == [extensions.shown(files[kind])]


def test_imports_are_followed_wherever_they_are(tmp_path, monkeypatch):
    package = tmp_path / "pack"
    (package / "room").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "room/__init__.py": "",
        "room/a.py": "def f():\n    from . import b\n",
        "room/b.py": "import pack.c as c\nimport os\n",
        "room/b.html.j2": "",
        "c.py": "from pack.room.a import f\n",
        "d.py": "",
    }.items():
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(source_files, "ROOT", package)
    monkeypatch.setattr(source_files, "PACKAGE", "pack")
    source_files.sources.cache_clear()
    files = {str(Path(f).relative_to(package)) for f in source_files.sources("room.a")}
    source_files.sources.cache_clear()
    assert files == {"room/__init__.py", "room/a.py", "room/b.py", "room/b.html.j2", "c.py"}


@pytest.mark.parametrize("policy", library.names("policies"))
def test_every_policy_has_a_label_a_cost_and_fits_its_family(policy):
    module = PolicyModule(policy).module
    assert isinstance(module.LABEL, str)
    assert module.SECONDS_PER_RUN + 1000 * module.SECONDS_PER_STEP > 0
    assert callable(module.configure)
    wanted = FamilyModule(PolicyModule(policy).family).contract
    assert not any(contract.fault(PolicyModule(policy).module, *one) for one in wanted.items())
