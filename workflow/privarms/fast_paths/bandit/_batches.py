"""Policies that pull in batches, with Bernoulli rewards: one binomial and one Laplace draw per batch.

The size of a batch is fixed when it begins, and nothing depends on its rewards before its sum is released at its end.
So the rewards enter through their sum alone, Binomial(size, mean). The rule is asked in the same rounds as in the
reference, about the same state.
"""

from collections.abc import Callable

from numba import njit

from privarms.jit.binomial import binomial
from privarms.policies.bandit._batches import new_state, release, without_batch


def simulation(best: Callable, batch_size: Callable) -> Callable:
    """Return simulate(params, scale, forget, environment, checkpoints, rng, record) of a policy; see `release`.

    best(params, state, t, rng): the choice once every arm has a batch; batch_size(params, state, arm). They are no
    arguments of `simulate`: numba would not keep its machine code.
    """

    @njit
    def simulate(params, scale, forget, environment, checkpoints, rng, record):
        means, horizon, best_mean = environment.means, checkpoints[-1], environment.means.max()
        record.pulls[:] = 0
        record.reward_sums[:] = 0.0
        state = new_state(len(means))
        t, checkpoint, regret = 0, 0, 0.0
        while t < horizon:
            first = without_batch(state)
            arm = first if first >= 0 else best(params, state, t + 1, rng)
            size = batch_size(params, state, arm)
            rounds = min(size, horizon - t)
            gap = best_mean - means[arm]
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

    return simulate
