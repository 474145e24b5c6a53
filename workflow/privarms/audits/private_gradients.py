"""One user's gradient: the privacy audit of what users of Linear and NN send.

The server's weights are known. Without a hidden layer they are 0; with one, W and b are 1, v and c are 0. Either way
every reward is estimated as 1/2, and a user with the context (1, ..., 1) and arm 0 sends the gradient of -1/2 or 1/2
times the same vector, by reward, which is so long that it is clipped: two opposite vectors of the largest norm.
A batch of one user, of whom the server sees no more than the step of the weights that it takes.

Neighbours are a user with the reward 0 and one with 1. Event: the step goes the way of the reward 1, that is the
parameters of arm 0 that move with it rise: with the user of reward 1 it has the probability e^epsilon / (1 +
e^epsilon), with the other one 1 / (1 + e^epsilon). Without noise the reward would be read off the step.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms import l2_ball
from privarms.policies.locally_private import _private_sgd

SUBJECT = ("ldp_linear", "ldp_nn")
SECONDS_PER_RUN = 5e-6
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """What the audit asks of a user.

    neighbour: the user's reward, 0 or 1; noise: 1 / noise of the budget is what the release is told
    """

    n_arms: int
    dimensions: int
    neighbour: int
    noise: float


def configure(K: int, dimensions: int, neighbour: int, noise: float = 1.0) -> Inputs:
    """A user with the reward 0, or its neighbour with 1; K >= 2 arms, 3 dimensions or more, noise > 0."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if dimensions < 3:
        raise ValueError(f"dimensions: expected at least 3, so that the gradient is clipped; found {dimensions}")
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(K), int(dimensions), int(neighbour), float(noise))


def with_noise(params: _private_sgd.Params, noise: float) -> _private_sgd.Params:
    """The same bandit, of one auxiliary user with 1 / noise of the target's budget, whose arm is given."""
    epsilon = math.log(params.truths[0] / (1 - params.truths[0]))
    size = params.n_arms * _private_sgd.parameters(params.dimensions, params.width)
    release = l2_ball.configure(size, params.clip, epsilon / noise)
    truths, norms = np.full(2, release.truth), np.full(2, release.norm)
    return params._replace(users=np.array([0, 1]), truths=truths, norms=norms, batch=1)


def known_weights(params: _private_sgd.Params) -> np.ndarray:
    """What the server holds before the user comes: float64[K, p]."""
    p, d, width = _private_sgd.parameters(params.dimensions, params.width), params.dimensions, params.width
    weights = np.zeros((params.n_arms, p))
    weights[:, : width * (d + 1)] = 1.0
    return weights


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """After how many of so many users, each with a fresh server, the weights have gone the way of the reward 1.

    Raises ValueError where the gradient is too short to be clipped.
    """
    if gradient_norm(params) < params.clip:
        raise ValueError(
            f"clip: expected at most {gradient_norm(params):.3g}, so that all is shown; found {params.clip}"
        )
    own, state = with_noise(params, inputs.noise), compiled(policy.init)(params, np.random.default_rng(0))
    return compiled(_count)(policy.learn, own, inputs, known_weights(params), state, trials, rng)


def gradient_norm(params: _private_sgd.Params) -> float:
    """Of the user's gradient before it is clipped: half the norm of (1, ..., 1), or of the hidden units and 1."""
    d, width = params.dimensions, params.width
    return math.sqrt(width * (d + 1) ** 2 + 1) / 2 if width else math.sqrt(d + 1) / 2


@njit
def _count(learn, params, inputs, known, state, trials, rng):
    # The only one. A constant in its place would compile the kernel again.
    source = len(params.users) - 1
    weights, context = state.weights, np.ones(params.dimensions)
    first, d = params.width * (params.dimensions + 1), params.dimensions
    events = 0
    for _ in range(trials):
        weights[:] = known
        reward = 1.0 if rng.random() < inputs.neighbour else 0.0
        learn(params, state, source, 0, context, 0, reward, rng)
        # Along the gradient: of v and c, in which the hidden units are d + 1, or of w and b.
        moved = weights[0, -1] - known[0, -1]
        for i in range(first, weights.shape[1] - 1):
            moved += (weights[0, i] - known[0, i]) * (d + 1 if first else 1)
        events += moved > 0
    return events


def likelier(inputs: Inputs) -> int:
    """The user with the reward 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon, whatever differs of a user (definition 2.1 of Ma et al. 2025)."""
    return epsilon


def event_probability(params: _private_sgd.Params, inputs: Inputs) -> float:
    """Of the right half of the ball with the reward 1, of the wrong one with 0; nan where the gradient is too short."""
    if gradient_norm(params) < params.clip:
        return math.nan
    truth = float(with_noise(params, inputs.noise).truths[0])
    return truth if inputs.neighbour == 1 else 1 - truth


def log_ratio(params: _private_sgd.Params, inputs: Inputs) -> float:
    """ln(Pr[event | reward 1] / Pr[event | reward 0])."""
    one, zero = (event_probability(params, inputs._replace(neighbour=n)) for n in (1, 0))
    return math.log(one / zero)
