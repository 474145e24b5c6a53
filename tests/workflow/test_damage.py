"""Check damaged files and full disks: one clear error, no incomplete file, and the next run resumes."""

import os
import shutil
from pathlib import Path

import pytest

from .conftest import copied
from .disks import small_disk

pytestmark = pytest.mark.workflow

RESULTS = Path("results/tiny")
SHARD = "shards/us2026/ucb1-*.parquet"
STUDY = RESULTS / "studies/us2026/budgets.parquet"


def up_to(stages, made, folder):
    """Return a copy of a complete project in which only these stages have run."""
    project = copied(made.folder, folder / "project")
    for place in (project.folder / RESULTS).iterdir():
        if place.name not in stages:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    return project


def errors(done, *words):
    """Return the number of errors of a failed run: each is one line with the words, and there is no traceback."""
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert all(word in line for line in lines for word in words), lines
    assert "Traceback" not in done.stderr
    return len(lines)


def not_whole(project, made):
    """Return the results of a project that differ from the complete one, including hidden files."""
    files = [p.relative_to(project.folder) for p in (project.folder / "results").rglob("*") if p.is_file()]
    return [
        str(f)
        for f in files
        if not (made.folder / f).exists() or (made.folder / f).read_bytes() != (project.folder / f).read_bytes()
    ]


def test_a_truncated_shard_is_one_clear_error_and_is_made_again_once_deleted(small_made, tmp_path):
    project = up_to(("shards",), small_made, tmp_path)
    (shard,) = (project.folder / RESULTS).glob(SHARD)
    path = str(shard.relative_to(project.folder))
    content, times = shard.read_bytes(), (shard.stat().st_atime_ns, shard.stat().st_mtime_ns)
    shard.write_bytes(content[: len(content) // 2])
    # A failing disk does not change the modification time.
    os.utime(shard, ns=times)
    done = project.run(str(STUDY))
    assert errors(done, path, "damaged: not a complete Parquet file", "delete it and run again") == 1, done.stderr
    assert not list((project.folder / RESULTS / "studies").rglob("*.parquet"))

    shard.unlink()
    project.complete()
    assert not_whole(project, small_made) == []
    assert project.digests() == small_made.digests()


# Targets to make before the disk is full, the folder on the disk, its size, and the target.
STAGES = {
    "simulate": ((), "shards", 4_096, "studies/us2026/budgets.parquet"),
    "aggregate": (("shards",), "studies", 12_288, "studies/us2026/budgets.parquet"),
    "figure": (("shards", "studies"), "figures", 40_960, "figures/us2026/fig1.pdf"),
}


@pytest.mark.long
@pytest.mark.parametrize("stage", STAGES)
def test_a_full_disk_is_one_clear_error_and_the_run_is_resumed(small_made, tmp_path, stage):
    before, folder, size, target = STAGES[stage]
    project = up_to(before, small_made, tmp_path)
    with small_disk(project.folder / RESULTS / folder, size) as (limit, words):
        done = project.run(str(RESULTS / target), cores=1, before=limit)
        # Other jobs may continue, and meet the same error.
        assert errors(done, str(RESULTS / folder), f"cannot be written: {words}", "free the disk", "run again") >= 1
        assert not_whole(project, small_made) == []
        assert not (project.folder / RESULTS / target).exists()

    # One case runs to the end, the others only as far as needed.
    project.complete(*(() if stage == "figure" else (str(RESULTS / target),)))
    assert not_whole(project, small_made) == []
    assert (project.folder / RESULTS / target).exists()
    assert stage != "figure" or project.digests() == small_made.digests()
