"""Measured values over what the theorems promise, for figures and claims alike."""

import numpy as np
import pandas as pd

from privarms.artifacts.results import Results
from privarms.inference import bounds


def minimax_ratios(results: Results) -> pd.DataFrame:
    """Study `minimax` with gap, Theorem 4.4's expression (order), and mean regret over it (ratio, ratio_se)."""
    cells = results.cells("minimax")
    cells = cells[cells["policy"] == "dp_se"]
    order = [bounds.regret_order_any_gaps(int(r.K), int(r.horizon), r.epsilon) for r in cells.itertuples()]
    return cells.assign(
        gap=cells["top"] - cells["bottom"],
        order=order,
        ratio=cells["regret_mean"] / order,
        ratio_se=cells["regret_se"] / order,
    )


def regret_over_ceiling(results: Results) -> pd.DataFrame:
    """DP-SE in study `scaling` with the explicit bound on its mean regret (ceiling), and the ratios to it.

    The bound: sum over arms of gap times `bounds.pulls_ceiling`, plus T beta = 1 for the event of probability beta.
    `order` is Theorem 4.3's expression and `order_ratio` the mean regret over it.
    """
    cells = results.cells("scaling")
    cells = cells[cells["policy"] == "dp_se"]
    ceilings, orders = [], []
    for r in cells.itertuples():
        gaps = r.top - np.linspace(r.top, r.bottom, int(r.K))
        pulled = [min(bounds.pulls_ceiling(gap, int(r.K), r.epsilon, 1 / r.horizon), r.horizon) for gap in gaps[1:]]
        ceilings.append(min(float(gaps[1:] @ pulled) + 1, r.horizon * gaps[-1]))
        orders.append(bounds.regret_order(gaps, int(r.horizon), r.epsilon))
    return cells.assign(
        ceiling=ceilings,
        ratio=cells["regret_mean"] / ceilings,
        ratio_se=cells["regret_se"] / ceilings,
        order=orders,
        order_ratio=cells["regret_mean"] / orders,
    )
