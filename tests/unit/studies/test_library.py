"""Check that modules are found by name, and that a job's inputs are the import closure of its modules."""

from pathlib import Path

import pytest

from privarms.registry import contract, library


def closure(*modules):
    return {str(Path(f).relative_to(library.ROOT)) for f in library.sources(*modules)}


def test_a_policy_s_closure_holds_what_it_uses_and_no_other_policy():
    files = closure("execution.run", library.module("policies", "dp_ucb"), "environments.bernoulli", "protocols.bandit")
    assert {"mechanisms/tree.py", "mechanisms/laplace.py", "protocols/bandit.py", "execution/streams.py"} <= files
    own = {"__init__.py", "bandit/__init__.py", "bandit/dp_ucb.py"}
    assert {f for f in files if f.startswith("policies/")} == {f"policies/{f}" for f in own}
    assert not any(f.startswith(("papers/", "plots/", "data/")) for f in files)


@pytest.mark.parametrize("edited", ["the script", "a module", "uv.lock"])
def test_the_digest_of_a_job_changes_with_each_of_its_files(tmp_path, monkeypatch, edited):
    files = {"the script": tmp_path / "job.py", "a module": tmp_path / "a.py", "uv.lock": tmp_path / "uv.lock"}
    monkeypatch.setattr(library, "SCRIPTS", tmp_path)
    monkeypatch.setattr(library, "LOCK", files["uv.lock"])
    monkeypatch.setattr(library, "sources", lambda *modules, script: (str(files["a module"]),))
    for file in files.values():
        file.write_text("# first\n")
    before = library.digest("job")
    files[edited].write_text("# second\n")
    library._digest.cache_clear()
    assert library.digest("job") != before


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
    monkeypatch.setattr(library, "ROOT", package)
    monkeypatch.setattr(library, "PACKAGE", "pack")
    library.sources.cache_clear()
    files = {str(Path(f).relative_to(package)) for f in library.sources("room.a")}
    library.sources.cache_clear()
    assert files == {"room/__init__.py", "room/a.py", "room/b.py", "room/b.html.j2", "c.py"}


@pytest.mark.parametrize("policy", library.names("policies"))
def test_every_policy_has_a_label_a_cost_and_fits_its_family(policy):
    has = library.attributes("policies", policy)
    assert isinstance(has["LABEL"], str)
    assert has["SECONDS_PER_RUN"] + 1000 * has["SECONDS_PER_STEP"] > 0
    assert callable(has["configure"])
    wanted = library.family_module(library.family(policy))["CONTRACT"]
    assert not any(contract.fault(library.load("policies", policy), *one) for one in wanted.items())
