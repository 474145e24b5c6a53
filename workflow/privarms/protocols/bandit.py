"""Stochastic bandits without context: regret at checkpoints, or pulls and reward sums per arm.

The environment is a NamedTuple with `pull(environment, arm, rng) -> reward` and `means`, float64[K].
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms import fast_paths
from privarms.kernels.checks import admit, refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("t", "arm")
COLUMNS = {"regret": ("t", "regret"), "arms": ("arm", "pulls", "reward_sum")}
RECORDS = tuple(COLUMNS)


class Record(NamedTuple):
    """The record of one replicate, from `new_record`; filled in place.

    regret: float64[C], cumulative pseudo-regret after each checkpoint's round
    pulls: int64[K], reward_sums: float64[K], of each arm up to the last checkpoint
    """

    regret: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray


def new_record(checkpoints: int, arms: int) -> Record:
    """Return an empty record for a number of checkpoints and of arms."""
    return Record(np.zeros(checkpoints), np.zeros(arms, np.int64), np.zeros(arms))


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream; cell.record is one of RECORDS; docs/output.md lists the columns.

    Rewards and choices share one stream, because fast paths draw both at once. Policies have no common random numbers.
    """
    regret, pulls, reward_sums = run_bandit(policy, params, environment, cell, replicates, policy_rng)
    if cell.record == "arms":
        return rows("arm", np.arange(len(environment.means)), pulls=pulls, reward_sum=reward_sums)
    return rows("t", cell.checkpoints, regret=regret)


def run_bandit(policy, params, environment, cell, replicates, rng):
    """Return regret at the cell's checkpoints, and pulls and reward sums of each arm: [R, C], [R, K] and [R, K].

    Uses the policy's exact fast path for this environment, if there is one.
    """
    arms, checkpoints = len(environment.means), cell.checkpoints
    agree(cell, params, K=arms)
    regret = np.zeros((replicates, len(checkpoints)))
    pulls = np.zeros((replicates, arms), np.int64)
    reward_sums = np.zeros((replicates, arms))
    simulate = fast_paths.find(policy, cell.environment)
    simulate, own = (simulate, (params,)) if simulate else (play, (functions(Policy, policy), params))
    loop(play_block)(simulate, own, environment, checkpoints, rng, regret, pulls, reward_sums)
    refuse_not_finite(reward=reward_sums, regret=regret)
    return regret, pulls, reward_sums


@njit
def play(policy, params, environment, checkpoints, rng, record):
    """Run one replicate step by step, the reference of every policy; return the policy's final state.

    checkpoints: int64[C], increasing rounds from 1; the last one is the horizon
    record: a new `Record`
    """
    means = environment.means
    best = means.max()
    no_context = np.empty(0)
    state = policy.init(params)
    regret = 0.0
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            t += 1
            arm = policy.choose(params, state, no_context, t, rng)
            admit(policy, arm, len(means), t)
            reward = environment.pull(environment, arm, rng)
            state = policy.learn(params, state, no_context, arm, reward, t, rng)
            regret += best - means[arm]
            record.pulls[arm] += 1
            record.reward_sums[arm] += reward
        record.regret[c] = regret
    return state


def state_after(policy, params, environment, rounds: int, rng):
    """Play some rounds of a policy, a module; return its final state."""
    record = new_record(1, len(environment.means))
    return loop(play)(functions(Policy, policy), params, environment, np.array([rounds]), rng, record)


@njit(inline="always")
def play_block(simulate, own, environment, checkpoints, rng, regret, pulls, reward_sums):
    """Run `len(regret)` replicates on one stream, one after another; row i of each array is replicate i.

    simulate(*own, environment, checkpoints, rng, record): `play`, or the policy's exact fast path
    """
    for i in range(regret.shape[0]):
        simulate(*own, environment, checkpoints, rng, Record(regret[i], pulls[i], reward_sums[i]))


@njit(inline="always")
def play_every_round(policy, params, environment, environment_rng, policy_rng, arms, rewards):
    """Run replicates of `play` with separate streams for rewards and choices, and keep every round.

    arms: int64[R, T] and rewards: float64[R, T], overwritten, one row per replicate
    """
    no_context = np.empty(0)
    for i in range(arms.shape[0]):
        state = policy.init(params)
        for t in range(1, arms.shape[1] + 1):
            arm = policy.choose(params, state, no_context, t, policy_rng)
            admit(policy, arm, len(environment.means), t)
            reward = environment.pull(environment, arm, environment_rng)
            state = policy.learn(params, state, no_context, arm, reward, t, policy_rng)
            arms[i, t - 1] = arm
            rewards[i, t - 1] = reward
