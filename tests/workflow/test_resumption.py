"""Check that a whole run with other cores and shards, which was killed and resumed, gives the same results."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow


def one_artifact_of_a_kind(digests: dict[str, str]) -> set[str]:
    """Return all results, but only one figure and one table per paper."""
    first: dict[tuple, str] = {}
    actual = set()
    for path in map(Path, digests):
        kind, *below = path.parts[2:]
        if kind not in ("figures", "tables") or first.setdefault((kind, below[0]), path.stem) == path.stem:
            actual.add(str(path))
    return actual - {"results/tiny/report.html"}


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
    assert not (fresh.folder / "results/tiny/ledger.csv").exists()
    # The killed run left its lock.
    fresh.complete("--unlock")
    # The rest runs on two cores, to save time.
    fresh.complete("shard_seconds=0.1", *targets, cores=2)
    counts = [len(list((p.folder / "results/tiny/shards").rglob("*.parquet"))) for p in (made, fresh)]
    assert counts[1] > counts[0]
    actual = fresh.digests()
    assert {path: actual.get(path) for path in expected} == expected
