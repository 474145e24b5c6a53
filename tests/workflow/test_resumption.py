"""Check that a run with other cores and shards, which was killed and resumed, gives the same results."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow


# The simulations of the others take most of the time of a whole run.
PAPERS = {"neel2018", "sajed2019", "li2024"}


def one_artifact_of_a_kind(digests: dict[str, str]) -> set[str]:
    """Return the results of PAPERS, but only one figure and one table of each."""
    first: dict[tuple, str] = {}
    actual = set()
    for path in (path for path in map(Path, digests) if PAPERS & {*path.parts, path.stem}):
        kind, *below = path.parts[2:]
        if kind not in ("figures", "tables") or first.setdefault((kind, below[0]), path.stem) == path.stem:
            actual.add(str(path))
    return actual


def test_one_core_smaller_shards_a_kill_and_a_resumption_give_the_same_bytes(made, fresh):
    every = made.digests()
    expected = {path: every[path] for path in sorted(one_artifact_of_a_kind(every))}
    targets = list(expected)
    shards = fresh.folder / "results/tiny/shards"
    run = subprocess.Popen(
        fresh.command("shard_seconds=0.1", *targets, cores=1),
        cwd=fresh.folder,
        env=fresh.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 600
    while len(list(shards.rglob("*.parquet"))) < 40 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert run.poll() is None, "the run was over before it could be killed"
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert not all((fresh.folder / target).exists() for target in targets)
    # The killed run left its lock.
    fresh.complete("--unlock")
    # The rest runs on two cores, to save time.
    fresh.complete("shard_seconds=0.1", *targets, cores=2)
    counts = [sum(len([*p.folder.glob(f"results/tiny/shards/{x}/*.parquet")]) for x in PAPERS) for p in (made, fresh)]
    assert counts[1] > counts[0]
    actual = fresh.digests()
    assert {path: actual.get(path) for path in expected} == expected
