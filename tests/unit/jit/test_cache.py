"""Check the kernel cache: other processes load kernels with the same results, but never after edits of sources."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import njit

from privarms.environments import bernoulli
from privarms.jit import cache
from privarms.policies import Policy, functions
from privarms.policies.bandit import uniform
from privarms.protocols.bandit import play, play_block
from privarms.registry import imported, library
from tests import ROOT

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

# Print the result, and the numbers of loaded and of compiled kernels.
SECOND_PROCESS = """
import sys
from tests.unit.jit.test_cache import run
from privarms.jit import cache
from privarms.registry import library
cache.use(library.imported_texts)
result = run(cache.compiled)
stats = [m.call.stats for name, m in sys.modules.items() if name.startswith("kernel_")]
print(result.hex(), sum(sum(s.cache_hits.values()) for s in stats), sum(sum(s.cache_misses.values()) for s in stats))
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(cache, "_cache", None)
    return tmp_path


UNIFORM = functions(Policy, uniform)


def run(compiled, policy=UNIFORM):
    own, checkpoints = (policy, uniform.configure(3)), np.array([40])
    regret, pulls, sums = np.zeros((2, 1)), np.zeros((2, 3), np.int64), np.zeros((2, 3))
    environment = bernoulli.configure(3, 0.9, 0.2)
    compiled(play_block)(play, own, environment, checkpoints, np.random.default_rng(3), regret, pulls, sums)
    return regret.tobytes() + pulls.tobytes() + sums.tobytes()


@njit
def counted(sums):
    sums[0] += 1
    return sums[0]


def kept(place):
    return sorted(place.rglob("*.nbc"))


def test_nothing_is_kept_unless_asked_for(place):
    assert run(cache.compiled) == run(lambda kernel: kernel)
    assert not [*place.iterdir()]


def test_another_process_loads_the_machine_code_and_gets_the_same_numbers(place):
    cache.use(library.imported_texts)
    first = run(cache.compiled)
    assert first == run(lambda kernel: kernel)
    assert len(kept(place)) == 1
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), str(ROOT)])}
    command = [sys.executable, "-c", SECOND_PROCESS]
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert second.stdout.split() == [first.hex(), "1", "0"]


def folders(place):
    return {path.parent.parent for path in kept(place)}


@pytest.mark.parametrize("cached", [False, True])
def test_a_bound_kernel_reads_its_arrays_at_each_call(place, cached):
    if cached:
        cache.use(lambda *modules: "this file")
    sums = np.zeros(1)
    once = cache.bound(counted, sums)
    assert [once(), once()] == [1, 2]
    sums[0] = 10
    assert once() == 11
    assert bool(kept(place)) == cached


def test_another_text_names_another_folder(place):
    for text in ("first", "second"):
        cache.use(lambda *modules, text=text: text)
        run(cache.compiled)
    assert len(folders(place)) == 2


def test_what_was_edited_since_its_import_is_not_kept(place, monkeypatch):
    monkeypatch.setattr(imported, "is_edited", lambda file: file == uniform.__file__)
    cache.use(library.imported_texts)
    assert run(cache.compiled) == run(lambda kernel: kernel)
    assert not kept(place)


@njit
def choose_the_first(params, state, context, t, rng):
    return 0


def test_a_function_of_another_file_is_compiled_and_not_kept(place):
    cache.use(library.imported_texts)
    policy = UNIFORM._replace(choose=choose_the_first)
    assert run(cache.compiled, policy) == run(lambda kernel: kernel, policy) != run(lambda kernel: kernel)
    assert not kept(place)


def test_two_jobs_may_write_the_same_module_at_the_same_time(place, monkeypatch):
    rename = os.replace

    def rename_after_another_job(source, target):
        monkeypatch.setattr(os, "replace", rename)
        assert run(cache.compiled) == expected
        rename(source, target)

    expected = run(lambda kernel: kernel)
    cache.use(library.imported_texts)
    monkeypatch.setattr(os, "replace", rename_after_another_job)
    assert run(cache.compiled) == expected
    assert os.replace is rename
    assert not list(place.rglob("*.part"))
    assert len(kept(place)) == 1


def test_a_folder_that_cannot_be_made_is_done_without(place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(place / "file"))
    cache.use(library.imported_texts)
    assert run(cache.compiled) == run(lambda kernel: kernel)


def again(monkeypatch):
    """Simulate a new process, in which nothing is loaded yet."""
    cache._module.cache_clear()
    for name in [name for name in sys.modules if name.startswith("kernel_")]:
        monkeypatch.delitem(sys.modules, name)
    cache.use(library.imported_texts)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_file_is_removed_and_the_kernel_compiled_again(place, monkeypatch, suffix):
    cache.use(library.imported_texts)
    expected = run(cache.compiled)
    (damaged,) = place.rglob(f"*.{suffix}")
    damaged.write_bytes(damaged.read_bytes()[:20])
    again(monkeypatch)
    assert run(cache.compiled) == expected
    assert not damaged.exists()
    again(monkeypatch)
    assert run(cache.compiled) == expected
    assert len(kept(place)) == 1


def test_a_type_error_of_a_kernel_keeps_the_kernels_of_its_sources(place):
    cache.use(library.imported_texts)
    run(cache.compiled)
    files = kept(place)
    with pytest.raises(numba.TypingError):
        cache.compiled(play_block)(play, (UNIFORM, "no parameters"), bernoulli.configure(3, 0.9, 0.2), *[1] * 5)
    assert kept(place) == files


def test_a_folder_that_cannot_be_written_is_read(place, monkeypatch):
    cache.use(library.imported_texts)
    expected = run(cache.compiled)
    (file,) = kept(place)
    again(monkeypatch)
    monkeypatch.setattr(cache.os, "access", lambda path, mode: False)
    assert run(cache.compiled) == expected
    (name,) = [name for name in sys.modules if name.startswith("kernel_")]
    assert sys.modules[name].call.stats.cache_hits
    assert kept(place) == [file]
