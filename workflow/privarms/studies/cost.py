"""How long the runs of a policy take: what its module says, and what was measured."""

import json
import os
from collections.abc import Iterator, Mapping

from privarms.studies import library, source_faults
from privarms.studies.cells import Cell

# Of core time, of one policy at scale paper: what nobody starts unawares.
LONG = 86_400.0
FACTOR = 10
# The process that the user started tells its jobs: policy -> runs and rounds at scale paper.
VARIABLE = "PRIVARMS_WORK_AT_SCALE_PAPER"


def tell(work: Mapping[str, tuple[int, int]]) -> None:
    """Tell the jobs of this process how much work there is at scale paper: policy -> runs, rounds."""
    os.environ[VARIABLE] = json.dumps(work)


def warnings(cell: Cell, seconds: float) -> Iterator[str]:
    """What is to be said of a run that takes so many seconds: its module says another time, or it is too long."""
    per_round = seconds / (cell.horizon or 1)
    total = seconds * cell.replicates
    runs, rounds = json.loads(os.environ.get(VARIABLE, "{}")).get(cell.policy, (0, 0))
    at_paper = per_round * rounds if cell.horizon else seconds * runs
    said = f"{source_faults.line(library.source_file('policies', cell.policy), 'SECONDS_PER_STEP')}: {cell.policy}"
    if seconds > FACTOR * cell.seconds and max(total, at_paper) > 60:
        yield (
            f"{said}: a run of {cell.horizon or ''} rounds takes about {duration(seconds)}, and its module says "
            f"{duration(cell.seconds)}; set SECONDS_PER_STEP = {per_round:.1g}, so that jobs are of the right size"
        )
    if at_paper > LONG:
        yield (
            f"{said}: scale paper has {runs:,} runs of it, which would take about {duration(at_paper)} on one core; "
            "make a round faster, give it an exact fast path (SIMULATE), or fewer replicates and shorter horizons"
        )
    elif total > LONG:
        yield f"{said}: {cell.replicates:,} runs of {cell.study} would take about {duration(total)} on one core"


def duration(seconds: float) -> str:
    """For reading."""
    units = {"days": 86_400, "hours": 3_600, "minutes": 60, "s": 1, "ms": 1e-3, "microseconds": 1e-6}
    unit = next((u for u, size in units.items() if seconds >= size), "microseconds")
    found = seconds / units[unit]
    return f"{found:,.0f} {unit}" if found >= 10 else f"{found:.2g} {unit}"
