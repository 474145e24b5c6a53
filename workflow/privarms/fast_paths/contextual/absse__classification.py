"""ABSE on labelled users: the same decisions as `policies/contextual/absse`, so the same bits.

The bin of a user is looked for once per round, not once to choose and once to learn, and arrays are taken out of their
NamedTuples before the loop.
"""

from numba import njit

from privarms.policies.contextual.absse import end_round, init, live_bin, next_arm


@njit(error_model="numpy")
def simulate(params, environment, order, checkpoints, rng, rewards):
    """Run over users in an order; arguments as in `play_contextual` of the protocol."""
    state = init(params)
    bins, reward_sums, n_bins = state.bins, state.reward_sums, state.n_bins
    contexts, depths = environment.contexts, params.depths
    total = 0.0
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            user = order[t]
            t += 1
            row = live_bin(bins, contexts[user])
            arm = next_arm(bins, row)
            reward = environment.pull(environment, user, arm, rng)
            total += reward
            pulled = 1 << arm
            if bins[row]["active"] != pulled:
                reward_sums[row, arm] += reward
                bins[row]["pending"] ^= pulled
                if bins[row]["pending"] == 0:
                    end_round(depths, params.dimensions, bins, reward_sums, n_bins, row)
        rewards[c] = total
