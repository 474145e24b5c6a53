"""Studies of ma2025 with made-up numbers for every cell of the configuration."""

import copy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from privarms.files import parquet
from privarms.studies import cells as grid
from privarms.studies import configuration
from privarms.studies.aggregate import parameter_types
from privarms.studies.results import Results

from ..chosen import by_cell, chosen

ROOT = Path(__file__).parents[4]
STUDIES = ROOT / "config/papers/ma2025/studies.yaml"
LOGS = ROOT / "config/papers/ma2025/published/logs.csv"


def paper(scale="paper"):
    return copy.deepcopy(configuration.load_paper(STUDIES, scale))


@cache
def tagged(scale="paper"):
    """Return the cells of every tag, as in a plan."""
    tags = {}
    for study, entry in paper(scale)["studies"].items():
        for cell in grid.expand(str(STUDIES), "ma2025", study, entry):
            for tag in cell.tags:
                tags.setdefault(tag, []).append(grid.columns(cell) | {"changed": cell.changed})
    return tags


def cells_of(study, content, values):
    """Return the summary of every cell of a study; `values` returns a cell's columns except parameters."""
    of_study = grid.expand(str(STUDIES), "ma2025", study, content["studies"][study])
    types = parameter_types(of_study)
    rows = []
    for cell in of_study:
        parameters = {k: cell.parameters.get(k) for k in types}
        texts = {k: str(v) for k, v in parameters.items() if types[k] == "string" and v is not None}
        rows.append(
            {"cell": cell.name, "policy": cell.policy, "variant": cell.variant or None, "data": "simulated"}
            | {"environment": cell.environment, "horizon": cell.horizon} | parameters | texts
            | {"panels": cell.panels, "t": cell.horizon, "replicates": cell.replicates, **values(cell)}
        )  # fmt: skip
    return pd.DataFrame(rows)


def made_up(folder, regret=lambda cell: 100.0, se=1.0, *, content=None, scale="paper", inference=None, studies=None):
    """Return results of a folder: `regret`, a cell's mean regret; `se`, standard error; inference: name -> table."""
    content = content or paper(scale)
    read = {"cells": [], "inference": []}
    for study in studies or ("regret", "regret_printed", "regret_symmetric", "deviations"):
        frame = cells_of(study, content, lambda cell: {"regret_mean": regret(cell), "regret_se": se})
        read["cells"].append(write(folder / f"{study}_cells.parquet", frame))
    for name, frame in (inference or {}).items():
        read["inference"].append(write(folder / f"{name}.parquet", frame))
    return Results("ma2025", scale, **read, published=[LOGS], tagged=tagged(scale))


def write(path, frame):
    import pyarrow as pa

    parquet.write(path, [pa.Table.from_pandas(frame, preserve_index=False)], {})
    return path


def runs(frames):
    """Return the input of an inference function: replicates and cells by study."""
    return SimpleNamespace(
        replicates=lambda study, columns=None, filters=None: chosen(frames[study][0], columns, filters),
        by_cell=lambda study, columns: by_cell(frames[study][0], columns),
        cells=lambda study: frames[study][1],
    )
