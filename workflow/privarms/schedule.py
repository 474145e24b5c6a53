"""How long a run would take on so many cores, from the times that its jobs took: `python -m privarms.schedule`.

Reads the benchmarks that Snakemake wrote beside the last run. A job is taken to last as long as its CPU time, which
other programs on the machine do not stretch, and what Snakemake spends between jobs is left out.
"""

import argparse
import csv
import heapq
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError
from privarms.studies import configuration
from privarms.studies.plan import Plan
from privarms.studies.start import make_plan


class Job(NamedTuple):
    """seconds: its CPU time; needs: the names of the jobs before it."""

    seconds: float
    needs: tuple[str, ...]


def jobs(plan: Plan, benchmarks: Path) -> dict[str, Job]:
    """Every job of a plan that was timed, by the path of its benchmark; one without a benchmark (a raw file that was
    there already) is left out. Raises PrivarmsError where a simulation job was never timed."""
    found: dict[str, Job] = {}

    def add(name: str, needs: list[str], needed: bool = False) -> str:
        seconds = cpu_time(benchmarks / f"{name}.tsv")
        if seconds is None and needed:
            raise PrivarmsError(f"{benchmarks / name}.tsv: not there; run everything at scale {plan.scale} first")
        found[name] = Job(seconds or 0.0, tuple(n for n in needs if n in found))
        return name

    for dataset, status in plan.statuses.items():
        add(f"{'generate_standin' if status == 'stand-in' else 'prepare_dataset'}/{dataset}", [])
    ends = []
    for paper in plan.papers:
        made = {}
        for task in plan.tasks(paper):
            prepared = [n for d in plan.task_datasets(paper, task) for n in found if n.endswith(f"/{d}")]
            made[task] = add(f"simulate_shards/{paper}/{task}", prepared, needed=True)
        writers = {file: made[task] for task in made for file in plan.task_files(paper, task)}
        studies = {
            study: add(
                f"aggregate_study/{paper}/{study}", sorted({writers[f] for f in plan.shards(paper, study)}), needed=True
            )
            for study in plan.studies(paper)
        }
        everything = list(studies.values())
        if plan.inference(paper):
            everything.append(add(f"compute_inference/{paper}", everything))
        for stage in ("draw_figures", "write_tables", "measure_claims"):
            ends.append(add(f"{stage}/{paper}", everything))
    ledger = add("build_ledger", ends)
    add("build_report", [*ends, ledger])
    return found


def cpu_time(file: Path) -> float | None:
    """Seconds of CPU time that a benchmark notes; None without the file."""
    if not file.is_file():
        return None
    with file.open(encoding="utf-8") as lines:
        (row,) = csv.DictReader(lines, delimiter="\t")
    # psutil may miss a job of less than a moment.
    return float(row["cpu_time"] if row["cpu_time"] not in ("NA", "-") else row["s"])


def critical_path(of: Mapping[str, Job]) -> list[str]:
    """The jobs, first to last, of the longest chain that must run one after another."""
    length: dict[str, float] = {}
    before: dict[str, str | None] = {}
    for name, job in of.items():
        before[name] = max(job.needs, key=length.__getitem__, default=None)
        length[name] = job.seconds + (length[before[name]] if before[name] else 0.0)
    name = max(length, key=length.__getitem__, default=None)
    chain = []
    while name is not None:
        chain.append(name)
        name = before[name]
    return chain[::-1]


def makespan(of: Mapping[str, Job], cores: int) -> float:
    """Seconds from start to end on so many cores if a free core takes the ready job that the longest chain follows.

    of: jobs in an order in which each stands behind those that it needs
    """
    after: dict[str, list[str]] = {name: [] for name in of}
    for name, job in of.items():
        for needed in job.needs:
            after[needed].append(name)
    remaining: dict[str, float] = {}
    for name in reversed(list(of)):
        remaining[name] = of[name].seconds + max((remaining[n] for n in after[name]), default=0.0)
    waiting = {name: len(job.needs) for name, job in of.items()}
    ready = [(-remaining[name], name) for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < cores:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + of[name].seconds, name))
        now, ended = heapq.heappop(running)
        for name in after[ended]:
            waiting[name] -= 1
            if waiting[name] == 0:
                heapq.heappush(ready, (-remaining[name], name))
    return now


def _described(of: Mapping[str, Job]) -> str:
    minutes = sum(job.seconds for job in of.values()) / 60
    length = sum(of[name].seconds for name in critical_path(of)) / 60
    return f"{len(of)} jobs, {minutes:.1f} core-minutes, critical path {length:.1f} minutes"


def main(arguments: list[str] | None = None) -> None:
    """Print jobs, CPU time, critical path and the projected time on some numbers of cores."""
    parser = argparse.ArgumentParser(prog="python -m privarms.schedule", description=__doc__.splitlines()[0])
    parser.add_argument("--scale", choices=configuration.SCALES, default="paper")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4, 20, 200])
    given = parser.parse_args(arguments)
    config = configuration.read(Path("config/config.yaml"))
    if given.scale == "quick":
        config |= configuration.read(Path("config/quick.yaml"))
    plan = make_plan(config, main=False)
    found = jobs(plan, Path("benchmarks") / given.scale)
    for paper in plan.papers:
        own = {name: job for name, job in found.items() if paper in name.split("/")}
        print(f"{paper}: {_described({n: j._replace(needs=tuple(set(j.needs) & set(own))) for n, j in own.items()})}")
    print(f"everything: {_described(found)}: {', '.join(critical_path(found))}")
    minutes = sum(job.seconds for job in found.values()) / 60
    for cores in given.cores:
        taken = makespan(found, cores) / 60
        print(f"{cores:4d} cores: {taken:6.1f} minutes, {minutes / taken / cores:4.0%} busy")


if __name__ == "__main__":
    try:
        main()
    except PrivarmsError as error:
        sys.exit(f"error: {error}")
