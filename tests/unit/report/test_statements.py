"""Check how statements and cases are shown: words, numbers, and tables that say once what rows have in common."""

import pytest

from privarms.ledger import outcomes
from privarms.ledger.rules import VERDICTS
from privarms.report import statements as of_statements
from tests import ledgers


@pytest.fixture
def stated(tmp_path):
    return {one["statement"]: one for one in of_statements.of_papers(*ledgers.write(tmp_path))}


def test_sentences_and_printed_numbers_are_counted_apart_from_our_questions(stated):
    counted = of_statements.counts(stated.values())
    assert counted[outcomes.SENTENCES] == ledgers.SENTENCES
    assert counted[outcomes.PRINTED] == ledgers.PRINTED
    assert counted[outcomes.OURS] == dict.fromkeys(counted[outcomes.OURS], 0) | {"fail": 1}
    assert of_statements.in_words(counted) == (
        "8 sentences: 2 hold or are not refuted, 2 fail or are refuted, 1 depends on an assumption, 1 measured, "
        "2 open; "
        "6 printed numbers: 2 agree, 1 differs, 3 open; 1 question of our own"
    )
    # Two columns of the printed numbers are left out if they have none.
    assert list(of_statements.columns(stated.values())[outcomes.PRINTED].values()) == ["agree", "differ", "open"]


def test_every_case_says_where_it_is_counted(stated):
    cases = [case for one in stated.values() for case in one["cases"]]
    for word, number in ledgers.PRINTED.items():
        # A number has a case per variant and assumption.
        assert len({ledgers.number(case) for case in cases if case["counted"] == f"printed numbers: {word}"}) == number
    # Both cases of a sentence are counted where its outcome is.
    assert [c["counted"] for c in stated["one2001/five_times"]["cases"]] == ["sentences: depend on an assumption"] * 2


def test_every_word_has_a_meaning_and_a_look():
    for word in (*VERDICTS, outcomes.ONLY_RELEASED, "depends on width and counter"):
        assert of_statements.meaning(word).endswith(".")
        assert of_statements.look(word) in ("good", "bad", "only", "depends", "open", "measured", "unverifiable")
    assert of_statements.look("not refuted") == "good"
    assert of_statements.look("refuted") == "bad"


def test_a_table_says_once_what_its_rows_have_in_common(stated):
    table = stated["one2001/table_1"]["table"]
    assert table["once"] == {"dataset": "adult", "accepted": "4 to 6", "runs": "100\u202f000"}
    assert of_statements.once(table["once"]) == "dataset = adult; accepted: 4 to 6; 100\u202f000 runs"
    assert (table["settings"], table["columns"]) == (["method", "rate"], ["published"])
    assert [case["settings"]["method"] for case in table["rows"]] == ["abse", "linear", "nn", "nn"]
    # Missing data are named once for all cells that need them.
    assert table["unmeasured"] == [(2, "unverifiable", ledgers.NO_DATA)]


def test_reasons_that_differ_are_a_column_and_a_common_one_is_not(stated):
    assert stated["one2001/five_times"]["table"]["columns"] == ["why"]
    cases = stated["one2001/five_times"]["cases"]
    same = of_statements.table([case | {"why": "Wide."} for case in cases])
    assert (same["why"], same["columns"]) == ("Wide.", [])
    # A single case has all its values in its row.
    one = of_statements.table(cases[:1])
    assert (one["once"], one["why"], one["settings"]) == ({}, "", ["width"])


def test_a_case_without_a_value_that_is_alone_keeps_its_row(stated):
    table = stated["two2002/guess"]["table"]
    assert len(table["rows"]) == 1
    assert table["unmeasured"] == []


def test_printed_numbers_stay_as_printed_and_effects_get_their_boundary(stated):
    assert stated["one2001/bias"]["cases"][0]["brief"]["published"] == "0.110"
    assert stated["one2001/bias"]["cases"][0]["brief"]["accepted"] == "0.1 to 0.12"
    theorem = stated["one2001/theorem"]["cases"][0]["brief"]
    assert (theorem["published"], theorem["accepted"]) == ("ratio at most 1", "")
    assert stated["one2001/lemma"]["cases"][0]["brief"]["accepted"] == ""


def test_settings_with_commas_in_their_values_stay_whole():
    found = of_statements.settings("K = 5, order = first, then second, width = log3")
    assert found == {"K": "5", "order": "first, then second", "width": "log3"}
    assert of_statements.settings("") == {}


def test_a_fact_is_true_or_false_and_no_number(tmp_path):
    row = ledgers.case("one2001/sum", "exact", "true", published="", accepted="1", measured="1", low="1", high="1")
    ledgers.write(tmp_path, [row, row | {"statement": "one2001/size", "published": "1"}])
    fact, size = of_statements.of_papers(tmp_path / "ledger.csv", tmp_path / "statements.csv")
    assert [one["cases"][0]["brief"]["measured"] for one in (fact, size)] == ["", "1"]
