"""Check killed and simultaneous runs: the lock, and identical results at the end."""

import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from .test_damage import not_whole

pytestmark = pytest.mark.workflow

KILLS = 5


def started(project):
    """Start a run in a separate process group."""
    return subprocess.Popen(
        project.command(cores=2),
        cwd=project.folder,
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A background process of a shell without job control would ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def locked(project):
    """Return whether the folder is locked by a run, possibly by a killed one."""
    return any((project.folder / ".snakemake/locks").glob("*.lock"))


def differing(project, made):
    """Return the results that differ from the complete ones; the temporary file of a killed job is none."""
    return [file for file in not_whole(project, made) if not file.endswith(".part")]


def forget(project):
    """Reset the project to the state before the first run."""
    for place in ("results", "logs", ".snakemake"):
        shutil.rmtree(project.folder / place, ignore_errors=True)


@pytest.mark.long
def test_kills_at_random_moments_change_no_byte(small_made, small):
    begin = time.monotonic()
    small.complete()
    length = time.monotonic() - begin
    forget(small)

    moments = random.Random(20)
    killed = stale = 0
    # Whether a kill leaves a lock depends on the machine: go on until one has.
    while killed < KILLS or (stale == 0 and killed < 5 * KILLS):
        run = started(small)
        try:
            output, _ = run.communicate(timeout=moments.uniform(0, length))
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            killed += 1
            # Files of a killed run with a final name are complete.
            assert differing(small, small_made) == []
            if locked(small):
                small.complete("--unlock")
                assert not locked(small)
                stale += 1
        else:
            # The run ended before the interrupt. Reset the project and interrupt earlier.
            assert run.returncode == 0, output
            assert differing(small, small_made) == []
            length *= 0.8
            forget(small)
    assert stale > 0
    small.complete()
    assert differing(small, small_made) == []
    assert small.digests() == small_made.digests()


@pytest.mark.long
def test_an_interrupted_run_says_how_to_go_on(small):
    run = started(small)
    deadline = time.monotonic() + 120
    while not list((small.folder / "results").rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    # Like Ctrl-C, send the signal to every process of the terminal.
    os.killpg(run.pid, signal.SIGINT)
    output, _ = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "\nContinue with the same command; finished jobs do not run again.\n" in output
    assert "\nfailed:" not in output
    assert not locked(small)


@pytest.mark.long
def test_a_second_run_in_the_same_folder_is_refused_and_the_first_is_not_disturbed(small_made, small):
    first = started(small)
    while not locked(small):
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    # The first run waits, so it is still active when the second one is refused.
    os.killpg(first.pid, signal.SIGSTOP)
    second = small.run()
    os.killpg(first.pid, signal.SIGCONT)
    assert second.returncode != 0
    for words in ("Directory cannot be locked", str(small.folder), "--unlock"):
        assert words in second.stderr
    assert "Traceback" not in second.stderr
    output, _ = first.communicate()
    assert first.returncode == 0, output
    assert small.digests() == small_made.digests()


# The process that forks the jobs has imported the second module before the edit.
@pytest.mark.long
@pytest.mark.parametrize("module", ["papers/us2026/inference.py", "planning/results.py"])
def test_an_edit_during_a_run_fails_the_jobs_that_use_it_and_changes_no_byte(small_made, small, module):
    file = small.folder / "workflow/privarms" / module
    former = file.read_text(encoding="utf-8")
    run = started(small)
    while not any((small.folder / "results").rglob("shards/*/*.parquet")):
        assert run.poll() is None
        time.sleep(0.1)
    file.write_text(former + "\n# An edit.\n", encoding="utf-8")
    output, _ = run.communicate()
    assert run.returncode != 0
    assert f"{file.name}: edited during the run" in output
    file.write_text(former, encoding="utf-8")
    small.complete()
    assert small.digests() == small_made.digests()
