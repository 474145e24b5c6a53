"""Check the closing summary: outcomes, changes since the last run, and failed jobs."""

import os
from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.ledger import files, outcomes
from privarms.report import summary
from tests import ledgers

LEDGER = "results/paper/ledger.csv"
PREVIOUS = "logs/paper/previous_ledger.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results/paper").mkdir(parents=True)


def write_ledger(verdict="fails", value="4"):
    ledgers.write(Path("results/paper"), [ledgers.case("p/c", "comparison", verdict, measured=value)])


def test_outcomes_changed_verdicts_and_places():
    write_ledger()
    where = f"ledger: {os.path.abspath('results/paper/ledger.csv')}"
    counted = ["sentences: 1 fails or is refuted, of 1", "cases: 1 fails, of 1"]
    assert list(summary.results("paper", began=0)) == [*counted, where]
    summary.keep_previous_ledger("paper")
    write_ledger("holds", "6")
    assert list(summary.results("paper", began=0))[2:] == [
        "since the last run: 1 verdicts changed",
        "  p/c: fails -> holds (measured 4, now 6)",
        where,
    ]


def test_sentences_numbers_and_our_own_questions_are_counted_apart():
    ledgers.write(Path("results/paper"))
    assert list(summary.results("paper", began=0))[:4] == [
        "sentences: 2 hold or are not refuted, 2 fail or are refuted, 1 depends on an assumption, 1 measured, "
        "2 open, of 8",
        "printed numbers: 2 agree, 1 differs, 3 open, of 6",
        "questions of our own: 1 fails, of 1",
        "cases: 2 agree, 2 differ, 1 holds, 2 fail, 1 refuted, 1 not refuted, 1 true, 1 false, 1 measured, "
        "3 undecided, 3 unverifiable, of 18",
    ]


def test_a_printed_number_counts_once_whatever_its_variants_and_assumptions():
    def counts(*rows):
        (statement,) = outcomes.statements(rows)
        return [(name, state, len(some)) for name, state, some in outcomes.counted(statement, rows)]

    first = ledgers.cell("a", "agrees", "5")
    rate = {"case": f"{first['case']}, rate = 1", "assumes": "rate = 1"}
    assert counts(first, ledgers.cell("b", "differs", "5")) == [
        ("printed numbers", "good", 1),
        ("printed numbers", "bad", 1),
    ]
    other = first | rate | {"case": f"{first['case']}, rate = 2", "assumes": "rate = 2", "verdict": "differs"}
    assert counts(first | rate, other) == [("printed numbers", "depends", 2)]
    # The text decides, unless only the program agrees.
    printed, released = (first | {"variant": v} for v in ("as_printed", "as_released"))
    assert counts(printed, released | {"verdict": "differs"}) == [("printed numbers", "good", 2)]
    assert counts(printed | {"verdict": "differs"}, released) == [("printed numbers", "good", 2)]
    assert counts(printed | {"verdict": "undecided"}, released) == [("printed numbers", "open", 2)]


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("hold or are not refuted", "holds or is not refuted"),
        ("fail or are refuted", "fails or is refuted"),
        ("differ", "differs"),
        ("depend on an assumption", "depends on an assumption"),
        ("open", "open"),
    ],
)
def test_the_words_of_a_state_agree_with_their_number(words, one):
    assert (outcomes.in_number(1, words), outcomes.in_number(2, words)) == (one, words)


def test_changes_between_ledgers_are_verdicts_new_cases_and_gone_ones():
    def row(case, verdict, measured="1", variant=""):
        return {"statement": "s", "case": case, "variant": variant, "verdict": verdict, "measured": measured}

    before = [row("a", "holds"), row("b", "fails"), row("b", "fails", variant="as_released"), row("c", "fails")]
    after = [row("a", "holds", "1.5"), row("b", "holds"), before[2], row("d", "undecided")]
    assert summary.changed(before, after) == [
        "s, b: fails -> holds",
        "s, c: fails -> none (measured 1, now nothing)",
        "s, d: none -> undecided (measured nothing, now 1)",
    ]


def test_a_run_of_one_paper_ends_with_its_verdicts():
    write_ledger()
    part = Path("results/paper/cases/p.csv")
    part.parent.mkdir()
    Path(LEDGER).rename(part)
    assert list(summary.results("paper", began=0)) == ["p: 1 fails, of 1 cases", f"cases of p: {part.absolute()}"]


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
    write_ledger()
    assert list(summary.results("paper", began=1e12)) == []


def test_a_previous_ledger_with_other_columns_is_not_compared():
    write_ledger()
    summary.keep_previous_ledger("paper")
    Path(PREVIOUS).write_text("claim,verdict\na,differs\n")
    lines = list(summary.results("paper", began=0))
    assert not any("since the last run" in line for line in lines)
    assert any(line.startswith("ledger: ") for line in lines)


def test_an_illegible_ledger_is_named():
    write_ledger()
    Path(LEDGER).write_text("nothing\n")
    assert any("ledger.csv" in line and "cannot be summarised" in line for line in summary.results("paper", began=0))
    with pytest.raises(PrivarmsError, match="expected the columns"):
        files.read(LEDGER)


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
