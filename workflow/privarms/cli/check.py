"""`privarms check FOLDER`: plan the studies of an extension and briefly run its policies and environments."""

from collections.abc import Iterator
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.execution import run, trial
from privarms.execution.cell import Cell
from privarms.planning import configuration
from privarms.planning.cells import expand
from privarms.registry import extensions, library
from privarms.registry.modules import PolicyModule

SEED = 20190609


def run_check(folder: Path) -> int:
    """Print one line per policy and environment of an extension; return 1 if anything failed."""
    extensions.extend([folder])
    failed = 0
    tried: set[str] = set()
    for file in sorted(folder.resolve().glob("papers/*/studies.yaml")):
        try:
            for cell in _cells(file):
                name = f"{cell.study}: {cell.policy} on {cell.environment}"
                if name in tried or not trial.files(cell):
                    continue
                tried.add(name)
                if cell.dataset:
                    print(f"-       {name}: not tried, because it needs the dataset {cell.dataset}")
                    continue
                try:
                    run.try_out(cell, SEED, {})
                    print(f"ok      {name}", flush=True)
                except PrivarmsError as error:
                    failed += 1
                    print(f"FAILED  {error}", flush=True)
        except PrivarmsError as error:
            failed += 1
            print(f"FAILED  {error}", flush=True)
    policies = {p for p in library.names("policies") if PolicyModule(p).in_extension}
    for policy in sorted(policies - {name.split(": ")[1].split(" on ")[0] for name in tried}):
        print(f"-       {policy}: not tried, because no study of this folder uses it")
    print(f"{failed} failed" if failed else f"{len(tried)} tried, nothing failed")
    return 1 if failed else 0


def _cells(file: Path) -> Iterator[Cell]:
    """Yield the cells of a studies file at scale quick."""
    paper = configuration.load_paper(file, "quick", extension=True)
    for name, study in paper.studies.items():
        yield from expand(extensions.shown(file), paper.name, name, study)
