"""Compare the distributions of fast paths and reference implementations: DP-UCB and UCB1."""

import importlib.util

import numpy as np
import pytest

from privarms.environments import bernoulli
from privarms.fast_paths.bandit import _skip_ahead, _tree_guard, dp_ucb__bernoulli
from privarms.policies import Policy, functions
from privarms.policies.bandit import dp_ucb, ucb1

from ...two_sample import same_law
from .samples import fast, sample

pytestmark = pytest.mark.statistical

FAST, FAST_UCB1 = fast(dp_ucb), fast(ucb1)
ENVIRONMENT = bernoulli.configure(5, 0.75, 0.25)


def pairs(one, other):
    """Return the regret at the checkpoints, and pulls and reward sums of the best and the second arm."""
    columns = ((0, range(one[0].shape[1])), (1, (0, 1)), (2, (0, 1)))
    return [("continuous", one[part][:, i], other[part][:, i]) for part, wanted in columns for i in wanted]


# Runs of 20,000 rounds have just enough blocks with a missed count to detect the wrong fast paths below.
SHORT = 20_000
CHECKPOINTS = [333, 5000, SHORT]
CELLS = [("log2.5", 0.5), ("log3", 0.5), ("chan", 0.5), ("exact", 0.1), ("exact", 1.0)]


@pytest.fixture(scope="module")
def plain():
    """Return reference samples of the short runs, by (width, epsilon)."""
    return {
        cell: sample(functions(Policy, dp_ucb), configured(cell), ENVIRONMENT, CHECKPOINTS, 1000, seed)
        for seed, cell in enumerate(CELLS, start=100)
    }


def configured(cell, horizon=SHORT):
    width, epsilon = cell
    return dp_ucb.configure(5, horizon, epsilon, width)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_fast_is_plain(plain, cell):
    assert same_law(pairs(plain[cell], sample(FAST, configured(cell), ENVIRONMENT, CHECKPOINTS, 3000, 1)))


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != ("exact", 0.1)], ids=str)
def test_a_width_off_by_two_percent_is_told_apart(plain, cell):
    params = configured(cell)
    wrong = params._replace(width=1.02 * params.width)
    assert not same_law(pairs(plain[cell], sample(FAST, wrong, ENVIRONMENT, CHECKPOINTS, 3000, 2)))


@pytest.fixture(scope="module")
def careless():
    """Return a fast path with the same blocks but without any missed count."""
    guard, kernel = _copy(_tree_guard), _copy(_skip_ahead)
    guard.ENTERED, guard.INSIDE = np.zeros_like(guard.ENTERED), np.zeros_like(guard.INSIDE)
    for name in ("new_guard", "longest_level", "safe_block", "first_miss"):
        setattr(kernel, name, getattr(guard, name))
    module = _copy(dp_ucb__bernoulli)
    module._skip_ahead = kernel
    return module.simulate


def _copy(module):
    specification = importlib.util.spec_from_file_location(f"{module.__name__}_copy", module.__file__)
    copy = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(copy)
    return copy


def test_blocks_without_their_misses_are_told_apart(plain, careless):
    for cell in (("log2.5", 0.5), ("chan", 0.5)):
        assert not same_law(pairs(plain[cell], sample(careless, configured(cell), ENVIRONMENT, CHECKPOINTS, 3000, 3)))


@pytest.mark.parametrize(("cell", "replicates"), [(("chan", 0.25), 40), (("log3", 1.0), 20)], ids=str)
def test_fast_is_plain_over_a_million_rounds(cell, replicates):
    horizon = 1_000_000
    params, checkpoints = configured(cell, horizon), [30_000, 200_000, horizon]
    one = sample(functions(Policy, dp_ucb), params, ENVIRONMENT, checkpoints, replicates, 4)
    assert same_law(pairs(one, sample(FAST, params, ENVIRONMENT, checkpoints, 400, 5)))
    wrong = params._replace(width=1.1 * params.width)
    assert not same_law(pairs(one, sample(FAST, wrong, ENVIRONMENT, checkpoints, 400, 5)))


def test_ucb1_fast_is_plain():
    params = ucb1.configure(5)
    one = sample(functions(Policy, ucb1), params, ENVIRONMENT, CHECKPOINTS, 3000, 6)
    assert same_law(pairs(one, sample(FAST_UCB1, params, ENVIRONMENT, CHECKPOINTS, 3000, 7)))
    # One case without noise, and one with a small width.
    wrong = dp_ucb.configure(5, SHORT, 1.0, "log3")._replace(node_scale=0.0)
    wrong = wrong._replace(width=np.full_like(wrong.width, 1.0))
    assert not same_law(pairs(one, sample(FAST, wrong, ENVIRONMENT, CHECKPOINTS, 3000, 7)))
