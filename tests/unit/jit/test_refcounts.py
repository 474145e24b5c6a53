"""Check non-atomic reference counts: same results and memory, and used only if requested in time."""

import os
import subprocess
import sys

import pytest

KERNEL = """
import os, sys
import numpy as np
from numba import njit
from numba.core.runtime import rtsys
from privarms.jit import refcounts

@njit
def first(pair, i):
    return pair[i % 2][0] + i

@njit
def total(n):
    result = 0.0
    for i in range(n):
        pair = np.full(3, 0.1), np.ones(3)
        result += first(pair, i)
    return result

if "late" in sys.argv:
    total(1)
print(refcounts.make_plain(), refcounts.are_plain(), total(1000).hex(), end=" ")
counts = rtsys.get_allocation_stats()
print(counts.alloc == counts.free)
"""


def run(*arguments, **environment):
    command = [sys.executable, "-c", KERNEL, *arguments]
    environment = {**os.environ, "NUMBA_NRT_STATS": "1", "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def atomic():
    return run(PRIVARMS_ATOMIC_REFCOUNTS="1")


def test_off_by_the_environment_variable(atomic):
    assert atomic[:2] == ["False", "False"]
    assert atomic[3] == "True"


def test_the_numbers_are_the_same_and_all_memory_is_freed(atomic):
    assert run() == ["True", "True", *atomic[2:]]


def test_nothing_changes_after_the_first_kernel(atomic):
    assert run("late") == atomic
