"""Index policies on Bernoulli arms, many rounds at a time, in the law of playing them one by one.

The index of an arm pulled n times, S its reward sum and N the noise of a tree counter at n, in round t:

    (S + N + width[popcount(n)]) / n + sqrt(2 ln t / n)

Every arm is pulled once, then the one of the largest index, the first of equals. Without noise and width it is UCB1.

Only the leader's index moves except through ln t, and the indices of the others can be bounded for the rounds to come
(`Rival`). The leader leads for as long as its noise stays above the floor at which its index, without any further
reward, would meet that bound; `mechanisms.tree_guard` draws, from its exact chance, up to which count it does. That
settles all decisions of a block, and with them the regret at every checkpoint inside it. None of them has looked at
the block's rewards, which can therefore be drawn later, by one binomial draw for many blocks, when the lead shrinks.
Where the bound no longer decides, all indices are compared.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.binomial import binomial
from privarms.mechanisms.tree import complete_node, new_tree, noise_from, popcount
from privarms.mechanisms.tree_guard import Guard, first_miss, longest_level, new_guard, safe_block

# A lead below this part of an index may be rounding: then all indices are compared.
ROUNDING = 1e-12
# Speed alone: the part of the lead that the unseen rewards of a block may cost, and at which they are looked at.
BLOCK_COST = 1 / 2
UNSEEN_COST = 1 / 16


class Index(NamedTuple):
    """guard: of a tree's nodes; width: float64[levels + 2], by popcount; least_width: its minimum from there on."""

    guard: Guard
    width: np.ndarray
    least_width: np.ndarray


class Rival(NamedTuple):
    """A bound of the indices of all arms but the leader from round `start` on: height + slope (t - start).

    height: their largest index in round `start`; slope: sqrt(ln t) is concave, a tangent bounds it
    root: sqrt(ln start), which bounds the leader's own index from below
    """

    start: int
    height: float
    slope: float
    root: float


def new_index(levels: int, node_scale: float, width: np.ndarray) -> Index:
    """The index of arms with trees of `levels` levels of Lap(node_scale) nodes; width: float64[levels + 2]."""
    width = np.ascontiguousarray(width, dtype=np.float64)
    if width.shape != (levels + 2,):
        raise ValueError(f"width: expected {levels + 2} values, by popcount; found an array of shape {width.shape}")
    return Index(new_guard(levels, node_scale), width, np.minimum.accumulate(width[::-1])[::-1].copy())


@njit
def simulate(index, means, checkpoints, rng, record):
    """Run one replicate. means: float64[K], of the Bernoulli rewards; checkpoints, record: as in `play`."""
    arms, horizon, best = len(means), checkpoints[-1], means.max()
    record.pulls[:] = 0
    record.reward_sums[:] = 0.0
    tree, noises = new_tree(arms, len(index.width) - 2), np.zeros(arms)
    # An arm's index in round t is centre + radius sqrt(ln t).
    centres, radii = np.zeros(arms), np.full(arms, np.sqrt(2.0))
    t, checkpoint, regret = 0, 0, 0.0
    for arm in range(min(arms, horizon)):
        record.pulls[arm] = 1
        record.reward_sums[arm] = _draw_rewards(1, means[arm], rng)
        noises[arm] = complete_node(tree, arm, 1, index.guard.node_scale, rng)
        centres[arm] = record.reward_sums[arm] + noises[arm] + index.width[1]
        checkpoint = _note_regret(record.regret, checkpoints, checkpoint, t, 1, regret, best - means[arm])
        regret += best - means[arm]
        t += 1
    while t < horizon:
        leader, rival = _compare(centres, radii, t + 1)
        gap = best - means[leader]
        n, seen, unseen, noise = record.pulls[leader], record.reward_sums[leader], 0, noises[leader]
        lead = _lead(index, rival, t + 1, n, seen, noise)
        while True:
            block, noise = _pull_block(index, rival, tree, leader, t + 1, n, seen, lead, horizon - t, rng)
            checkpoint = _note_regret(record.regret, checkpoints, checkpoint, t, block, regret, gap)
            regret += gap * block
            t, n, unseen = t + block, n + block, unseen + block
            lead = _lead(index, rival, t + 1, n, seen, noise)
            # The bound of the others grows faster than they do: it is made anew when t has doubled.
            stop = t >= horizon or t > 2 * rival.start
            if stop or unseen > UNSEEN_COST * lead:
                rewards = _draw_rewards(unseen, means[leader], rng)
                seen, unseen, lead = seen + rewards, 0, lead + rewards
                if stop or lead <= 0:
                    break
        record.pulls[leader], record.reward_sums[leader], noises[leader] = n, seen, noise
        centres[leader] = (seen + noise + index.width[popcount(n)]) / n
        radii[leader] = np.sqrt(2 / n)


@njit
def _compare(centres, radii, t):
    """The arm of the largest index in round t, the first of equals, and the bound of the others."""
    root = np.sqrt(np.log(t))
    leader, highest, second = 0, -np.inf, -np.inf
    for arm in range(len(centres)):
        value = centres[arm] + root * radii[arm]
        if value > highest:
            leader, highest, second = arm, value, highest
        elif value > second:
            second = value
    widest = 0.0
    for arm in range(len(radii)):
        if arm != leader:
            widest = max(widest, radii[arm])
    return leader, Rival(t, second, widest / (2 * t * root), root)


@njit
def _bound(rival, t):
    """The rival's bound in round t >= start, with room for rounding."""
    bound = rival.height + rival.slope * (t - rival.start)
    return bound + ROUNDING * abs(bound)


@njit
def _lead(index, rival, t, n, seen, noise):
    """How much less the leader's sum could be for it to lead in round t all the same; unseen rewards count as none.

    n: the leader's pulls before round t; seen: the sum of the rewards looked at
    """
    return seen + noise + index.width[popcount(n)] - n * (_bound(rival, t) - rival.root * np.sqrt(2 / n))


@njit
def _slack(rival, t, n, last, seen):
    """The same without noise and width: what is left at every count in (n, last], in every round up to t."""
    mean = _bound(rival, t) - rival.root * np.sqrt(2 / last)
    return seen - mean * (last if mean > 0 else n + 1)


@njit
def _pull_block(index, rival, tree, arm, t, n, seen, lead, rounds, rng):
    """Pull the leader in round t and on while it surely leads, at most `rounds` times.

    n, seen, lead: as in `_lead`. Returns how many pulls and the noise at the new count; once all rounds are used up
    none is drawn, for no decision follows.
    """
    guard = index.guard
    # What a pull without a reward takes from the lead.
    cost = max(_bound(rival, t) - rival.root * np.sqrt(2 / n) / 2, 0.0)
    if guard.node_scale == 0:
        # A little less than the tangent at n says, for the need grows faster.
        pulls = 1 + int(min(0.9 * lead / cost, rounds - 1)) if lead > 0 and cost > 0 else 1
        while pulls > 1 and _slack(rival, t + pulls - 1, n, n + pulls - 1, seen) + index.least_width[1] <= 0:
            pulls = (pulls + 1) // 2
        return pulls, 0.0
    e, end = longest_level(guard, lead), n + 1
    while e > 0 and cost * (1 << e) > BLOCK_COST * lead:
        e -= 1
    if e > 0:
        last = (((n >> e) + 1) << e) - 1
        slack = _slack(rival, t + last - n, n, last, seen)
        e, safe = safe_block(guard, tree, arm, n, slack, index.least_width, e)
        end = ((n >> e) + 1) << e
        u = rng.random()
        if u >= safe:
            miss = first_miss(guard, tree, arm, n, slack, index.least_width, e, u, rng)
            return min(miss - n, rounds), noise_from(tree, arm, miss, 0)
    if end - n >= rounds:
        return rounds, 0.0
    return end - n, complete_node(tree, arm, end, guard.node_scale, rng)


@njit
def _draw_rewards(pulls, mean, rng):
    """The sum of `pulls` Bernoulli(mean) rewards."""
    if pulls > 8:
        return binomial(pulls, mean, rng)
    # Cheaper than a binomial draw.
    total = 0
    for _ in range(pulls):
        if rng.random() < mean:
            total += 1
    return total


@njit
def _note_regret(regret, checkpoints, checkpoint, t, rounds, total, gap):
    """Fill in the regret at the checkpoints in the `rounds` rounds after t; return the index of the next checkpoint."""
    while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + rounds:
        regret[checkpoint] = total + gap * (checkpoints[checkpoint] - t)
        checkpoint += 1
    return checkpoint
