"""The settings of this paper's studies: what a cell is, which gaps its arms have, which DP-SE is the paper's own."""

import numpy as np
import pandas as pd

from privarms.environments import bernoulli

# Cards of the report.
FIGURE_1 = "Figure 1: regret of DP-SE and DP-UCB"
STOPPING = "The private stopping rules"


def at_horizon(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows at the end of the runs, whatever the checkpoints."""
    return cells[cells["t"] == cells["horizon"]]


def gaps(cell) -> np.ndarray:
    """By how much less each arm pays than the best, which is the first; a row of a study on Bernoulli arms."""
    spacing = getattr(cell, "spacing", None)
    means = bernoulli.configure(int(cell.K), cell.top, cell.bottom, "linear" if pd.isna(spacing) else spacing).means
    return cell.top - means


def of_published_dp_se(cells: pd.DataFrame) -> pd.Series:
    """Which cells are DP-SE as the paper runs it: beta = 1/T and all of the noise."""
    chosen = cells["policy"] == "dp_se"
    if "beta" in cells:
        chosen &= cells["beta"].isna() | (cells["beta"] == 1 / cells["horizon"])
    if "noise" in cells:
        chosen &= cells["noise"].isna() | (cells["noise"] == 1)
    return chosen
