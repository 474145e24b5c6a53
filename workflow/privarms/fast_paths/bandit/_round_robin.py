"""Arms pulled in turn with Bernoulli rewards, many rounds at once."""

from numba import njit

from privarms.jit.binomial import binomial


@njit
def pull_in_turn(means, viable, arms, t, rounds, checkpoint, checkpoints, rng, reward_sums, record):
    """Pull the viable arms in turn for `rounds` rounds after round t, with Bernoulli(means) rewards, all at once.

    The order is deterministic, so an arm's rewards add up to one binomial draw and the regret is known inside.
    viable: bool[K], of which `arms` are true
    checkpoint: index of the first checkpoint after round t
    reward_sums: float64[K], grows by the new rewards; so do `record.pulls` and `record.reward_sums`
    Returns the index of the first checkpoint after round t + rounds; the regret of those before it is recorded.
    """
    while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + rounds:
        record.regret[checkpoint] = _regret(means, viable, arms, checkpoints[checkpoint] - t, record)
        checkpoint += 1
    sweeps, part = rounds // arms, rounds % arms
    for arm in range(len(means)):
        if viable[arm]:
            pulls = sweeps
            if part > 0:
                pulls += 1
                part -= 1
            reward_sum = binomial(pulls, means[arm], rng)
            reward_sums[arm] += reward_sum
            record.pulls[arm] += pulls
            record.reward_sums[arm] += reward_sum
    return checkpoint


@njit
def _regret(means, viable, arms, rounds, record):
    """The pseudo-regret of the recorded pulls and of `rounds` rounds more."""
    sweeps, part = rounds // arms, rounds % arms
    best = means.max()
    regret = 0.0
    for arm in range(len(means)):
        pulls = record.pulls[arm]
        if viable[arm]:
            pulls += sweeps
            if part > 0:
                pulls += 1
                part -= 1
        regret += pulls * (best - means[arm])
    return regret
