"""Sentences that change with the numbers, and disappear."""

from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.files import settings
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
    [({"above": 0.04}, True), ({"above": 0.05}, False), ({"below": 0.05, "at_least": 0.0477}, True),
     ({"at_most": 0.01}, False), (0.0477, True), (0.05, False), ("0.0477", True)],
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
        ({"reads": {"rate": {"claim": "rate", "variant": "as_released"}}}, "no claim 'rate' of this variant"),
        ({"reads": {"rate": {"statement": "gone"}}}, "no statement 'gone'"),
        ({"reads": {"rate": {"table": "fig8", "where": {}}}}, "unknown artifact 'fig8'"),
        ({"says": [{"text": "{other.verdict}"}]}, "'other' is none of the rows under `reads`, rate"),
        ({"says": [{"when": {"other.verdict": "differs"}, "text": "x"}]}, "'other' is none of the rows"),
    ],
)
def test_a_finding_that_names_what_is_not_there_is_refused(change, words):
    claims = [{"claim": "rate", "about": "rate"}]
    good = finding({"text": "{rate.verdict}"})
    check("x.yaml", good, ["fig6"], claims)
    with pytest.raises(PrivarmsError, match=rf"x\.yaml: findings\.one.*{words}"):
        check("x.yaml", {"one": good["one"] | change}, ["fig6"], claims)


class Ledger:
    """Findings of a paper as it is configured, said of a ledger that is made up: the same numbers for every claim."""

    def __init__(self, paper, **row):
        self.findings = settings.read(Path("config/studies", f"{paper}.yaml"))["findings"]
        self.row = {
            "verdict": "differs",
            "reproduced": "2",
            "low": "1",
            "high": "3",
            "published": "1",
            "range": "",
        } | row

    def said(self, finding, tables=(), **changes):
        """The sentence, or nothing; changes: of the claims that it reads, by the names it gives them."""
        own = self.findings[finding]
        of_claims = {read["claim"]: changes.get(name, {}) for name, read in own["reads"].items() if "claim" in read}
        found = say(
            "x.yaml",
            {finding: own},
            Rows(lambda name, variant: self.row | of_claims[name], lambda name: {}, lambda name: tables, []),
        )
        return found[0].text if found else ""


def test_privacy_is_free_only_of_a_budget_that_is_overspent():
    ledger = Ledger("li2024")
    regret, kept = {"verdict": "reproduced"}, {"reproduced": "4.3"}
    said = ledger.said("privacy_is_free", regret=regret, kept=kept, kept_error={"reproduced": "4.84"})
    assert "does not hold where the budget is kept" in said
    assert "4.3 times ConSE's regret and up to 4.8 times its error at epsilon = 1" in said
    assert "which overspends its budget" in said
    free = {"reproduced": "1.05", "verdict": "reproduced"}
    assert "also where the budget is kept (1.05 times" in ledger.said("privacy_is_free", regret=regret, kept=free)


def test_what_is_not_decided_about_the_logs_is_said():
    ledger = Ledger("ma2025", verdict="reproduced")
    assert ledger.said("figures_agree").startswith("Our re-implementation of the program has the regret of the")
    mean = {"verdict": "inconclusive", "reproduced": "0.05", "low": "-0.1", "high": "0.21"}
    said = ledger.said("figures_agree", mean=mean)
    assert "whether their mean is within .2 of 0 is not decided (0.05, from −0.10 to 0.21)" in said
    assert "does not have the regret" in ledger.said("figures_agree", mean=mean | {"verdict": "differs"})


def test_a_mean_of_ratios_says_so_and_how_far_they_lie_apart():
    ledger = Ledger("ma2025")
    growth = {"verdict": "reproduced", "reproduced": "0.8"}
    times = {"range": "1.00 to 7.46 over 40 pairs of cells"}
    said = ledger.said("only_without_privacy", growth=growth, times=times)
    assert "the geometric mean of ratios from 1.00 to 7.46 over 40 pairs of cells" in said
    assert "geometric mean over its cells" in ledger.said("only_without_privacy", growth=growth)


def test_the_advice_says_what_a_long_first_batch_is_and_who_is_as_good():
    ledger = Ledger("synthesis")
    row = {"K": "5", "T": "10000", "times_not_private_least": "1.4", "times_not_private_most": "2.6", "as_good": "A; B"}

    def said(take, as_good="A; B"):
        rows = [row | {"epsilon": e, "take": take, "as_good": as_good} for e in ("1.0", "0.1")]
        return ledger.said("at_epsilon_1", rows)

    mended = said("DP-IMED (first = 8)")
    assert "a first batch of at least 8/epsilon pulls of every arm, which is our mending" in mended
    assert "as good there, as far as can be told: A; B." in mended
    assert "no other policy is as good there" in said("DP-IMED (first = 8)", "")
    assert "take DP-SE; as good there" in said("DP-SE")
    assert "mending" not in said("DP-SE", "")


def test_all_of_the_settings_are_said_in_a_word():
    all_of_them = {"verdict": "reproduced", "reproduced": "1"}
    ledger = Ledger("frontier", **all_of_them)
    assert "in all of the sixteen settings" in ledger.said("lowest")
    assert "100% (DP-KLUCB) and 94% (DP-IMED)" in ledger.said("lowest", imed=all_of_them | {"reproduced": "0.9375"})
