"""What the cells of this paper's studies are: instances by name, arms' means, policies with their settings."""

import numpy as np
import pandas as pd

from privarms.plots.curves import labels, settings
from privarms.studies import library

KEYS = ("t", "arm")
# What tells cells apart beside the policy's own settings.
AROUND = ("epsilon", "horizon", "K", "environment", "top", "bottom", "spacing")


def described(cells: pd.DataFrame) -> pd.DataFrame:
    """A row per cell, without what was measured: its parameters, and

    instance: the name of its grid; means: of its arms, a tuple; curve: what legends say; entry: the policy with its
    settings but for `ratio`, which tables have in a column of its own; ratio: NaN where there is none
    """
    columns = [c for c in cells.columns[: cells.columns.get_loc("replicates") + 1] if c not in KEYS]
    cells = cells[columns].drop_duplicates("cell", ignore_index=True)
    apart = [c for c in AROUND if c in cells]
    around = {k: library.environment_arguments(k) for k in cells["environment"].unique()}
    apart += [k for takes in around.values() for k in takes if k not in apart]
    further = settings(cells, [*apart, "ratio"])
    named = zip(cells["policy"], further, strict=True)
    return cells.assign(
        instance=[name or "unnamed" for name in cells["panels"].fillna("")],
        means=[_means(cell, around[cell["environment"]]) for cell in cells.to_dict("records")],
        curve=labels(cells, apart),
        entry=[
            " ".join([policy, *(f"{k}={v:g}" if _number(v) else f"{k}={v}" for k, v in own.items())])
            for policy, own in named
        ],
        ratio=cells.get("ratio", np.nan),
    )


def _means(cell: dict, takes) -> tuple[float, ...]:
    given = {k: cell[k] for k in takes if k in cell and pd.notna(cell[k])}
    return tuple(float(m) for m in library.load("environments", cell["environment"]).configure(**given).means)


def _number(value) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
