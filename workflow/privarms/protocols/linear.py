"""Linear contextual bandits: regret, and the regression on the most-pulled arm for two of its coefficients.

The environment is an `environments.linear.Environment`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.environments.linear import expected_reward
from privarms.inference.regression import ols_from_moments
from privarms.kernels.checks import admit, refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows

FAMILY = "linear"
NEEDS_HORIZON = True
KEYS = ("coordinate",)
ESTIMATES = ("truth", "estimate", "variance", "policy_estimate", "policy_variance")
COLUMNS = {None: ("coordinate", "arm", "pulls", *ESTIMATES, "regret")}


class Record(NamedTuple):
    """The record of n replicates, for the most-pulled arm of each; row i is replicate i.

    arm, pulls: int64[n]; regret: float64[n]; theta: float64[n, d], the true coefficients
    gram: float64[n, d, d] and sums: float64[n, d], X'X and X'y of the arm's own rows
    theta_hat: float64[n, d] and inverse: float64[n, d], the policy's estimate and the diagonal of its V^-1
    """

    arm: np.ndarray
    pulls: np.ndarray
    regret: np.ndarray
    theta: np.ndarray
    gram: np.ndarray
    sums: np.ndarray
    theta_hat: np.ndarray
    inverse: np.ndarray


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates; coefficients, contexts and reward noise come from environment_rng.

    Each round takes the same number of draws from it whatever the policy does. Compared policies therefore meet the
    same coefficients, contexts and noise. One row per replicate and tested coordinate of theta of the most-pulled arm:
    "zero" is the first, "largest" that of largest |theta| (ties: the lowest). `estimate` and `variance` are from
    ordinary least squares on the arm's own rows, nan for fewer rows than dimensions. `policy_estimate` and
    `policy_variance` use the fields `theta_hat` and `inverse` of the policy's state, nan without them.
    """
    n, d = replicates, environment.dimensions
    agree(cell, params, K=environment.n_arms, dimensions=d)
    arm, pulls, gram = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((n, d, d))
    theta, sums, theta_hat, inverse = (np.zeros((n, d)) for _ in range(4))
    record = Record(arm, pulls, np.zeros(n), theta, gram, sums, theta_hat, inverse)
    rules = functions(Policy, policy)
    loop(play_linear_block)(rules, params, environment, cell.horizon, environment_rng, policy_rng, record)
    refuse_not_finite(reward=record.sums, regret=record.regret)
    # Contexts have a density, so d rows are linearly independent.
    enough = record.pulls >= d
    estimate, variance = np.full((n, d), np.nan), np.full((n, d), np.nan)
    fit = ols_from_moments(record.gram[enough], record.sums[enough])
    estimate[enough], variance[enough] = fit.coefficients, np.einsum("nii->ni", fit.inverse_gram)

    tested = np.stack([np.zeros(n, np.int64), np.abs(record.theta).argmax(axis=1)], axis=1)

    def of_tested(values):
        return np.take_along_axis(values, tested, axis=1)

    def of_both(values):
        return np.stack([values, values], axis=1)

    return rows(
        "coordinate",
        ("zero", "largest"),
        arm=of_both(record.arm),
        pulls=of_both(record.pulls),
        truth=of_tested(record.theta),
        estimate=of_tested(estimate),
        variance=of_tested(variance),
        policy_estimate=of_tested(record.theta_hat),
        policy_variance=of_tested(record.inverse),
        regret=of_both(record.regret),
    )


@njit(inline="always")
def play_linear_block(policy, params, environment, horizon, environment_rng, policy_rng, record):
    """Run replicates one after another on the two streams; record: a `Record`, overwritten."""
    K, d = environment.n_arms, environment.dimensions
    theta, contexts, unknown = np.empty((K, d)), np.empty((K, d)), np.full((K, d, d), np.nan)
    pulls, gram, sums = np.empty(K, np.int64), np.empty((K, d, d)), np.empty((K, d))
    for i in range(len(record.arm)):
        environment.draw_coefficients(environment, theta, environment_rng)
        pulls.fill(0)
        gram.fill(0.0)
        sums.fill(0.0)
        record.regret[i], state = play_linear(
            policy, params, environment, horizon, environment_rng, policy_rng, theta, contexts, pulls, gram, sums
        )
        theta_hat = getattr(state, "theta_hat", unknown[0])
        inverse = getattr(state, "inverse", unknown)
        arm = np.argmax(pulls)
        record.arm[i], record.pulls[i] = arm, pulls[arm]
        # Copy single numbers: copies of whole arrays take seconds more to compile.
        for k in range(d):
            record.theta[i, k], record.sums[i, k] = theta[arm, k], sums[arm, k]
            record.theta_hat[i, k], record.inverse[i, k] = theta_hat[arm, k], inverse[arm, k, k]
            for j in range(d):
                record.gram[i, k, j] = gram[arm, k, j]


@njit(inline="always")
def play_linear(policy, params, environment, horizon, environment_rng, policy_rng, theta, contexts, pulls, gram, sums):
    """Run one replicate step by step; return its regret and the policy's final state.

    theta: float64[K, d], the true coefficients; contexts: float64[K, d], overwritten
    pulls: int64[K], gram: float64[K, d, d], sums: float64[K, d]: n, X'X and X'y over each arm's own rows, updated in
    place
    """
    K, d = contexts.shape
    state = policy.init(params)
    regret = 0.0
    for t in range(1, horizon + 1):
        environment.draw_contexts(environment, contexts, environment_rng)
        arm = policy.choose(params, state, contexts, t, policy_rng)
        admit(policy, arm, K, t)
        reward = environment.pull(environment, theta, contexts, arm, environment_rng)
        state = policy.learn(params, state, contexts[arm], arm, reward, t, policy_rng)
        best = -np.inf
        for other in range(K):
            best = max(best, expected_reward(theta, contexts, other))
        regret += best - expected_reward(theta, contexts, arm)
        pulls[arm] += 1
        for k in range(d):
            sums[arm, k] += contexts[arm, k] * reward
            for j in range(d):
                gram[arm, k, j] += contexts[arm, k] * contexts[arm, j]
    return regret, state
