"""Inference tables: numbers computed from the replicates; one function per table."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy

from privarms.audits.events import changed_reward
from privarms.audits.reduction import COUNTS, ENDS, losses, reduce
from privarms.inference import max_information
from privarms.inference.bias import (
    average_absolute_bias,
    bias_bound,
    blocks,
    controlled_bias,
    expected_average,
    sample_mean_bias,
)
from privarms.inference.proportions import clopper_pearson
from privarms.inference.regression import two_sided_p_value, z_score
from privarms.inference.rows import as_frame
from privarms.ledger import contrasts, intervals
from privarms.papers.neel2018._settings import EXPERIMENTS, LEVEL, bonus, ladder, parameters, printed
from privarms.planning.results import Results, environment_of
from privarms.registry.artifacts import inference

CONFIDENCE = 0.95
BINS = 20
# Two interpretations of "the standard UCB algorithm", which has no bonus for privacy.
EXPLORATION = {"ucb": "of the program", "ucb1": "UCB1"}
# The tests of Figure 6 in the text and in the authors' program. The text leaves the estimator open.
TESTS = {
    "as_printed": {"standard_error": "correct", "coordinate": "zero"},
    "as_released": {"standard_error": "variance", "coordinate": "largest"},
}
FIGURE_6 = {
    "oful": TESTS["as_printed"],
    "linear_ucb_as_released": TESTS["as_released"] | {"estimator": "policy"},
}


def _setting(first: pd.Series, of_parameters: list[str]) -> dict:
    """Return the columns that name a cell, with the parameters of policy and environment."""
    named = {"policy": first["policy"], "variant": first["variant"] if pd.notna(first["variant"]) else None}
    return named | {"horizon": int(first["horizon"])} | {k: first[k] for k in of_parameters}


def _runs(results: Results, study: str) -> Iterator[tuple[dict, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (setting, pulls, sums, means) of each cell of a study that records arms.

    First of all replicates, then of those that a published figure averages; `size` in the setting is all or published.
    pulls: [R, K], of the smallest integer type that holds them; sums: [R, K]; means: float64[K]
    In a study with several experiments, the number of arms decides to which one a cell belongs.
    """
    stated = printed(results)
    by_arms = {K: name for name, K in stated["K"].items() if name in ("1", "2")}
    for cell, columns in results.by_cell(study, ("pulls", "reward_sum")):
        # The ladder replaces the environment's parameters; the others are the policies' own.
        own = [c for c in parameters(cell) if c not in ("K", "epsilon", "top", "bottom")]
        first = cell.iloc[0]
        K = int(first["K"])
        setting = {
            "experiment": EXPERIMENTS.get(study) or by_arms.get(K, ""),
            "policy": first["policy"],
            "variant": first["variant"] if pd.notna(first["variant"]) else None,
            "ladder": ladder(first["top"], first["bottom"], K),
            "K": K,
            "horizon": int(first["horizon"]),
            "epsilon": first.get("epsilon", np.nan),
            **first[own],
            "exploration": EXPLORATION.get(first["policy"]),
            "gamma": bonus(first),
            "cell": first["cell"],
            "cells": first["cell"],
        }
        pulls, sums = (columns[c].reshape(-1, K) for c in ("pulls", "reward_sum"))
        means = environment_of(first).means
        yield setting | {"size": "all"}, pulls, sums, means
        if setting["experiment"] in stated.index:
            n = int(stated["replicates"][setting["experiment"]])
            yield setting | {"size": "published"}, pulls[:n], sums[:n], means


@inference(studies=["experiment_1"], name="bias_experiment_1", arguments={"study": "experiment_1"})
@inference(studies=["experiment_2"], name="bias_experiment_2", arguments={"study": "experiment_2"})
@inference(studies=["epsilon_sweep"], name="bias_epsilon_sweep", arguments={"study": "epsilon_sweep"})
@inference(studies=["corollary_1"], name="bias_corollary_1", arguments={"study": "corollary_1"})
@as_frame
def bias(results: Results, study: str) -> Iterator[pd.DataFrame]:
    """Return the bias of every arm's sample mean; one row per cell, arm and size (all replicates, or as published).

    bias, se: of all replicates by `controlled_bias`; of the published number the plain mean error, which is published
    sd: standard deviation of an error, over the replicates in which the arm was pulled
    """
    for setting, pulls, sums, means in _runs(results, study):
        plain = sample_mean_bias(pulls, sums, means)
        output = controlled_bias(pulls, sums, means) if setting["size"] == "all" else plain
        columns = {
            "arm": np.arange(len(means)),
            "mean": means,
            "bias": output.bias,
            "se": output.standard_error,
            "sd": plain.standard_error * np.sqrt(plain.replicates),
            "pulls": pulls.mean(axis=0),
            "bound": bias_bound(setting["epsilon"], means) if pd.notna(setting["epsilon"]) else np.nan,
            "replicates": output.replicates,
        }
        yield pd.DataFrame({**setting, **columns})


@inference(studies=["experiment_1"], name="average_bias_experiment_1", arguments={"study": "experiment_1"})
@inference(studies=["experiment_2"], name="average_bias_experiment_2", arguments={"study": "experiment_2"})
@inference(studies=["epsilon_sweep"], name="average_bias_epsilon_sweep", arguments={"study": "epsilon_sweep"})
@inference(studies=["corollary_1"], name="average_bias_corollary_1", arguments={"study": "corollary_1"})
@inference(
    studies=["published_settings"], name="average_bias_published_settings", arguments={"study": "published_settings"}
)
@as_frame
def average_bias(results: Results, study: str) -> Iterator[dict]:
    """Return the average over arms of |bias|, the worst arm, and the regret; one row per cell and size.

    average_if_unbiased: the average that simulation noise gives without any bias
    expected, expected_se, spread: expectation of `average` over the published number of runs, its standard error, and
    the standard deviation of such an average; nan if none was published
    missing: number of sample means, over arms and replicates, of arms that were never pulled
    mean_of_arms: the average of the true means
    expected_sd: standard deviation of one run, if the published average were a mean of runs
    signed, signed_se: the average of the signed biases; its error is enough for any correlation between arms
    """
    published = printed(results)["replicates"]
    for setting, pulls, sums, means in _runs(results, study):
        bias, errors, replicates = sample_mean_bias(pulls, sums, means)
        average, average_se = average_absolute_bias(pulls, sums, means)
        known = ~np.isnan(errors)
        if_unbiased = errors[known].mean() * math.sqrt(2 / math.pi) if known.any() else math.nan
        if setting["size"] == "all":
            bias, errors, _ = controlled_bias(pulls, sums, means)
        worst = int(np.nanargmax(np.abs(bias)))
        regret = np.concatenate([pulls[some] @ (means.max() - means) for some in blocks(len(pulls))])
        as_many = published.get(setting["experiment"])
        expected = expected_average(pulls, sums, means, int(as_many)) if as_many else (math.nan,) * 3
        of_run = expected[2] * math.sqrt(min(as_many, len(pulls))) if as_many else math.nan
        yield {
            **setting,
            "replicates": len(pulls),
            "average": average,
            "average_se": average_se,
            **dict(zip(("expected", "expected_se", "spread"), expected, strict=True)),
            "expected_sd": of_run,
            "average_if_unbiased": if_unbiased,
            "worst_arm": worst,
            "worst": bias[worst],
            "worst_se": errors[worst],
            "last": bias[-1],
            "last_se": errors[-1],
            "regret": regret.mean(),
            "regret_se": pd.Series(regret).sem(),
            "missing": int((len(pulls) - replicates).sum()),
            "mean_of_arms": means.mean(),
            "signed": bias.mean(),
            "signed_se": errors.mean(),
            "runs": len(pulls),
        }


@inference(studies=["experiment_1"])
@as_frame
def round_robin(results: Results) -> Iterator[dict]:
    """Return the fraction of Experiment 1's runs with T / K pulls of every arm, up to rounding; one row per cell.

    uneven: the share of the other runs
    """
    for setting, pulls, *_ in _runs(results, "experiment_1"):
        if setting["size"] == "all":
            even = np.ptp(pulls, axis=1) <= 1
            uneven = {"uneven": (~even).mean(), "uneven_events": (~even).sum(), "uneven_trials": len(even)}
            yield setting | {"fraction": even.mean(), "replicates": len(even)} | uneven


def _linear(results: Results) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the setting of each cell of the linear bandit and each estimator, and its runs with its estimates.

    All have "ols"; the two UCB algorithms also have "policy", their own estimator. OFUL's is ridge regression.
    """
    rows = results.replicates("linear")
    for _, cell in rows.groupby("cell", observed=True, sort=False):
        name = cell["cell"].iloc[0]
        setting = _setting(cell.iloc[0], parameters(rows)) | {"cell": name, "cells": name}
        if setting["policy"] == "linear_ucb_as_released":
            # The column is missing in a study whose cells all have the default, and a text where only some have it.
            setting["contexts"] = "own" if str(setting.get("shared_contexts")) == "False" else "shared"
        yield setting | {"estimator": "ols"}, cell
        if setting["policy"] in ("oful", "linear_ucb_as_released"):
            own = cell.assign(estimate=cell["policy_estimate"], variance=cell["policy_variance"])
            yield setting | {"estimator": "policy"}, own


def _tests(results: Results) -> Iterator[tuple[dict, np.ndarray]]:
    """Yield the p-values of every cell, estimator, standard error and coordinate, of the runs that have one."""
    for setting, cell in _linear(results):
        for standard_error, coordinate in itertools.product(("correct", "variance"), ("zero", "largest")):
            rows = cell[(cell["coordinate"] == coordinate) & (cell["variance"] > 0)]
            score = z_score(rows["estimate"], rows["truth"], rows["variance"], standard_error)
            test = {"standard_error": standard_error, "coordinate": coordinate}
            of_figure = FIGURE_6.get(setting["policy"], {}).items() <= (setting | test).items()
            shown = {"figure_6": of_figure and setting["policy"] in FIGURE_6}
            shown["of_variant"] = TESTS.get(setting["variant"]) == test
            yield setting | test | shown, two_sided_p_value(score)


@inference(studies=["linear"])
@as_frame
def rejections(results: Results) -> Iterator[dict]:
    """Return how often the z-test of a coefficient rejects at .05, and how far its p-values are from uniform.

    One row per cell, standard error, coordinate and estimator (ols: the arm's own rows; policy: the released program's
    estimate, which its shared list of contexts shifts). replicates: runs whose arm has enough pulls for an estimate.
    figure_6: whether it is the test of Figure 6; of_variant: whether it is the test of the cell's variant
    over_level: the rate over .05, with the ends of its 99.9% interval; p_mean, p_se: of the p-values
    may_be_uniform: whether ks is at most its 99.9% quantile under uniform p-values, sqrt(ln(2/.001)/(2n)) (Dvoretzky,
    Kiefer, Wolfowitz; Massart 1990)
    """
    for setting, p in _tests(results):
        n, (rate, error) = len(p), _rejected(p, LEVEL)
        distance, ks_p = scipy.stats.kstest(p, "uniform") if n else (math.nan, math.nan)
        low, high = clopper_pearson((p <= LEVEL).sum(), n, intervals.CONFIDENCE) if n else (math.nan, math.nan)
        yield setting | {
            "replicates": n,
            "rejection_rate": rate,
            "se": error,
            "ks": float(distance),
            "ks_p": float(ks_p),
            **{"rejection_rate_events": (p <= LEVEL).sum(), "rejection_rate_trials": n, "runs": n},
            **{"over_level": rate / LEVEL, "over_level_low": low / LEVEL, "over_level_high": high / LEVEL},
            "may_be_uniform": bool(distance <= math.sqrt(math.log(2 / (1 - intervals.CONFIDENCE)) / (2 * max(n, 1)))),
            **{"p_mean": p.mean() if n else math.nan, "p_se": p.std() / math.sqrt(max(n, 1)) if n else math.nan},
        }


@inference(studies=["linear"])
def skew(results: Results) -> pd.DataFrame:
    """Return the mean p-value of Figure 6's tests minus that of the same test of arms that are chosen at random.

    One row per cell of an adaptive algorithm. Both sides have the estimator that both have, ordinary least squares.
    """
    rows = rejections(results).query("estimator == 'ols'")
    tests = zip(rows["policy"], rows["standard_error"], rows["coordinate"], strict=True)
    of_figure = [FIGURE_6.get(name, {}).items() >= {("standard_error", e), ("coordinate", c)} for name, e, c in tests]
    on = ["variant", "K", "dimensions", "horizon", "standard_error", "coordinate"]
    return contrasts.differences(rows[of_figure], rows[rows["policy"] == "uniform"], "p", on)


@inference(studies=["linear"])
@as_frame
def histograms(results: Results) -> Iterator[pd.DataFrame]:
    """Return counts of p-values in 20 bins over the published number of replicates; one row per test and bin."""
    edges = np.linspace(0, 1, BINS + 1)
    published = int(printed(results)["replicates"]["linear"])
    for setting, p in _tests(results):
        first = p[:published]
        counts, _ = np.histogram(first, edges)
        columns = {"low": edges[:-1], "high": edges[1:], "count": counts, "replicates": len(first)}
        below = (first <= LEVEL).mean() if len(first) else math.nan
        yield pd.DataFrame({**setting, **columns, "below_level": below})


@inference(studies=["linear"])
@as_frame
def selection(results: Results) -> Iterator[dict]:
    """Return the error of the most-pulled arm's largest coefficient, positive away from 0.

    One row per cell, estimator as in `rejections` and coordinate ("zero": its plain error), over the runs that have the
    estimate; pulls and regret are means over runs.
    """
    for setting, cell in _linear(results):
        for coordinate in ("zero", "largest"):
            tested = cell[(cell["coordinate"] == coordinate) & cell["estimate"].notna()]
            sign = np.sign(tested["truth"]) if coordinate == "largest" else 1.0
            error = (tested["estimate"] - tested["truth"]) * sign
            root = math.sqrt(len(error)) if len(error) else math.nan
            yield setting | {
                "coordinate": coordinate,
                "replicates": len(error),
                "bias": error.mean(),
                "se": error.std() / root,
                **{"bias_se": error.std() / root, "runs": len(error)},
                "pulls": tested["pulls"].mean(),
                "regret": tested["regret"].mean(),
                "regret_se": tested["regret"].std() / root,
            }


def _rejected(p: np.ndarray, level: float | np.ndarray) -> tuple[float, float]:
    """Return the share of p-values that a level rejects, with its standard error; nan without a test or a level."""
    rate = math.nan
    if len(p) and not np.isnan(level).any():
        # A level that underflows to 0 rejects nothing, not even a p-value of 0.
        rate = float(np.mean((p <= level) & (level > 0)))
    return rate, math.sqrt(rate * (1 - rate) / max(len(p), 1))


@inference(studies=["adaptive_tests"])
@as_frame
def false_discovery(results: Results) -> Iterator[dict]:
    """Return how often a true null is rejected at .05, before and after the correction; one row per cell and selector.

    degenerate: the share of tests of an arm of mean 0 or 1 against that mean. They test nothing, because their p-values
    do not depend on the data; tests: all of an arm that was pulled; replicates: those that are not degenerate
    naive, corrected, released: the shares of the latter that reject at .05, at `level` (Theorem 3), and at the level of
    the authors' program; the last two are nan without a privacy budget
    """
    for cell, columns in results.by_cell("adaptive_tests", ("selector", "arm", "pulls", "p_value")):
        first = cell.iloc[0]
        epsilon, horizon = float(first.get("epsilon", math.nan)), int(first["horizon"])
        means, level = environment_of(first).means, math.nan
        if not math.isnan(epsilon):
            beta = max_information.best_beta(epsilon, horizon, LEVEL)
            level = float(max_information.corrected_level(LEVEL, epsilon, horizon, beta))
        for selector, every in pd.DataFrame(columns).groupby("selector", sort=False):
            every = every[every["pulls"] > 0]
            tests = every[(means[every["arm"]] > 0) & (means[every["arm"]] < 1)]
            p, released = tests["p_value"].to_numpy(), math.nan
            if not math.isnan(epsilon):
                released = max_information.released_level(LEVEL, epsilon, tests["pulls"].to_numpy())
            yield {
                **_setting(first, parameters(cell)),
                "cells": first["cell"],
                "epsilon": epsilon,
                "selector": selector,
                "replicates": len(p),
                "tests": len(every),
                "degenerate": 1 - len(p) / len(every) if len(every) else math.nan,
                **dict(zip(("naive", "naive_se"), _rejected(p, LEVEL), strict=True)),
                "level": level,
                **dict(zip(("corrected", "corrected_se"), _rejected(p, level), strict=True)),
                **dict(zip(("released", "released_se"), _rejected(p, released), strict=True)),
                "ladder": ladder(first["top"], first["bottom"], first["K"]),
                **{"released_events": (p <= released).sum(), "released_trials": len(p), "tested": len(p) > 0},
            }


@inference(studies=["audit"])
def audit(results: Results) -> pd.DataFrame:
    """Return the privacy loss of choices about one changed reward; one row per variant, epsilon, event and noise.

    loss: log ratio of the event's probabilities, the larger one first; loss_low, loss_high: the ends of intervals of
    up to 100 rows that hold together with probability .999, from the Clopper-Pearson intervals of both probabilities
    of_epsilon: the loss over epsilon
    """
    rows = results.replicates("audit")
    rows = rows[rows["policy"] == "private_ucb"]
    table = reduce(rows, changed_reward.AUDIT, ["variant", "epsilon", "horizon"], CONFIDENCE)
    counted = losses(table, 1 - (1 - intervals.CONFIDENCE) / 2 / contrasts.TOGETHER)
    shares = {loss.replace("loss", "of_epsilon"): column / table["epsilon"] for loss, column in counted.items()}
    table = table.assign(
        gamma=pd.Series([bonus({"policy": "private_ucb"} | row) for row in table.to_dict("records")], table.index)
    )
    return table.drop(columns=["audit", "subject", "claimed", *ENDS, *COUNTS]).assign(
        **counted, **shares, runs=table["trials"]
    )
