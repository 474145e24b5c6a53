"""Damaged files and full disks: one clear error, no half file taken for whole, and the next run makes it anew."""

import os
import re
import shutil
from pathlib import Path

import pytest

from .conftest import Project
from .disks import small_disk

pytestmark = pytest.mark.workflow

RESULTS = Path("results/quick")
SHARD = "shards/sajed2019/dp_nas-*.parquet"
STUDY = RESULTS / "studies/sajed2019/stopping.parquet"


def up_to(stages, made, folder):
    """A copy of a complete project in which only these stages have run."""
    project = Project(Path(shutil.copytree(made.folder, folder / "project", copy_function=shutil.copy2)))
    for place in (project.folder / RESULTS).iterdir():
        if place.name not in stages:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    return project


def one_error(done, *words):
    """The one line of an error, which holds the words; no traceback."""
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(said) == 1, done.stderr
    assert all(word in said[0] for word in words), said[0]
    assert "Traceback" not in done.stderr
    return said[0]


def only_errors(done, *words):
    """Every error is one line that holds the words: other jobs go on, and meet the same; no traceback."""
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert said, done.stderr
    assert all(word in line for line in said for word in words), said
    assert "Traceback" not in done.stderr


def jobs(done):
    """The rules of the jobs that a run finished."""
    return re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)$", done.stderr, flags=re.MULTILINE)


def not_whole(project, made):
    """The results of a project that are not, byte for byte, those of the complete one, hidden files included."""
    files = [p.relative_to(project.folder) for p in (project.folder / "results").rglob("*") if p.is_file()]
    return [
        str(f)
        for f in files
        if not (made.folder / f).exists() or (made.folder / f).read_bytes() != (project.folder / f).read_bytes()
    ]


def cut(content):
    return content[: len(content) // 2]


def flipped(place):
    def flip(content):
        at = place if place >= 0 else len(content) + place
        return content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :]

    return flip


# Byte 10 stands in the header of the first page, which Parquet's own checksums leave out; a file ends with its footer.
DAMAGES = {
    "truncated": cut,
    "empty": lambda _: b"",
    "page": flipped(2000),
    "header": flipped(10),
    "footer": flipped(-900),
}


# One that Parquet finds, and one that it does not.
OFTEN = ("truncated", "header")


@pytest.mark.parametrize(
    "damage", [*OFTEN, *(pytest.param(name, marks=pytest.mark.long) for name in DAMAGES if name not in OFTEN)]
)
def test_a_damaged_shard_is_found_by_its_checksum_and_made_again(small_made, tmp_path, damage):
    project = up_to(("shards",), small_made, tmp_path)
    (shard,) = (project.folder / RESULTS).glob(SHARD)
    path = str(shard.relative_to(project.folder))
    whole, times = shard.read_bytes(), (shard.stat().st_atime_ns, shard.stat().st_mtime_ns)
    shard.write_bytes(DAMAGES[damage](whole))
    # As a failing disk does it: without a new time of change.
    os.utime(shard, ns=times)

    done = project.run(str(STUDY))
    one_error(done, path, "damaged", f"set aside as {shard.name}.damaged", "run again")
    assert jobs(done) == []
    assert not shard.exists()
    assert not list((project.folder / RESULTS / "studies").rglob("*.parquet"))

    # Once up to the end, else as far as it matters.
    again = project.run(*(() if damage == "truncated" else (str(STUDY),)))
    assert again.returncode == 0, again.stderr
    assert jobs(again).count("simulate_shard") == 1
    assert not_whole(project, small_made) == [f"{path}.damaged"]
    assert (project.folder / STUDY).exists()
    assert damage != "truncated" or project.digests() == small_made.digests()


# What is made before the disk is full, the folder on it, its size, and the target.
STAGES = {
    "simulate": ((), "shards", 16_384, "studies/sajed2019/stopping.parquet"),
    "aggregate": (("shards",), "studies", 40_960, "studies/sajed2019/stopping.parquet"),
    "figure": (("shards", "studies"), "figures", 81_920, "figures/sajed2019/fig1a.pdf"),
}


@pytest.mark.parametrize("stage", [pytest.param(s, marks=[pytest.mark.long] * (s == "figure")) for s in STAGES])
def test_a_full_disk_is_one_clear_error_and_the_run_is_resumed(small_made, tmp_path, stage):
    before, folder, size, target = STAGES[stage]
    project = up_to(before, small_made, tmp_path)
    with small_disk(project.folder / RESULTS / folder, size) as (limit, words):
        done = project.run(str(RESULTS / target), cores=1, before=limit)
        only_errors(done, str(RESULTS / folder), f"cannot be written: {words}", "free the disk", "run again")
        assert not_whole(project, small_made) == []
        assert not (project.folder / RESULTS / target).exists()

    # Once up to the end, else as far as it matters.
    project.complete(*(() if stage == "figure" else (str(RESULTS / target),)))
    assert not_whole(project, small_made) == []
    assert (project.folder / RESULTS / target).exists()
    assert stage != "figure" or project.digests() == small_made.digests()


def test_any_other_result_that_is_not_what_was_made_is_said_and_made_again(small_made, tmp_path):
    project = Project(Path(shutil.copytree(small_made.folder, tmp_path / "project", copy_function=shutil.copy2)))
    damaged = [
        RESULTS / place
        for place in (
            "claims/sajed2019.csv",
            "figures/sajed2019/fig1a.png",
            "ledger.csv",
            "report.html",
            "tables/sajed2019/stopping_time.md",
        )
    ]
    for path in damaged:
        place = project.folder / path
        times = (place.stat().st_atime_ns, place.stat().st_mtime_ns)
        place.write_bytes(flipped(len(place.read_bytes()) // 2)(place.read_bytes()))
        os.utime(place, ns=times)
    done = project.run()
    assert done.returncode == 0, done.stderr
    assert "build_report" in jobs(done)
    for path in damaged:
        said = [line for line in done.stderr.splitlines() if line.startswith(f"{path}: damaged: its SHA-256 is ")]
        assert len(said) == 1, done.stderr
        assert f"set aside as {path.name}.damaged" in said[0]
    assert sorted(not_whole(project, small_made)) == [f"{path}.damaged" for path in damaged]
    # Nothing else is made again, and nothing is said of it any more.
    assert not [job for job in jobs(done) if job in ("simulate_shard", "aggregate_study")]
    assert "damaged" not in project.run("-n").stderr
