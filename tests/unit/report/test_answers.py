"""Check the answers to "does this figure hold?": from its comparisons and numbers, with what decides."""

import pytest

from privarms.files.numbers import joined
from privarms.report import answers
from privarms.report import statements as of_statements
from privarms.report.words import verb
from tests import ledgers


def of(folder, rows, about=None):
    return of_statements.of_papers(*ledgers.write(folder, rows, about or {}))


def one(name, kind, verdict, **values):
    return ledgers.case(f"one2001/{name}", kind, verdict, **values)


@pytest.mark.parametrize(
    ("rows", "answer", "look", "counts"),
    [
        ([], "", "", ""),
        ([one("a", "comparison", "holds"), one("b", "number", "agrees")], "yes", "good", "1 holds, 1 agrees"),
        ([one("a", "comparison", "holds"), one("b", "number", "undecided")], "yes, as far as decided", "good", None),
        ([one("a", "comparison", "fails"), one("b", "number", "undecided")], "no", "bad", "1 fails, 1 undecided"),
        ([one("a", "comparison", "fails"), one("b", "comparison", "holds")], "partly", "depends", "1 holds, 1 fails"),
        ([one("a", "comparison", "fails"), one("b", "comparison", "fails")], "no", "bad", "2 fail"),
        # Theorems do not decide whether a figure holds.
        (
            [one("a", "comparison", "undecided"), one("b", "universal", "refuted")],
            *("undecided", "open", "1 undecided; also: 1 refuted"),
        ),
        ([one("a", "universal", "not refuted"), one("b", "exact", "true")], "not refuted", "good", None),
        ([one("a", "exact", "true")], "yes", "good", "1 true"),
        ([one("a", "words", "measured")], "measured", "measured", ""),
        ([ledgers.unmeasured("one2001/a", "comparison")], "unverifiable", "unverifiable", ""),
        (
            [one("a", "comparison", v, case=f"width = {v}", assumes=f"width = {v}") for v in ("holds", "fails")],
            *("depends on width", "depends", ""),
        ),
    ],
)
def test_the_answer_follows_from_the_outcomes(tmp_path, rows, answer, look, counts):
    found = answers.answer(of(tmp_path, rows), answers.TEXT)
    assert (found["answer"], found["look"]) == (answer, look)
    assert counts is None or found["counts"] == counts


def test_text_and_program_have_an_answer_each_and_questions_of_our_own_have_none(tmp_path):
    rows = [one("a", "number", "differs", variant="as_printed"), one("a", "number", "agrees", variant="as_released")]
    stated = of(tmp_path, [*rows, one("b", "comparison", "holds")], {"one2001/b": {"ours": True}})
    found = [answers.answer(stated, variant)["answer"] for variant in (answers.TEXT, answers.PROGRAM)]
    assert found == ["no", "yes"]


def test_each_number_of_a_printed_table_counts(tmp_path):
    rows = [ledgers.cell(f"m{n}", "agrees" if n else "differs", str(n)) for n in range(3)]
    assert answers.answer(of(tmp_path, rows), answers.TEXT)["counts"] == "2 agree, 1 differs"


def test_why_is_the_assumption_that_decides_and_the_most_frequent_reason(tmp_path):
    rows = [one("a", "comparison", v, case=f"width = {v}", assumes=f"width = {v}") for v in ("holds", "fails")]
    rows[1]["why"] = "Wide."
    rows += [one("b", "universal", "refuted", why="Another."), one("c", "universal", "refuted", why="Another.")]
    assert answers.why(of(tmp_path, rows)) == "It depends on width. Wide."
    assert answers.why(of(tmp_path, rows[2:])) == "Another."
    assert answers.why(of(tmp_path, [ledgers.unmeasured("one2001/d", "number")])) == ledgers.NO_DATA
    assert answers.why(of(tmp_path, [one("e", "comparison", "holds")])) == ""


def test_predicates_have_the_number_of_their_subject():
    assert [verb(word, 2) for word in ("holds", "differs", "depends on width", "undecided", "not refuted")] == [
        *("hold", "differ", "depend on width", "undecided", "not refuted")
    ]
    assert verb("holds", 1) == "holds"
    assert [joined(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
