"""Sentences that change with the numbers, and disappear."""

import pytest

from privarms.errors import PrivarmsError
from privarms.report.findings import Rows, check, say

ROW = {"verdict": "differs", "reproduced": "0.0477", "published": "0.76", "empty": "", "endless": "inf"}
TABLE = [{"M": "2", "epsilon": "1.0", "exact": "0.9999"}, {"M": "10", "epsilon": "1.0", "exact": "5.0"}]


def rows(**changes):
    def claim(name, variant):
        return {("rate", ""): ROW | changes}[name, variant]

    return Rows(claim, lambda name: {"s": {"outcome": "does not hold"}}[name], lambda name: {"t": TABLE}[name], TABLE)


def finding(*says, reads=None):
    return {"one": {"shows": "fig6", "reads": reads or {"rate": {"claim": "rate"}}, "says": list(says)}}


def texts(found, **changes):
    return [said.text for said in say("x.yaml", found, rows(**changes))]


def test_the_first_wording_that_fits_is_said():
    found = finding(
        {"when": {"rate.verdict": "differs"}, "text": "{rate.published:.0%} printed, {rate.reproduced:.1%} measured"},
        {"when": {"rate.verdict": ["reproduced", "inconclusive"]}, "text": "It is {rate.reproduced}."},
    )
    assert texts(found) == ["76% printed, 4.8% measured"]
    assert texts(found, verdict="reproduced") == ["It is 0.0477."]
    assert texts(found, verdict="unverifiable") == []
    assert texts(found, reproduced="") == []


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({"above": 0.04}, True),
        ({"above": 0.05}, False),
        ({"below": 0.05, "at_least": 0.0477}, True),
        (0.0477, True),
    ],
)  # fmt: skip
def test_a_wording_may_want_numbers(wanted, holds):
    assert bool(texts(finding({"when": {"rate.reproduced": wanted}, "text": "So."}))) == holds


def test_what_is_infinite_or_missing():
    assert texts(finding({"when": {"rate.endless": "inf"}, "text": "A loss of {rate.endless:.2f}."})) == [
        "A loss of ∞."
    ]
    assert texts(finding({"text": "A {rate.empty}."})) == []
    assert texts(finding({"text": "All."}, reads={"gone": {"claim": "gone"}, "rate": {"claim": "rate"}})) == ["All."]
    assert texts(finding({"text": "A {gone.verdict}."}, reads={"gone": {"claim": "gone"}})) == []


def test_rows_of_tables_audits_and_statements_are_read_too():
    reads = {"ten": {"table": "t", "where": {"M": 10, "epsilon": 1}}, "two": {"audit": True, "where": {"M": 2}}}
    reads["stated"] = {"statement": "s"}
    found = finding({"text": "{two.exact:.2f}, {ten.exact:.1f}, {stated.outcome}"}, reads=reads)
    assert texts(found) == ["1.00, 5.0, does not hold"]
    assert texts(finding({"text": "{t.M}"}, reads={"t": {"table": "t", "where": {"M": 3}}})) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (finding({"text": "{rate.colour}"}), "rate.colour: no such column; expected one of verdict"),
        (finding({"text": "x"}, reads={"t": {"table": "t", "where": {"K": 3}}}), "reads.t.where: no column 'K'"),
        (finding({"text": "x"}, reads={"t": {"table": "t", "where": {"epsilon": 1}}}), "2 rows fit; expected one"),
    ],
)
def test_a_finding_that_reads_wrongly_is_refused(found, words):
    with pytest.raises(PrivarmsError, match=rf"x\.yaml: findings\.one.*{words}"):
        texts(found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shows": "fig7"}, "unknown artifact 'fig7'; expected one of fig6"),
        ({"reads": {"rate": {"claim": "gone"}}}, "reads.rate: no claim 'gone'"),
        ({"reads": {"rate": {"statement": "gone"}}}, "no statement 'gone'"),
        ({"says": [{"text": "{other.verdict}"}]}, "'other' is none of the rows under `reads`, rate"),
    ],
)
def test_a_finding_that_names_what_is_not_there_is_refused(change, words):
    claims = [{"claim": "rate", "about": "rate"}]
    good = finding({"text": "{rate.verdict}"})
    check("x.yaml", good, ["fig6"], claims)
    with pytest.raises(PrivarmsError, match=rf"x\.yaml: findings\.one.*{words}"):
        check("x.yaml", {"one": good["one"] | change}, ["fig6"], claims)
