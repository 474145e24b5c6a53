"""What a run says, from events as Snakemake gives them."""

import logging

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from privarms import progress
from privarms.claims import ledger
from privarms.claims.verdict import Measured
from privarms.studies import paths
from privarms.studies.forecast import Job


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def job(number, paper, rule="simulate_shard", needs=(), seconds=60.0):
    return Job(number, rule, paper, f"n{number}", rule, seconds, seconds, 0, frozenset(needs))


def record(event=None, level=logging.INFO, msg="", **more):
    made = logging.LogRecord("snakemake", level, "", 0, msg, None, None)
    made.__dict__.update(more, event=event)
    return made


@pytest.fixture
def said(monkeypatch):
    found = []
    monkeypatch.setattr(progress, "say", found.append)
    return found


@pytest.fixture
def two_papers(said):
    """Two jobs of a paper, one of another, one for all."""
    jobs = [job(1, "a2020"), job(2, "a2020", "draw_figures", [1]), job(3, "b2021"), job(4, "", "build_report", [2, 3])]
    return progress.Progress(
        {j.number: j for j in jobs}, cores=1, finished=lambda paper: f"there is {paper}", now=Clock()
    )


def test_a_line_counts_and_names_the_end_of_each_paper(two_papers):
    two_papers.emit(record(LogEvent.JOB_STARTED, jobs=[1, 99]))
    two_papers.now.seconds = 60
    two_papers.emit(record(LogEvent.JOB_FINISHED, job_id=1))
    assert two_papers.remaining() == {2: 60, 3: 120, 4: 180}
    line = two_papers.line()
    assert "  1 of 4 jobs, about 3 minutes left, until " in line
    assert line.split(": ", 1)[1].startswith("a2020 1/2 until ")
    assert "; b2021 0/1 until " in line


def test_a_paper_is_said_to_be_made_when_its_own_jobs_are_done(two_papers, said):
    for number in (1, 2):
        assert said == []
        two_papers.emit(record(LogEvent.JOB_FINISHED, job_id=number))
    (line,) = said
    assert line.endswith("  a2020 is made: there is a2020")
    assert "a2020 made" in two_papers.line()


def test_a_line_a_job_only_if_asked_for(two_papers, said):
    two_papers.each = True
    two_papers.emit(record(LogEvent.JOB_FINISHED, job_id=3))
    assert said[0].split("  ")[1:] == ["1 of 4", "simulate_shard b2021 n3, 0.0 s"]


def test_a_failed_job_is_named_with_its_log_and_the_last_error_in_it(two_papers, said, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("10:00 error: first\n2026-01-01 10:00 error: users.csv: no column 'x'; add it\nNoneType: None\n")
    two_papers.emit(record(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, log=[str(log)], rule_msg=None))
    assert said == [f"failed: simulate_shard a2020 n1: users.csv: no column 'x'; add it\n  log: {log}"]
    assert ", 1 failed" in two_papers.line()
    # Tried once more, as on a cluster, it is done.
    two_papers.emit(record(LogEvent.JOB_STARTED, jobs=[1]))
    assert two_papers.failed == {}
    assert 1 in two_papers.remaining()


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a stranger'\n", None, "KeyError: 'a stranger'"),
        ("2026 begins\n", "out of time", "out of time"),
        (None, None, "it ended without a word in its log, as one does that is killed or out of memory"),
    ],
)
def test_the_reason_is_in_the_log_or_else_what_snakemake_knows(tmp_path, text, message, expected):
    log = tmp_path / "job.log"
    if text is not None:
        log.write_text(text)
    assert progress.reason(record(log=[str(log)], rule_msg=message)) == expected


def test_jobs_that_end_by_an_interruption_have_not_failed(two_papers, said):
    two_papers.emit(record(LogEvent.ERROR, logging.ERROR, "Command 'x' died with <Signals.SIGINT: 2>."))
    two_papers.emit(record(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, log=[], rule_msg=None))
    assert (two_papers.interrupted, two_papers.failed, said) == (True, {}, [])


def test_what_goes_wrong_in_saying_how_far_it_is_does_not_stop_the_run(two_papers, monkeypatch, capsys):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    two_papers.finished = lambda paper: 1 / 0
    two_papers.emit(record(LogEvent.JOB_FINISHED, job_id=3))
    assert two_papers.done == {3: 0}


def test_of_snakemake_s_lines_only_what_a_user_needs_is_shown():
    quiet = progress.Quiet()
    assert quiet.filter(record(msg="Building DAG of jobs..."))
    assert not quiet.filter(record(msg="Using shell: /bin/bash"))
    assert not quiet.filter(record(LogEvent.RUN_INFO, msg="Job stats:"))
    quiet.jobs_run = True
    assert not quiet.filter(record(msg="Select jobs to execute..."))
    assert quiet.filter(record(msg="Trying to restart job 3."))
    assert quiet.filter(record(level=logging.WARNING, msg="A warning"))
    assert quiet.filter(record(msg="said here", of_progress=True))


def test_an_error_is_said_once():
    quiet = progress.Quiet()
    failed = record(LogEvent.JOB_ERROR, logging.ERROR, "Error in rule")
    of_script = record(LogEvent.ERROR, logging.ERROR, "Command 'x' returned non-zero exit status 1.")
    killed = record(LogEvent.ERROR, logging.ERROR, "Command 'x' died with <Signals.SIGKILL: 9>.")
    # On a cluster, where logs lie elsewhere, Snakemake's own words stay.
    assert quiet.filter(failed)
    assert quiet.filter(of_script)
    quiet.says_errors = True
    assert not quiet.filter(failed)
    assert not quiet.filter(of_script)
    assert quiet.filter(killed)


def test_the_ledger_that_is_replaced_is_kept_and_compared_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claim = {"claim": "c", "artifact": "fig1", "statement": "s", "published": 5, "tolerance": {"at_least": 5}}

    def make(value):
        rows = [ledger.judge(claim | {"because": "B."}, Measured(value), paper="p", scale="paper", data="simulated")]
        (tmp_path / "results/paper").mkdir(parents=True, exist_ok=True)
        ledger.write(rows, paths.ledger("paper"))
        about = {"p": [{"claim": "c", "variant": "", "about": "c"}]}
        ledger.write_statements(ledger.statements(about, ledger.read(paths.ledger("paper"))), paths.statements("paper"))

    make(4.0)
    assert list(progress.found("paper", began=1e12)) == []
    first = list(progress.found("paper", began=0))
    assert first == ["statements: 1 does not hold, of 1", "claims: 1 differs, of 1"]
    progress.keep_previous_ledger("paper", {"build_report"})
    assert not (tmp_path / paths.previous_ledger("paper")).exists()
    progress.keep_previous_ledger("paper", {"build_ledger"})
    make(6.0)
    assert list(progress.found("paper", began=0))[2:] == [
        "since the last run: 1 judged otherwise",
        "  p/c: differs -> reproduced (measured 4, now 6; published 5)",
    ]
    (tmp_path / paths.previous_ledger("paper")).write_text("nothing\n")
    assert list(progress.found("paper", began=0))[-1].startswith("what changed is not known: logs/paper/previous_led")
