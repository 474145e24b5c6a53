"""Viable arms pulled in turn, in index order: one by one, or many rounds with Bernoulli rewards at once."""

import numpy as np
from numba import njit

from privarms.jit.binomial import binomial


@njit
def next_viable(viable, arm):
    """Return the viable arm after `arm` in index order; the first one follows the last."""
    while True:
        arm += 1
        if arm == len(viable):
            arm = 0
        if viable[arm]:
            return arm


@njit
def pull_in_turn(means, viable, arms, t, rounds, checkpoint, checkpoints, rng, reward_sums, record):
    """Pull the viable arms in turn for `rounds` rounds after round t, with Bernoulli(means) rewards, all at once.

    The order is deterministic, so an arm's rewards add up to one binomial draw and the regret is known at every round.
    viable: bool[K], of which `arms` are true
    checkpoint: index of the first checkpoint after round t
    reward_sums: float64[K], increased by the new rewards, like `record.pulls` and `record.reward_sums`

    Returns the index of the first checkpoint after round t + rounds, and records the regret at those before it.
    """
    while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + rounds:
        pulls = record.pulls + _turns(viable, arms, checkpoints[checkpoint] - t)
        record.regret[checkpoint] = (pulls * (means.max() - means)).sum()
        checkpoint += 1
    pulls = _turns(viable, arms, rounds)
    for arm in range(len(means)):
        if viable[arm]:
            reward_sum = binomial(pulls[arm], means[arm], rng)
            reward_sums[arm] += reward_sum
            record.pulls[arm] += pulls[arm]
            record.reward_sums[arm] += reward_sum
    return checkpoint


@njit
def _turns(viable, arms, rounds):
    """Return each arm's share of `rounds` rounds, int64[K]; the first arms get those left over."""
    pulls, part = np.zeros(len(viable), np.int64), rounds % arms
    for arm in range(len(viable)):
        if viable[arm]:
            pulls[arm] = rounds // arms + (part > 0)
            part -= 1
    return pulls
