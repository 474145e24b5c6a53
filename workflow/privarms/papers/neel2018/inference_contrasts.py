"""Inference tables that compare cells: reductions of the bias, shares of Theorem 1's bound, and regrets."""

import math

import numpy as np
import pandas as pd
from scipy.special import erf

from privarms.ledger import contrasts, intervals
from privarms.papers.neel2018 import _enumerated
from privarms.papers.neel2018._settings import bonus, ladder, printed
from privarms.papers.neel2018.inference import EXPLORATION, average_bias, bias
from privarms.planning.results import Results
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule

# Half a unit of the last digit of the printed averages.
ROUNDING = {"experiment_1_ucb_bias": 5e-5, "experiment_1_private_bias": 5e-6}


@inference(studies=["experiment_1", "experiment_2"])
def reductions(results: Results) -> pd.DataFrame:
    """Return UCB's |bias| over that of private UCB; per experiment, cell of private UCB and interpretation of UCB.

    times: of the averages that the published number of runs is expected to give; last_times: of the arm with the
    smallest mean. `numbers`: re-run, or Experiment 1's two printed averages, with the ends that their rounding leaves
    """
    found = []
    for name in ("1", "2"):
        rows = average_bias(results, f"experiment_{name}").rename(columns={"expected": "expected_mean"})
        rows = rows[rows["size"] == "all"].assign(numbers="re-run", last_mean=rows["last"].abs())
        private = rows[rows["policy"] == "private_ucb"].assign(private=lambda some: some["cell"])
        values = ["expected_mean", "expected_se", "expected_sd", "last_mean", "last_se", "replicates", "cell"]
        on = ["ladder", *_around(rows)]
        ucb = rows.loc[rows["exploration"].notna(), [*on, "exploration", *values]]
        both = private.drop(columns=[*values, "exploration"]).merge(ucb, on=on)
        both = both.merge(private[["private", "expected_sd"]].rename(columns={"expected_sd": "times_bottom_sd"}))
        last = contrasts.ratios(both, private, "last", ["private"], name="last_times")
        times = contrasts.ratios(both, private, "expected", ["private"], name="times")
        # A control variate made the errors smaller than those of the paper's averages.
        spread = {"times_top_sd": both["expected_sd"], "times_bottom_sd": both["times_bottom_sd"]}
        found.append(times.assign(**spread, **{name: last[name] for name in ("last_times", "last_times_se")}))
    top, bottom = (results.published(number) for number in ROUNDING)
    u, v = ROUNDING.values()
    ends = {"times": top / bottom, "times_low": (top - u) / (bottom + v), "times_high": (top + u) / (bottom - v)}
    row = {"experiment": "1", "numbers": "printed", "ladder": "1.00-0.05", **ends}
    return pd.concat([*found, pd.DataFrame([row])], ignore_index=True)


@inference(studies=["experiment_1", "experiment_2"])
def arms(results: Results) -> pd.DataFrame:
    """Return what statements say about single arms of Experiments 1 and 2; one row per cell, arm and quantity.

    bias; absolute: its size
    detected: the level of confidence at which as many runs as published would detect the bias more likely than not
    ahead: |bias| of the arm with the smallest mean, minus that of the arm; its error is the sum of both errors, which
        is enough for any correlation
    An arm of mean 0 or 1 always has the same reward, so its bias is exactly 0; `random`: whether it is another arm.
    """
    rows = pd.concat([bias(results, f"experiment_{name}") for name in ("1", "2")], ignore_index=True)
    rows = rows[rows["size"] == "all"]
    together = rows.groupby("cell")["arm"].transform("size")
    last = rows.groupby("cell")[["bias", "se"]].transform("last")
    size, published = rows["bias"].abs(), printed(results)["replicates"]
    # In standard errors of the published number of runs. Identical rewards have none.
    unit = rows["sd"].where(rows["sd"] > 0, np.inf) / np.sqrt(rows["experiment"].map(published))
    half = rows["se"] * [intervals.quantile(n, k) for n, k in zip(rows["replicates"], together, strict=True)]
    detected = {"value_low": np.maximum(size - half, 0.0), "value": size, "value_high": size + half}
    quantities = {
        "bias": {"value": rows["bias"], "value_se": rows["se"]},
        "absolute": {"value": size, "value_se": rows["se"], "value_sd": rows["sd"]},
        "detected": {end: erf(x / unit / math.sqrt(2)) for end, x in detected.items()},
    }
    ahead = {"ahead": {"value": last["bias"].abs() - size, "value_se": last["se"] + rows["se"]}}
    kept = ["experiment", "policy", "variant", "exploration", "gamma", "ladder", "arm"]
    setting = rows[kept].assign(runs=rows["replicates"], cells=rows["cell"])
    exact = rows["mean"].isin((0.0, 1.0))
    setting["random"] = ~exact
    own = _long(setting, quantities, exact & rows["bias"].eq(0))
    return pd.concat([own, _long(setting, ahead, pd.Series(False, rows.index))], ignore_index=True)


@inference(studies=["experiment_1", "epsilon_sweep", "corollary_1"])
def theorem_1(results: Results) -> pd.DataFrame:
    """Return shares of Theorem 1's bounds; one row per arm of the private cells or enumerated instance, and quantity.

    of_bound: |bias| over (e^epsilon - 1 + T delta) mu
    of_proof: the underestimate over its bound in the theorem's proof, (1 - e^-epsilon + T delta) mu
    of_order: |bias| over epsilon mu, the order of Corollary 1 at its epsilon
    Simulated cells have delta = 0 and record the means at T.
    """
    studies = ("experiment_1", "epsilon_sweep", "corollary_1")
    rows = pd.concat([bias(results, study) for study in studies], ignore_index=True)
    rows = rows[(rows["size"] == "all") & (rows["bound"] > 0)].reset_index(drop=True)
    size, underestimate, order = rows["bias"].abs(), 0.0 - rows["bias"], rows["epsilon"] * rows["mean"]
    proof = -np.expm1(-rows["epsilon"]) * rows["mean"]
    parts = {"of_bound": (size, rows["bound"]), "of_proof": (underestimate, proof), "of_order": (size, order)}
    quantities = {name: {"value": top / over, "value_se": rows["se"] / over} for name, (top, over) in parts.items()}
    kept = ["policy", "variant", "gamma", "K", "horizon", "epsilon", "arm"]
    setting = rows[kept].assign(delta=0.0, runs=rows["replicates"], cells=rows["cell"])
    simulated = _long(setting, quantities, rows["mean"].eq(1) | np.isinf(rows["bound"]))
    known = _enumerated.responses()
    shares = {name: {"value": known.pop(name)} for name in ("of_bound", "of_proof")}
    return pd.concat([simulated, _long(known, shares, pd.Series(True, known.index))], ignore_index=True)


def _long(setting: pd.DataFrame, quantities: dict[str, dict], exact: pd.Series) -> pd.DataFrame:
    """Return one row per row of `setting` and quantity; an exact value is both ends of its interval."""
    found = []
    for name, columns in quantities.items():
        rows = setting.assign(quantity=name, **columns)
        known = rows["value"].where(exact)
        ends = {end: rows.get(end, known).where(~exact, known) for end in ("value_low", "value_high")}
        found.append(rows.assign(**ends))
    return pd.concat(found, ignore_index=True)


@inference(studies=["corollary_1"])
def corollary_1_regret(results: Results) -> pd.DataFrame:
    """Return the exponent p of regret like T^p at Corollary 1's epsilon, from T = 1,000 to each longer horizon."""
    rows = average_bias(results, "corollary_1").rename(columns={"regret": "regret_mean"})
    rows = rows[(rows["size"] == "all") & _of_corollary_1(rows)]
    by = ["policy", "variant", "gamma", "ladder", *_around(rows, horizon=False)]
    later = sorted(T for T in rows["horizon"].unique() if T > 1_000)
    ends = [rows[rows["horizon"].isin([1_000, T])] for T in later] or [rows.head(0)]
    found = pd.concat([contrasts.growth(pair, "regret", "horizon", by) for pair in ends], ignore_index=True)
    return found[found["first"] < found["last"]].rename(columns={"last": "horizon"})


@inference(studies=["corollary_1"])
def theorem_2(results: Results) -> pd.DataFrame:
    """Return regret over the order of Theorem 2 with constant 1; one row per cell of study `corollary_1`."""
    rows = average_bias(results, "corollary_1")
    rows = rows[rows["size"] == "all"]
    K, T, epsilon = (rows[name].astype(float) for name in ("K", "horizon", "epsilon"))
    private = np.log(T) / epsilon * (np.log(np.log(T)) - np.log(epsilon))
    order = np.maximum(private, np.sqrt(K * T * np.log(T)))
    kept = rows[["policy", "variant", "gamma", "K", "horizon", "epsilon", "cells"]]
    return kept.assign(of_order=rows["regret"] / order, of_order_se=rows["regret_se"] / order, runs=rows["replicates"])


@inference(studies=["experiment_2"])
def regret_ratio(results: Results) -> pd.DataFrame:
    """Return private UCB's mean regret over that of UCB in Experiment 2; per private cell and interpretation of UCB."""
    rows = average_bias(results, "experiment_2").rename(columns={"regret": "regret_mean"})
    rows = rows[rows["size"] == "all"]
    private = rows[rows["policy"] == "private_ucb"].drop(columns="exploration")
    on = ["ladder", *_around(rows)]
    found = [
        contrasts.ratios(private, rows[rows["policy"] == name], "regret", on).assign(exploration=label)
        for name, label in EXPLORATION.items()
    ]
    return pd.concat(found, ignore_index=True)


@inference(studies=["regret_2", "regret_2_of_the_program"])
def regret_growth(results: Results) -> pd.DataFrame:
    """Return the exponent p of private UCB's regret like t^p, over the second half of the rounds of Experiment 2.

    One row per cell. Its error is that of independent means, which is larger than that of one mean curve.
    """
    cells = pd.concat([results.cells(study) for study in ("regret_2", "regret_2_of_the_program")], ignore_index=True)
    cells = _with_bonus(cells[cells["policy"] == "private_ucb"])
    ends = zip(cells["top"], cells["bottom"], cells["K"], strict=True)
    cells = cells.assign(ladder=[ladder(*some) for some in ends])
    late = cells[cells["t"] >= cells["horizon"] / 2]
    return contrasts.growth(late, "regret", "t", ["cell", "policy", "variant", "gamma", "ladder"])


@inference(studies=["long_horizon"])
def even_regret(results: Results) -> pd.DataFrame:
    """Return private UCB's regret over that of equal pulls at a long horizon, over the same at T = 500.

    One row per long cell. Experiment 1's arms; `budget`: Experiment 1's epsilon, or that of Corollary 1 at each horizon
    """
    cells = results.cells("long_horizon")
    cells = _with_bonus(cells[cells["t"] == cells["horizon"]])
    even = cells["horizon"] * (cells["top"] - cells["bottom"]) / 2
    mean, se = cells["regret_mean"] / even, cells["regret_se"] / even
    # No run's regret is below 0, or above that of always pulling the worst arm.
    cells = cells.assign(even_mean=mean, even_se=contrasts.error(mean, se, cells["replicates"], 0, 2))
    fixed = np.isclose(cells["epsilon"], 0.05)
    cells = cells.assign(budget=np.where(fixed, "0.05 at every T", "of Corollary 1"))[fixed | _of_corollary_1(cells)]
    short, on = cells["horizon"] == 500, ["variant", "gamma", "budget", *_around(cells, horizon=False)]
    return contrasts.ratios(cells[~short], cells[short], "even", on)


def _of_corollary_1(rows: pd.DataFrame) -> np.ndarray:
    """Return which rows have epsilon = ln^1.5(T) / sqrt(K T), which studies.yaml rounds."""
    T = rows["horizon"].astype(float)
    return np.isclose(rows["epsilon"], np.log(T) ** 1.5 / np.sqrt(rows["K"] * T), rtol=1e-4)


def _around(rows: pd.DataFrame, horizon: bool = True) -> list[str]:
    """Return the columns that two compared cells share: parameters of the arms, and the horizon."""
    shared = ["horizon"] if horizon else []
    return [*shared, *(k for k in EnvironmentModule("bernoulli").arguments if k in rows)]


def _with_bonus(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.assign(gamma=pd.Series([bonus(cell) for cell in cells.to_dict("records")], cells.index))
