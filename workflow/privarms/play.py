"""The loop between a policy and an environment, and the words that both use.

A policy module exports `Params`, `State` (NamedTuples) and `POLICY = Policy(init, choose, learn)`, a NamedTuple
of `@njit` functions; an environment module exports a NamedTuple with the fields `pull` and `means`. Functions are
passed as values and parameters as arguments, so that a new parameter value compiles nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit


class Policy(NamedTuple):
    """The three functions of a policy; `t` is the round, from 1, and `context` a float64 array (empty without one).

    init(params) -> state
    choose(params, state, context, t, rng) -> arm, an int in [0, K)
    learn(params, state, context, arm, reward, t, rng) -> state; arrays of the state may change in place
    """

    init: Callable
    choose: Callable
    learn: Callable


class Record(NamedTuple):
    """What one replicate leaves behind; preallocated by the caller and filled in place.

    regret: float64[C], cumulative pseudo-regret after each checkpoint's round
    pulls: int64[K], how often each arm was pulled by the last checkpoint
    reward_sums: float64[K], the sum of the rewards of each arm by the last checkpoint
    """

    regret: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray


def new_record(checkpoints: int, arms: int) -> Record:
    """An empty record for a number of checkpoints and of arms."""
    return Record(np.zeros(checkpoints), np.zeros(arms, np.int64), np.zeros(arms))


@njit
def play(policy, params, environment, checkpoints, rng, record):
    """Run one replicate step by step; the plain reference of every policy.

    environment: NamedTuple with `pull(environment, arm, rng) -> reward` and `means`, float64[K]
    checkpoints: int64[C], increasing rounds from 1; the last one is the horizon
    record: a `Record`, overwritten
    """
    means = environment.means
    best = means.max()
    no_context = np.empty(0)
    record.pulls[:] = 0
    record.reward_sums[:] = 0.0
    state = policy.init(params)
    regret = 0.0
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            t += 1
            arm = policy.choose(params, state, no_context, t, rng)
            reward = environment.pull(environment, arm, rng)
            state = policy.learn(params, state, no_context, arm, reward, t, rng)
            regret += best - means[arm]
            record.pulls[arm] += 1
            record.reward_sums[arm] += reward
        record.regret[c] = regret


@njit
def play_block(policy, params, environment, checkpoints, rng, regret, pulls, reward_sums):
    """Run `len(regret)` replicates of `play` on one stream, one after another; row i of each array is replicate i."""
    for i in range(regret.shape[0]):
        play(policy, params, environment, checkpoints, rng, Record(regret[i], pulls[i], reward_sums[i]))


@njit
def simulate_block(simulate, params, environment, checkpoints, rng, regret, pulls, reward_sums):
    """As `play_block`, by a policy's exact fast path `simulate(params, environment, checkpoints, rng, record)`."""
    for i in range(regret.shape[0]):
        simulate(params, environment, checkpoints, rng, Record(regret[i], pulls[i], reward_sums[i]))


@njit
def play_contextual(policy, params, environment, order, checkpoints, rng, rewards):
    """Run one replicate over users who come with a context each, step by step.

    environment: NamedTuple with `contexts`, float64[n, d], and `pull(environment, user, arm, rng) -> reward`
    order: int64[T], the users in the order in which they come, rows of `contexts`
    checkpoints: int64[C], increasing rounds from 1, the last at most T
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
            reward = environment.pull(environment, user, arm, rng)
            state = policy.learn(params, state, context, arm, reward, t, rng)
            total += reward
        rewards[c] = total
