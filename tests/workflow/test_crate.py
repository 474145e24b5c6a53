"""Check a finished run as an RO-Crate: messages of the validator, and its content after unpacking."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import ROOT

pytestmark = pytest.mark.workflow

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
# Recommended facts that the crate lacks, because project and authors have no web address.
NOT_SAID = {
    "The organization SHOULD have a URL.",
    "The Application SHOULD have a url",
    "The SoftwareApplication id SHOULD be an absolute URI",
}


def packed(project, *options):
    """Run `privarms crate` in a project's folder, with the library of this folder."""
    command = [sys.executable, "-m", "privarms.command", "crate", "--scale", "quick", "--output", "crate.zip", *options]
    environment = project.environment(PYTHONPATH=str(project.folder / "workflow"))
    return subprocess.run(command, cwd=project.folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def unpacked(small_made, tmp_path_factory):
    """Return a crate, unpacked in another folder."""
    # Results of a study that was removed from the configuration, and an extension of the run.
    stale = small_made.folder / "results/quick/tables/sajed2019/old.csv"
    stale.write_text("old\n", encoding="utf-8")
    extension, config = small_made.folder / "my_bandits", small_made.folder / "my.yaml"
    shutil.copytree(ROOT / "examples/my_bandits", extension, ignore=shutil.ignore_patterns("__pycache__"))
    config.write_text("extensions: [my_bandits]\nsources: tiny/sources.yaml\npapers: tiny/papers\n", encoding="utf-8")
    done = packed(small_made, "--configfile", "my.yaml")
    stale.unlink()
    config.unlink()
    shutil.rmtree(extension)
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("elsewhere")
    crate = small_made.folder / "crate.zip"
    with zipfile.ZipFile(crate) as archive:
        archive.extractall(folder)
    crate.unlink()
    return folder


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
    (unpacked / "results/quick/ledger.csv").rename(unpacked / "gone.csv")
    assert any("ledger.csv" in message for message in issues())
    (unpacked / "gone.csv").rename(unpacked / "results/quick/ledger.csv")


def test_it_describes_itself(unpacked, small_made):
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    assert "cannot be told" in readme
    for place in ("results/quick/report.html", "results/quick/ledger.csv", "project/data/README.md"):
        assert f"`{place}`" in readme
    described = json.loads((unpacked / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    entities = {entity["@id"]: entity for entity in described["@graph"]}
    # Every file is described, and every described file exists.
    files = {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()} - {"ro-crate-metadata.json"}
    assert files == {i for i, e in entities.items() if "File" in e["@type"]}
    for name in ("ledger.csv", "report.html", "figures/sajed2019/fig1a.csv"):
        place = f"results/quick/{name}"
        assert (unpacked / place).read_bytes() == (small_made.folder / place).read_bytes()
        assert {"@id": place} in entities["#run"]["result"]
    assert entities["./"]["license"] == {"@id": "https://spdx.org/licenses/MIT"}
    assert entities["#seed"]["value"] == "20190609"
    assert {"project/workflow/rules/ledger.smk", "provenance/logs/quick/build_ledger.log"} <= files
    assert {"project/my.yaml", "project/my_bandits/policies/bandit/private_halving.py"} <= files
    assert "results/quick/tables/sajed2019/old.csv" not in files
    # Shards and replicates are not packed.
    assert not any("/shards/" in file for file in files)
    studies = {file for file in files if file.startswith("results/quick/studies/")}
    assert studies == {file for file in studies if file.endswith("_cells.parquet")} != set()


def test_a_run_that_is_not_finished_is_not_packed(small):
    done = packed(small)
    assert done.returncode == 2
    assert done.stderr == (
        "error: results/quick/report.html: no such file; finish the run of scale quick, then pack it\n"
    )
    assert not (small.folder / "crate.zip").exists()
