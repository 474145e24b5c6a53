"""Check claims: entries with `each`, cells of a claim, and published numbers that are written once."""

import re

import pandas as pd
import pytest
import yaml

from privarms.claims import ledger
from privarms.errors import PrivarmsError
from privarms.studies import artifacts, claims, configuration
from tests import PAPERS

CLAIM = {
    "claim": "five_times",
    "artifact": "fig1",
    "statement": "s",
    "place": "Section 5",
    "test": "t",
    "published": 5,
    "measure": "ratio",
    "tolerance": {"at_least": 5},
}
ARTIFACTS = {"fig1": {}}
FIVE = {"statement": "Five times.", "place": "Section 5"}
TAGS = ("figure1_grid", "settings")
NUMBERS = {
    "numbers": {"worst": 0.14},
    "tables": {"table2": [{"dataset": "a", "epsilon": 1, "ratio": 1.5}, {"dataset": "b", "epsilon": 2, "ratio": 0.5}]},
}


def _without_none(entry):
    return {k: v for k, v in entry.items() if v is not None}


def loaded(folder, *entries, scale="paper", **top):
    content = {**top, "claims": [_without_none(CLAIM | entry) for entry in entries]}
    (folder / "claims.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (folder / "published").mkdir(exist_ok=True)
    (folder / "published/numbers.yaml").write_text(yaml.safe_dump(NUMBERS["numbers"]), encoding="utf-8")
    for name, rows in NUMBERS["tables"].items():
        pd.DataFrame(rows).to_csv(folder / f"published/{name}.csv", index=False)
    return claims.load(folder, scale, ARTIFACTS, TAGS)


def test_an_entry_expands_over_the_product_of_its_axes(tmp_path):
    entry = {
        "claim": "five_times_{width}_{K}",
        "statement": "width {width}, K = {K}",
        "each": {"width": ["log2.5", "chan"], "K": [3, 10]},
        "arguments": {"width": "{width}", "K": "{K}"},
    }
    actual = loaded(tmp_path, entry)
    assert [c["claim"] for c in actual] == [f"five_times_{w}_{K}" for w in ("log2_5", "chan") for K in (3, 10)]
    assert actual[0]["statement"] == "width log2.5, K = 3"
    assert [c["arguments"] for c in actual[:2]] == [{"width": "log2.5", "K": 3}, {"width": "log2.5", "K": 10}]
    assert all("each" not in c for c in actual)


def test_claims_about_one_statement_share_its_text(tmp_path):
    entry = {"claim": "five_times_{K}", "about": "five", "test": "{K} arms.", "each": {"K": [3, 10]}}
    alone = {"claim": "six_times", "about": "six"}
    about = {"statements": {"five": FIVE, "six": {"statement": "Six times.", "ours": True}}}
    actual = loaded(tmp_path, *({"statement": None, "place": None} | one for one in (entry, alone)), {}, **about)
    assert [tuple(c[k] for k in ("about", "statement", "place", "ours", "test")) for c in actual] == [
        ("five", "Five times.", "Section 5", False, "3 arms."),
        ("five", "Five times.", "Section 5", False, "10 arms."),
        ("six", "Six times.", "", True, "t"),
        ("five_times", "s", "Section 5", False, "t"),
    ]


def test_a_statement_is_a_quotation_with_its_place_or_ours(tmp_path):
    (quoted,) = loaded(tmp_path, {})
    (own,) = loaded(tmp_path, {"place": None, "ours": True})
    assert ledger.stated(quoted) == '"s" (Section 5). Test: t'
    assert ledger.stated(own) == "Ours: s Test: t"
    with pytest.raises(PrivarmsError, match=r"claims\[0\]"):
        loaded(tmp_path, {"ours": True})


def test_a_headline_has_the_numbers_of_the_ledger_s_row(tmp_path):
    row = {"reproduced": "0.25", "low": "-inf", "high": "5.0123", "published": "5", "verdict": "differs"}
    (claim,) = loaded(tmp_path, {"headline": "{reproduced:.0%}, {low} to {high:.2g}; {published} is claimed."})
    assert claims.headline(claim, row) == "25%, -inf to 5; 5 is claimed."
    entry = {"claim": "five_{K}", "headline": "{K} arms: {reproduced}.", "each": {"K": [3, 10]}}
    assert [claims.headline(c, row) for c in loaded(tmp_path, entry)] == ["3 arms: 0.25.", "10 arms: 0.25."]
    one = {"claim": "five_{k}", "headline": "{headline}"}
    one["each"] = {"k": [{"k": 3, "headline": "{reproduced:.1f}"}, {"k": 10, "headline": ""}]}
    assert [c.get("headline") for c in loaded(tmp_path, one)] == ["{reproduced:.1f}", None]


@pytest.mark.parametrize(
    ("headline", "words"),
    [
        ("It is {measured:.2g}.", "'measured' (found 'It is {measured:.2g}.'). Expected {reproduced}, {low}, {high}"),
        ("It is {reproduced:.2q}.", "Unknown format code 'q'"),
        ("It is {}.", "positional fields"),
        ("It is {reproduced.", "expected '}'"),
        ("It is {published:.1f}.", "Unknown format code 'f' for object of type 'str'"),
        ("word " * 26, "found 26 words. Expected at most 25"),
    ],
)
def test_a_headline_that_cannot_be_filled_in_is_one_clear_error(tmp_path, headline, words):
    entry = {"headline": headline, "published": "five"}
    with pytest.raises(PrivarmsError, match=rf"claims\.yaml: five_times\.headline: .*{re.escape(words)}"):
        loaded(tmp_path, entry)


@pytest.mark.parametrize(
    ("entry", "statements", "words"),
    [
        (
            {"about": "fives", "statement": None, "place": None},
            {"five": FIVE},
            r"claims\[0\]\.about: unknown statement 'fives'",
        ),
        ({}, {"five": FIVE}, r"statements\.five: no claim is about it"),
    ],
)
def test_statements_and_claims_name_each_other(tmp_path, entry, statements, words):
    with pytest.raises(PrivarmsError, match=words):
        loaded(tmp_path, entry, statements=statements)


def test_an_entry_expands_over_chosen_rows_of_a_published_table(tmp_path):
    entry = {"claim": "entry_{dataset}", "published": "{ratio}", "dataset": "{dataset}"}
    both = loaded(tmp_path, entry | {"each": {"table": "table2"}})
    assert [(c["claim"], c["published"], c["dataset"]) for c in both] == [("entry_a", 1.5, "a"), ("entry_b", 0.5, "b")]
    one = loaded(tmp_path, entry | {"each": {"table": "table2", "only": {"epsilon": 2}}})
    assert [c["claim"] for c in one] == ["entry_b"]


def test_a_mapping_of_an_axis_gives_each_row_what_belongs_to_it(tmp_path):
    joined = [{"dataset": "b", "title": "Bees", "because": "dull"}, {"dataset": "a", "title": "Ants", "because": ""}]
    entry = {"claim": "entry_{dataset}_{K}", "statement": "{title}", "because": "{because}"}
    actual = loaded(tmp_path, entry | {"each": {"table": "table2", "said": joined, "K": [2, 3]}})
    assert [c["claim"] for c in actual] == ["entry_a_2", "entry_a_3", "entry_b_2", "entry_b_3"]
    assert [c["statement"] for c in actual] == ["Ants", "Ants", "Bees", "Bees"]
    # Empty values are omitted from a claim.
    assert [c.get("because") for c in actual] == [None, None, "dull", "dull"]


def test_a_claim_rests_on_a_named_set_of_cells_or_on_its_own(tmp_path):
    cells = {"figure1": {"epsilon": [0.1, 1], "K": 5}}
    actual = loaded(tmp_path, {"over": "figure1"}, {"claim": "b", "over": {"K": [2]}}, {"claim": "c"}, cells=cells)
    assert [c["over"] for c in actual] == [{"epsilon": [0.1, 1], "K": [5]}, {"K": [2]}, {}]


def test_a_claim_rests_on_a_tag_of_a_grid_or_on_a_part_of_it(tmp_path):
    entries = {"over": "settings"}, {"claim": "b", "over": {"tag": ["figure1_grid", "settings"], "K": 2}}
    actual = loaded(tmp_path, *entries, cells={"figure1": {"tag": "figure1_grid"}})
    assert [c["over"] for c in actual] == [{"tag": ["settings"]}, {"tag": ["figure1_grid", "settings"], "K": [2]}]


def test_what_a_measure_chooses_by_is_named(tmp_path):
    measure = {"ratio": "regret", "table": "t", "where": {"width": "chan"}, "to": {"where": {"noise": 1}}}
    (declared,) = loaded(tmp_path, {"measure": measure})
    (own,) = loaded(tmp_path, {"arguments": {"beta": 1}})
    assert (declared["named"], own["named"]) == (["noise", "width"], ["beta"])


def test_a_claim_may_rest_on_several_sets_of_cells(tmp_path):
    cells = {"pairs": [{"K": 5, "T": 10}, {"K": 20, "T": 40}], "one": {"K": 3}}
    actual = loaded(tmp_path, {"over": ["pairs", "one"]}, {"claim": "b", "over": ["one"]}, cells=cells)
    assert actual[0]["over"] == [{"K": [5], "T": [10]}, {"K": [20], "T": [40]}, {"K": [3]}]
    assert actual[1]["over"] == {"K": [3]}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"tolerance": {"at_lest": 5}}, ["claims[0].tolerance.at_lest", "unknown key", "at_least"]),
        ({"artifact": "fig2"}, ["five_times.artifact", "unknown artifact 'fig2'", "fig1"]),
        ({"over": "figure2"}, ["claims[0].over", "unknown set of cells or tag of a grid 'figure2'", "settings"]),
        ({"published": {"number": "best"}}, ["claims[0].published", "'best'", "worst"]),
        ({"each": {"K": [2, 3]}}, ["five_times: duplicate claim"]),
        ({"each": {"table": "table2", "only": {"epsilonn": 2}}}, ["unknown column of table2 'epsilonn'", "epsilon"]),
        ({"tolerance": {"at_least": 5, "at_most": 3}}, ["five_times.tolerance", "5 is above at_most 3"]),
    ],
)
def test_faults_name_the_file_and_the_key(tmp_path, entry, words):
    with pytest.raises(PrivarmsError) as fault:
        loaded(tmp_path, entry)
    for word in ["claims.yaml", *words]:
        assert word in str(fault.value)
    assert "\n" not in str(fault.value)


def test_some_claims_of_an_entry_cannot_be_told(tmp_path):
    each = [{"arms": 2, "cannot": ""}, {"arms": 3, "cannot": "K is ours."}]
    two, three = loaded(tmp_path, {"claim": "of_{arms}", "each": each, "unverifiable": "{cannot}"})
    assert "unverifiable" not in two
    assert three["unverifiable"] == "K is ours."


def test_the_project_s_own_claims_are_valid_at_both_scales():
    # Some of our own collections have no claims.
    named = sorted(PAPERS.glob("*/claims.yaml"))
    assert len(named) > 3
    for file in named:
        for scale in configuration.SCALES:
            assert claims.load(file.parent, scale, artifacts.of_paper(file.parent.name))


def test_a_table_with_a_short_line_is_refused(tmp_path):
    (tmp_path / "published").mkdir()
    (tmp_path / "published/t.csv").write_text("a,b\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"t\.csv: line 3: found 1 fields, expected 2"):
        claims.published(tmp_path)


MEASURE = {"of": "regret_mean", "table": "regret"}


@pytest.mark.parametrize(
    "measure",
    [
        MEASURE,
        MEASURE | {"of": "regret - bound", "se": "regret_se"},
        MEASURE | {"of": "regret - bound", "exact": True},
        MEASURE | {"of": "regret - bound", "interval": ["low", "high"]},
        {"fraction": "failure_mean * replicates", "table": "regret"},
        {"ratio": "regret_mean", "to": {"ratio": "a + b", "se": "b_se"}, "table": "regret"},
        {"of": "{column}", "table": "regret"},
    ],
)
def test_a_number_has_a_standard_error(tmp_path, measure):
    (claim,) = loaded(tmp_path, {"measure": measure, "each": {"column": ["regret_mean"]}})
    assert claim["measure"].keys() == measure.keys()


@pytest.mark.parametrize(
    ("measure", "key", "expected"),
    [
        # Evaluated as `regret_mean / bound_se` or `regret - half_se`, each of these had a number as its error.
        (MEASURE | {"of": "regret_mean / bound"}, "measure.se", "'regret_mean / bound' is a formula"),
        (MEASURE | {"of": "{column}"}, "measure.se", "'regret - half' is a formula"),
        ({"ratio": "abs(bias)", "to": {"table": "b"}, "table": "a"}, "measure.se", "'abs(bias)' is a formula"),
        ({"growth": "a + b", "along": "n", "table": "a"}, "measure.se", "'a + b' is a formula"),
        ({"spread": "a + b", "exact": False, "table": "a"}, "measure.se", "'a + b' is a formula"),
        # The denominator would get the error of the numerator.
        ({"ratio": "a", "se": "e", "to": {"ratio": "b"}, "table": "a"}, "measure.to.se", "error of b"),
        ({"ratio": "a", "to": {"ratio": "a + b"}, "table": "a"}, "measure.to.se", "'a + b' is a formula"),
        # Each of these keys was ignored.
        (MEASURE | {"by": ["K"]}, "measure.by", "`of` does not use"),
        ({"fraction": "a", "over": "b", "table": "a"}, "measure.over", "`fraction` does not use"),
        ({"growth": "a", "along": "n", "range": [0, 1], "table": "a"}, "measure.range", "`growth` does not use"),
        (MEASURE | {"exact": True, "se": "e"}, "measure", "exact and se"),
        (MEASURE | {"interval": ["a", "b"], "range": [0, 1]}, "measure", "interval and range"),
        (MEASURE | {"extreme": "pooled"}, "measure.extreme", "Expected max or min"),
    ],
)
def test_a_measure_that_would_have_a_wrong_error_is_refused(tmp_path, measure, key, expected):
    with pytest.raises(PrivarmsError) as caught:
        loaded(tmp_path, {"measure": measure, "each": {"column": ["regret - half"]}})
    assert str(caught.value).startswith(f"{tmp_path / 'claims.yaml'}: five_times.{key}:")
    assert expected in str(caught.value)


def test_the_allowance_for_a_papers_runs_needs_the_spread_of_ours(tmp_path):
    tolerance = {"absolute": 1, "published_replicates": 50}
    loaded(tmp_path, {"measure": MEASURE, "tolerance": tolerance})
    with pytest.raises(PrivarmsError, match=r"five_times\.tolerance\.published_replicates.*`exact`"):
        loaded(tmp_path, {"measure": MEASURE | {"exact": True}, "tolerance": tolerance})
