"""The privacy audit of DP-SE: how often an event happens at the end of epoch 1, the rewards being fixed."""

import numpy as np
from numba import njit

from privarms.elimination.epochs import eliminate
from privarms.environments.neighbouring_streams import LEADER

KEYS = ()
ROW_PER_BLOCK = True


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run the end of epoch 1 `replicates` times on the reward sums of an environment `neighbouring_streams`.

    One row per block, not per replicate: `trials`, how many runs, and `events`, in how many of them
    environment.eliminated arms or more, the leader aside, were eliminated. `replicate` is the block's first one.
    Only the noise of the mechanism is random: it comes from the policy's stream.
    """
    events = count_events(params, environment, replicates, policy_rng)
    return {"replicate": np.array([0]), "trials": np.array([replicates]), "events": np.array([events])}


@njit
def count_events(params, environment, trials, rng):
    """In how many trials the event happens."""
    K = params.n_arms
    viable = np.empty(K, np.bool_)
    events = 0
    for _ in range(trials):
        viable[:] = True
        left = eliminate(params, K, 1, viable, environment.reward_sums, rng)
        others = K - left - (0 if viable[LEADER] else 1)
        if others >= environment.eliminated:
            events += 1
    return events
