"""Machine code that is kept: the same numbers, found again by another process, and never that of another text."""

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from privarms import garbage, inlined
from privarms.audits import any_choice
from privarms.environments import bernoulli
from privarms.jit import cache as kept
from privarms.policies.bandit import successive_elimination, uniform
from privarms.protocols._checks import ArmError
from privarms.protocols.bandit import play, play_block

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path))
    kept._kept.cache_clear()
    return tmp_path


def a_run(call, policy=uniform, seed=3):
    params, checkpoints = policy.configure(3), np.array([40])
    regret, pulls, sums = np.zeros((2, 1)), np.zeros((2, 3), np.int64), np.zeros((2, 3))
    environment = bernoulli.configure(3, 0.9, 0.2)
    call(policy.POLICY, params, environment, checkpoints, np.random.default_rng(seed), regret, pulls, sums)
    return regret.tobytes() + pulls.tobytes() + sums.tobytes()


def files(place):
    return sorted(p.relative_to(place) for p in place.rglob("*.nbc"))


def test_the_numbers_are_those_of_the_kernel_itself(place):
    assert a_run(kept.compiled(play_block)) == a_run(play_block)
    assert len(files(place)) == 1


def test_a_call_keeps_none_of_its_arrays(place):
    a_run(kept.compiled(play_block))
    regret = np.zeros((2, 1))
    known = weakref.ref(regret)
    others = np.array([40]), np.random.default_rng(3), regret, np.zeros((2, 3), np.int64), np.zeros((2, 3))
    gc.disable()
    try:
        kept.compiled(play_block)(uniform.POLICY, uniform.configure(3), bernoulli.configure(3, 0.9, 0.2), *others)
        del regret, others
        assert known() is None
    finally:
        gc.enable()


def test_garbage_is_looked_for_seldom_while_a_kernel_is_compiled():
    before = gc.get_threshold()
    with inlined.inlined():
        assert gc.get_threshold() == garbage.SELDOM
    assert gc.get_threshold() == before


def test_a_function_that_a_kernel_has_taken_in_can_still_be_called(place):
    for function in (play_block, play, bernoulli.pull):
        function._reset_overloads()  # earlier tests have called them
    a_run(kept.compiled(play_block))
    assert any(isinstance(r.entry_point, inlined._NoMachineCode) for r in bernoulli.pull.overloads.values())
    environment = bernoulli.configure(3, 1.0, 0.0)
    assert [bernoulli.pull(environment, arm, np.random.default_rng(1)) for arm in (0, 2)] == [1.0, 0.0]
    # And then in another kernel.
    assert a_run(kept.compiled(play_block), uniform, seed=5) == a_run(play_block, uniform, seed=5)


def test_what_a_function_within_a_kernel_raises_says_its_values(place):
    params, table, counts = uniform.configure(5), any_choice.Table(0.0, 0, False, 0), np.zeros((20, 2))
    with pytest.raises(ArmError, match="arm 2 in round 1; expected 0 to 1"):
        kept.compiled(any_choice._choices)(uniform.POLICY, params, 2, table, 50, True, np.random.default_rng(1), counts)
    assert len(files(place)) == 1


@njit
def first(pair, i):
    return pair[i % 2][0] + i


@njit
def total(pair):
    found = 0.0
    for i in range(10):
        found += first(pair, i)
    return found


def test_references_are_counted_without_a_lock_on_the_memory():
    assert total((np.ones(1), np.ones(1))) == 55
    machine_code = next(iter(total.inspect_asm().values()))
    assert "NRT_decref" in machine_code
    assert "lock" not in machine_code


@njit
def places(n):
    return np.zeros(n).ctypes.data, np.empty((n, 3)).ctypes.data, np.ones(n, np.bool_).ctypes.data


def test_arrays_begin_where_a_line_of_memory_does():
    assert all(place % 64 == 0 for n in range(1, 40) for place in places(n))


def test_a_kernel_depends_on_how_kernels_are_compiled():
    text = "from privarms.environments.two_point import pull as f0\n"
    named = {Path(file).name for file in kept._sources(text)}
    assert {"two_point.py", "compiled.py", "inlined.py", "pcg64.py", "ziggurat.py", "sure.py"} <= named


@njit
def given_back(n):
    """Two arrays that outlive the kernel, after two that do not."""
    first((np.zeros(n), np.zeros(n)), 0)
    rows = (np.ones(n), np.zeros(n))
    return rows, first(rows, 1)


def test_what_nothing_refers_to_is_freed_and_nothing_else():
    _nrt_python.memsys_enable_stats()

    def held():
        found = rtsys.get_allocation_stats()
        return found.alloc - found.free

    before = held()
    kept = [given_back(100)[0] for _ in range(50)]
    assert held() - before == 100
    assert all((ones == 1).all() and (zeros == 0).all() for ones, zeros in kept)
    del kept
    assert held() == before


def test_another_process_compiles_nothing(place):
    program = (
        "import sys; sys.path.insert(0, 'tests/unit')\n"
        "import test_compiled as t; from privarms import compiled as k\n"
        "t.a_run(k.compiled(t.play_block))\n"
        "call = next(m for n, m in sys.modules.items() if n.startswith('kernel_')).call\n"
        "print(sum(call.stats.cache_hits.values()), sum(call.stats.cache_misses.values()))\n"
    )
    root = Path(__file__).parents[2]
    said = [
        subprocess.run([sys.executable, "-c", program], cwd=root, text=True, capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert said == ["0 1\n", "1 0\n"]


def test_another_text_is_another_kernel(place, monkeypatch):
    a_run(kept.compiled(play_block))
    before, (file,) = files(place), [f for f in kept.library.sources("policies.bandit.uniform") if "uniform" in f]
    changed = place / "uniform.py"
    changed.write_text(Path(file).read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    sources = kept._sources
    monkeypatch.setattr(kept, "_sources", lambda text: tuple(str(changed) if f == file else f for f in sources(text)))
    kept._kept.cache_clear()
    a_run(kept.compiled(play_block))
    assert len(files(place)) == 2
    assert set(before) < set(files(place))


def test_functions_that_only_this_process_knows_are_not_kept(place):
    @njit
    def pull(environment, arm, rng):
        return 1.0

    environment = bernoulli.configure(3, 0.9, 0.2)._replace(pull=pull)
    params = successive_elimination.configure(3, 40)
    given = np.zeros((1, 1)), np.zeros((1, 3), np.int64), np.zeros((1, 3))
    rng, call = np.random.default_rng(1), kept.compiled(play_block)
    call(successive_elimination.POLICY, params, environment, np.array([40]), rng, *given)
    assert given[1].sum() == 40
    assert not files(place)


@pytest.mark.parametrize("folder", ["/dev/null/no", "/proc/no"])
def test_a_folder_that_cannot_be_written_changes_nothing(folder, monkeypatch):
    monkeypatch.setenv(kept.FOLDER_VARIABLE, folder)
    assert a_run(kept.compiled(play_block)) == a_run(play_block)


def test_a_file_that_was_not_written_to_its_end_is_made_again(place):
    expected = a_run(kept.compiled(play_block))
    for file in place.rglob("*.nb[ic]"):
        file.write_bytes(b"")
    kept._kept.cache_clear()
    assert a_run(kept.compiled(play_block)) == expected
    assert all(file.stat().st_size for file in place.rglob("*.nb[ic]"))


def test_a_full_disk_changes_nothing(place, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    assert a_run(kept.compiled(play_block)) == a_run(play_block)


def test_what_nobody_uses_any_more_is_removed(place):
    a_run(kept.compiled(play_block))
    (module,) = place.glob("kernel_*/kernel_*.py")
    os.utime(module, (0, 0))
    another = SimpleNamespace(
        configure=lambda K: successive_elimination.configure(K, 40), POLICY=successive_elimination.POLICY
    )
    a_run(kept.compiled(play_block), policy=another)
    assert not module.exists()
