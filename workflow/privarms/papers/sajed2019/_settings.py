"""Settings of this paper's studies: horizons, gaps of the arms, and the cells that run DP-SE as in the paper."""

import numpy as np
import pandas as pd

from privarms.environments import bernoulli

# Cards of the report.
FIGURE_1 = "Figure 1: regret of DP-SE and DP-UCB"
STOPPING = "The private stopping rules"


def at_horizon(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the end of the runs, for any checkpoints."""
    return cells[cells["t"] == cells["horizon"]]


def gaps(cell) -> np.ndarray:
    """Return the gap of each arm to the best, the first one; `cell` is a row of a study on Bernoulli arms."""
    spacing = getattr(cell, "spacing", None)
    means = bernoulli.configure(int(cell.K), cell.top, cell.bottom, "linear" if pd.isna(spacing) else spacing).means
    return cell.top - means


def of_published_dp_se(cells: pd.DataFrame) -> pd.Series:
    """Return which cells run DP-SE as the paper does: beta = 1/T and the full noise."""
    chosen = cells["policy"] == "dp_se"
    if "beta" in cells:
        chosen &= cells["beta"].isna() | (cells["beta"] == 1 / cells["horizon"])
    if "noise" in cells:
        chosen &= cells["noise"].isna() | (cells["noise"] == 1)
    return chosen
