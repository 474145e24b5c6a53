"""Check for identical results in another time zone, language and folder, and with read-only data."""

import re

import pytest

from .conftest import copied
from .disks import read_only
from .test_own_data import RAW, STUDY_FILE, project, visits  # noqa: F401  `project` is a fixture

pytestmark = pytest.mark.workflow


@pytest.mark.long
def test_another_language_and_a_folder_with_spaces_and_umlauts_change_no_byte(small_made, small_template, tmp_path):
    other = copied(small_template, tmp_path / "Prüfung mit Leerzeichen")
    # Without UTF-8 mode Python reads files as ASCII unless the code sets an encoding.
    plain = {"LC_ALL": "POSIX", "LANG": "POSIX", "LANGUAGE": "tr", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    other.complete(TZ="Pacific/Kiritimati", **plain)
    assert other.digests() == small_made.digests()


@pytest.mark.long
def test_raw_data_that_cannot_be_written_are_enough(project):  # noqa: F811
    project.write(RAW, visits())
    with read_only(project.folder / "data" / "raw"):
        project.complete(STUDY_FILE)
    assert (project.folder / STUDY_FILE).exists()


@pytest.mark.long
def test_a_data_folder_that_cannot_be_written_is_one_clear_error(project):  # noqa: F811
    project.write(RAW, visits())
    with read_only(project.folder / "data"):
        done = project.run(STUDY_FILE)
    assert done.returncode != 0
    assert "data/prepared" in done.stderr
    assert any(words in done.stderr for words in ("Read-only file system", "Permission denied"))
    assert "Traceback" not in done.stderr
    assert not (project.folder / STUDY_FILE).exists()
    project.complete(STUDY_FILE)


def test_a_folder_without_papers_is_refused_and_the_ledger_stays(small_made, tmp_path):
    copy = copied(small_made.folder, tmp_path / "project")
    ledger = copy.folder / "results/tiny/ledger.csv"
    before = ledger.read_bytes()
    done = copy.run("papers=nowhere")
    assert done.returncode != 0
    assert "papers: no */studies.yaml in the folder 'nowhere'" in done.stdout + done.stderr
    assert ledger.read_bytes() == before


@pytest.mark.long
def test_the_end_names_what_this_run_has_made(small_made, tmp_path):
    copy = copied(small_made.folder, tmp_path / "project")
    for file in (copy.folder / "results/tiny/tables").rglob("*.md"):
        file.unlink()
    done = copy.run("tables")
    assert done.returncode == 0, done.stderr
    assert "report:" not in done.stderr
    assert "ledger:" not in done.stderr
    assert "sentences:" not in done.stderr
    done = copy.run("--forcerun=build_ledger", "--logger=rich")
    assert len(re.findall(r"^sentences: .*, of 1$", done.stderr, re.M)) == 1
    assert "\nsince the last run: 0 verdicts changed\n" in done.stderr
    assert f"report: {copy.folder / 'results/tiny/report.html'}" in done.stderr
    # The progress bar plugin prints no line per job if the output is not a terminal.
    assert "Total Progress" not in done.stderr
    assert "jobid" not in done.stderr
