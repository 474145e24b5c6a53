"""Check bounds from counts: either neighbour may be more likely; several audits in one table."""

import math

import numpy as np
import pandas as pd
import pytest

from privarms.audits.events import changed_reward, neighbouring_experiments, neighbouring_streams
from privarms.audits.reduction import COUNTS, MEASURES, epsilon_lower_bound, reduce


def blocks(events, trials=20, **setting):
    """Return two blocks per neighbour; events: those of neighbours 0 and 1 per block."""
    return pd.DataFrame(
        [
            {"cell": f"c{n}", **setting, "neighbour": n, "trials": trials, "events": events[n]}
            for n in (0, 1)
            for _ in range(2)
        ]
    )


def test_the_bound_from_counts_is_the_quotient_of_the_two_ends():
    # 0 of n: the upper end is 1 - 0.025^(1/n); n of n: the lower end is 0.025^(1/n).
    expected = np.log(0.025 ** (1 / 50) / (1 - 0.025 ** (1 / 40)))
    assert epsilon_lower_bound(0, 40, 50, 50) == pytest.approx(expected)
    assert epsilon_lower_bound(7, 40, 0, 50) == float("-inf")
    assert epsilon_lower_bound(20, 40, 40, 50) < np.log(0.8 / 0.5)


def test_blocks_are_added_up_and_the_likelier_neighbour_stands_above():
    setting = {"policy": "dp_conse", "release": "estimate", "M": 1, "epsilon": 1.0, "horizon": 100, "alpha": 0.5}
    actual = reduce(blocks((0, 10), 10, **setting), neighbouring_experiments.AUDIT, ["release", "M", "epsilon"])
    assert list(actual.columns) == ["audit", "subject", "release", "M", "epsilon", *MEASURES, *COUNTS, "cells"]
    row = actual.iloc[0]
    assert (row["audit"], row["subject"], row["release"]) == ("neighbouring_experiments", "dp_conse", "estimate")
    # 0 of 20 and 20 of 20, each end with probability 0.025.
    assert (row["low_0"], row["high_1"]) == (0, 1)
    assert row["high_0"] == pytest.approx(1 - 0.025 ** (1 / 20))
    assert row["low_1"] == pytest.approx(0.025 ** (1 / 20))
    assert row["lower_bound"] == pytest.approx(math.log(row["low_1"] / row["high_0"]))
    assert (row["trials"], row["confidence"]) == (20, 0.95)
    assert (row["claimed"], row["exact"]) == (0.5, pytest.approx(1.0))


def test_the_likelier_neighbour_is_the_audit_s():
    setting = {"policy": "private_ucb", "K": 2, "horizon": 101, "epsilon": 1.0, "variant": "as_printed"}
    up, down = (
        reduce(blocks(events, **setting), changed_reward.AUDIT, ["variant"], confidence=0.9).iloc[0]
        for events in ((20, 0), (0, 20))
    )
    assert up["lower_bound"] == pytest.approx(math.log(0.05 ** (1 / 40) / (1 - 0.05 ** (1 / 40))))
    assert down["lower_bound"] == -math.inf
    assert math.isnan(up["exact"])
    assert up["claimed"] == 1.0


def test_a_row_per_setting_and_parameters_that_do_not_apply_take_their_defaults():
    setting = {"policy": "dp_se", "K": 20, "horizon": 50_000_000, "beta": np.nan}
    counts = pd.concat(
        [blocks((0, 1), **setting, epsilon=epsilon, noise=noise) for epsilon in (0.25, 0.5) for noise in (0.5, 1.0)]
    )
    actual = reduce(counts, neighbouring_streams.AUDIT, ["epsilon", "noise"])
    assert actual[["epsilon", "noise"]].values.tolist() == [[0.25, 0.5], [0.25, 1], [0.5, 0.5], [0.5, 1]]
    assert actual["exact"].tolist() == pytest.approx([0.5, 0.25, 1, 0.5], abs=1e-6)


def test_a_further_parameter_makes_rows_of_its_own():
    setting = {"policy": "dp_se", "K": 20, "horizon": 50_000_000, "epsilon": 0.5, "noise": 1.0}
    usual = blocks((0, 1), **setting, beta=np.nan)
    other = blocks((0, 1), **setting, beta=0.05).assign(cell=["d0", "d0", "d1", "d1"])
    actual = reduce(pd.concat([usual, other]), neighbouring_streams.AUDIT, ["epsilon", "noise"])
    assert dict(zip(actual["cells"], actual["beta"].isna(), strict=True)) == {"d0 d1": False, "c0 c1": True}
