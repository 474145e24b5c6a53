"""Studies of ma2025 with made-up numbers for every cell of the configuration."""

from functools import cache

import pandas as pd

from privarms.execution.aggregate import parameter_types
from privarms.planning import cells as grid
from privarms.planning import configuration
from privarms.planning.results import Results
from tests import PAPERS
from tests.unit.conftest import write

from ..chosen import results

STUDIES = PAPERS / "ma2025/studies.yaml"
LOGS = PAPERS / "ma2025/published/logs.csv"
REGRET = ("regret", "regret_printed", "regret_symmetric", "deviations", "eliminations")


def cells(change=None):
    """Return the cells of each study at full scale; change: alters the mapping of studies first."""
    return _cells() if change is None else _cells.__wrapped__(change)


@cache
def _cells(change=None):
    studies = configuration.load_paper(STUDIES, "paper").studies
    if change is not None:
        change(studies)
    return {study: grid.expand(str(STUDIES), "ma2025", study, entry) for study, entry in studies.items()}


def tags(change=None):
    """Return cell -> tags, as in a plan."""
    return {cell.name: cell.tags for some in cells(change).values() for cell in some if cell.tags}


def cells_of(some, regret, se):
    """Return the summary of the cells of a study."""
    types = parameter_types(some)
    rows = []
    for cell in some:
        parameters = {k: cell.parameters.get(k) for k in types}
        texts = {k: str(v) for k, v in parameters.items() if types[k] == "string" and v is not None}
        rows.append(
            {"cell": cell.name, "policy": cell.policy, "variant": cell.variant or None, "data": "simulated"}
            | {"environment": cell.environment, "horizon": cell.horizon} | parameters | texts
            | {"panels": cell.panels, "t": cell.horizon, "replicates": cell.replicates}
            | {"regret_mean": regret(cell), "regret_se": se}
            | {"auxiliary_wrong_mean": regret(cell), "auxiliary_wrong_se": se}
        )  # fmt: skip
    return pd.DataFrame(rows)


def runs_of(some, spread):
    """Return four runs per cell with regret -+ spread(cell), at the horizon."""
    rows = [
        {"cell": cell.name, "t": cell.horizon, "horizon": cell.horizon, "regret": sign * spread(cell)}
        for cell in some
        for sign in (-1.0, 1.0, -1.0, 1.0)
    ]
    return pd.DataFrame(rows)


def made_up(folder, regret=lambda cell: 100.0, se=1.0, *, spread=None, change=None, studies=REGRET):
    """Return results of a folder: `regret`, a cell's mean regret; `se`, standard error; spread: of its runs."""
    every = cells(change)
    files = [write(folder / f"{study}_cells.parquet", cells_of(every[study], regret, se)) for study in studies]
    spread = spread or (lambda cell: 1.0)
    runs = [write(folder / f"{study}.parquet", runs_of(every[study], spread)) for study in studies]
    return Results("ma2025", "paper", cells=files, studies=runs, published=[LOGS], tags=tags(change))


def runs(frames):
    """Return the input of an inference function: replicates and cells by study."""
    replicates, summaries = ({study: both[i] for study, both in frames.items()} for i in (0, 1))
    return results(published={}, tables={}, cells=summaries, replicates=replicates)
