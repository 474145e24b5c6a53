"""Check the inference tables of Neel & Roth 2018 on handmade replicates."""

import math
from collections import defaultdict
from functools import partial

import numpy as np
import pandas as pd
import pytest

from privarms.inference import max_information as mi
from privarms.inference.bias import expected_average
from privarms.papers.neel2018 import tables
from privarms.registry import artifacts

from ..chosen import results

TABLES = artifacts.inference_of_paper("neel2018")
INFERENCE = {name: partial(artifacts.make, table.made_by) for name, table in TABLES.items()}
PUBLISHED = {"experiment": ["1", "2"], "K": [20, 5], "replicates": [2, 3]}


def made(**studies):
    """Return results with studies as frames by name; Experiments 1 and 2 have 2 and 3 published runs."""
    numbers = defaultdict(lambda: 0.07, experiment_1_worst_bias=0.14)
    output = results(published=numbers, tables={"experiments": pd.DataFrame(PUBLISHED)}, replicates=studies)
    output.inference = lambda name: INFERENCE[name](output)
    return output


def runs(cell, policy, K, pulls, sums, variant=None, **parameters):
    """Return rows of a study that records arms; pulls and sums have one row per run."""
    pulls, sums = np.asarray(pulls), np.asarray(sums, float)
    setting = {"cell": cell, "policy": policy, "variant": variant, "data": "simulated", "environment": "bernoulli"}
    setting |= {"horizon": 500, "K": K, "epsilon": np.nan, "top": 1.0, "bottom": 0.5} | parameters
    R = len(pulls)
    columns = {"replicate": np.repeat(np.arange(R), K), "arm": np.tile(np.arange(K), R)}
    return pd.DataFrame({**setting, **columns, "pulls": pulls.ravel(), "reward_sum": sums.ravel()})


def five(*last):
    """Return runs of five arms with ten pulls each; only the sum of the last arm varies."""
    sums = np.tile([10.0, 9.0, 8.0, 6.0, 0.0], (len(last), 1))
    sums[:, 4] = last
    return np.full(sums.shape, 10), sums


MEANS = np.linspace(1.0, 0.5, 5)


def test_the_expected_average_is_that_of_as_many_runs_as_published():
    pulls, sums = five(1.0, 9.0, 4.0, 2.0)
    actual = INFERENCE["average_bias_experiment_2"](made(experiment_2=runs("c", "ucb", 5, pulls, sums)))
    assert list(actual["size"]) == ["all", "published"]
    row = actual.iloc[0]
    expected = expected_average(pulls, sums, MEANS, 3)
    assert (row["expected"], row["expected_se"], row["spread"]) == expected
    # Three of four runs have more noise than all four.
    assert row["expected"] > row["average"] > 0
    assert actual.iloc[1]["expected"] == pytest.approx(actual.iloc[1]["average"])


def test_published_settings():
    pulls, sums = five(1.0, 9.0, 4.0, 2.0)
    normal = runs("n", "ucb_constant_delta", 5, pulls, sums - 20, law="normal", delta=0.95)
    other = runs("p", "private_ucb", 5, pulls, sums, "as_released", law="truncated_normal", delta=np.nan)
    ablation = runs("g", "private_ucb_gamma_only", 5, pulls, sums)
    of_study = made(
        published_settings=pd.concat([normal, other], ignore_index=True),
        experiment_1=runs("u", "ucb", 20, np.full((2, 20), 25), np.full((2, 20), 5.0)),
        experiment_2=pd.concat([ablation, runs("u", "ucb", 5, pulls, sums)], ignore_index=True),
    )
    actual = INFERENCE["average_bias_published_settings"](of_study)
    actual = actual[actual["size"] == "all"].reset_index(drop=True)
    # Sums smaller by 20 give means smaller by 2.
    assert actual["worst_arm"][0] == 4
    assert actual["worst"][0] == pytest.approx(actual["worst"][1] - 2)
    assert actual["expected"][1] == pytest.approx(expected_average(pulls, sums, MEANS, 3).value)
    # For the last arm: the average of .2, .8, .5 and .6, minus .5.
    table = tables.published_settings(of_study)
    assert list(table["policy"]) == ["ucb_constant_delta", "private_ucb", "ucb", "ucb"]
    assert list(table["experiment"]) == ["2", "2", "1", "2"]
    assert list(table["law"]) == ["normal", "truncated_normal", "bernoulli", "bernoulli"]
    assert list(table["delta"].fillna(0)) == [0.95, 0, 0, 0]
    assert list(table["runs"]) == [3, 3, 2, 3]
    assert list(table["published_average"]) == [0.07] * 4
    assert list(table["published_worst"].fillna(0)) == [0, 0, 0.14, 0]
    assert (table["worst"] >= 0).all()


def picked(ladder, epsilon, *tests):
    """Return rows of adaptively chosen tests: (arm, pulls, p-value)."""
    setting = {"cell": f"{ladder}{epsilon}", "policy": "private_ucb", "variant": "as_printed", "data": "simulated"}
    setting |= {"environment": "bernoulli", "horizon": 500, "K": 5, "epsilon": epsilon} | dict(
        zip(("top", "bottom"), ladder, strict=True)
    )
    rows = [{"selector": "most_pulled", "arm": a, "pulls": n, "p_value": p} for a, n, p in tests]
    return pd.DataFrame([setting | {"replicate": i} | row for i, row in enumerate(rows)])


def test_tests_of_an_arm_of_mean_1_are_degenerate():
    best = float(mi.best_beta(0.1, 500, 0.05))
    level = float(mi.corrected_level(0.05, 0.1, 500, best))
    released = float(mi.released_level(0.05, 0.1, 40))
    assert level < 0.001 < released < 0.05
    rows = [(0, 40, 0.001)] * 6 + [(1, 40, 0.04), (2, 40, (released + 0.05) / 2), (3, 40, (level + released) / 2)]
    rows += [(4, 40, level / 2), (4, 0, 0.0)]
    ladder = picked((1.0, 0.5), 0.1, *rows)
    equal = picked((0.5, 0.5), 0.1, *rows)
    actual = INFERENCE["false_discovery"](made(adaptive_tests=pd.concat([ladder, equal], ignore_index=True)))
    assert list(actual["tests"]) == [10, 10]
    assert list(actual["replicates"]) == [4, 10]
    assert list(actual["degenerate"]) == pytest.approx([0.6, 0.0])
    assert actual["naive"].tolist() == [1, 1]
    assert actual["level"].tolist() == pytest.approx([level] * 2)
    # With equal arms only the six tests of arm 0 count, and .001 is only below the released level.
    assert actual[["corrected", "released"]].to_numpy().tolist() == [[0.25, 0.5], [0.1, 0.8]]
    assert tables.false_discovery(made(adaptive_tests=ladder))["degenerate"].tolist() == pytest.approx([0.6])


def test_the_loss_of_an_event_and_its_interval():
    setting = {"cell": "c", "policy": "private_ucb", "variant": "as_printed", "data": "simulated"}
    setting |= {"environment": "changed_reward", "horizon": 501, "K": 2, "epsilon": 1.0, "replicate": 0}
    counts = [
        setting | {"event": event, "noise": noise, "neighbour": n, "trials": 5_000, "events": events[n]}
        for event, noise, events in (("doublings", 1.0, (300, 200)), (None, np.nan, (2_000, 1_900)))
        for n in (0, 1)
        for _ in range(2)
    ]
    actual = INFERENCE["audit"](made(audit=pd.DataFrame(counts)))
    assert list(actual["event"].fillna("last")) == ["doublings", "last"]
    assert actual["loss"].tolist() == pytest.approx([math.log(300 / 200), math.log(2_000 / 1_900)])
    assert (actual["loss_low"] < actual["lower_bound"]).all()
    # 600 and 400 events of 10,000: with 99.9995% for each, about 4.56 standard errors of about 1/sqrt(events).
    half = 4.56 * (1 / math.sqrt(600) + 1 / math.sqrt(400))
    assert actual["loss_high"][0] - actual["loss_low"][0] == pytest.approx(2 * half, rel=0.05)
    assert actual["loss_low"][0] < actual["loss"][0] < actual["loss_high"][0]
