"""How each claim's value is measured; a function takes the results and the claim's arguments.

The results show only the cells on which the claim rests (`over`), so that a measure takes all that it finds.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from privarms.claims.verdict import Measured, quantile
from privarms.papers.frontier.inference import BOUNDS
from privarms.plots.curves import times
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

SETTING = ["instance", "epsilon", "horizon"]


def _of(results: Results, policy: str, width: str | None = None) -> pd.DataFrame:
    """The rows of a policy, of one width or all."""
    rows = results.inference("regret")
    rows = rows[rows["policy"] == policy]
    return rows if width is None else rows[rows["width"] == width]


def times_lower(results: Results, policy: str, baseline: str, width: str | None = None) -> Measured:
    """The baseline's mean regret over the policy's, in the one setting of the claim."""
    (row,), (base,) = _of(results, policy).itertuples(), _of(results, baseline, width).itertuples()
    found = times(base, row)
    note = f"Mean regret {base.regret:,.0f} against {row.regret:,.0f}."
    return Measured(found.value, found.se, found.replicates, note)


def smallest_times_lower(results: Results, policy: str, baselines: Sequence[str]) -> Measured:
    """The smallest mean regret of any of the others over the policy's, in the one setting of the claim."""
    (row,) = _of(results, policy).itertuples()
    others = [base for baseline in baselines for base in _of(results, baseline).itertuples()]
    parts = [times(base, row) for base in others]
    closest = others[min(range(len(parts)), key=lambda i: parts[i].value)]
    return Measured.smallest(parts, f"Closest is {closest.curve}.")


def times_of_epsilon(results: Results, policy: str, low: float, high: float) -> Measured:
    """The mean regret at a small epsilon over that at a larger one."""
    rows = results.inference("regimes")
    rows = rows[rows["policy"] == policy]
    small, large = (next(rows[np.isclose(rows["epsilon"], e)].itertuples()) for e in (low, high))
    return times(small, large)


def spread_over_epsilon(results: Results, policy: str) -> Measured:
    """The largest ratio of the mean regret at an epsilon to that at the largest one of the claim."""
    rows = results.inference("regimes")
    rows = rows[rows["policy"] == policy].sort_values("epsilon")
    *others, base = rows.itertuples()
    parts = [times(row, base) for row in others]
    place = max(range(len(parts)), key=lambda i: parts[i].value)
    return Measured.largest(parts, f"Largest at epsilon = {others[place].epsilon:g}, against {base.epsilon:g}.")


def regret_over_theorem_7(results: Results) -> Measured:
    """The largest ratio of AdaP-UCB's mean regret to Theorem 7's sum over suboptimal arms of
    16 alpha ln T / min(gap, epsilon) + alpha / (alpha - 3), with alpha = 3.1."""
    alpha = 3.1
    parts, rows = [], list(_of(results, "adap_ucb").itertuples())
    printed = results.published_table("instances").set_index("instance")
    for row in rows:
        means = printed.loc[row.instance].to_numpy(float)
        gaps = means.max() - means[means < means.max()]
        bound = sum(16 * alpha / min(gap, row.epsilon) * np.log(row.horizon) + alpha / (alpha - 3) for gap in gaps)
        parts.append(Measured(row.regret / bound, row.se / bound, int(row.replicates)))
    worst = rows[max(range(len(parts)), key=lambda i: parts[i].value)]
    return Measured.largest(parts, f"Largest on {worst.instance}, epsilon = {worst.epsilon:g}, T = {worst.horizon:,}.")


def settings_won(results: Results, policy: str, baselines: Sequence[str]) -> Measured:
    """In which fraction of the settings the policy's mean regret is below that of every baseline.

    The ends are the fractions in which it surely is, and in which it is not surely not, all comparisons together.
    """
    own = _of(results, policy).set_index(SETTING)
    others = [_of(results, baseline).set_index(SETTING) for baseline in baselines]
    comparisons = len(own) * len(others)
    lower = surely = possibly = 0
    lost = []
    for setting, row in own.iterrows():
        differences = []
        for other in others:
            base = other.loc[setting]
            half = quantile(int(min(row["replicates"], base["replicates"])), comparisons) * np.hypot(
                row["se"], base["se"]
            )
            differences.append((row["regret"] - base["regret"], half))
        wins = all(d < 0 for d, _ in differences)
        lower += wins
        surely += all(d + half < 0 for d, half in differences)
        possibly += all(d - half < 0 for d, half in differences)
        if not wins:
            lost.append(f"{setting[0]} at {setting[1]:g}")
    n = len(own)
    note = f"Lower than {' and '.join(baselines)} in {lower} of {n} settings, surely in {surely}."
    note += f" Not on {', '.join(lost)}." if lost else ""
    return Measured(lower / n, 0.0, int(own["replicates"].min()), note, surely / n, possibly / n)


def largest_over_bound(results: Results, policy: str) -> Measured:
    """The largest ratio of the policy's mean regret to the bound by d_epsilon times ln T."""
    rows = list(_of(results, policy).itertuples())
    parts = [Measured(row.over_bound, row.over_bound_se, int(row.replicates)) for row in rows]
    worst = rows[max(range(len(parts)), key=lambda i: parts[i].value)]
    below = min(part.value for part in parts)
    note = f"From {below:.2f} up; largest on {worst.instance}, epsilon = {worst.epsilon:g}, T = {worst.horizon:,}."
    return Measured.largest(parts, note)


def _bound_ratios(results: Results) -> pd.DataFrame:
    """The bound by d_epsilon over the larger of the two others, a row per setting with an epsilon."""
    rows = results.inference("bounds")
    rows = rows[rows["epsilon"].notna()].pivot(index=SETTING, columns="bound", values="value")
    return rows.assign(ratio=rows[BOUNDS[2]] / rows[[*BOUNDS[:2]]].max(axis=1))


def smallest_bound_ratio(results: Results) -> Measured:
    """The smallest ratio of the bound by d_epsilon to the larger of the two older ones; a formula."""
    ratios = _bound_ratios(results)["ratio"]
    # Equal but for the rounding of two sums in other orders.
    return Measured(round(ratios.min(), 12), 0.0, None, f"Up to {ratios.max():.2f} times as large.")


def bound_is_larger(results: Results) -> Measured:
    """In which fraction of the settings the bound by d_epsilon is strictly larger than both older ones; a formula."""
    ratios = _bound_ratios(results)["ratio"]
    larger = ratios > 1 + 1e-9
    equal = sorted({f"{instance} at {epsilon:g}" for instance, epsilon, _ in ratios.index[~larger]})
    return Measured(larger.mean(), 0.0, None, f"Equal, since d_epsilon is kl there, on {', '.join(equal) or 'none'}.")


def audit_exact(results: Results, policy: str) -> Measured:
    """The largest exact log ratio over epsilon, with all of the noise."""
    rows = _audited(results, policy, 1.0)
    ratios = rows["exact"] / rows["claimed"]
    return Measured(ratios.max(), 0.0, None, f"{ratios.min():.4f} to {ratios.max():.4f} of epsilon.")


def audit_lower_bound(results: Results, policy: str, noise: float) -> Measured:
    """The 95% lower bound over epsilon: the largest at full noise, the smallest at less."""
    rows = _audited(results, policy, noise)
    # A bound without a single event shows nothing.
    ratios = (rows["lower_bound"] / rows["claimed"]).replace(-np.inf, np.nan)
    trials = int(rows["trials"].min())
    if ratios.isna().any():
        return Measured(np.nan, 0.0, trials, "Too few trials: no event was seen.")
    return Measured(ratios.max() if noise == 1 else ratios.min(), 0.0, trials)


def _audited(results: Results, policy: str, noise: float) -> pd.DataFrame:
    rows = results.inference("audit")
    return rows[(rows["subject"] == policy) & (rows["noise"] == noise)]


MEASURES = functions_of(__name__)
