"""Check a finished run as an RO-Crate: messages of the validator, and its content after unpacking."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import ROOT

from .conftest import copied

pytestmark = pytest.mark.workflow

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
# Recommended facts that the crate lacks, because project and authors have no web address.
NOT_SAID = {
    "The organization SHOULD have a URL.",
    "The Application SHOULD have a url",
    "The SoftwareApplication id SHOULD be an absolute URI",
}


def packed(project, *options, path=None):
    """Run `privarms crate` in a project's folder, with the library of this folder."""
    command = [
        sys.executable,
        "-m",
        "privarms",
        "crate",
        "--scale",
        "tiny",
        "--output",
        "crate.zip",
        *options,
    ]
    environment = project.environment(PYTHONPATH=path or str(project.folder / "workflow"))
    return subprocess.run(command, cwd=project.folder, env=environment, capture_output=True, text=True, timeout=600)


EXTENSION = "own/my_bandits"
SECRET = "private to the user"
# Files that people keep in these folders, and that no job reads.
PRIVATE = (
    *(f"{EXTENSION}/{name}" for name in ("data/raw/visits/visits.csv", ".git/config", ".env", "notes.md")),
    *(f"{EXTENSION}/policies/{name}" for name in (".ipynb_checkpoints/mine.py", "bandit/private_halving.py.bak")),
    *(f"{EXTENSION}/policies/bandit/{name}" for name in ("private_halving.py~", "patients.csv", ".hidden.py")),
    *("config/secret.txt", "config/.env", "config/me.yaml", "workflow/.env", "profiles/ours/config.yaml"),
    *("results/tiny/notes.txt", "results/tiny/tables/us2026/old.csv", "logs/tiny/notes.txt"),
)
LINK = f"{EXTENSION}/papers/mine/grids/linked.csv"


@pytest.fixture(scope="module")
def run_with_private_files(small_made, tmp_path_factory):
    """Return a finished run with an extension, and with private files among those of the run."""
    project = copied(small_made.folder, tmp_path_factory.mktemp("private") / "project")
    shutil.copytree(
        ROOT / "examples/my_bandits", project.folder / EXTENSION, ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in PRIVATE:
        project.write(name, f"{SECRET}\n")
    (project.folder / LINK).parent.mkdir()
    (project.folder.parent / "linked.csv").write_text(SECRET, encoding="utf-8")
    (project.folder / LINK).symlink_to(project.folder.parent / "linked.csv")
    # The library counts this file as a source of the policy.
    project.write(f"{EXTENSION}/policies/bandit/private_halving.yaml", "public: 1\n")
    project.write("my.yaml", f"extensions: [{EXTENSION}]\n")
    with (project.folder / "logs/tiny/build_ledger.log").open("a", encoding="utf-8") as log:
        log.write(f"{project.folder}/workflow/x.py:1: Warning\n")
    return project


@pytest.fixture(scope="module")
def crate(run_with_private_files, tmp_path_factory):
    """Return a crate, unpacked in another folder, and what the command printed."""
    project = run_with_private_files
    done = packed(project, "--configfile", "my.yaml")
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("elsewhere")
    with zipfile.ZipFile(project.folder / "crate.zip") as archive:
        archive.extractall(folder)
    return folder, done.stdout


@pytest.fixture(scope="module")
def unpacked(crate):
    return crate[0]


def test_private_files_are_not_packed(crate, run_with_private_files):
    folder, _ = crate
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) > 300
    texts = {file: file.read_bytes() for file in files}
    assert [str(file) for file, text in texts.items() if SECRET.encode() in text] == []
    # Messages name folders, and so the user.
    assert [str(f) for f, text in texts.items() if str(run_with_private_files.folder).encode() in text] == []
    own = {str(file.relative_to(folder / "project" / EXTENSION)) for file in (folder / "project/own").rglob("*.*")}
    kept = {str(f.relative_to(ROOT / "examples/my_bandits")) for f in (ROOT / "examples/my_bandits").rglob("*.*")}
    kept = {name for name in kept if "__pycache__" not in name}
    assert own == kept | {"policies/bandit/private_halving.yaml"}


def test_the_command_lists_what_it_has_packed(crate):
    folder, printed = crate
    lines = {line.strip().rpartition(": ")[0] for line in printed.splitlines()[1:]}
    assert {"results/tiny", "provenance/logs/tiny", "project/workflow", "project/my.yaml"} <= lines
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    listed = {file for file in files for line in lines if file == line or file.startswith(f"{line}/")}
    assert files - listed == {"README.md", "ro-crate-metadata.json"}
    # What is the user's own is listed file by file.
    assert {file for file in files if file.startswith("project/own/")} <= lines


def test_all_files_of_the_project_are_packed(run_with_private_files, unpacked):
    """Check the allow-list against the files under version control."""
    done = subprocess.run(["git", "ls-files", "config", "workflow"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a clone")
    kept = [name for name in done.stdout.splitlines() if (run_with_private_files.folder / name).exists()]
    assert len(kept) > 100
    missing = [name for name in kept if not (unpacked / "project" / name).exists()]
    assert missing == []


def test_the_packed_project_can_be_planned(unpacked, tmp_path):
    again = copied(unpacked / "project", tmp_path / "project")
    command = [sys.executable, "-m", "snakemake", "-n", "--quiet", "--cores", "1", "all", "mine"]
    command += ["--configfile", "config/tiny.yaml", "my.yaml"]
    done = subprocess.run(command, cwd=again.folder, env=again.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"--configfile {' '.join(command[-2:])}" in (unpacked / "README.md").read_text(encoding="utf-8")


def test_a_figure_of_the_packed_project_is_made_again(unpacked, small_made, tmp_path):
    again = copied(unpacked / "project", tmp_path / "project")
    again.complete("us2026_fig1")
    place = "results/tiny/figures/us2026/fig1.csv"
    assert (again.folder / place).read_bytes() == (small_made.folder / place).read_bytes()


def test_two_files_of_one_name_do_not_replace_each_other(run_with_private_files, tmp_path):
    project = run_with_private_files
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.yaml").write_text("audit_trials: 1e3\n", encoding="utf-8")
    files = [str(tmp_path / name / "run.yaml") for name in ("a", "b")]
    done = packed(project, "--configfile", "my.yaml", *files)
    assert done.returncode == 2
    assert all(file in done.stderr for file in files)
    assert done.stderr.count("\n") == 1


def test_an_installation_that_cannot_pack_names_the_extra(run_with_private_files, tmp_path):
    (tmp_path / "rocrate.py").write_text("raise ModuleNotFoundError('rocrate')\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(run_with_private_files.folder / "workflow")])
    done = packed(run_with_private_files, path=path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "privarms[crate]" in done.stderr


@pytest.fixture
def offline(monkeypatch):
    """Serve the context of RO-Crate 1.1 offline: that of 1.3 in `rocrate`, with the older names of terms."""
    import requests
    import rocrate
    from rocrate_validator.utils.http import HttpRequester

    context = Path(rocrate.__path__[0], "data", "ro-crate.jsonld").read_text(encoding="utf-8")

    def get(requester, url, **options):
        assert url == CONTEXT
        answer = requests.Response()
        answer.status_code, answer.headers["Content-Type"] = 200, "application/ld+json"
        answer._content = context.replace("https://bioschemas.org/terms/", "https://bioschemas.org/").encode()
        return answer

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)


@pytest.mark.long
def test_the_validator_finds_nothing_wrong(unpacked, request):
    services = pytest.importorskip("rocrate_validator.services")
    from rocrate_validator.models import Severity

    request.getfixturevalue("offline")

    def issues():
        settings = services.ValidationSettings(
            rocrate_uri=str(unpacked),
            profile_identifier="workflow-run-crate-0.5",
            requirement_severity=Severity.RECOMMENDED,
            skip_availability_check=True,
        )
        return {issue.message for issue in services.validate(settings).get_issues()}

    assert issues() == NOT_SAID
    (unpacked / "results/tiny/ledger.csv").rename(unpacked / "gone.csv")
    assert any("ledger.csv" in message for message in issues())
    (unpacked / "gone.csv").rename(unpacked / "results/tiny/ledger.csv")


def test_it_describes_itself(unpacked, small_made):
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    assert re.search(r"with outcomes \(sentences: .*, of 1; printed numbers: .*, of 4\)\.", readme)
    for place in ("results/tiny/report.html", "results/tiny/ledger.csv", "project/data/README.md"):
        assert f"`{place}`" in readme
    described = json.loads((unpacked / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    entities = {entity["@id"]: entity for entity in described["@graph"]}
    # Every file is described, and every described file exists.
    files = {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()} - {"ro-crate-metadata.json"}
    assert files == {i for i, e in entities.items() if "File" in e["@type"]}
    for name in ("ledger.csv", "report.html", "figures/us2026/fig1.csv"):
        place = f"results/tiny/{name}"
        assert (unpacked / place).read_bytes() == (small_made.folder / place).read_bytes()
        assert {"@id": place} in entities["#run"]["result"]
    assert entities["./"]["license"] == {"@id": "https://spdx.org/licenses/MIT"}
    assert entities["#seed"]["value"] == "20190609"
    assert {"project/workflow/rules/ledger.smk", "provenance/logs/tiny/build_ledger.log"} <= files
    assert {"project/my.yaml", f"project/{EXTENSION}/policies/bandit/private_halving.py"} <= files
    assert "results/tiny/tables/us2026/old.csv" not in files
    # Shards and replicates are not packed.
    assert not any("/shards/" in file for file in files)
    studies = {file for file in files if file.startswith("results/tiny/studies/")}
    assert studies == {file for file in studies if file.endswith("_cells.parquet")} != set()


def test_a_run_that_is_not_finished_is_not_packed(small):
    done = packed(small)
    assert done.returncode == 2
    assert done.stderr == (
        "error: results/tiny/report.html: no such file; finish the run of scale tiny, then pack it\n"
    )
    assert not (small.folder / "crate.zip").exists()
