"""How the paper's policies look, and a look for any policy that joins its studies."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pandas as pd

from privarms.errors import NoCellsError
from privarms.papers.neel2018._settings import ABLATIONS, PANEL
from privarms.plots import old_style as style
from privarms.plots.curves import labels, settings

# (policy, variant): these look the same in every figure.
LOOKS = (
    ("ucb", ""),
    ("private_ucb", "as_printed"),
    ("private_ucb", "as_released"),
    ("private_ucb_gamma_only", ""),
    ("private_ucb_noise_only", "as_printed"),
    ("private_ucb_noise_only", "as_released"),
)
OWN = tuple(dict.fromkeys(policy for policy, _ in LOOKS))


def curves(rows: pd.DataFrame, apart_from: Sequence[str] = PANEL) -> pd.DataFrame:
    """The rows with `curve`, the label of the curve to which each belongs, and `look`, its name in a palette.

    Make them of a whole study, so that a curve has one label and one look in every panel.
    """
    looks = []
    for policy, variant, own in zip(rows["policy"], rows["variant"], settings(rows, apart_from), strict=True):
        rest = tuple(f"{k} {v}" for k, v in own.items() if k != "variant")
        looks.append((policy, variant if pd.notna(variant) else "", *rest))
    look = np.empty(len(rows), dtype=object)
    look[:] = looks
    return rows.assign(curve=labels(rows, apart_from), look=look)


def palette(rows: pd.DataFrame, fixed: Sequence[Hashable] = LOOKS, context: Iterable[Hashable] = ()) -> style.Palette:
    """The looks of all curves."""
    return style.Palette(rows["look"], fixed=fixed, context=[look for look in context if look in set(rows["look"])])


def parts(rows: pd.DataFrame) -> list[tuple[Hashable, str, pd.DataFrame]]:
    """(look, label, rows) of each curve: the paper's own first, in their order, then whatever joined."""
    looks = list(dict.fromkeys(rows["look"]))
    known = [look for look in LOOKS if look in looks]
    found = []
    for look in [*known, *(look for look in looks if look not in known)]:
        part = rows[[one == look for one in rows["look"]]]
        found.append((look, part["curve"].iloc[0], part))
    return found


def joined(rows: pd.DataFrame) -> pd.Series:
    """Which rows are of policies that are not the paper's, nor our two ablations of its private UCB."""
    return ~rows["policy"].isin(OWN)


def ablated(rows: pd.DataFrame) -> pd.Series:
    """Which rows are of an ablation of private UCB."""
    return rows["policy"].isin(ABLATIONS)


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows, of which a figure needs one at least; NoCellsError without."""
    if not len(rows):
        raise NoCellsError(f"{what}: no such cells in this run; nothing can be drawn")
    return rows


def shortest(values: Sequence[float], digits: int = 2) -> list[str]:
    """Numbers with so many digits that no two look alike, and with no more."""
    texts = [f"{v:.{digits}g}" for v in values]
    return texts if len(set(texts)) == len(set(values)) or digits > 16 else shortest(values, digits + 1)
