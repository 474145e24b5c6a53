"""Run a policy on Bernoulli arms with the reference implementation or the fast path."""

import numpy as np

from privarms import fast_paths
from privarms.policies import Policy, functions
from privarms.protocols.bandit import new_record, play


def run(policy, params, environment, checkpoints, fast=False, seed=1):
    record = new_record(len(checkpoints), len(environment.means))
    inputs = params, environment, np.array(checkpoints), np.random.default_rng(seed), record
    if fast:
        fast_paths.find(policy, "bernoulli")(*inputs)
    else:
        play(functions(Policy, policy), *inputs)
    return record
