"""Check the verdicts of audits: loss above the claim, weakened controls, and the summary line of several settings."""

import math

import numpy as np
import pandas as pd
import pytest

from privarms.audits import verdicts
from privarms.audits.reduction import epsilon_lower_bound
from privarms.audits.verdicts import CONFIDENCE, NO_VIOLATION, NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, summary, table

TRIALS = 1_000_000


def counts(rates, policy="laplace", environment="released_number", **setting):
    """Return both neighbours' rows of one setting; rates: those of neighbours 0 and 1."""
    rows = [
        {"cell": f"c{n}", "neighbour": n, "trials": TRIALS, "events": round(TRIALS * rates[n]), "policy": policy}
        | {"environment": environment, "variant": None, **setting}
        for n in (0, 1)
    ]
    return pd.DataFrame(rows)


def laplace(noise, epsilon=1.0, loss=None):
    """Return the event rates of the Laplace mechanism's audit, with this multiple of the noise."""
    loss = epsilon / noise if loss is None else loss
    return counts((math.exp(-loss) / 2, 0.5), epsilon=epsilon, noise=noise)


def one(*frames):
    return table([("p", "s", pd.concat(frames, ignore_index=True))])


def test_a_mechanism_that_keeps_its_claim_stands_beside_its_twin():
    (row,) = one(laplace(1.0), laplace(0.5)).to_dict("records")
    assert list(row)[: len(verdicts.MEASURES)] == list(verdicts.MEASURES)
    assert (row["subject"], row["family"], row["variant"]) == ("laplace", "mechanisms", "")
    assert (row["claimed_epsilon"], row["exact"], row["trials"]) == (1, 1, TRIALS)
    events = [round(TRIALS * rate) for rate in (math.exp(-2) / 2, 0.5)]
    assert row["broken_twin_lower_bound"] == pytest.approx(
        epsilon_lower_bound(events[0], TRIALS, events[1], TRIALS, CONFIDENCE)
    )
    assert 0.95 < row["lower_bound"] < 1 < row["broken_twin_lower_bound"]
    assert row["power_against_half_noise"] > 0.999
    assert row["verdict"] == NO_VIOLATION
    assert "With this change the audit detects half of the noise with probability 0.99, and it did." in row["note"]
    # The level is shared by two bounds.
    assert row["level"] == pytest.approx(1 - 2 * (1 - CONFIDENCE))


def test_a_bound_or_an_exact_loss_above_the_claim_is_not_private():
    caught = one(laplace(1.0, loss=1.1), laplace(0.5)).iloc[0]
    assert caught["verdict"] == NOT_PRIVATE
    # Here the counts refute the formula too.
    assert caught["note"].startswith("The exact formula gives 1, outside of the counted interval [1.08, 1.12]")
    # The exact loss of private UCB as released is above the claim, even if a few trials do not show it.
    setting = {"K": 2, "horizon": 101, "epsilon": 0.05, "variant": "as_released"}
    few = counts((0.5, 0.5), "private_ucb", "changed_reward", **setting)
    few[["trials", "events"]] //= 1_000
    row = one(few).iloc[0]
    assert row["exact"] > row["claimed_epsilon"] > row["lower_bound"]
    assert row["verdict"] == NOT_PRIVATE
    assert "calculation" in row["note"]


def test_what_could_not_have_been_caught_is_said():
    missed = one(laplace(1.0), laplace(0.5, loss=0.9)).iloc[0]
    assert missed["verdict"] == NOT_CAUGHT
    assert "half of the noise with probability 0, and it did not. We computed this probability" in missed["note"]
    assert one(laplace(1.0)).iloc[0]["note"].endswith("with probability 0.99. No weakened control ran.")
    tenth = one(laplace(1.0), laplace(0.1)).iloc[0]
    assert tenth["note"].endswith("with probability 0.99. The audit detected the control with 0.1 of it.")
    few = pd.concat([laplace(1.0), laplace(0.5)], ignore_index=True)
    few[["trials", "events"]] //= 20_000
    row = table([("p", "s", few)]).iloc[0]
    assert row["power_against_half_noise"] < 0.8
    assert row["note"].endswith("detects half of the noise with probability 0, and it did not.")


def test_a_policy_that_is_told_another_budget_than_it_claims_is_a_twin():
    setting = {"K": 2, "rounds": 64, "promised": 1.0, "horizon": 1024, "pulls": 5}
    settings = [
        counts((0.5 * math.exp(-loss), 0.5), "adap_ucb", "any_choice", **setting, epsilon=loss) for loss in (1.0, 2.0)
    ]
    (row,) = one(*[frame.drop(columns="pulls") for frame in settings]).to_dict("records")
    assert (row["claimed_epsilon"], row["epsilon"], row["verdict"]) == (1, 1, NO_VIOLATION)
    assert np.isnan(row["exact"])
    assert row["note"].endswith("We computed this probability from the rates of the event in the control.")
    # A verdict of the audit that fits any bandit says what it looked at.
    assert row["note"].startswith("One reward was changed, at pull number 1, 2, 4, 8, ... up to half of the rounds, ")
    assert "with 2 arms, over 64 rounds" in row["note"]
    assert (
        "Other changes were not tried. The same search, with inputs and an event of its own, detects half of the noise"
        in row["note"]
    )


def test_what_fails_leads_and_what_is_not_audited_ends():
    bad = counts((0.1, 0.5), "lap_plus", "released_length", epsilon=1.0)
    rows = table([("p", "s", pd.concat([laplace(1.0), laplace(0.5)])), ("p", "t", bad)], ["dp_se", "laplace"])
    assert rows["subject"].tolist() == ["lap_plus", "laplace", "dp_se"]
    assert rows["verdict"].tolist() == [NOT_PRIVATE, NO_VIOLATION, NOT_AUDITED]
    # The length has half of epsilon.
    assert rows["claimed_epsilon"].tolist()[:2] == [0.5, 1.0]
    assert "docs/extend-by-kind.md" in rows["note"].iloc[-1]


def test_an_audit_that_could_not_be_run_is_none():
    none = laplace(1.0).assign(trials=0, events=0)
    row = table([("p", "s", none)]).iloc[0]
    assert row["verdict"] == NOT_AUDITED
    assert "could not be run" in row["note"]


def test_one_line_stands_for_all_settings_of_a_subject():
    kept = one(laplace(1.0, 0.5), laplace(0.5, 0.5), laplace(1.0, 1.0), laplace(1.0, 2.0), laplace(0.5, 2.0))
    # A setting without a control does not cancel the verdict of another setting.
    assert kept["verdict"].tolist() == [NO_VIOLATION, NO_VIOLATION, NOT_CAUGHT]
    (line,) = summary(kept).to_dict("records")
    assert (line["verdict"], line["settings"], line["claimed_epsilon"]) == (NO_VIOLATION, 3, 2)
    broken = one(laplace(1.0, 0.5), laplace(0.5, 0.5), laplace(1.0, 1.0, loss=1.2))
    (line,) = summary(broken).to_dict("records")
    assert (line["verdict"], line["claimed_epsilon"]) == (NOT_PRIVATE, 1)


def test_a_warning_names_what_failed_or_was_not_audited_of_the_policies_asked_for():
    lines = pd.DataFrame(
        [
            ("ldp_mab", "as_released", NOT_PRIVATE),
            ("ldp_mab", "as_printed", NO_VIOLATION),
            ("dp_conse", None, NOT_PRIVATE),
            ("dp_se", "", NO_VIOLATION),
            ("dp_ucb", "", NOT_AUDITED),
        ],
        columns=["subject", "variant", "verdict"],
    )
    assert verdicts.warning(lines, [("dp_se", ""), ("ucb1", "")]) == ""
    both = verdicts.warning(
        lines, [("dp_se", ""), ("dp_ucb", ""), ("ldp_mab", "as_printed"), ("ldp_mab", "as_released")]
    )
    failed = "The audits show that LDPMAB (as released) is not private as claimed."
    assert both == f"{failed} DP-UCB was not audited."
    # The text's algorithm passed its audit; a cell without a variant may be of either.
    assert verdicts.warning(lines, [("ldp_mab", "as_printed")]) == ""
    assert verdicts.warning(lines, [("ldp_mab", "")]) == failed
    # A line without a variant is about all of them.
    two = verdicts.warning(lines, [("dp_conse", "as_printed"), ("ldp_mab", "as_released")])
    assert two == "The audits show that LDPMAB (as released) and DP-ConSE are not private as claimed."
    three = verdicts.warning(lines, [(policy, "") for policy in ("dp_conse", "ldp_mab", "dp_ucb")])
    assert three == f"{two} DP-UCB was not audited."


@pytest.mark.parametrize(
    ("scope", "power", "control", "caught", "said"),
    [
        ("", 0.999, 0.5, True, "The audit detects half of the noise with probability 0.99, and it did."),
        ("", 0.999, 0.5, False, "The audit detects half of the noise with probability 0.99, but it did not."),
        (
            "A.",
            0.2,
            0.5,
            True,
            "With this change the audit detects half of the noise with probability 0.2, but it did.",
        ),
        ("", 0.2, None, False, "The audit detects half of the noise with probability 0.2. No weakened control ran."),
        (
            *("", math.nan, 0.1115, False),
            "The probability that the audit detects half of the noise is unknown. The audit did not detect the control "
            "with 0.112 of it.",
        ),
    ],
)
def test_the_note_says_what_the_audit_detects_and_whether_it_did(scope, power, control, caught, said):
    assert verdicts._detection(scope, power, control, caught) == said
