"""Check the frame of a job: one clear line on bad input."""

import contextlib
import logging
import os
from types import SimpleNamespace

import pytest

from privarms.errors import PrivarmsError, StudyError
from privarms.registry import digests
from privarms.runner.job import job


@pytest.fixture
def snakemake(tmp_path, monkeypatch):
    # A job sets both for the whole process.
    monkeypatch.setattr(logging, "raiseExceptions", True)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield SimpleNamespace(log=[str(tmp_path / "job.log")], rule="aggregate_study", params={})
    for handler in root.handlers:
        if handler not in before[0]:
            with contextlib.suppress(OSError):
                handler.close()
    root.handlers[:], root.level = before
    logging.captureWarnings(False)


def failing(snakemake, error):
    with pytest.raises(SystemExit) as caught, job(snakemake):
        raise error
    assert caught.value.code == 1


def test_bad_input_is_one_line_in_the_log_and_on_stderr(snakemake, tmp_path, capsys):
    failing(snakemake, PrivarmsError("f.yaml: key: expected 1"))
    assert capsys.readouterr().err == "error: f.yaml: key: expected 1\n"
    assert (tmp_path / "job.log").read_text(encoding="utf-8").endswith("error: f.yaml: key: expected 1\n")


def test_a_log_that_cannot_be_written_does_not_bury_the_error(snakemake, capsys):
    snakemake.log = ["/dev/full"]
    failing(snakemake, PrivarmsError("results: cannot be written"))
    assert capsys.readouterr().err == "error: results: cannot be written\n"


def test_a_fault_of_a_study_has_its_cause_in_the_log(snakemake, tmp_path, capsys):
    error = StudyError("p2020", "studies.s", "ucb1: K: expected 3")
    error.__cause__ = ValueError("K: expected 3")
    failing(snakemake, error)
    assert capsys.readouterr().err == "error: p2020/studies.yaml: studies.s: ucb1: K: expected 3\n"
    # The cause is written only to the log.
    assert "ValueError: K: expected 3" in (tmp_path / "job.log").read_text(encoding="utf-8")


def test_a_job_refuses_a_file_that_was_edited_during_the_run(snakemake, tmp_path, monkeypatch, capsys):
    file = tmp_path / "edited.py"
    file.write_text("# As planned.\n")
    monkeypatch.setattr(digests, "sources", lambda *modules, script: (str(file),))
    digests._digest.cache_clear()
    snakemake.params = {"library": digests.of_job("aggregate_study")}
    with job(snakemake):
        # Only the text counts.
        os.utime(file)
    expected = f"error: {file}: edited during the run; run the same command again to repeat this job\n"

    def refused(edit):
        with pytest.raises(SystemExit), job(snakemake):
            edit()
        return capsys.readouterr().err == expected

    assert refused(lambda: file.write_text("# Edited.\n"))
    # It is refused at the start too, because the edit may be undone after the import.
    assert refused(lambda: file.write_text("# As planned.\n"))
    assert refused(file.unlink)
