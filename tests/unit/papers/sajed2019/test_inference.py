"""Check the inference tables of Sajed & Sheffet 2019 on a few runs, against values worked by hand."""

import numpy as np
import pytest
import scipy

from privarms.inference.proportions import clopper_pearson
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019 import inference

from .tables_by_hand import results, rows

CELL = {"variant": None, "data": "simulated", "environment": "bernoulli", "horizon": 100, "K": 3, "top": 0.75}
CELL |= {"bottom": 0.25, "epsilon": 0.5}


def cells(*own):
    """Return summaries of cells c0, c1, ..., at the horizon."""
    measured = {"t": 100, "replicates": 2, "regret_mean": 10.0, "regret_se": 1.0, "regret_largest_share": 0.5}
    named = dict.fromkeys(["cell", "policy", *CELL, "width", *(k for one in own for k in one)])
    named |= {"policy": "dp_se"} | CELL
    return [named | {"cell": f"c{i}"} | one | measured for i, one in enumerate(own)]


def test_the_second_half_of_the_horizon():
    def run(cell, replicate, *regret):
        shared = {"cell": cell, "horizon": 100, "replicate": replicate}
        return rows(shared, *({"t": t, "regret": r} for t, r in zip((10, 50, 60, 100), regret, strict=True)))

    runs = run("c0", 0, 1, 5, 6, 6) + run("c0", 1, 3, 4, 4, 4) + run("c1", 0, 0, 0, 0, 8) + run("c1", 1, 2, 2, 2, 2)
    summaries = cells({}, {"policy": "dp_ucb", "width": "chan"})
    actual = inference.second_half(results(cells={"second_half": summaries}, replicates={"second_half": runs}))
    assert list(actual["policy"]) == ["dp_se", "dp_ucb"]
    assert list(actual["width"])[1] == "chan"
    columns = ["half", "end", "growing", "replicates", "added", "added_se"]
    # The second half adds 1 and 0 to DP-SE's runs, 8 and 0 to DP-UCB's.
    assert actual[columns].to_numpy().tolist() == [[4.5, 5.0, 1, 2, 0.5, 0.5], [1.0, 5.0, 1, 2, 4.0, 4.0]]
    assert actual[["still", "still_events", "still_trials", "runs"]].to_numpy().tolist() == [[0.5, 1, 2, 2]] * 2
    assert list(actual["cells"]) == ["c0", "c1"]


def test_the_law_of_the_regret_of_each_cell():
    runs = rows({"cell": "c0", "policy": "dp_se"}, {"regret": 3.0}, {"regret": 1.0}, {"regret": 3.0}, {"regret": 3.0})
    runs += rows({"cell": "c1", "policy": "dp_se"}, {"regret": 2.0}, {"regret": 2.0})
    runs += rows({"cell": "c2", "policy": "ucb1"}, {"regret": 9.0})
    # Cells that differ in other parameters than K and epsilon are not mixed.
    summaries = cells({"beta": 0.05}, {"K": 2}, {"policy": "ucb1"})
    actual = inference.regret_atoms(results(cells={"regret": summaries}, replicates={"regret": runs}))
    assert actual[["K", "value", "probability", "replicates"]].to_numpy().tolist() == [
        [2, 2.0, 1.0, 2],
        [3, 1.0, 0.25, 4],
        [3, 3.0, 0.75, 4],
    ]


def test_what_thirty_runs_give_where_there_are_more():
    # One run of a hundred carries the mean. Of 30 drawn runs none is it with probability .74, two or more with .036,
    # three or more with .003.
    runs = [{"cell": "c0", "replicate": i, "t": 100, "regret": 3_000.0 * (i == 7)} for i in range(100)]
    some = [c | {"replicates": n} for c, n in zip(cells({}, {}), (100, 30), strict=True)]
    actual = inference.thirty_runs(results(cells={"figure1": some}, replicates={"figure1": runs}))
    assert actual[["cell", "t", "low", "high"]].to_numpy().tolist() == [["c0", 100, 0, 200]]
    few = inference.thirty_runs(results(cells={"figure1": some[1:]}, replicates={"figure1": runs}))
    assert (len(few), list(few)) == (0, ["cell", "t", "low", "high"])


def ratios(regret, figure1, instances=()):
    none = cells({"epsilon": None})
    frames = {"regret": regret, "figure1": figure1, "settings": none, "instances": instances or none}
    return inference.ratios(results(cells=frames))


def test_the_ratio_to_dp_se_of_the_same_setting():
    regret = [c | {"regret_mean": 4.0, "regret_se": 0.5} for c in cells({}, {"K": 5})]
    figure1 = cells({}, {"policy": "dp_ucb", "width": "chan"}, {"policy": "ucb1", "epsilon": None})
    (actual,) = ratios(regret, figure1).to_dict("records")
    assert (actual["study"], actual["policy"], actual["width"], actual["K"]) == ("figure1", "dp_ucb", "chan", 3)
    # 10 +- 1 over 4 +- 0.5.
    assert actual["ratio"] == pytest.approx(2.5)
    assert actual["ratio_se"] == pytest.approx(2.5 * np.hypot(0.1, 0.125))
    assert (actual["cells"], actual["runs"]) == ("c1 c0", 2)


def test_the_ratio_on_an_instance_is_to_dp_se_on_the_same():
    regret = [c | {"regret_mean": 4.0} for c in cells({})]
    some = cells({"spacing": "convex"}, {"spacing": "convex", "policy": "dp_ucb"}, {"policy": "dp_ucb"})
    some[0]["regret_mean"] = 2.0
    some[2]["spacing"] = "concave"
    actual = ratios(regret, cells({"policy": "dp_ucb"}), some).set_index("study")
    assert actual.loc["figure1", "ratio"] == 2.5
    assert actual.loc["instances", "ratio"].tolist()[0] == 5.0
    assert np.isnan(actual.loc["instances", "ratio"].tolist()[1]), "DP-SE did not run there"


def growth(*regrets, policy="dp_ucb", width="chan"):
    horizons = [10**2, 10**3, 10**4]
    return [
        one | {"horizon": T, "t": T, "regret_mean": r, "regret_se": 0.1 * r}
        for T, r in zip(horizons, regrets, strict=True)
        for one in cells({"policy": policy, "width": width})
    ]


def test_how_regret_grows_with_the_horizon():
    # Growth like ln(T)^2, and like ln(T)^1 followed by ln(T)^3.
    logs = np.log([10**2, 10**3, 10**4])
    bent = [logs[0], logs[1], logs[1] * (logs[2] / logs[1]) ** 3]
    some = growth(*logs**2) + growth(*bent, policy="dp_se", width=None)
    actual = inference.growth(results(cells={"growth": some}))
    # All pairs of the three horizons, so a horizon that somebody adds changes no other row.
    square = actual[actual["policy"] == "dp_ucb"].set_index(["first", "last"])
    assert list(square.index) == [(100, 1_000), (100, 10_000), (1_000, 10_000)]
    assert list(square["width"]) == ["chan"] * 3
    assert square["exponent"].to_numpy() == pytest.approx(2)
    # The logarithm of the ratio has an error of .1 sqrt(2); ln(T) doubles.
    assert square.loc[(100, 10_000), "exponent_se"] == pytest.approx(0.1 * np.sqrt(2) / np.log(2))
    other = actual[actual["policy"] == "dp_se"].set_index(["first", "last"])["exponent"]
    assert other.to_numpy() == pytest.approx([1, (np.log(1.5) + 3 * np.log(4 / 3)) / np.log(2), 3])


def audited(events, trials=1000):
    """Return counts of DP-UCB's audit at two multiples of the noise, each with neighbours 0 and 1."""
    shared = {"cell": "c", "policy": "dp_ucb", "data": "simulated", "environment": "first_reward", "horizon": 8}
    shared |= {"K": 6, "width": "exact", "epsilon": 0.5, "replicate": 0, "trials": trials // 2}
    settings = [(noise, neighbour) for noise in (1.0, 0.5) for neighbour in (0, 1)]
    names = {1.0: ("full", "c"), 0.5: ("half", "c")}
    return [
        shared | {"cell": names[noise][neighbour], "noise": noise, "neighbour": neighbour, "events": part}
        for (noise, neighbour), count in zip(settings, events, strict=True)
        for part in (count // 2, count - count // 2)
    ]


def test_the_loss_of_an_audit_from_its_counts():
    actual = inference.audit_dp_ucb(results(replicates={"audit_dp_ucb": audited((100, 150, 51, 200))}))
    actual = actual.set_index("noise")
    assert list(actual["loss"]) == pytest.approx([np.log(200 / 51), np.log(150 / 100)])
    # Two intervals in each of 100 settings, valid together with probability .999.
    ends = [clopper_pearson(count, 1000, 1 - 0.001 / 200) for count in (100, 150)]
    assert actual.loc[1.0, "loss_low"] == pytest.approx(np.log(ends[1][0] / ends[0][1]))
    assert actual.loc[1.0, "loss_high"] == pytest.approx(np.log(ends[1][1] / ends[0][0]))
    assert (actual["claimed"] == 0.5).all()
    assert list(actual["cells"]) == ["half c", "full c"]


def pulls(summaries, runs):
    return inference.pulls(results(cells={"pulls": summaries}, replicates={"pulls": runs}))


def of_arms(cell, *pulled, policy="dp_se"):
    """Return the runs of a cell: the pulls of each arm."""
    return [
        {"cell": cell, "policy": policy, "replicate": run, "arm": arm, "pulls": n}
        for run, arms in enumerate(pulled)
        for arm, n in enumerate(arms)
    ]


def test_the_pulls_of_each_arm_beside_the_lemma():
    ceilings = [bounds.pulls_ceiling(gap, 3, 0.5, 0.01) for gap in (0.25, 0.5)]
    over = ceilings[0] + 1
    actual = pulls(cells({}), of_arms("c0", (100, 10, 20), (100, over, 30)))
    assert list(actual["gap"]) == [0.25, 0.5]
    assert list(actual["mean"]) == [(10 + over) / 2, 25]
    assert list(actual["largest"]) == [over, 30]
    assert list(actual["ceiling"]) == ceilings
    assert list(actual["above"]) == [0.5, 0]
    assert list(actual["any_above"]) == [0.5, 0.5]
    # One of two runs, over beta = .01; the interval is valid for 100 rows at once.
    assert list(actual["any_above_over_beta"]) == [50, 50]
    low, high = clopper_pearson(1, 2, 1 - 0.001 / 100)
    assert actual[["any_above_over_beta_low", "any_above_over_beta_high"]].to_numpy() == pytest.approx(
        np.array([[100 * low, 100 * high]] * 2)
    )
    assert list(actual["cells"]) == ["c0", "c0"]
    assert (actual["beta"] == 0.01).all()
    assert actual["order"].iloc[1] == bounds.pulls_order(0.5, 3, 0.5, 0.01)


def test_scaling_beside_the_theorem():
    summaries = cells({"K": 2}, {"K": 2, "policy": "epoch_se", "epsilon": None}, {"K": 2, "beta": 0.05})
    actual = inference.scaling(results(cells={"scaling": [c | {"horizon": 10**6, "t": 10**6} for c in summaries]}))
    log = np.log(10**6)
    # One suboptimal arm with gap 1/2: log(T)/gap + K log(T)/epsilon; without privacy only the first.
    assert list(actual["order"]) == pytest.approx([2 * log + 2 * log / 0.5, 2 * log, 2 * log + 2 * log / 0.5])
    assert actual["order_ratio"].iloc[1] == pytest.approx(10 / (2 * log))
    ceiling = 0.5 * bounds.pulls_ceiling(0.5, 2, 0.5, 1e-6) + 1
    assert actual["ceiling"].iloc[0] == pytest.approx(ceiling)
    assert actual["ratio_se"].iloc[0] == pytest.approx(1 / ceiling)
    assert actual["ratio"].iloc[1:].isna().all(), "the bound is about DP-SE with beta = 1/T"


def test_the_worst_gap_beside_the_theorem():
    summaries = cells({"bottom": 0.5}, {"policy": "epoch_se", "epsilon": None})
    (actual,) = inference.minimax(results(cells={"minimax": summaries})).to_dict("records")
    order = np.sqrt(100 * 3 * np.log(100)) + 3 * np.log(100) / 0.5
    assert actual["gap"] == 0.25
    assert actual["order"] == pytest.approx(order)
    assert (actual["ratio"], actual["ratio_se"]) == pytest.approx((10 / order, 1 / order))
    assert (actual["order_ratio"], actual["order_ratio_se"]) == pytest.approx((10 / order, 1 / order))


def test_identical_runs_do_not_make_a_mean_exact():
    summaries = [c | {"regret_se": 0.0, "replicates": 50} for c in cells({"bottom": 0.5})]
    (actual,) = inference.minimax(results(cells={"minimax": summaries})).to_dict("records")
    # With probability .999 at most a share p of other runs differ, each by at most 50. This is a half-width.
    p = 1 - (0.0005 / 100) ** (1 / 50)
    assert actual["ratio_se"] == 0
    order = actual["order"]
    assert actual["order_ratio_se"] == pytest.approx(50 * p / scipy.stats.t.isf(0.0005, 49) / order)


def test_stopping_times_beside_the_theorems():
    shared = {"variant": None, "data": "simulated", "environment": "two_point", "horizon": None, "alpha": 0.25}
    shared |= {"R": 1.0, "mu": 0.5, "epsilon": 1.0, "replicates": 4, "stopping_time_mean": 5.0}
    summaries = rows(
        shared,
        {"cell": "c0", "policy": "dp_nas", "beta": 0.05},
        {"cell": "c1", "policy": "dp_nas", "beta": 0.2},
        {"cell": "c2", "policy": "another", "beta": np.nan, "epsilon": np.nan},
    )
    lower = bounds.private_samples(1.0, 0.25, 0.05, 0.5)
    upper = bounds.halting_time(1.0, 0.25, 0.05, 0.5)
    times = (lower - 0.5, lower + 1, upper - 1, 2 * upper)
    runs = [{"cell": cell, "stopping_time": t} for cell in ("c0", "c1", "c2") for t in times]
    actual = inference.stopping(results(cells={"stopping": summaries}, replicates={"stopping": runs}))
    first = actual.iloc[0]
    assert (first["t_upper"], first["t_lower"]) == (upper, lower)
    assert (first["by_upper"], first["by_lower"]) == (0.75, 0.25)
    assert first["order"] == bounds.samples_order(1.0, 0.25, 0.05, 0.5)
    assert first["t_proof"] == bounds.private_samples_of_proof(1.0, 0.25, 0.05, 0.5)
    assert first["upper_quartile"] == pytest.approx(np.quantile(times, 0.75))
    assert (first["quartile_low"], first["quartile_high"]) == (times[0], np.inf), "four runs say little"
    for study in ("large_mean", "noise_alone"):
        same = inference.stopping(results(cells={study: summaries}, replicates={study: runs}), study)
        assert same.equals(actual)
    # Theorem 3.3 needs beta up to 0.08. No theorem is about a rule without beta.
    assert actual["by_upper"].isna().tolist() == [False, True, True]
    assert actual["by_lower"].isna().tolist() == [False, False, True]
