"""Index policies on Bernoulli arms (DP-UCB, UCB1), many rounds at a time.

In round t the index of an arm with n pulls, reward sum S and tree counter noise N is

    (S + N + width[popcount(n)]) / n + sqrt(2 ln t / n)

Each arm is pulled once, then the arm with the largest index; ties are broken at random. UCB1 has no noise and no width.

The distribution is that of the reference implementation, for this reason. The indices of all arms except the leader
change only through ln t, so they have an upper bound for all later rounds (`Rival`). The leader leads while its noise
stays above a floor: there its index, without any further reward, would meet that bound. `_tree_guard` draws the count
up to which the noise stays above the floor, from its exact probability. This fixes all choices of a block, and with
them the regret at every checkpoint in the block. Neither these choices nor the length of the next block depend on the
block's rewards. So the rewards are drawn later, by one binomial draw for many blocks, when they may matter for the
lead. If the bound does not decide, all indices are compared.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.fast_paths.bandit._tree_guard import first_miss, longest_level, new_guard, safe_block
from privarms.jit.binomial import binomial
from privarms.jit.intrinsics import popcount
from privarms.mechanisms.tree import complete_node, new_tree, noise_from

# A relative lead below this value may be rounding. Then all indices are compared.
ROUNDING = 1e-12
# They change speed, not results: the part of the lead that the missing rewards of one block may cost, and the ratio of
# missing rewards to lead at which they are drawn.
BLOCK_COST = 1 / 2
UNSEEN_COST = 1 / 16


class Rival(NamedTuple):
    """A bound of the indices of all arms except the leader from round `start` on: height + slope (t - start).

    height: their largest index in round `start`; slope: of a tangent, which bounds the concave sqrt(ln t)
    root: sqrt(ln start), which bounds the leader's own index from below
    """

    start: int
    height: float
    slope: float
    root: float


@njit
def simulate(node_scale, width, means, checkpoints, rng, record):
    """Play one run.

    node_scale: of a tree's nodes, 0 for no noise; means: float64[K], of the rewards
    width: float64[levels + 2], by popcount, with enough levels for the last checkpoint, `tree.node_levels`
    checkpoints, record: as in `protocols.bandit.play`
    """
    arms, horizon, best = len(means), checkpoints[-1], means.max()
    guard = new_guard(node_scale)
    # The smallest width at this number of bits or more.
    least_width = width.copy()
    for bits in range(len(width) - 2, -1, -1):
        least_width[bits] = min(width[bits], least_width[bits + 1])
    regrets, pulls, reward_sums = record.regret, record.pulls, record.reward_sums
    tree, noises = new_tree(arms, len(width) - 2), np.zeros(arms)
    # An arm's index in round t is centre + radius sqrt(ln t).
    centres, radii = np.zeros(arms), np.full(arms, np.sqrt(2.0))
    t, checkpoint, regret = 0, 0, 0.0
    for arm in range(min(arms, horizon)):
        pulls[arm] = 1
        reward_sums[arm] = 1.0 if rng.random() < means[arm] else 0.0
        noises[arm] = complete_node(tree, arm, 1, guard.node_scale, rng)
        centres[arm] = reward_sums[arm] + noises[arm] + width[1]
        checkpoint = note_regret(regrets, checkpoints, checkpoint, t, 1, regret, best - means[arm])
        regret += best - means[arm]
        t += 1
    while t < horizon:
        leader, rival = _compare(centres, radii, t + 1, rng)
        gap = best - means[leader]
        n, seen, unseen, noise = pulls[leader], reward_sums[leader], 0, noises[leader]
        lead = _lead(width, rival, t + 1, n, seen, noise)
        while True:
            block, noise = _pull_block(guard, least_width, rival, tree, leader, t + 1, n, seen, lead, horizon - t, rng)
            checkpoint = note_regret(regrets, checkpoints, checkpoint, t, block, regret, gap)
            regret += gap * block
            t, n, unseen = t + block, n + block, unseen + block
            lead = _lead(width, rival, t + 1, n, seen, noise)
            # The bound of the others grows faster than they do, so it is recomputed when t has doubled.
            stop = t >= horizon or t > 2 * rival.start
            if stop or unseen > UNSEEN_COST * lead:
                rewards = _draw_rewards(unseen, means[leader], rng)
                seen, unseen, lead = seen + rewards, 0, lead + rewards
                if stop or lead <= 0:
                    break
        pulls[leader], reward_sums[leader], noises[leader] = n, seen, noise
        centres[leader] = (seen + noise + width[popcount(n)]) / n
        radii[leader] = np.sqrt(2 / n)


@njit(forceinline=True)
def _compare(centres, radii, t, rng):
    """Return the arm of the largest index in round t, at random at ties, and the bound of the others."""
    root = np.sqrt(np.log(t))
    leader, highest, second, equals = 0, -np.inf, -np.inf, 1
    for arm in range(len(centres)):
        value = centres[arm] + root * radii[arm]
        if value > highest:
            leader, highest, second, equals = arm, value, highest, 1
            continue
        second = max(second, value)
        if value == highest:
            # As in `kernels.ties.largest`.
            equals += 1
            if rng.random() * equals < 1:
                leader = arm
    widest = 0.0
    for arm in range(len(radii)):
        if arm != leader:
            widest = max(widest, radii[arm])
    return leader, Rival(t, second, widest / (2 * t * root), root)


@njit(forceinline=True)
def _bound(rival, t):
    """Return the rival's bound in round t >= start, with a margin for rounding."""
    bound = rival.height + rival.slope * (t - rival.start)
    return bound + ROUNDING * abs(bound)


@njit(forceinline=True)
def _lead(width, rival, t, n, seen, noise):
    """Return how far the leader's sum may fall until it does not lead in round t; unseen rewards count as 0.

    n: the leader's pulls before round t; seen: the sum of the drawn rewards
    """
    return seen + noise + width[popcount(n)] - (n * _bound(rival, t) - rival.root * np.sqrt(2.0 * n))


@njit(forceinline=True)
def _slack(rival, t, n, last, seen):
    """Return a lower bound of `_lead` minus noise and width, for every count in (n, last] and every round up to t."""
    need = last * _bound(rival, t) - rival.root * np.sqrt(2.0 * last)
    return seen - (need if need > 0 else need / last * (n + 1))


@njit(forceinline=True)
def _pull_block(guard, least_width, rival, tree, arm, t, n, seen, lead, rounds, rng):
    """Pull the leader from round t on while it is certain to lead, at most `rounds` times.

    n, seen, lead: as in `_lead`. Returns the number of pulls and the noise at the new count. No noise is drawn after
        the last round, because no decision follows.
    """
    # A pull without a reward costs at most this part of the lead.
    cost = _bound(rival, t)
    pulls, noise = 1, 0.0
    if guard.node_scale == 0:
        if lead > 0 and cost > 0:
            # Slightly less than the whole lead, because the bound grows.
            pulls += int(min(0.95 * lead / cost, rounds - 1))
            while pulls > 1 and _slack(rival, t + pulls - 1, n, n + pulls - 1, seen) + least_width[1] <= 0:
                pulls = (pulls + 1) // 2
    else:
        e, end, missed = longest_level(guard, tree, lead), n + 1, False
        while e > 0 and cost * (1 << e) > BLOCK_COST * lead:
            e -= 1
        if e > 0:
            last = (((n >> e) + 1) << e) - 1
            slack = _slack(rival, t + last - n, n, last, seen)
            e, safe = safe_block(guard, tree, arm, n, slack, least_width, e)
            end = ((n >> e) + 1) << e
            u = rng.random()
            missed = u >= safe
            if missed:
                end = first_miss(guard, tree, arm, n, slack, least_width, e, u, rng)
        pulls = min(end - n, rounds)
        if missed:
            noise = noise_from(tree, arm, end, 0)
        elif pulls < rounds:
            noise = complete_node(tree, arm, end, guard.node_scale, rng)
    return pulls, noise


@njit
def _draw_rewards(pulls, mean, rng):
    """Draw the sum of `pulls` Bernoulli(mean) rewards."""
    if pulls > 8:
        return binomial(pulls, mean, rng)
    # Cheaper than a binomial draw.
    total = 0
    for _ in range(pulls):
        if rng.random() < mean:
            total += 1
    return total


@njit
def note_regret(regret, checkpoints, checkpoint, t, rounds, total, gap):
    """Record the regret at the checkpoints in the `rounds` rounds after t; return the index of the next checkpoint."""
    while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + rounds:
        regret[checkpoint] = total + gap * (checkpoints[checkpoint] - t)
        checkpoint += 1
    return checkpoint
