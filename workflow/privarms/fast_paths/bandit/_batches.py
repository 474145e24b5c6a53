"""Policies that pull in batches, with Bernoulli rewards: one binomial and one Laplace draw per batch.

The size of a batch is fixed when it begins, and nothing depends on its rewards before its sum is released at its end.
So the rewards enter through their sum alone, Binomial(size, mean). The rule is asked in the same rounds as in the
reference, about the same state.
"""

from numba import njit

from privarms.jit.binomial import binomial
from privarms.policies.bandit._batches import new_state, next_arm, release


@njit
def simulate(rule, batch_size, params, scale, forget, environment, checkpoints, rng, record):
    """Play one run, one batch at a time.

    rule, batch_size: as in `next_arm`, and batch_size(params, state, arm); scale, forget: as in `release`
    """
    means, horizon, best = environment.means, checkpoints[-1], environment.means.max()
    record.pulls[:] = 0
    record.reward_sums[:] = 0.0
    state = new_state(len(means))
    t, checkpoint, regret = 0, 0, 0.0
    while t < horizon:
        arm = next_arm(rule, params, state, t + 1, rng)
        size = batch_size(params, state, arm)
        rounds = min(size, horizon - t)
        gap = best - means[arm]
        while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + rounds:
            record.regret[checkpoint] = regret + gap * (checkpoints[checkpoint] - t)
            checkpoint += 1
        batch_sum = float(binomial(rounds, means[arm], rng))
        record.pulls[arm] += rounds
        record.reward_sums[arm] += batch_sum
        regret += gap * rounds
        t += rounds
        if rounds == size:
            release(state, arm, size, batch_sum, scale, forget, rng)
