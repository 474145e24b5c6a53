"""Check cases: which rows a statement uses, what separates its cases, and the outcome of all of them."""

import pandas as pd
import pytest

from privarms.errors import PrivarmsError
from privarms.ledger import cases, outcomes
from privarms.planning import statements

FILE = """
statements:
  - statement: at_least_5_times
    kind: comparison
    quote: in all settings we outperform DP-UCB by at least 5 times
    place: Section 5
    artifact: fig1
    published: {at_least: 5}
    measure: {smallest: ratio, table: ratios, where: {policy: dp_ucb, tag: figure1}}
    assumes: width
    test: We divide DP-UCB's regret by DP-SE's. The value is the smallest ratio.
  - statement: table_2
    kind: number
    quote: Table 2
    place: Table 2
    artifact: fig1
    published: {table: table2, value: ratio, runs: 100}
    measure: {value: ratio, table: ratios, where: {policy: dp_ucb, width: log3}}
    by: epsilon
    test: We divide the mean regrets.
"""
TABLES = {"artifacts": ["fig1"], "tables": ["ratios"], "tags": ["figure1"], "printed": ["table2"]}
TAGS = {"a": ["figure1"], "b": ["figure1"], "c": ["figure1"], "d": ["figure1"], "other": ["settings"]}


def table(**columns):
    rows = {
        "policy": ["dp_ucb"] * 4,
        "width": ["log3", "log3", "exact", "exact"],
        "epsilon": [0.1, 1.0, 0.1, 1.0],
        "ratio": [9.0, 8.0, 7.0, 0.7],
        "ratio_se": [0.1, 0.1, 0.1, 0.01],
        "runs": [100] * 4,
        "cells": ["a", "b", "c", "d"],
    }
    return pd.DataFrame(rows | columns)


@pytest.fixture
def loaded(tmp_path):
    def load(text):
        file = tmp_path / "statements.yaml"
        file.write_text(text, encoding="utf-8")
        return {one.name: one for one in statements.load(file, "sajed2019", **TABLES)}

    return load


def judged(statement, frame, **options):
    return cases.judged(statement, frame, tags=TAGS, shrunk=options.pop("shrunk", ()), **options)


def test_a_case_for_each_assumption_and_the_outcome_names_it(loaded):
    rows = judged(loaded(FILE)["at_least_5_times"], table())
    assert [(row["assumes"], row["verdict"]) for row in rows] == [("width = log3", "holds"), ("width = exact", "fails")]
    assert rows[0]["measured"] == 8.0
    assert "epsilon = 1" in rows[1]["why"]
    (outcome,) = outcomes.statements(rows)
    assert (outcome["outcome"], outcome["decides"], outcome["cases"]) == ("depends on width", "width", 2)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"ratio_se": [0.1, 0.0, 0.1, 0.1]}, "The interval at epsilon = 1 is unbounded, because its 100 runs agree."),
        ({"runs": [1, 100, 100, 100]}, "The interval at epsilon = 0.1 is unbounded, because it has one run."),
        ({"ratio": [9.0, 5.1, 7.0, 0.7]}, ""),
    ],
)
def test_an_undecided_case_names_the_row_whose_runs_give_no_interval(loaded, changed, words):
    undecided, fails = judged(loaded(FILE)["at_least_5_times"], table(**changed))
    assert (undecided["verdict"], fails["verdict"]) == ("undecided", "fails")
    assert undecided["why"].startswith(
        "The 99.9% interval contains an end of the accepted range. Smallest of 2 rows, at"
    )
    assert words in undecided["why"]
    assert ("unbounded" in undecided["why"]) == bool(words)
    assert "unbounded" not in fails["why"]


def test_the_row_is_named_also_if_its_only_setting_is_a_number_that_differs_in_each_of_many_rows(loaded):
    epsilon, ratio = [i / 10 for i in range(1, 13)], [20.0 - i for i in range(12)]
    shared = {"policy": "dp_ucb", "width": "log3", "ratio_se": 0.1, "runs": 100, "cells": "a"}
    many = pd.DataFrame({"epsilon": epsilon, "ratio": ratio, "bonus": [2 * r for r in ratio]}).assign(**shared)
    (case,) = judged(loaded(FILE)["at_least_5_times"], many)
    assert case["why"].startswith("Smallest of 12 rows, at epsilon = 1.2.")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        # By Student's t with 99 degrees of freedom and two rows at once, I is the ratio +- 3.6 standard errors.
        ({"ratio": [6.0, 5.9]}, []),
        ({"ratio": [6.0, 5.9], "ratio_se": [1.0, 0.1]}, ["The row at epsilon = 0.1 gives the lower end"]),
        ({"ratio": [6.0, 5.9], "ratio_se": [0.01, 0.2]}, ["The row at epsilon = 0.1 gives the upper end"]),
        (
            {"ratio": [6.0, 5.9, 6.1], "ratio_se": [1.0, 0.5, 0.1], "epsilon": [0.1, 1.0, 2.0]},
            ["The row at epsilon = 0.1 gives the lower end", "The row at epsilon = 2 gives the upper end"],
        ),
        (
            {"ratio": [3.0, 2.9], "ratio_low": [1.0, 2.0], "ratio_high": [3.0, 4.0], "ratio_se": [1.0, 1.0]},
            ["The row at epsilon = 0.1 gives both ends"],
        ),
        # Two rows may have the same setting, because it leaves out measured columns.
        (
            {"ratio": [6.0, 5.9, 7.0], "ratio_se": [1.0, 0.1, 0.1], "epsilon": [1.0, 1.0, 2.0]},
            ["Another row gives the lower end"],
        ),
    ],
)
def test_a_case_names_the_rows_that_give_the_interval_s_ends(loaded, changed, words):
    of_all = {"epsilon": [0.1, 1.0], "ratio_se": [0.1, 0.1]} | changed
    n = len(of_all["ratio"])
    same = {"policy": ["dp_ucb"] * n, "width": ["exact"] * n, "cells": ["a b"] * n, "runs": [100] * n}
    (case,) = judged(loaded(FILE)["at_least_5_times"], pd.DataFrame(same | of_all))
    assert [f"{one} of the interval." in case["why"] for one in words] == [True] * len(words)
    assert case["why"].count(" of the interval.") == len(words)


def test_what_has_no_tag_changes_no_case(loaded):
    statement = loaded(FILE)["at_least_5_times"]
    added = pd.concat([table(), table(cells=["new"] * 4, ratio=[0.0] * 4), table(cells=["a other"] * 4)])
    extra = table(cells=["other"] * 4, ratio=[0.1] * 4)
    assert judged(statement, pd.concat([added.iloc[:8], extra])) == judged(statement, table())


def test_a_printed_table_is_one_statement_with_a_case_per_entry(loaded):
    printed = [{"epsilon": "0.1", "ratio": "9.0"}, {"epsilon": "1", "ratio": "4.0"}, {"epsilon": "2", "ratio": "3.0"}]
    rows = judged(loaded(FILE)["table_2"], table(), printed=printed)
    found = {row["case"]: row["verdict"] for row in rows}
    assert found == {"epsilon = 0.1": "agrees", "epsilon = 1": "differs", "epsilon = 2": "unverifiable"}
    (outcome,) = outcomes.statements(rows)
    assert (outcome["agrees"], outcome["differs"], outcome["unverifiable"], outcome["outcome"]) == (1, 1, 1, "differs")


def test_entries_without_a_row_have_the_reason_of_the_statement(loaded):
    printed = [{"epsilon": "0.1", "ratio": "9.0"}, {"epsilon": "2", "ratio": "3.0"}]
    text = FILE.replace("    by: epsilon\n", "    by: epsilon\n    unverifiable: Nobody has these data.\n")
    rows = judged(loaded(text)["table_2"], table(), printed=printed)
    assert {row["case"]: row["why"] for row in rows if row["verdict"] == "unverifiable"} == {
        "epsilon = 2": "Nobody has these data."
    }
    assert [row["verdict"] for row in rows if row["case"] == "epsilon = 0.1"] == ["agrees"]


def test_a_smaller_scale_and_stand_ins_are_never_judged(loaded):
    statement = loaded(FILE)["at_least_5_times"]
    small = judged(statement, table(), shrunk=["a", "c"])
    assert {row["verdict"] for row in small} == {"undecided"}
    assert {row["verdict"] for row in judged(statement, table(), data="stand-in")} == {"unverifiable"}
    assert judged(statement, "No data.")[0]["why"] == "No data."


def test_a_table_without_a_row_is_unverifiable(loaded):
    (row,) = cases.judged(loaded(FILE)["at_least_5_times"], pd.DataFrame(), tags={}, shrunk=())
    assert (row["verdict"], row["why"]) == ("unverifiable", "This run has none of the statement's rows.")


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("{policy: dp_ubc, tag: figure1}", "policy: no row .* ratios has the value dp_ubc; expected one of dp_ucb$"),
        # One value of several would otherwise silently be left out.
        ("{width: [log3, log], tag: figure1}", "width: no row .* has the value log; expected one of log3, exact$"),
        ("{epsilon: 10}", "epsilon: no row .* has the value 10; expected one of 0.1, 1$"),
        ('{width: ""}', 'width: no row .* has the value ""; expected one of log3, exact$'),
    ],
)
def test_a_value_that_no_row_has_is_an_error_unless_rows_may_be_missing(loaded, where, found):
    statement = loaded(FILE.replace("{policy: dp_ucb, tag: figure1}", where))["at_least_5_times"]
    with pytest.raises(PrivarmsError, match=rf"statements.yaml: at_least_5_times.measure.where.{found}"):
        judged(statement, table(), complete=True)
    judged(statement, table())


def test_a_statement_without_rows_names_the_value_that_none_has(loaded):
    text = FILE.replace("{policy: dp_ucb, tag: figure1}", "{policy: dp_ubc, epsilon: [1, 2]}")
    (row,) = judged(loaded(text)["at_least_5_times"], table())
    assert (row["verdict"], row["why"]) == (
        "unverifiable",
        "This run has none of the statement's rows. No row has policy = dp_ubc. No row has epsilon = 2.",
    )


def test_several_rows_in_a_case_are_refused(loaded):
    statement = loaded(FILE.replace("    by: epsilon\n", ""))["table_2"]
    with pytest.raises(PrivarmsError, match=r"expected one row per case; found 2 \(.*epsilon = "):
        judged(statement, table())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{at_least: 5}", "{at_least: 4}", "does not print 4"),
        ("quote: Table 2", "quote: In all settings, we outperform DP-UCB by at least 5 times!", "also quoted by"),
        ("tag: figure1", "tag: figure2", "unknown tag of a grid 'figure2'"),
        ("table: ratios, where: {policy: dp_ucb, tag", "table: ratio, where: {policy: dp_ucb, tag", "inference table"),
        ("{at_least: 5}", "{at_least: 5, tolerance: 2}", r"statements\[0\].published.tolerance: unknown key"),
        ("{at_least: 5}", "{at_least: 5, above: 2}", r"published: expected `value` .*; found at_least, above"),
        (
            "{at_least: 5}",
            "{value: 5}",
            "published: expected one of at_least, .* for the kind comparison",
        ),
        (
            "published: {table: table2",
            "published: {at_least: 2",
            r"published: expected `value`.*found value, runs, at_least",
        ),
        ("    published: {at_least: 5}\n", "", r"statements\[0\]: the key 'published' is missing"),
        ("kind: comparison", "kind: words", "published: expected no such key for the kind words; remove it"),
        ("    place: Section 5\n", "", "expected one of the keys 'place' and 'ours'; found none"),
        ("    place: Section 5\n", "    place: Section 5\n    ours: true\n", "'place' and 'ours'; found both"),
        ("    place: Section 5\n", "    ours: false\n", "ours: expected true, or no such key; found False"),
        ("    test: We divide the mean regrets.\n", "", "expected the keys 'measure' and 'test', or 'unverifiable'"),
        ("smallest: ratio,", "smallest: ratio, value: ratio,", "measure: expected one of .*; found value, smallest"),
        ("smallest: ratio, ", "", "measure: expected one of value, smallest, largest, true; found none"),
        (
            "{smallest: ratio, table",
            "{largest: ratio, table",
            "measure: expected `smallest`, which decides about all rows with `at_least`; found `largest`. Add `some",
        ),
        (
            "tag: figure1}}",
            "tag: figure1}, some: true}",
            "measure: expected `largest`, which decides about some row with `at_least`; found `smallest`. Remove `some",
        ),
        (
            "width: log3}}\n    by",
            "width: log3}, some: true}\n    by",
            "measure: expected no key `some`, which belongs",
        ),
        ("figure1}}", "figure1}, some: false}", "measure.some: expected true, or no such key"),
        (
            "published: {at_least: 5}\n    measure: {smallest",
            "published: {ratio: below}\n    measure: {smallest",
            "measure: expected `largest`, which decides about all rows with `below`; found `smallest`",
        ),
        ("where: {policy: dp_ucb, tag: figure1}", "where: {policy: [[1]]}", r"where.policy\[0\]: expected a number, a"),
        ("kind: comparison", "kind: comparision", "kind"),
        ("assumes: width", "tolerance: 3", "tolerance: unknown key"),
    ],
)
def test_a_fault_is_one_clear_error(loaded, old, new, words):
    with pytest.raises(PrivarmsError, match=words):
        loaded(FILE.replace(old, new, 1))


def row(verdict, variant="", assumes="", statement="p/s"):
    about = dict.fromkeys(cases.COLUMNS, "")
    return about | {"statement": statement, "verdict": verdict, "variant": variant, "assumes": assumes}


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([row("holds"), row("holds")], "holds"),
        ([row("holds"), row("undecided")], "undecided"),
        ([row("holds"), row("fails")], "fails"),
        ([row("holds", assumes="c = 2"), row("fails", assumes="c = 64")], "depends on c"),
        ([row("holds", assumes="c = 2"), row("undecided", assumes="c = 64")], "undecided"),
        ([row("fails", assumes="c = 2"), row("undecided", assumes="c = 64")], "depends on c"),
        ([row("fails"), row("undecided")], "fails"),
        ([row("fails", "as_printed"), row("holds", "as_released")], "only in the program"),
        ([row("fails", "as_printed"), row("fails", "as_released")], "fails"),
        ([row("agrees", "as_printed"), row("differs", "as_released")], "agrees"),
        ([row("not refuted"), row("refuted")], "refuted"),
        (
            [
                row("holds", assumes="K = 2, c = 2"),
                row("fails", assumes="K = 2, c = 64"),
                row("holds", assumes="K = 3, c = 2"),
            ],
            "depends on c",
        ),
        # A case without the assumption belongs to each of its values, so nothing depends on it here.
        ([row("fails"), row("holds", assumes="c = 2"), row("holds", assumes="c = 64")], "fails"),
        ([row("holds"), row("fails", assumes="c = 2"), row("holds", assumes="c = 64")], "depends on c"),
        # Only what two cases have in common is compared.
        (
            [row("fails", assumes="numbers = printed"), row("holds", assumes="numbers = re-run, c = 2")],
            "depends on numbers",
        ),
        ([row("measured"), row("measured")], "measured"),
    ],
)
def test_the_outcome_of_a_statement(rows, outcome):
    assert [one["outcome"] for one in outcomes.statements(rows)] == [outcome]


@pytest.mark.parametrize(("text", "half"), [("0.110", 0.0005), ("40", 0.5), ("0.0698", 0.00005), ("5e-05", 5e-06)])
def test_the_rounding_of_a_printed_number(text, half):
    assert statements.half_unit(text) == pytest.approx(half)


def test_settings_with_commas_in_their_values_stay_whole():
    values = {"K": "5", "order": "first, then second", "width": "log3"}
    assert cases.from_words(cases.in_words(values)) == values
    assert cases.from_words("") == {}


def test_an_assumption_with_a_comma_in_its_value_decides_under_its_own_name():
    rows = [{"assumes": f"order = first, then {name}", "verdict": v} for name, v in (("b", "holds"), ("c", "fails"))]
    assert outcomes.of_cases(rows) == ("depends on order", ["order"])
