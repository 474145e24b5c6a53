"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments."""

import numpy as np

from privarms.claims.verdict import Measured
from privarms.studies.results import Results


def growing_curves(results: Results, policy: str, runs: int) -> Measured:
    """Return the probability that the mean of `runs` runs grows in the second half of the horizon: the smallest."""
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
