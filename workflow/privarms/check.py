"""`privarms check FOLDER`: plan the studies of an extension and briefly run its policies and environments."""

from collections.abc import Iterator
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.studies import configuration, extensions, run, trial
from privarms.studies.cells import Cell, expand

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
    if not tried and not failed:
        print(f"{folder}: no study uses a policy or environment of this folder, so there is nothing to try")
    print(f"{failed} failed" if failed else "nothing failed")
    return 1 if failed else 0


def _cells(file: Path) -> Iterator[Cell]:
    """Yield the cells of a studies file at scale quick."""
    content = configuration.load_paper(file, "quick", extension=True)
    for name, study in content["studies"].items():
        yield from expand(extensions.shown(file), content["paper"], name, study)
