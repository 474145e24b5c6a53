"""Check the frame of a job: one clear line on bad input."""

import contextlib
import logging
import os
import sys
import time
from types import SimpleNamespace

import pytest

from privarms.errors import PrivarmsError, StudyError
from privarms.runner.job import job


@pytest.fixture
def snakemake(tmp_path, monkeypatch):
    # A job sets both for the whole process.
    monkeypatch.setattr(logging, "raiseExceptions", True)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield SimpleNamespace(log=[str(tmp_path / "job.log")], rule="aggregate_study", config={"papers": "own"})
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


def test_a_job_refuses_a_module_that_was_edited_during_the_run(snakemake, tmp_path, monkeypatch, capsys):
    module = tmp_path / "edited.py"
    module.touch()
    monkeypatch.setitem(sys.modules, "privarms.edited", SimpleNamespace(__file__=str(module)))
    began = time.time()
    monkeypatch.setenv("PRIVARMS_BEGAN", str(began))
    # Neither an older file nor one dated in the future was edited during the run.
    for moment in (began - 10, began + 1000):
        os.utime(module, (moment, moment))
        with job(snakemake):
            pass
    time.sleep(0.1)
    os.utime(module, (began + 0.05, began + 0.05))
    with pytest.raises(SystemExit), job(snakemake):
        pass
    assert capsys.readouterr().err == (
        f"error: {module}: edited during the run; run the same command again to repeat this job\n"
    )
    # A fork has the module of before.
    monkeypatch.setattr("privarms.runner.job.inherited", {"privarms.edited"})
    with job(snakemake):
        pass
