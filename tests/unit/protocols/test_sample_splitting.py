"""Check pulls, sums and held-out sums of arms that are rotated from run to run."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

from privarms.environments import bernoulli
from privarms.protocols import sample_splitting

from .toy import Params, policy


@njit
def choose(params, state, context, t, rng):
    # The first place has all rounds except one for each other place.
    return min(t - 1, params.n_arms - 1) if t < params.n_arms + 1 else 0


def run(environment, replicates, horizon=50):
    cell = SimpleNamespace(checkpoints=np.array([horizon]), environment="bernoulli", record=None)
    rngs = np.random.default_rng(3), np.random.default_rng(4)
    return sample_splitting.run_block(
        policy(choose), Params(len(environment.means)), environment, cell, replicates, *rngs
    )


def test_each_arm_stands_in_each_place_in_turn():
    rows = run(bernoulli.configure(3, top=1.0, bottom=0.0), 7)
    assert list(rows["replicate"]) == [i for i in range(7) for _ in range(3)]
    assert list(rows["arm"]) == [0, 1, 2] * 7
    pulls = rows["pulls"].reshape(-1, 3)
    # Rotated by one more place: arm 0, then arm 2, then arm 1.
    assert [int(p.argmax()) for p in pulls] == [0, 2, 1, 0, 2, 1, 0]
    assert (pulls.sum(axis=1) == 50).all()
    # Sums follow their arms: means 1, 1/2, 0.
    sums = rows["reward_sum"].reshape(-1, 3)
    assert (sums[:, 0] == pulls[:, 0]).all()
    assert (sums[:, 2] == 0).all()


def test_what_is_held_out_is_binomial_given_the_pulls_and_has_nothing_to_do_with_what_was_seen():
    means = bernoulli.configure(2, top=0.6, bottom=0.3)
    rows = run(means, 4_000)
    pulls, sums, held = (rows[c].reshape(-1, 2) for c in ("pulls", "reward_sum", "held_out_sum"))
    long = pulls[:, 0] == 49
    # Within 4.9 standard deviations: a false alarm has probability 1e-6.
    off = abs(held[long, 0].mean() - 49 * 0.6) / (binom.std(49, 0.6) / np.sqrt(long.sum()))
    assert off < 4.9
    assert abs(np.corrcoef(held[long, 0], sums[long, 0])[0, 1]) < 4.9 / np.sqrt(long.sum())


def test_other_arms_than_bernoulli_ones():
    class Others(NamedTuple):
        pull: object
        means: np.ndarray
        spread: float

    with pytest.raises(ValueError, match="expected Bernoulli arms"):
        run(Others(None, np.array([0.5, 0.5]), 1.0), 2)
