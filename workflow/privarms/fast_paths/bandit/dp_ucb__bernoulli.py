"""DP-UCB on Bernoulli arms, many rounds at a time: see `_skip_ahead` for why the distribution is the same.

The counter of paths draws noise in every round. Its simulation only omits the comparison of indices while the leader's
index is above a bound of all others.
"""

import numpy as np
from numba import njit

from privarms.fast_paths.bandit import _skip_ahead
from privarms.mechanisms.tree import new_tree, walk_path


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run."""
    if params.path:
        _simulate_paths(params, environment.means, checkpoints, rng, record)
    else:
        _skip_ahead.simulate(params.node_scale, params.width, environment.means, checkpoints, rng, record)


@njit
def _simulate_paths(params, means, checkpoints, rng, record):
    arms, horizon, best, width = len(means), checkpoints[-1], means.max(), params.width[0]
    pulls, reward_sums = record.pulls, record.reward_sums
    tree = new_tree(arms, params.levels)
    centres, radii = np.zeros(arms), np.full(arms, np.sqrt(2.0))
    checkpoint, regret, leader, rival = 0, 0.0, 0, _skip_ahead.Rival(1, 0.0, 0.0, 0.0)
    # When every arm has one pull, this first rival is out of date.
    for t in range(1, horizon + 1):
        if t <= arms:
            leader = t - 1
        elif t > 2 * rival.start or centres[leader] + radii[leader] * rival.root <= _skip_ahead._bound(rival, t):
            leader, rival = _skip_ahead._compare(centres, radii, t, rng)
        pulls[leader] += 1
        reward_sums[leader] += 1.0 if rng.random() < means[leader] else 0.0
        noise = walk_path(tree, leader, pulls[leader], params.node_scale, rng)
        centres[leader] = (reward_sums[leader] + noise + width) / pulls[leader]
        radii[leader] = np.sqrt(2 / pulls[leader])
        gap = best - means[leader]
        checkpoint = _skip_ahead.note_regret(record.regret, checkpoints, checkpoint, t - 1, 1, regret, gap)
        regret += gap
