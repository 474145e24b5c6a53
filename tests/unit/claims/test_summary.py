"""Check the closing summary: outcomes, changes since the last run, and failed jobs."""

import os
from pathlib import Path

import pytest

from privarms.claims import ledger, summary
from privarms.claims.verdict import Measured

LEDGER, STATEMENTS = "results/paper/ledger.csv", "results/paper/statements.csv"
PREVIOUS = "logs/paper/previous_ledger.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results/paper").mkdir(parents=True)


def write_ledger(value):
    claim = {"claim": "c", "artifact": "fig1", "statement": "s", "published": 5, "tolerance": {"at_least": 5}}
    rows = [ledger.judge(claim | {"because": "B."}, Measured(value), paper="p", scale="paper", data="simulated")]
    ledger.write(rows, LEDGER)
    about = {"p": [{"claim": "c", "variant": "", "about": "c"}]}
    ledger.write(ledger.statements(ledger.about(about), ledger.read(LEDGER)), STATEMENTS, ledger.STATEMENTS)


def test_outcomes_changed_verdicts_and_places():
    write_ledger(4.0)
    where = f"ledger: {os.path.abspath('results/paper/ledger.csv')}"
    counted = ["statements: 1 does not hold, of 1", "claims: 1 differs, of 1"]
    assert list(summary.results("paper", began=0)) == [*counted, where]
    summary.keep_previous_ledger("paper")
    write_ledger(6.0)
    assert list(summary.results("paper", began=0))[2:] == [
        "since the last run: 1 verdicts changed",
        "  p/c: differs -> reproduced (measured 4, now 6)",
        where,
    ]


def test_our_own_questions_are_counted_apart_from_the_statements_of_papers():
    write_ledger(6.0)
    rows = ledger.read(STATEMENTS, ledger.STATEMENTS)
    ours = rows[0] | {"statement": "p/own", "outcome": "does not hold", "whose": "ours"}
    ledger.write([*rows, ours], STATEMENTS, ledger.STATEMENTS)
    counted = list(summary.results("paper", began=0))
    assert counted[:2] == ["statements: 1 holds as printed, of 1", "questions of our own: 1"]


def test_changes_between_ledgers_are_verdicts_new_claims_and_gone_ones():
    def row(claim, verdict, reproduced="1", variant=""):
        return {"claim": claim, "variant": variant, "verdict": verdict, "reproduced": reproduced}

    before = [
        row("a", "reproduced"),
        row("b", "differs"),
        row("b", "differs", variant="as_released"),
        row("c", "differs"),
    ]
    after = [row("a", "reproduced", "1.5"), row("b", "reproduced"), before[2], row("d", "inconclusive")]
    assert summary.changed(before, after) == [
        "b: differs -> reproduced",
        "c: differs -> none (measured 1, now nothing)",
        "d: none -> inconclusive (measured nothing, now 1)",
    ]


def test_a_run_of_one_paper_ends_with_its_verdicts():
    write_ledger(4.0)
    part = Path("results/paper/claims/p.csv")
    part.parent.mkdir()
    Path(LEDGER).rename(part)
    assert list(summary.results("paper", began=0)) == ["p: 1 differs, of 1 claims", f"claims of p: {part.absolute()}"]


def test_what_audits_show_is_counted_and_what_is_not_private_is_named():
    columns = "subject,variant,reading,lower_bound,claimed_epsilon,verdict"
    rows = ["a,,,2,1,not private as claimed", "b,,,.5,1,no violation shown", "c,,,,,not audited"]
    Path("results/paper/audit.csv").write_text("\n".join([columns, *rows]) + "\n")
    assert list(summary.results("paper", began=0))[:3] == [
        "audits: 1 not private as claimed, 1 no violation shown, 1 not audited",
        "  not private as claimed: a",
        "  not audited: c",
    ]


def test_a_run_that_made_no_ledger_reports_none():
    summary.keep_previous_ledger("paper")
    write_ledger(4.0)
    assert list(summary.results("paper", began=1e12)) == []


def test_an_illegible_previous_ledger_is_named():
    write_ledger(4.0)
    summary.keep_previous_ledger("paper")
    Path(PREVIOUS).write_text("nothing\n")
    assert any("previous_ledger.csv" in line for line in summary.results("paper", began=0))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "10:00 error: first\n10:01 error: users.csv: no column 'x'; add it\nValueError: of the cause\n",
            "users.csv: no column 'x'; add it",
        ),
        ("10:00 failed\nTraceback (most recent call last):\n  File x\nKeyError: 'x'\n", "KeyError: 'x'"),
        ("10:00 begins\n", "interrupted, killed or out of memory"),
        ("", "interrupted, killed or out of memory"),
    ],
)
def test_a_failed_job_is_named_with_its_reason_and_log(text, reason):
    log, finished = Path("logs/paper/draw_figures/p/fig1.log"), Path("logs/paper/build_ledger.log")
    log.parent.mkdir(parents=True)
    log.write_text(text)
    finished.write_text("10:00 done\n")
    first, *rest = summary.failures("paper", began=0)
    kind = "not finished" if reason.startswith("interrupted") else "failed"
    assert first == f"{kind}: draw_figures p fig1: {reason}\n  log: {log}"
    assert len(rest) == 1
    # Logs of earlier runs are ignored.
    assert list(summary.failures("paper", began=1e12)) == rest
