"""Run mutation tests with cosmic-ray: change one operator or number at a time and run the module's tests.

    python tools/mutants.py [--cores N] [--sample N] [MODULE]...

MODULE is a file or package below workflow/privarms, such as mechanisms/laplace.py. The default is all packages in
[tool.mutants] of pyproject.toml. For each module the script prints the number of mutants that make a test fail, and
the diff of each survivor. Mutants run in copies of the project below results/mutants. A sample is drawn at random, with
the same seed each time.
"""

# pyright: reportMissingImports=false
# Only `make mutants` installs cosmic-ray.
import argparse
import random
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.config import serialize_config
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = Path("workflow/privarms")
COPIES = ROOT / "results" / "mutants"
NOT_COPIED = shutil.ignore_patterns(".*", "results", "logs", "benchmarks", "raw", "prepared", "__pycache__")


def modules(names: list[str]) -> list[str]:
    """Return the modules for these names of files or packages, relative to the library."""
    paths = [ROOT / LIBRARY / name for name in names]
    if missing := [str(path) for path in paths if not path.exists()]:
        sys.exit(f"{', '.join(missing)}: not found. Expected a path below {LIBRARY}, such as mechanisms/laplace.py.")
    files = {file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))}
    return sorted(str(f.relative_to(ROOT / LIBRARY)) for f in files if f.name != "__init__.py")


def tests_of(module: str, tests: Mapping[str, list[str]]) -> list[str]:
    """Return the test files of the longest key of `tests` that is a prefix of the module's path, and those of "".

    Files named after the module come first: most mutants fail one of their tests, which ends the run.
    """
    prefixes = [prefix for prefix in tests if prefix and module.startswith(prefix)]
    if not prefixes:
        sys.exit(f"{module}: no tests. Add its package to [tool.mutants.tests] in pyproject.toml.")
    paths = [ROOT / name for name in (*tests[max(prefixes, key=len)], *tests[""])]
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("test_*.py")))]
    name = Path(module).stem.lstrip("_").split("__")[0]
    return [str(file.relative_to(ROOT)) for file in sorted(files, key=lambda file: name not in file.name)]


def keep_sample(session: Path, size: int) -> None:
    """Skip all mutants of a session but `size` of them."""
    with use_db(session, WorkDB.Mode.open) as database:
        mutants = sorted(
            database.pending_work_items, key=lambda item: [(m.operator_name, m.occurrence) for m in item.mutations]
        )
        random.Random(0).shuffle(mutants)
        for mutant in mutants[size:]:
            database.set_result(mutant.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def survivors(module: str, settings: Mapping, sample: int | None) -> tuple[int, list[str]]:
    """Test mutants of a module in a copy of the project; return their number and the diffs of the survivors.

    sample: the largest number of mutants to test; None for all
    """
    copy = COPIES / module.removesuffix(".py")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    plain = int(module.startswith(tuple(settings["plain"])))
    # The compiled kernels of mutants are stored in the copy and removed with it.
    environment = f"env PRIVARMS_KERNELS={copy / 'kernels'} NUMBA_DISABLE_JIT={plain}"
    pytest = f"{sys.executable} -m pytest -q -x -p no:cacheprovider"
    config = {"module-path": str(LIBRARY / module), **settings["cosmic-ray"]}
    config["test-command"] = " ".join([environment, pytest, *tests_of(module, settings["tests"])])

    def run(*command: str) -> None:
        (copy / "mutants.toml").write_text(serialize_config(config), encoding="utf-8")
        subprocess.run(command, cwd=copy, check=True)

    run("cosmic-ray", "init", "mutants.toml", "session.sqlite")
    run("cr-filter-operators", "session.sqlite", "mutants.toml")
    if sample is not None:
        keep_sample(copy / "session.sqlite", sample)
    began = time.monotonic()
    run("cosmic-ray", "baseline", "mutants.toml")
    # A mutant may loop for ever.
    config["timeout"] = 60 + 3 * (time.monotonic() - began)
    run("cosmic-ray", "exec", "mutants.toml", "session.sqlite")
    with use_db(copy / "session.sqlite", WorkDB.Mode.open) as session:
        results = [result for _, result in session.results if result.worker_outcome != WorkerOutcome.SKIPPED]
    shutil.rmtree(copy)
    return len(results), [result.diff for result in results if result.test_outcome == TestOutcome.SURVIVED]


def main() -> int:
    """Print the score and the survivors of each module; return 1 if a module's tests fail without a mutant."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cores", type=int, default=1, help="number of modules to test in parallel (default: 1)")
    parser.add_argument("--sample", type=int, metavar="N", help="test at most N mutants of each module")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="path below workflow/privarms (default: all)")
    arguments = parser.parse_args()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutants"]
    if arguments.sample is not None and arguments.sample < 1:
        parser.error(f"--sample {arguments.sample}: expected at least 1")
    chosen = modules(arguments.modules or settings["packages"])
    status, mutants, survived = 0, 0, 0
    with ThreadPoolExecutor(arguments.cores) as pool:
        runs = {module: pool.submit(survivors, module, settings, arguments.sample) for module in chosen}
        for module, run in runs.items():
            try:
                number, diffs = run.result()
            except subprocess.CalledProcessError as error:
                print(f"{module}: {' '.join(error.cmd)} failed. Run its tests first.", file=sys.stderr)
                status = 1
                continue
            mutants, survived = mutants + number, survived + len(diffs)
            print(f"{module}: {number - len(diffs)} of {number} mutants fail a test", *diffs, sep="\n", flush=True)
    if mutants:
        print(f"score: {1 - survived / mutants:.1%} of {mutants} mutants fail a test; {survived} survive")
    return status


if __name__ == "__main__":
    sys.exit(main())
