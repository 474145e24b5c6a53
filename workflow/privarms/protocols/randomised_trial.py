"""A trial of one population: every named estimator of the difference of two arms, on the same rewards."""

import numpy as np

from privarms.inference import propensity
from privarms.kernels.checks import refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows
from privarms.protocols.bandit import play_every_round

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("estimator",)
COLUMNS = {None: ("estimator", "estimate", "effect", "squared_error")}

ESTIMATORS = {
    "mean_difference": lambda arms, rewards, vectors: propensity.mean_difference(arms, rewards),
    "half_sample": lambda arms, rewards, vectors: propensity.half_sample(arms, rewards),
    "cross_fitted": lambda arms, rewards, vectors: propensity.cross_fitted(arms, rewards),
    "inverse_propensity": lambda arms, rewards, vectors: propensity.inverse_propensity(arms, rewards),
    "plug_in_ridge": propensity.plug_in_ridge,
}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates of `cell.horizon` rounds: choices use the policy's stream, rewards the environment's."""
    agree(cell, params, K=len(environment.means))
    arms = np.zeros((replicates, cell.horizon), np.int64)
    rewards = np.zeros((replicates, cell.horizon))
    rules = functions(Policy, policy)
    loop(play_every_round)(rules, params, environment, environment_rng, policy_rng, arms, rewards)
    refuse_not_finite(reward=rewards)
    effect = environment.means[1] - environment.means[0]
    results = np.stack([estimate(arms, rewards, environment.vectors) for estimate in ESTIMATORS.values()], axis=1)
    measured = {"estimate": results, "effect": np.full(results.shape, effect), "squared_error": (results - effect) ** 2}
    return rows("estimator", list(ESTIMATORS), **measured)
