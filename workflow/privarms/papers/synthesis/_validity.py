"""Tests and intervals after a bandit, on the pulls and reward sums of its arms: counts over the runs of a cell.

pulls, sums, held_out: [R, K]; means: float64[K]. The level is always ALPHA.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privarms.inference import fixed_pulls as pulled
from privarms.inference.always_valid import confidence_sequence, log_e_value
from privarms.inference.max_information import best_beta, log_corrected_level

ALPHA = 0.05


class Runs(NamedTuple):
    """The pulls and rewards of a cell's runs; epsilon: nan for a policy that claims none."""

    pulls: np.ndarray
    sums: np.ndarray
    held_out: np.ndarray
    means: np.ndarray
    epsilon: float
    horizon: int

    @property
    def private(self) -> bool:
        """Return whether the policy claims an epsilon, which bounds max-information."""
        return self.epsilon > 0


PROCEDURES = {
    "naive": "naive",
    "bonferroni": "Bonferroni",
    "max_information": "max-information",
    "confidence_sequence": "confidence sequence",
    "e_value": "e-value",
    "sample_splitting": "sample splitting",
}


def log_gamma(alpha: float, runs: Runs) -> float:
    """Return ln of the level at which max-information tests, with the best beta; for a private policy."""
    return float(log_corrected_level(alpha, runs.epsilon, runs.horizon, best_beta(runs.epsilon, runs.horizon, alpha)))


def once(function: Callable, sums: np.ndarray, pulls: np.ndarray, *further) -> Any:
    """Return function(sums, pulls, *further), one array or several, computed once per distinct pair of counts."""
    width = pulls.max() + 1
    counts, places = np.unique(pulls * width + sums, return_inverse=True)
    n, s = np.divmod(counts, width)
    output = function(s, n, *further)
    return tuple(one[places] for one in output) if isinstance(output, tuple) else output[places]


def rejections(runs: Runs, null: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the arm of the smallest p-value for "at most `null`", int64[R], and each procedure's rejections of it.

    Among equal p-values the last arm counts. Procedures that do not apply to the policy are left out.
    """
    K = runs.pulls.shape[1]
    log_p = once(pulled.log_p_value, runs.sums, runs.pulls, null)
    chosen = K - 1 - np.argmin(log_p[:, ::-1], axis=1)
    run = np.arange(len(chosen))
    least, n, s = log_p[run, chosen], runs.pulls[run, chosen], runs.sums[run, chosen]
    output = {
        "naive": least <= np.log(ALPHA),
        "bonferroni": least <= np.log(ALPHA / K),
        "confidence_sequence": once(confidence_sequence, s, n, ALPHA / K)[0] > null,
        "e_value": once(log_e_value, s, n, null) >= np.log(K / ALPHA),
        "sample_splitting": once(pulled.log_p_value, runs.held_out[run, chosen], n, null) <= np.log(ALPHA),
    }
    if runs.private:
        output["max_information"] = least <= log_gamma(ALPHA / K, runs)
    return chosen, {name: output[name] for name in PROCEDURES if name in output}


def intervals(runs: Runs) -> tuple[np.ndarray, dict[str, tuple]]:
    """Return the two most pulled arms, int64[2, R], and each procedure's intervals for the first mean and for the gap.

    An interval is (low, high). Among equal pulls the last arm counts."""
    K = runs.pulls.shape[1]
    order = K - 1 - np.argsort(-runs.pulls[:, ::-1], axis=1, kind="stable")[:, :2].T
    run = np.arange(len(runs.pulls))
    n = [runs.pulls[run, arm] for arm in order]
    s = [runs.sums[run, arm] for arm in order]
    held = [runs.held_out[run, arm] for arm in order]

    def at_fixed_pulls(sums):
        exact = once(pulled.exact_interval, sums[0], n[0], ALPHA)
        return exact, pulled.newcombe_interval(sums[0], n[0], sums[1], n[1], ALPHA)

    all_arms = [once(confidence_sequence, *counts, ALPHA / K) for counts in zip(s, n, strict=True)]
    output = {
        "naive": at_fixed_pulls(s),
        "confidence_sequence": (all_arms[0], pulled.difference_interval(*all_arms)),
        "sample_splitting": at_fixed_pulls(held),
    }
    if runs.private:
        level = log_gamma(ALPHA, runs)
        both = [once(pulled.chernoff_interval, *counts, level - np.log(2)) for counts in zip(s, n, strict=True)]
        mean = once(pulled.chernoff_interval, s[0], n[0], level)
        output["max_information"] = (mean, pulled.difference_interval(*both))
    return order, output


def second_highest(means: np.ndarray) -> float:
    """Return the highest mean below the best; nan with equal arms."""
    below = means[means < means.max()]
    return float(below.max()) if len(below) else float("nan")


def counted(runs: Runs) -> dict[str, dict]:
    """Return procedure -> counts of runs and mean widths of intervals with standard errors.

    errors: rejections of a true null; powers: of a false null, for a better arm (nan with equal arms); mean_held,
    gap_held: intervals that contain the mean and the gap"""
    means = runs.means
    _, wrong = rejections(runs, means.max())
    output: dict[str, dict[str, float]] = {name: {"errors": int(rejected.sum())} for name, rejected in wrong.items()}
    null = second_highest(means)
    chosen, right = rejections(runs, null) if null == null else (None, {})
    for name, rejected in right.items():
        output[name]["powers"] = int((rejected & (means[chosen] > null)).sum())
    (first, second), ends = intervals(runs)
    targets = means[first], means[first] - means[second]
    for name, both in ends.items():
        for what, target, (low, high) in zip(("mean", "gap"), targets, both, strict=True):
            output[name][f"{what}_held"] = int(((low <= target) & (target <= high)).sum())
            width = high - low
            output[name][f"{what}_width"] = float(width.mean())
            # The stubs of pandas give a standard error the type of any cell.
            se: Any = pd.Series(width).sem()
            output[name][f"{what}_width_se"] = float(se)
    return output
