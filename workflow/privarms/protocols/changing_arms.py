"""Bandits without context whose means depend on the round: regret at checkpoints.

The environment is a NamedTuple with `n_arms`, `pull(environment, arm, t, rng) -> reward` and
`mean(environment, arm, t)`, the expected reward in round t = 1, 2, ... Regret is against the best arm of each round.
"""

import numpy as np
from numba import njit

from privarms.kernels.checks import admit, refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("t",)
COLUMNS = {None: ("t", "regret")}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream, round by round; docs/output.md lists the columns."""
    agree(cell, params, K=environment.n_arms)
    regret, rewards = np.zeros((replicates, len(cell.checkpoints))), np.zeros((replicates, 1))
    rules, run = functions(Policy, policy), loop(play)
    for i in range(replicates):
        run(rules, params, environment, cell.checkpoints, policy_rng, regret[i], rewards[i])
    refuse_not_finite(reward=rewards, regret=regret)
    return rows("t", cell.checkpoints, regret=regret)


def state_after(policy, params, environment, rounds: int, rng):
    """Play some rounds of a policy, a module; return its final state."""
    record = np.zeros(1), np.zeros(1)
    return loop(play)(functions(Policy, policy), params, environment, np.array([rounds]), rng, *record)


@njit(inline="always")
def play(policy, params, environment, checkpoints, rng, regret, rewards):
    """Run one replicate step by step; return the policy's final state.

    checkpoints: int64[C], increasing rounds from 1; the last one is the horizon
    regret: float64[C], cumulative pseudo-regret after each checkpoint's round; overwritten
    rewards: float64[1], the sum of all rewards; overwritten
    """
    no_context = np.empty(0)
    state = policy.init(params)
    total, rewards[0] = 0.0, 0.0
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            t += 1
            arm = policy.choose(params, state, no_context, t, rng)
            admit(policy, arm, environment.n_arms, t)
            reward = environment.pull(environment, arm, t, rng)
            state = policy.learn(params, state, no_context, arm, reward, t, rng)
            rewards[0] += reward
            best = -np.inf
            for k in range(environment.n_arms):
                # Not max(), which would leave out a mean that is nan.
                mean = environment.mean(environment, k, t)
                best = best if best >= mean else mean
            total += best - environment.mean(environment, arm, t)
        regret[c] = total
    return state
