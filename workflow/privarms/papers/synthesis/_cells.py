"""What the cells are: instances by name, arms' means, policies and what legends call them, whether they are private."""

import numpy as np
import pandas as pd

from privarms.plots.curves import labels
from privarms.studies import library

KEYS = ("t", "arm")
# What tells cells apart beside the policy's own settings.
AROUND = ("epsilon", "horizon", "K", "environment", "dataset", "top", "bottom", "spacing")


def described(cells: pd.DataFrame) -> pd.DataFrame:
    """A row per cell, without what was measured: its parameters, and

    instance: the name of its grid; curve: what legends say
    claims: whether the policy takes an epsilon and does not say that it claims none, and so claims to be private
    means: where arms have means, a tuple, else empty
    """
    columns = [c for c in cells.columns[: cells.columns.get_loc("replicates") + 1] if c not in KEYS]
    cells = cells[columns].drop_duplicates("cell", ignore_index=True)
    around = {k: library.environment_arguments(k) for k in cells["environment"].unique()}
    apart = [*AROUND, *(k for takes in around.values() for k in takes if k not in (*AROUND, "variant"))]
    if "epsilon" not in cells:
        cells["epsilon"] = np.nan
    return cells.assign(
        instance=[name or "unnamed" for name in cells["panels"].fillna("")],
        curve=labels(cells, apart),
        claims=[bool(library.claims_epsilon(policy)) for policy in cells["policy"]],
        means=[_means(cell, around[cell["environment"]]) for cell in cells.to_dict("records")],
    )


def _means(cell: dict, takes) -> tuple[float, ...]:
    if library.attributes("environments", cell["environment"]).get("DATASET"):
        return ()
    given = {k: cell[k] for k in takes if k in cell and pd.notna(cell[k])}
    environment = library.load("environments", cell["environment"]).configure(**given)
    return tuple(float(m) for m in getattr(environment, "means", ()))
