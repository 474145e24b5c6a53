"""Check numbers of single runs against values worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from privarms.ledger.contrasts import log_spread
from privarms.papers.ma2025.inference import eliminations, illustrated

from .made_up import runs

SETTINGS = {"policy": "ldp_mab", "variant": "as_released", "data": "simulated", "environment": "exponential"}


def test_the_spread_of_a_sample_and_its_error():
    # Deviations -1 and 1 from the sample's mean: variance 1 and fourth moment 1, so the error is 0.
    log_sd, se = log_spread(np.array([4.0, 6.0, 4.0, 6.0]))
    assert log_sd == pytest.approx(math.log(math.sqrt(4 / 3)))
    assert se == 0
    # 0, 0, 0, 4: mean 1, variance 3, fourth moment (1 + 1 + 1 + 81) / 4 = 21, kurtosis 7/3.
    assert log_spread(np.array([0.0, 0, 0, 4]))[1] == pytest.approx(math.sqrt((7 / 3 - 1) / 16))
    for flat in ([3.0, 3.0], [3.0]):
        assert all(map(math.isnan, log_spread(np.array(flat))))


def removed(**changes):
    base = {"regret": 0.0, "eliminations": [2, 4], "wrong": [1, 0], "auxiliary": 0, "auxiliary_wrong": [1, 3],
            "lost": [0.2, 0.4], "looks": [5, 6], "misses": [0, 2]}  # fmt: skip
    rows = pd.DataFrame({"cell": "a", "replicate": [0, 1], **(base | changes)})
    own = {"horizon": 100, "K": 3, "M": 2, "epsilon": 1, "n_aux": 50, "epsilon_aux": "2 8", "gamma": 0, "kappa": 1}
    cells = pd.DataFrame([{"cell": "a", **SETTINGS, **own, "panels": "order", "replicates": 2}])
    return eliminations(runs({"eliminations": (rows, cells)})).iloc[0]


def test_removals_are_pooled_over_runs():
    row = removed()
    assert (row["removed"], row["replicates"], row["order"], row["n"]) == (3, 2, "low_first(2,8)", 100)
    # One of six rounds; residuals 1 - 2/6 and 0 - 4/6, twice 8/9 over 1, its root over 6.
    assert row["wrong"] == pytest.approx(1 / 6)
    assert row["wrong_se"] == pytest.approx(math.sqrt(2 * (4 / 9 + 4 / 9)) / 6)
    assert row["lost"] == pytest.approx(0.3)
    assert (row["source_wrong"], row["source_wrong_se"]) == (2, 1)
    assert (row["looks"], row["misses"], row["missed"]) == (11, 2, 1)
    nothing = removed(eliminations=[0, 0], wrong=[0, 0])
    assert nothing["removed"] == 0
    assert math.isnan(nothing["wrong"])
    assert math.isnan(nothing["wrong_se"])


def drawn(share, gone):
    """Return one run of 20,000 users at the test point, as `illustrated` does."""
    t = [10_000, 20_000]
    rows = pd.DataFrame(
        [
            {"cell": "a", "replicate": 0, "t": at, "arm": k, "regret": 0.0, "local_regret": 0.0, "share": s}
            | {"eliminated_after": gone[k]}
            for at, shares in zip(t, share, strict=True)
            for k, s in enumerate(shares)
        ]
    )
    cells = pd.DataFrame([{"cell": "a", **SETTINGS, "horizon": 20_000}])
    return illustrated(runs({"illustration_curves": (rows, cells)}))


def test_the_run_that_figure_6_shows_draws_an_arm_for_each_user():
    # Arm 3 is eliminated after half of the users: shares of 1/3 before, then of 1/2 for the other arms.
    expected = np.array([[1 / 3, 1 / 3, 1 / 3], [5 / 12, 5 / 12, 1 / 6]])
    actual = drawn(expected, [math.nan, math.nan, 10_000])
    shares = actual["share"].to_numpy().reshape(2, 3)
    counts = shares * [[10_000], [20_000]]
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-8)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert 0 < abs(shares - expected).max() < 0.02
    assert counts[1, 2] == pytest.approx(counts[0, 2])
    # The regret of the drawn arms with Figure 4's rewards at .33, if each arm has a third of the users.
    x = 2 / (1 + np.exp(2 * (3 * (0.33 - np.arange(1, 4) / 4)) ** 2))
    np.testing.assert_allclose(actual["local_regret"].to_numpy()[[0, 3]], counts @ (x.max() - x))
    # Non-uniform choices do not change.
    other = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1]])
    assert (drawn(other, [math.nan] * 3)["share"].to_numpy() == other.ravel()).all()
