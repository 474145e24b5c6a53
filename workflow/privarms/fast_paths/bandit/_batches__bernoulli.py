"""Policies that pull in batches, on Bernoulli arms: one binomial and one Laplace draw per batch.

The size of a batch is fixed when it begins, and nothing depends on its rewards before its sum is released at its end.
So the rewards matter only through their sum, Binomial(size, mean). The policy chooses in the same rounds and from the
same state as in the reference implementation.
"""

from numba import njit

from privarms.fast_paths.bandit._skip_ahead import note_regret
from privarms.jit.binomial import binomial
from privarms.kernels.batches import init, next_arm, release


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, one batch at a time."""
    means, horizon, best_mean = environment.means, checkpoints[-1], environment.means.max()
    state = init(params)
    t, checkpoint, regret = 0, 0, 0.0
    while t < horizon:
        arm = next_arm(params, state, t + 1, rng)
        size = params.batch_size(params, state, arm)
        rounds = min(size, horizon - t)
        gap = best_mean - means[arm]
        checkpoint = note_regret(record.regret, checkpoints, checkpoint, t, rounds, regret, gap)
        batch_sum = float(binomial(rounds, means[arm], rng))
        record.pulls[arm] += rounds
        record.reward_sums[arm] += batch_sum
        regret += gap * rounds
        t += rounds
        if rounds == size:
            release(params, state, arm, size, batch_sum, rng)
