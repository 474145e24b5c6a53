"""Put one small fault at a time into a copy of the project: which tests fail, which verdicts change?

`make mutants`, or `python -m tests.mutants.run [--cores N] [NAME ...]`. All happens below results/mutants/: `baseline`
is a copy without a fault, in which every study has run with few replicates (`reduced`); a mutant is judged in a copy of
that, in which Snakemake makes anew what rests on the changed file. A claim flips if the baseline decides it (reproduced
or differs), the mutant's verdict is another one, and what was measured has moved further than it would between two runs
of the same program: near the end of a region a verdict may change because a fault draws other random numbers.
"""

import argparse
import csv
import hashlib
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import yaml

from privarms.claims import ledger
from privarms.files.whole import write_text
from privarms.report.page import MUTANT_COLUMNS
from privarms.studies import paths

from .listed import ROOT, Mutant, load
from .reduced import reduced

PARTS = ("Snakefile", "config", "data", "profiles", "tests", "workflow", "environment.yml", "pyproject.toml", "uv.lock")
NO_PARTS = ("__pycache__", "*.egg-info", "prepared")
STUDIES = Path("reduced") / "studies"
SCALE = "paper"
DECIDED = ("reproduced", "differs")
# A mutant that takes longer is none that the list should have: faults end in wrong numbers, not in endless runs.
MOST_SECONDS = 3600


class Broken(Exception):
    """A copy of the project in which something ends otherwise than with numbers."""


# The copies


def bring_up_to_date(copy: Path, source: Path = ROOT) -> None:
    """Make a copy of the project the same as the project; what is the same already keeps its time."""
    for part in PARTS:
        there = source / part
        files = [there] if there.is_file() else [p for p in there.rglob("*") if p.is_file()]
        wanted = {p.relative_to(source) for p in files if not _left_out(p.relative_to(source))}
        for name in wanted:
            _same(source / name, copy / name)
        kept = (copy / part).rglob("*") if (copy / part).is_dir() else ()
        for path in list(kept):
            name = path.relative_to(copy)
            if not path.is_dir() and name not in wanted and not _left_out(name) and Path("data") not in name.parents:
                path.unlink()


def _left_out(name: Path) -> bool:
    return any(Path(part).match(pattern) for part in name.parts for pattern in NO_PARTS)


def _same(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if Path("raw") in [Path(part) for part in source.parts[-3:]]:
        # Large, and nobody writes to them.
        if not target.exists():
            target.symlink_to(source.resolve())
    elif not target.is_file() or target.read_bytes() != source.read_bytes():
        shutil.copy(source, target)


def write_reduced(copy: Path, papers: Iterable[str]) -> None:
    """The studies of some papers with few replicates; a file that says the same already keeps its time."""
    for paper in papers:
        text = yaml.safe_dump(reduced(copy / "config" / "studies" / f"{paper}.yaml"), sort_keys=False)
        path = copy / STUDIES / f"{paper}.yaml"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)


def copied(baseline: Path, copy: Path, papers: Iterable[str]) -> None:
    """A copy of the baseline with the results of some papers alone."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        place = Path(folder).relative_to(baseline)
        if place == STUDIES:
            return [name for name in names if Path(name).stem not in papers]
        # results/{scale}/shards/{paper} and the like, and the claims' CSVs.
        if place.parts[:1] == ("results",) and len(place.parts) == 3:
            return [name for name in names if Path(name).stem not in papers]
        return [name for name in names if name in ("__pycache__", "logs", "benchmarks")]

    shutil.copytree(baseline, copy, symlinks=True, ignore=left_out)


# What is run in them


def _environment(copy: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PRIVARMS_DATASETS"))}
    mirror = kept.get("PRIVARMS_MIRROR", "")
    if mirror and "://" not in mirror:
        kept["PRIVARMS_MIRROR"] = str(Path(mirror).resolve())
    return kept | {"PYTHONPATH": str((copy / "workflow").resolve())}


def _run(copy: Path, *command: str) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=copy,
        env=_environment(copy),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MOST_SECONDS,
    )
    write_text(copy / f"{command[0]}.log", done.stdout)
    return done


def failed_tests(copy: Path, tests: Iterable[str], *options: str) -> tuple[int, str]:
    """How many of these tests fail, the run ending with the first, and what pytest says of it. Raises Broken."""
    done = _run(copy, "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *(f"tests/{test}" for test in tests))
    last = done.stdout.strip().splitlines()[-1:] or [""]
    failed = sum(int(number) for number in re.findall(r"(\d+) (?:failed|errors?)\b", last[0]))
    # 2 where the run ends with the first failure of several processes.
    if done.returncode not in (0, 1, 2) or (done.returncode > 0) != (failed > 0):
        raise Broken(f"{copy}: pytest ended with status {done.returncode}; see {copy}/pytest.log")
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed, " ".join(said)


def verdicts(copy: Path, papers: Iterable[str], cores: int) -> dict[str, dict[str, str]]:
    """claim and variant -> its row, after Snakemake has made what is not up to date. Raises Broken."""
    files = [paths.claims(SCALE, paper) for paper in papers]
    if not files:
        return {}
    settings = [f"scale={SCALE}", f"studies={STUDIES}"]
    # Without locks: nobody else runs in the copy, and one that was left behind by a killed run would end this one.
    options = ("--cores", str(cores), "--quiet", "rules", "progress", "reason", "--nolock")
    done = _run(copy, "snakemake", *options, "--config", *settings, "--", *files)
    if done.returncode != 0:
        raise Broken(f"{copy}: Snakemake ended with status {done.returncode}; see {copy}/snakemake.log")
    rows = [row for file in files for row in ledger.read(copy / file)]
    return {" ".join(filter(None, (row["claim"], row["variant"]))): row for row in rows}


def flipped(before: Mapping[str, Mapping], after: Mapping[str, Mapping]) -> list[str]:
    """The claims that were decided before and have another verdict after, on a number that has moved."""
    return [
        claim
        for claim, row in before.items()
        if row["verdict"] in DECIDED and after[claim]["verdict"] != row["verdict"] and _moved(row, after[claim])
    ]


def _moved(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether a measured number differs by more than the 99.9% interval of a difference, or is no longer there.

    The two intervals are taken for those of independent runs; where these share random numbers that is too wide.
    """
    if not after["low"]:
        return True
    (low, high), (other_low, other_high) = ([float(row[end]) for end in ("low", "high")] for row in (before, after))
    if low == high and other_low == other_high:
        # Exact numbers, of which one may be infinite.
        return low != other_low
    shift = (other_low + other_high - low - high) / 2
    return abs(shift) > math.hypot(high - low, other_high - other_low) / 2


def judge(mutant: Mutant, baseline: Path, copy: Path, before: Mapping[str, Mapping]) -> dict:
    """The row of one mutant, with the names of what noticed it. Raises Broken."""
    began = time.monotonic()
    shutil.rmtree(copy, ignore_errors=True)
    copied(baseline, copy, mutant.papers)
    mutant.apply(copy)
    failed, said = failed_tests(copy, mutant.tests)
    after = verdicts(copy, mutant.papers, cores=1)
    papers = tuple(f"{paper}/" for paper in mutant.papers)
    own = flipped({claim: row for claim, row in before.items() if claim.startswith(papers)}, after)
    row = {"mutant": mutant.name, "file": mutant.file, "fault": mutant.fault}
    row |= {"tests_failed": failed, "claims_flipped": len(own), "seconds": round(time.monotonic() - began)}
    shutil.rmtree(copy)
    return row | {"said": said, "flipped": own}


def refuse_failing_tests(baseline: Path, tests: Iterable[str], cores: int) -> None:
    """Raise Broken where a test fails without any fault, so that its failure would say nothing of a mutant."""
    held = hashlib.sha256()
    rooms = ("tests", "workflow", "config")
    for path in sorted(p for room in rooms for p in (baseline / room).rglob("*") if p.is_file()):
        if "__pycache__" not in path.parts:
            held.update(path.read_bytes())
    passed = baseline / "passed.json"
    known = json.loads(passed.read_text(encoding="utf-8")) if passed.is_file() else {}
    there = set(known["tests"]) if known.get("digest") == held.hexdigest() else set()
    if not set(tests) <= there:
        failed, said = failed_tests(baseline, sorted(set(tests) - there), "-n", str(cores), "--dist", "loadfile")
        if failed:
            raise Broken(f"{baseline}: fails without any fault: {said}")
        write_text(passed, json.dumps({"digest": held.hexdigest(), "tests": sorted(there | set(tests))}) + "\n")


# Rows that are there already


class Records:
    """What is known of mutants: a file each, and results/mutants.csv, with empty counts for those not judged yet."""

    def __init__(self, project: Path, mutants: list[Mutant]):
        self.project, self.mutants = project, mutants
        # As things stand before the first one is tried: an edit made meanwhile must not pass for what was judged.
        self.digests = {mutant.name: mutant.digest(project) for mutant in mutants}
        self.folder = project / paths.mutant_runs() / "rows"
        self.lock = threading.Lock()

    def known(self, mutant: Mutant) -> dict | None:
        """The record of a mutant, if neither it, nor the file, nor what judges it has changed since."""
        path = self.folder / f"{mutant.name}.json"
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return record if record.get("digest") == self.digests[mutant.name] else None

    def keep(self, mutant: Mutant, row: Mapping) -> None:
        """Write down a mutant's row, and the table anew."""
        with self.lock:
            record = {**row, "digest": self.digests[mutant.name]}
            write_text(self.folder / f"{mutant.name}.json", json.dumps(record, indent=1) + "\n")
            self.write_table()

    def write_table(self) -> None:
        """results/mutants.csv, in the order of the list."""
        text = io.StringIO()
        table = csv.DictWriter(text, MUTANT_COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for mutant in self.mutants:
            listed = {"mutant": mutant.name, "file": mutant.file, "fault": mutant.fault}
            table.writerow(self.known(mutant) or listed)
        write_text(self.project / paths.mutants(), text.getvalue())


def main(arguments: list[str] | None = None) -> int:
    """Judge the mutants that are named, or all, that are not known yet; the exit status is 1 where one cannot be."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=1, help="as many mutants at a time")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of mutants.yaml; all if none is given")
    given = parser.parse_args(arguments)
    mutants = load()
    if unknown := set(given.names) - {mutant.name for mutant in mutants}:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}")
    records = Records(ROOT, mutants)
    chosen = [m for m in mutants if not given.names or m.name in given.names]
    todo = [mutant for mutant in chosen if records.known(mutant) is None]
    runs = ROOT / paths.mutant_runs()
    baseline = runs / "baseline"
    records.write_table()
    if not todo:
        return 0
    papers = sorted({paper for mutant in todo for paper in mutant.papers})
    bring_up_to_date(baseline)
    write_reduced(baseline, papers)
    print(f"the baseline, without a fault: {', '.join(papers)}", flush=True)
    try:
        refuse_failing_tests(baseline, {test for mutant in todo for test in mutant.tests}, given.cores)
        before = verdicts(baseline, papers, given.cores)
    except (Broken, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    decided = sum(row["verdict"] in DECIDED for row in before.values())
    print(f"{decided} of {len(before)} claims are decided", flush=True)
    failures = 0
    with ThreadPoolExecutor(given.cores) as pool:
        under_way = {pool.submit(judge, m, baseline, runs / m.name, before): m for m in todo}
        for done in as_completed(under_way):
            mutant = under_way[done]
            try:
                row = done.result()
            except (Broken, ValueError, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"{mutant.name}: not judged: {error}", file=sys.stderr, flush=True)
                continue
            records.keep(mutant, row)
            found = f"{row['tests_failed']} tests failed, {row['claims_flipped']} claims flipped, {row['seconds']} s"
            print(f"{mutant.name}: {found}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
