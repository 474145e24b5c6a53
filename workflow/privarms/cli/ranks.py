"""Ranks of policies from the regret of their runs, with ties where the runs do not show which policy is better."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from privarms.ledger.contrasts import ROUNDING

# The probability that an interval, or any of the simultaneous intervals, misses its value.
ERROR = 0.05


def ranked(runs: Mapping[str, np.ndarray], base: str, most: float, instances: int) -> pd.DataFrame:
    """Return one row per policy on one instance, sorted by mean regret.

    runs: the regret of each run of each policy; runs of different policies are independent
    base: the policy from which `difference` is; most: the largest possible regret of a run
    instances: the number of instances whose intervals of differences between two policies are simultaneous

    Columns: `regret`, its 95% interval `low` and `high`, `difference` with the simultaneous interval `difference_low`
    and `difference_high`, `tied`, the policies whose difference from this one has an interval with 0, and `rank`: 1,
    plus 1 for each better policy and 1/2 for each tied one.
    """
    policies, itself = list(runs), np.eye(len(runs), dtype=bool)
    means = np.array([sample.mean() for sample in runs.values()])
    low, high = np.array([ends(sample, most, ERROR) for sample in runs.values()]).T
    # By Bonferroni, over all pairs on all instances.
    error = ERROR / max(1, instances * len(runs) * (len(runs) - 1) / 2)
    below, above = np.abs(np.array([ends(sample, most, error) for sample in runs.values()]).T - means)
    # The interval of a difference of two means, from the distances to the ends of their own (Zou and Donner 2008).
    differences = means[:, None] - means
    lowest = differences - np.hypot(below[:, None], above)
    highest = differences + np.hypot(above[:, None], below)
    is_better = highest < 0
    is_tied = ~(is_better | is_better.T | itself)
    columns = {
        "rank": 1 + is_better.sum(axis=0) + is_tied.sum(axis=0) / 2,
        "policy": policies,
        **{"regret": means, "low": low, "high": high},
        "difference": differences[:, policies.index(base)],
        "difference_low": np.where(itself, 0, lowest)[:, policies.index(base)],
        "difference_high": np.where(itself, 0, highest)[:, policies.index(base)],
        "tied": [" ".join(np.array(policies)[line]) for line in is_tied],
    }
    return pd.DataFrame(columns).sort_values("regret", kind="stable", ignore_index=True)


def ends(sample: np.ndarray, most: float, error: float) -> tuple[float, float]:
    """Return the ends of an interval of the mean of numbers in [0, most], which misses it with probability `error`.

    It is Student's. If all numbers agree, others are rarer than a share, and may be 0 or `most`.
    """
    number, mean = len(sample), float(sample.mean())
    se = sample.std(ddof=1) / np.sqrt(number)
    if se <= ROUNDING * mean:
        share = 1 - (error / 2) ** (1 / number)
        return (1 - share) * mean, mean + share * (most - mean)
    half = stdtrit(number - 1, 1 - error / 2) * se
    return max(mean - half, 0.0), min(mean + half, most)
