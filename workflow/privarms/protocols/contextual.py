"""Labelled users as a bandit: cumulative reward, with a new random order of the users in each replicate."""

import numpy as np
from numba import njit

from privarms.errors import PrivarmsError
from privarms.kernels.checks import admit, refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows

FAMILY = "contextual"
NEEDS_HORIZON = True
KEYS = ("t",)
COLUMNS = {None: ("t", "reward")}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates over `cell.horizon` of the target's users each; one row per replicate and checkpoint.

    Users are drawn without replacement in uniform order, only from environment_rng, so compared policies meet the same
    users in the same order. Raises PrivarmsError for more rounds than users.
    """
    users, dimensions = environment.contexts.shape
    if cell.horizon > users:
        raise PrivarmsError(
            f"{cell.policy} on {cell.environment}: horizon: {cell.horizon:,} rounds, but the data have {users:,} "
            "target users; reduce the horizon"
        )
    agree(cell, params, K=environment.n_arms, dimensions=dimensions)
    rules = functions(Policy, policy)
    checkpoints = cell.checkpoints
    rewards = np.zeros((replicates, len(checkpoints)))
    for i in range(replicates):
        order = environment_rng.permutation(users)[: cell.horizon]
        loop(play_contextual)(rules, params, environment, order, checkpoints, policy_rng, rewards[i])
    refuse_not_finite(reward=rewards)
    return rows("t", checkpoints, reward=rewards)


@njit(inline="always")
def play_contextual(policy, params, environment, order, checkpoints, rng, rewards):
    """Run one replicate over users with one context each, step by step.

    environment: NamedTuple with `contexts`, float64[n, d], and `pull(environment, user, arm, rng) -> reward`
    order: int64[T], the arriving users, as rows of `contexts`; checkpoints: int64[C], increasing rounds, at most T
    rewards: float64[C], overwritten: the cumulative reward after each checkpoint's round
    """
    state = policy.init(params)
    total = 0.0
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            user = order[t]
            t += 1
            context = environment.contexts[user]
            arm = policy.choose(params, state, context, t, rng)
            admit(policy, arm, environment.n_arms, t)
            reward = environment.pull(environment, user, arm, rng)
            state = policy.learn(params, state, context, arm, reward, t, rng)
            total += reward
        rewards[c] = total
