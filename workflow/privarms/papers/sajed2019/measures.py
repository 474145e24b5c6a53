"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments.

The results show only the cells on which the claim rests (`over`), so that a measure takes all that it finds.
"""

import numpy as np
import pandas as pd

from privarms.claims.verdict import CONFIDENCE, ROUNDING, Measured
from privarms.inference.intervals import ratio
from privarms.inference.proportions import clopper_pearson
from privarms.studies.results import Results

# By how much a run's regret grows at most if its arms stay for an epoch more: R_(e + 1) is below 5 times R_e (line 8).
ANOTHER_EPOCH = 5


def growing_curves(results: Results, policy: str, runs: int) -> Measured:
    """With which probability the mean of some runs grows in the second half of the horizon, where it is smallest."""
    cells = results.inference("second_half")
    cells = cells[cells["policy"] == policy]
    parts = []
    for count, replicates in zip(cells["growing"], cells["replicates"], strict=True):
        one = Measured.fraction(round(count), int(replicates), together=len(cells))
        value, low, high = (1 - (1 - share) ** runs for share in (one.value, *one.interval))
        parts.append(Measured(value, np.nan, one.replicates, low=low, high=high))
    growth = cells["end"] / cells["half"] - 1
    note = f"The mean regret grows by {growth.min():.1%} to {growth.max():.1%} in the second half of the horizon."
    return Measured.smallest(parts, note)


def dp_se_growth(results: Results) -> Measured:
    """p for which DP-SE's regret grows like ln(T)^p from the shortest horizon to the longest."""
    rows = results.inference("growth")
    (row,) = rows[rows["policy"] == "dp_se"].to_dict("records")
    value, se, runs = row["exponent"], row["exponent_se"], int(row["replicates"])
    if se > ROUNDING * value:
        return Measured(value, se, runs)
    half = float(ANOTHER_EPOCH * _others(runs) / np.log(np.log(row["last"]) / np.log(row["first"])))
    return Measured(value, se, runs, "All runs agree.", value - half, value + half)


def optimality_spread(results: Results) -> Measured:
    """The largest over the smallest ratio of Algorithm 2's mean stopping time to Corollary 3.6's expression."""
    cells = results.inference("stopping")
    cells = cells[cells["policy"] == "dp_exponential_nas"]
    numbers = (cells["stopping_time_mean"] / cells["order"], cells["stopping_time_se"] / cells["order"])
    parts = [Measured(*three) for three in zip(*numbers, cells["replicates"].astype(int), strict=True)]
    # It stops at powers of two. Where all runs agree, another one is taken to stop one doubling away.
    together = 2 * len(parts)
    parts = [
        Measured.agreed(p.value, p.replicates, p.value / 2, 2 * p.value, together) if p.agrees else p for p in parts
    ]
    # Twice as many, for the two must hold together.
    top, bottom = Measured.largest(parts * 2), Measured.smallest(parts * 2)
    value, se = ratio(top.value, top.se, bottom.value, bottom.se)
    note = f"Its mean stopping time is {bottom.value:.0f} to {top.value:.0f} times the corollary's expression."
    low, high = top.low / bottom.high, top.high / bottom.low
    return Measured(value, se, min(top.replicates, bottom.replicates), note, low, high)


def _others(runs: int, together: int = 1) -> float:
    """How large a share of runs may have another regret, though all that were made have the same."""
    _, high = clopper_pearson(0, runs, 1 - (1 - CONFIDENCE) / together)
    return float(high)


def largest_mean(results: Results, table: str, column: str) -> Measured:
    """The largest of DP-SE's mean regrets in some unit.

    Runs that all have the same regret do not say that all runs would: as many as Clopper and Pearson allow may have an
    epoch more. Where that regret is the first epoch's, the probability of any other is known by formula, and no regret
    is above the gap times T.
    """
    cells = _of_dp_se(results, table, column)
    worst = cells.loc[cells[column].idxmax()]
    setting = ", ".join(f"{k} = {worst[k]:,g}" for k in ("K", "epsilon", "horizon", "bottom"))
    return Measured.largest(_means(cells, column), f"Largest at {setting}, of {len(cells)} rows.")


def mean_spread(results: Results, table: str, column: str) -> Measured:
    """The largest over the smallest of DP-SE's mean regrets in some unit; see `largest_mean` for runs that agree."""
    cells = _of_dp_se(results, table, column)
    # Twice as many, for the two must hold together.
    parts = _means(pd.concat([cells, cells]), column)
    top, bottom = Measured.largest(parts), Measured.smallest(parts)
    note = f"From {bottom.value:.3g} to {top.value:.3g} in {len(cells)} rows."
    return Measured(
        top.value / bottom.value, np.nan, top.replicates, note, top.low / bottom.high, top.high / bottom.low
    )


def _of_dp_se(results: Results, table: str, column: str) -> pd.DataFrame:
    cells = results.inference(table)
    return cells[(cells["policy"] == "dp_se") & cells[column].notna()]


def _means(cells: pd.DataFrame, column: str) -> list[Measured]:
    parts = []
    for row in cells.to_dict("records"):
        value, se, runs = row[column], row[f"{column}_se"], int(row["replicates"])
        if se > ROUNDING * value:
            parts.append(Measured(value, se, runs))
            continue
        others = _others(runs, len(cells))
        ends = 1 - others, 1 + ANOTHER_EPOCH * others
        first = row.get("first_epoch", np.nan)
        if abs(row.get("regret_mean", np.nan) - first) <= 1e-9 * first:
            other = row["otherwise"]
            exact = 1 - other, 1 + other * row["gap"] * row["horizon"] / first
            ends = max(ends[0], exact[0]), min(ends[1], exact[1])
        parts.append(Measured(value, se, runs, "", *(value * end for end in ends)))
    return parts
