"""How long a run will take: what its jobs are expected to take, and when a few cores are through with them."""

import csv
import heapq
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# Seconds of a job where no earlier job tells: starting Python and reading and compiling the library is most of it.
START_UP = 4.0
TYPICAL = {"compute_inference": 8.0, "draw_figures": 6.0, "fetch_raw": 20.0, "prepare_dataset": 10.0}
# An earlier time of a simulation is believed within this factor of what its kind takes: machines sleep and are shared.
BELIEVED = 3.0
# Seconds of work whose time must be known before the run's own pace outweighs what was expected.
WEIGHT = 60.0


class Job(NamedTuple):
    """A job of a run.

    paper: "" where it serves all; needs: the numbers of the jobs that must be done first; local: whether it runs where
    Snakemake does; kind: jobs of one kind take alike times for the work that is estimated
    """

    number: int
    rule: str
    paper: str
    name: str
    kind: str
    estimate: float
    seconds: float
    priority: float
    needs: frozenset[int]
    local: bool = True
    log: tuple[str, ...] = ()


# Kind, estimate and seconds of a job that was made earlier.
Earlier = tuple[str, float, float]


def estimate(rule: str, work: float = 0.0) -> float:
    """Seconds of a job by its rule, and by the work that a simulation's configuration says."""
    return TYPICAL.get(rule, START_UP) + work


def past_seconds(benchmark: str | None) -> float | None:
    """The seconds that Snakemake measured when it made a job last; None where it did not, or not legibly."""
    if benchmark is None or not Path(benchmark).is_file():
        return None
    try:
        with open(benchmark, encoding="utf-8") as file:
            return float(next(csv.DictReader(file, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def calibrate(jobs: Sequence[Job], past: Mapping[int, float], also: Iterable[Earlier] = ()) -> list[Job]:
    """The jobs with the seconds that they are expected to take.

    past: number -> seconds of the same job, made earlier; also: jobs that are not made again.
    Kinds without an earlier job take what was estimated, times the median of all simulations' ratios if their own
    are simulations.
    """
    ratios: dict[str, list[float]] = {}
    for kind, estimated, seconds in [*((j.kind, j.estimate, past[j.number]) for j in jobs if j.number in past), *also]:
        ratios.setdefault(kind, []).append(seconds / estimated)
    of_kind = {kind: statistics.median(found) for kind, found in ratios.items()}
    simulated = [r for kind, found in ratios.items() if kind.startswith("simulate_shard") for r in found]
    otherwise = statistics.median(simulated) if simulated else 1.0
    calibrated = []
    for job in jobs:
        simulates = job.rule == "simulate_shard"
        usual = job.estimate * of_kind.get(job.kind, otherwise if simulates else 1.0)
        seconds = past.get(job.number, usual)
        if simulates:
            seconds = min(max(seconds, usual / BELIEVED), usual * BELIEVED)
        calibrated.append(job._replace(seconds=seconds))
    return calibrated


def pace(done: Iterable[tuple[Job, float]]) -> float:
    """By what factor jobs take longer than expected, from those that are done and their seconds."""
    taken = expected = WEIGHT
    for job, seconds in done:
        taken, expected = taken + seconds, expected + job.seconds
    return taken / expected


def ends(
    jobs: Sequence[Job], cores: int, local_cores: int | None = None, running: Mapping[int, float] | None = None
) -> dict[int, float]:
    """number -> in how many seconds a job is done, each core always taking the most urgent that can run.

    cores: how many jobs at a time; local_cores: of those that run where Snakemake does, if others run elsewhere
    running: number -> for how many seconds a job has been running
    """
    running = running or {}
    there = {job.number: job for job in jobs}
    waits = {job.number: len(job.needs & there.keys()) for job in jobs}
    followers: dict[int, list[Job]] = {}
    for job in jobs:
        for number in job.needs & there.keys():
            followers.setdefault(number, []).append(job)
    pools = {True: local_cores, False: cores} if local_cores is not None else {True: cores}
    free = {place: max(1, count or 1) for place, count in pools.items()}
    ready: dict[bool, list[tuple[float, int]]] = {place: [] for place in pools}
    busy: list[tuple[float, int]] = []
    found: dict[int, float] = {}

    def place_of(job: Job) -> bool:
        return job.local or local_cores is None

    def start(job: Job, now: float, past: float = 0.0) -> None:
        free[place_of(job)] -= 1
        # One that has taken longer than expected is about to end.
        heapq.heappush(busy, (now + max(job.seconds - past, 0.05 * job.seconds), job.number))

    for job in jobs:
        if job.number in running:
            start(job, 0.0, running[job.number])
        elif not waits[job.number]:
            heapq.heappush(ready[place_of(job)], (-job.priority, job.number))
    now = 0.0
    while True:
        for place, queue in ready.items():
            while queue and free[place] > 0:
                start(there[heapq.heappop(queue)[1]], now)
        if not busy:
            return found
        now, number = heapq.heappop(busy)
        found[number] = now
        free[place_of(there[number])] += 1
        for follower in followers.get(number, ()):
            waits[follower.number] -= 1
            if not waits[follower.number] and follower.number not in running:
                heapq.heappush(ready[place_of(follower)], (-follower.priority, follower.number))
