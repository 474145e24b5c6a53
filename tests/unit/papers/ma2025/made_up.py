"""Studies of ma2025 with made-up numbers for every cell of the configuration."""

from functools import cache
from itertools import chain

import pandas as pd

from privarms.studies import cells as grid
from privarms.studies import configuration
from privarms.studies.aggregate import parameter_types
from privarms.studies.results import Results
from tests import PAPERS
from tests.unit.conftest import write

from ..chosen import results

STUDIES = PAPERS / "ma2025/studies.yaml"
LOGS = PAPERS / "ma2025/published/logs.csv"
REGRET = ("regret", "regret_printed", "regret_symmetric", "deviations")


@cache
def cells():
    """Return the cells of each study at full scale."""
    studies = configuration.load_paper(STUDIES, "paper")["studies"]
    return {study: grid.expand(str(STUDIES), "ma2025", study, entry) for study, entry in studies.items()}


@cache
def tagged():
    """Return the cells of every tag, as in a plan."""
    tags = {}
    for cell in chain(*cells().values()):
        for tag in cell.tags:
            tags.setdefault(tag, []).append(grid.columns(cell) | {"changed": cell.changed})
    return tags


def cells_of(study, regret, se):
    """Return the summary of every cell of a study."""
    types = parameter_types(cells()[study])
    rows = []
    for cell in cells()[study]:
        parameters = {k: cell.parameters.get(k) for k in types}
        texts = {k: str(v) for k, v in parameters.items() if types[k] == "string" and v is not None}
        rows.append(
            {"cell": cell.name, "policy": cell.policy, "variant": cell.variant or None, "data": "simulated"}
            | {"environment": cell.environment, "horizon": cell.horizon} | parameters | texts
            | {"panels": cell.panels, "t": cell.horizon, "replicates": cell.replicates}
            | {"regret_mean": regret(cell), "regret_se": se}
        )  # fmt: skip
    return pd.DataFrame(rows)


def made_up(folder, regret=lambda cell: 100.0, se=1.0, studies=REGRET, **inference):
    """Return results of a folder: `regret`, a cell's mean regret; `se`, standard error; inference: name -> table."""
    files = [write(folder / f"{study}_cells.parquet", cells_of(study, regret, se)) for study in studies]
    tables = [write(folder / f"{name}.parquet", frame) for name, frame in inference.items()]
    return Results("ma2025", "paper", cells=files, inference=tables, published=[LOGS], tagged=tagged())


def runs(frames):
    """Return the input of an inference function: replicates and cells by study."""
    replicates, summaries = ({study: both[i] for study, both in frames.items()} for i in (0, 1))
    return results(published={}, tables={}, cells=summaries, replicates=replicates)
