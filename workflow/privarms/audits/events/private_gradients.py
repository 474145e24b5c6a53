"""Audit one user's gradient, as users of Linear and NN send it.

The server's weights are known. Without a hidden layer they are 0; with one, W and b are 1, v and c are 0. Either way
every reward is estimated as 1/2. A user with the context (1, ..., 1) and arm 0 sends the gradient of -1/2 or 1/2 times
one fixed vector, by reward. The vector is long enough to be clipped, which gives two opposite vectors of the largest
norm. The server observes only the step of the weights after a batch of this one user.

Neighbours are a user with the reward 0 and one with 1. Event: the step goes in the direction of the reward 1, which
raises the affected parameters of arm 0. Its probability is e^epsilon / (1 + e^epsilon) with the reward 1 and 1 / (1 +
e^epsilon) with the reward 0. Without noise the step would reveal the reward.
"""

import math
from typing import Literal

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs
from privarms.audits.events.released_vector import budget
from privarms.jit.cache import compiled
from privarms.kernels import private_sgd
from privarms.mechanisms import l2_ball

SECONDS_PER_RUN = 5e-6
SECONDS_PER_STEP = 0.0


def configure(K: int, dimensions: int, neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return a user with the reward 0, or its neighbour with 1, for 3 dimensions or more."""
    if dimensions < 3:
        raise ValueError(f"dimensions: expected at least 3, because the gradient must be clipped; found {dimensions}")
    return Inputs(neighbour, noise, K, dimensions)


def with_noise(params: private_sgd.Params, noise: float) -> private_sgd.Params:
    """Return the same bandit for a batch of one auxiliary user, whose budget is the target's divided by `noise`."""
    epsilon = budget(params.truths[0])
    size = params.n_arms * private_sgd.parameters(params.dimensions, params.width)
    release = l2_ball.configure(size, params.clip, epsilon / noise)
    truths, norms = np.full(2, release.truth), np.full(2, release.norm)
    return params._replace(users=np.array([0, 1]), truths=truths, norms=norms, batch=1)


def gradient_norm(params: private_sgd.Params) -> float:
    """Return the gradient's norm before clipping: half the norm of (1, ..., 1), or of the hidden units and 1."""
    d, width = params.dimensions, params.width
    return math.sqrt(width * (d + 1) ** 2 + 1) / 2 if width else math.sqrt(d + 1) / 2


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`. Raise ValueError if the gradient is too short to be clipped."""
    if gradient_norm(params) < params.clip:
        raise ValueError(
            f"clip: expected at most {gradient_norm(params):.3g}, the norm of the gradient; found {params.clip}"
        )
    state = compiled(policy.init)(params, np.random.default_rng(0))
    # The server's weights before the user arrives: float64[K, p].
    known = np.zeros((params.n_arms, private_sgd.parameters(params.dimensions, params.width)))
    known[:, : params.width * (params.dimensions + 1)] = 1.0
    return params, policy.learn, inputs.neighbour, known, state


@njit
def happens(params, learn, neighbour, known, state, rng):
    """Send one user's gradient; return whether the weights, float64[K, p], move in the direction of the reward 1."""
    # The only source. A constant here would make numba compile the kernel again.
    source = len(params.users) - 1
    weights, context = state.weights, np.ones(params.dimensions)
    first, d = params.width * (params.dimensions + 1), params.dimensions
    # Element by element: numba compiles the message of a shape error for each assignment of a whole array.
    for i in range(weights.shape[1]):
        for arm in range(weights.shape[0]):
            weights[arm, i] = known[arm, i]
    reward = 1.0 if rng.random() < neighbour else 0.0
    learn(params, state, source, 0, context, 0, reward, rng)
    # Along the gradient: that of v and c, where hidden units are d + 1, or that of w and b.
    moved = weights[0, -1] - known[0, -1]
    for i in range(first, weights.shape[1] - 1):
        moved += (weights[0, i] - known[0, i]) * (d + 1 if first else 1)
    return moved > 0


def probability(params: private_sgd.Params, inputs: Inputs) -> float:
    """Return the probability of the ball's right half with the reward 1, of the wrong one with 0; nan if unclipped."""
    if gradient_norm(params) < params.clip:
        return math.nan
    truth = float(params.truths[0])
    return truth if inputs.neighbour == 1 else 1 - truth


# Claimed: epsilon, for any difference between two users (definition 2.1 of Ma et al. 2025).
AUDIT = Audit(
    subjects=("ldp_linear", "ldp_nn"),
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=probability,
    with_noise=with_noise,
    changed="Only one user's reward was changed, for one message.",
)
