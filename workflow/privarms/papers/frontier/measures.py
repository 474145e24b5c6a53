"""Measures of this collection that no declared one covers; a function takes the results and the claim's arguments."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from privarms.claims.verdict import Measured, quantile
from privarms.studies.results import Results

SETTING = ["instance", "epsilon", "horizon"]


def _of(results: Results, policy: str) -> pd.DataFrame:
    rows = results.inference("regret")
    return rows[rows["policy"] == policy]


def regret_over_theorem_7(results: Results) -> Measured:
    """Return the largest ratio of AdaP-UCB's mean regret to Theorem 7's bound.

    The bound sums 16 alpha ln T / min(gap, epsilon) + alpha / (alpha - 3) over suboptimal arms, with alpha = 3.1."""
    alpha = 3.1
    parts, rows = [], list(_of(results, "adap_ucb").itertuples())
    printed = results.published_table("instances").set_index("instance")
    for row in rows:
        means = printed.loc[row.instance].to_numpy(float)
        gaps = means.max() - means[means < means.max()]
        bound = sum(16 * alpha / min(gap, row.epsilon) * np.log(row.horizon) + alpha / (alpha - 3) for gap in gaps)
        part = Measured(row.regret / bound, row.se / bound, int(row.replicates))
        # Epochs double, so if all runs agree, we assume up to twice the regret for a further run.
        parts.append(
            Measured.agreed(part.value, part.replicates, 0, 2 * part.value, len(rows)) if part.agrees else part
        )
    worst = rows[max(range(len(parts)), key=lambda i: parts[i].value)]
    return Measured.largest(parts, f"Largest on {worst.instance}, epsilon = {worst.epsilon:g}, T = {worst.horizon:,}.")


def settings_won(results: Results, policy: str, baselines: Sequence[str]) -> Measured:
    """Return the fraction of settings in which the policy's mean regret is below that of every baseline.

    The interval counts the settings with a significantly lower regret, and those without a significantly higher one.
    """
    own = _of(results, policy).set_index(SETTING)
    others = [_of(results, baseline).set_index(SETTING).loc[own.index] for baseline in baselines]
    below, surely, possibly = (np.ones(len(own), bool) for _ in range(3))
    for other in others:
        runs = np.minimum(own["replicates"], other["replicates"])
        quantiles = [quantile(int(n), len(own) * len(others)) for n in runs]
        difference, half = own["regret"] - other["regret"], quantiles * np.hypot(own["se"], other["se"])
        below &= difference < 0
        surely &= difference + half < 0
        possibly &= difference - half < 0
    lost = [f"{instance} at {epsilon:g}" for instance, epsilon, _ in own.index[~below]]
    lower, surely, possibly = int(below.sum()), int(surely.sum()), int(possibly.sum())
    n = len(own)
    note = f"Lower than {' and '.join(baselines)} in {lower} of {n} settings, significantly (99.9%) in {surely}."
    note += f" Not on {', '.join(lost)}." if lost else ""
    return Measured(lower / n, 0.0, int(own["replicates"].min()), note, surely / n, possibly / n)


def bound_is_larger(results: Results) -> Measured:
    """Return the fraction of settings in which the bound by d_epsilon is strictly larger than both older ones."""
    rows = results.inference("bounds").dropna(subset="over_older")
    larger = rows["over_older"] > 1 + 1e-9
    equal = rows.loc[~larger, ["instance", "epsilon"]].drop_duplicates()
    names = sorted(f"{instance} at {epsilon:g}" for instance, epsilon in equal.itertuples(index=False))
    return Measured(larger.mean(), 0.0, None, f"Equal, because d_epsilon is kl there, on {', '.join(names) or 'none'}.")
