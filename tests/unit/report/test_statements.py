"""Check how statements and cases are shown: words, numbers, and tables that say once what rows have in common."""

import pytest

from privarms.ledger import outcomes, rules
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
    assert of_statements.once({"runs": "1"}) == "1 run"
    assert (table["settings"], table["columns"]) == (["method", "rate"], ["published"])
    assert [case["settings"]["method"] for case in table["rows"]] == ["abse", "linear", "nn", "nn"]
    # Missing data are named once for all cells that need them.
    assert table["unmeasured"] == [(2, "unverifiable", ledgers.NO_DATA)]


def test_a_reason_of_several_statements_is_a_note_and_others_stay_with_their_statement(stated):
    some = [stated["one2001/five_times"], stated["one2001/theorem"]]
    assert of_statements.noted(some) == []
    assert [one["reasons"] for one in some] == [[("fails", "Wide.")], [("refuted", "At K = 2.")]]
    for case in some[1]["cases"]:
        case["reason"] = "Wide."
    assert of_statements.noted(some) == ["Wide."]
    assert [(one["reasons"], one["notes"]) for one in some] == [([], [1]), ([], [1])]


@pytest.mark.parametrize(
    ("why", "extreme", "reason"),
    [
        ("Largest of 5 rows, at epsilon = 0.1. It grows.", "largest at epsilon = 0.1", "It grows."),
        ("Largest of 52 rows, at arms = 10. tau_s is too small.", "largest at arms = 10", "tau_s is too small."),
        (f"{rules.CONTAINS_AN_END} Smallest of 2 rows, at m = 400.", "smallest at m = 400", ""),
        (
            "Largest of 5 rows, at K = 2. The row at K = 0.5, b = 1 gives the upper end of the interval. It grows.",
            *("largest at K = 2; upper end at K = 0.5, b = 1", "It grows."),
        ),
        (
            "Largest of 5 rows, at K = 2. The row at K = 5 gives the lower end of the interval. Another row gives the "
            "upper end of the interval. In 1 of the rows one run makes up to 69% of the mean.",
            "largest at K = 2; lower end at K = 5; upper end another row; one run makes up to 69% of the mean",
            "",
        ),
        ("Least. The row at K = 2 is long.", "", "Least. The row at K = 2 is long."),
        (f"{rules.SMALLER_SCALE} 4 instances.", "", ""),
        ("False at data_set = adult, time = quarter.", "false at data set = adult, time = quarter", ""),
        ("12 instances.", "", ""),
        (
            "Largest of 5 rows, at K = 2. In 1 of the rows one run makes up to 69% of the mean. It grows.",
            *("largest at K = 2; one run makes up to 69% of the mean", "It grows."),
        ),
        ("The paper has no constant.", "", "The paper has no constant."),
    ],
)
def test_the_numbers_of_a_reason_are_not_its_reason(tmp_path, why, extreme, reason):
    ledgers.write(tmp_path, [ledgers.case("one2001/a", "comparison", "fails", why=why)])
    (one,) = of_statements.of_papers(tmp_path / "ledger.csv", tmp_path / "statements.csv")
    assert (one["cases"][0]["extreme"], one["cases"][0]["reason"]) == (extreme, reason)


def of_one(folder, rows):
    (one,) = of_statements.of_papers(*ledgers.write(folder, rows))
    return one["table"]


def test_many_cases_are_a_grid_with_the_fewest_lines(tmp_path):
    settings = [(size, method, rate) for size in (1, 2, 3) for method in ("ldp_mab", "ucb") for rate in (0.1, 1)]
    names = [f"size = {size}, method = {method}, rate = {rate}" for size, method, rate in settings]
    table = of_one(tmp_path, [ledgers.case("one2001/a", "comparison", "holds", case=name) for name in names])
    grid = table["grid"]
    # Size and one of the others: two lines with six columns.
    assert (grid["settings"], grid["across"][:2], len(grid["across"])) == (["rate"], ["1, ldp mab", "1, ucb"], 6)
    assert [line for line, _ in grid["lines"]] == [["0.1"], ["1"]]
    assert [case["case"] for case in grid["lines"][1][1][:2]] == [names[1], names[3]]
    few = [ledgers.case("one2001/a", "comparison", "holds", case=name) for name in names[:4]]
    assert of_one(tmp_path, few)["grid"] is None


def test_an_assumption_with_many_values_is_one_row_with_their_range(tmp_path):
    def row(choice, value, verdict, dataset="adult"):
        names = {"case": f"dataset = {dataset}, choice = {choice}", "assumes": f"choice = {choice}"}
        return ledgers.case("one2001/a", "number", verdict, measured=value, **names)

    rows = [row(n, str(n), "agrees" if n else "differs") for n in range(5)]
    (one,) = of_one(tmp_path, rows)["rows"]
    assert (one["verdict"], one["look"], one["between"]) == ("depends on choice", "depends", "0 to 4")
    assert (one["measured"], one["settings"]) == ("0", {"dataset": "adult"})
    # Few values are shown one by one, for example both ends of a constant.
    assert [case["between"] for case in of_one(tmp_path, rows[:4])["rows"]] == [""] * 4


def test_data_are_lacking_only_if_a_reason_names_them(stated):
    cases = [case for one in stated.values() for case in one["cases"]]
    assert of_statements.lacking(cases, ["adult", "taxi", "axi"]) == ["taxi"]
    assert of_statements.lacking([case for case in cases if case["verdict"] != "unverifiable"], ["taxi"]) == []


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


def test_a_fact_is_true_or_false_and_no_number(tmp_path):
    row = ledgers.case("one2001/sum", "exact", "true", published="", accepted="1", measured="1", low="1", high="1")
    ledgers.write(tmp_path, [row, row | {"statement": "one2001/size", "published": "1"}])
    fact, size = of_statements.of_papers(tmp_path / "ledger.csv", tmp_path / "statements.csv")
    assert [one["cases"][0]["brief"]["measured"] for one in (fact, size)] == ["", "1"]
