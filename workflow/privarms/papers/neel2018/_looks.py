"""How the paper's policies look, and a look for any policy that joins its studies."""

from collections.abc import Hashable, Iterable, Sequence

import pandas as pd

from privarms.errors import NoCellsError
from privarms.papers.neel2018._settings import ABLATIONS
from privarms.plots import style

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


def looks(rows: pd.DataFrame, fixed: Sequence[Hashable] = LOOKS, context: Iterable[str] = ()) -> style.Looks:
    """Return the look of each curve; of the paper's policies the first curve looks the same in every figure.

    rows: of a whole study, with the column `curve`; context: policies that are drawn in grey
    """
    first = rows.assign(variant=rows["variant"].fillna("")).drop_duplicates(["policy", "variant"])
    names = dict(zip(zip(first["policy"], first["variant"], strict=True), first["curve"], strict=True))
    grey = rows.loc[rows["policy"].isin(list(context)), "curve"]
    return style.looks(rows["curve"], [names.get(key, key) for key in fixed], grey)


def tidy(panels: list[tuple[str, pd.DataFrame]], looks: style.Looks) -> pd.DataFrame:
    """Return the rows of all panels in one table, with the column `panel`, the curves in the order of their looks."""
    order = list(looks).index
    parts = (part.sort_values("curve", key=lambda c: c.map(order), kind="stable") for _, part in panels)
    return pd.concat([p.assign(panel=title) for p, (title, _) in zip(parts, panels, strict=True)], ignore_index=True)


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
