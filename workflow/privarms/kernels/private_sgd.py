"""Bandits that learn by locally private stochastic gradients, after auxiliary sources: Linear and NN.

They are Algorithm 2 of Han, Liang, Wang & Zhang (2021) with separate parameters for each arm, as a competitor in
section 4.2 of Ma et al. (2025). Only the user knows the context. The user pulls the arm with the largest estimated
reward and sends a private gradient of the logistic loss. This gradient is one vector over the parameters of all arms, 0
except for those of the pulled arm. It is released once, with the whole budget (`mechanisms.l2_ball`), so arm, context
and reward are private together. After a batch the server takes a step along the sum of its gradients over the batch
size; the last batch of a source may be smaller. Auxiliary users send the gradient of the arm that their behaviour
policy pulled, with the budget of their source.

An arm's reward is estimated as 1/(1 + e^-z). Without a hidden layer z = w x + b; with one, z = v max(W x + b, 0) + c.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.auxiliary import users_and_budgets
from privarms.mechanisms import l2_ball
from privarms.ranges import at_least, of_choices, positive


class Params(NamedTuple):
    """The parameters of a run, as `configure` returns them.

    n_arms: K; dimensions: d; width: units of the hidden layer, 0 without one
    users: int64[M + 1]; truths, norms: float64[M + 1], of the release of the target's users and of each source's
    batch: users between two steps; rate: of a step; clip: the largest norm of a gradient
    """

    n_arms: int
    dimensions: int
    width: int
    users: np.ndarray
    truths: np.ndarray
    norms: np.ndarray
    batch: int
    rate: float
    clip: float


class State(NamedTuple):
    """The parameters of all arms, and arrays that every user overwrites.

    weights: float64[K, p], as in `parameters`; total: float64[K p], the sum of the messages since the last step
    hidden: float64[width]; gradient, message: float64[K p]
    """

    weights: np.ndarray
    total: np.ndarray
    hidden: np.ndarray
    gradient: np.ndarray
    message: np.ndarray


@of_choices
def configure(
    units: int,
    K: int,
    horizon: int,
    epsilon: float,
    dimensions: int,
    M: int = 0,
    n_aux: int = 0,
    epsilon_aux: float | str = 1024.0,
    source_users: Sequence[int] | None = None,
    auxiliary: Literal["with", "without"] = "with",
    batch: int = 100,
    rate: float = 0.01,
    clip: float = 1.0,
    learnt: Literal["all", "first"] = "all",
) -> Params:
    """Return the parameters for K arms and horizon users with budget epsilon.

    units: of the hidden layer per dimension, 0 without one
    M, n_aux, epsilon_aux, source_users, auxiliary: see `kernels.auxiliary`; learnt: all sources or only the first
    Raises ValueError for values out of range.
    """
    at_least(2, K=K)
    at_least(1, dimensions=dimensions, batch=batch)
    positive(rate=rate, clip=clip)
    users, epsilons = users_and_budgets(horizon, epsilon, M, n_aux, epsilon_aux, source_users, auxiliary)
    width = units * dimensions
    if learnt == "first":
        users, epsilons = users[:2], epsilons[:2]
    releases = [l2_ball.configure(K * parameters(dimensions, width), clip, e) for e in epsilons.tolist()]
    return Params(
        int(K),
        int(dimensions),
        width,
        users,
        np.array([r.truth for r in releases]),
        np.array([r.norm for r in releases]),
        int(batch),
        float(rate),
        float(clip),
    )


def parameters(dimensions: int, width: int) -> int:
    """Return the number of parameters of one arm: w and b; or W, b, v and c, in this order, W by rows."""
    return width * (dimensions + 2) + 1 if width > 0 else dimensions + 1


@njit
def init(params, rng):
    """Return weights: 0 without a hidden layer; else uniform within 1/sqrt(inputs) of a layer, so units differ."""
    d, width = params.dimensions, params.width
    first = width * (d + 1)
    p = first + width + 1 if width > 0 else d + 1
    weights = np.zeros((params.n_arms, p))
    if width > 0:
        for arm in range(params.n_arms):
            for i in range(p):
                weights[arm, i] = (2 * rng.random() - 1) / math.sqrt(d if i < first else width)
    size = params.n_arms * p
    return State(weights, np.zeros(size), np.zeros(width), np.zeros(size), np.zeros(size))


@njit(forceinline=True)
def score(weights, arm, context, hidden):
    """Return z of one arm; overwrite `hidden` with its hidden units."""
    d, width = len(context), len(hidden)
    if width == 0:
        total = weights[arm, d]
        for j in range(d):
            total += weights[arm, j] * context[j]
        return total
    first = width * (d + 1)
    total = weights[arm, first + width]
    for i in range(width):
        unit = weights[arm, width * d + i]
        for j in range(d):
            unit += weights[arm, i * d + j] * context[j]
        hidden[i] = max(unit, 0.0)
        total += weights[arm, first + i] * hidden[i]
    return total


@njit(error_model="numpy", forceinline=True)
def write_gradient(weights, arm, context, reward, hidden, gradient):
    """Overwrite `gradient` with that of the logistic loss log(1 + e^z) - reward z of one arm."""
    d, width, p = len(context), len(hidden), weights.shape[1]
    error = 1 / (1 + np.exp(-score(weights, arm, context, hidden))) - reward
    gradient[:] = 0.0
    start = arm * p
    if width == 0:
        for j in range(d):
            gradient[start + j] = error * context[j]
        gradient[start + d] = error
        return
    first = width * (d + 1)
    for i in range(width):
        gradient[start + first + i] = error * hidden[i]
        if hidden[i] > 0:
            through = error * weights[arm, first + i]
            for j in range(d):
                gradient[start + i * d + j] = through * context[j]
            gradient[start + width * d + i] = through
    gradient[start + first + width] = error


@njit(forceinline=True)
def choose(params, state, context, rng):
    """Return the arm with the largest estimate; ties are broken at random."""
    arm, largest, ties = 0, -np.inf, 1
    for k in range(params.n_arms):
        z = score(state.weights, k, context, state.hidden)
        if z > largest:
            arm, largest, ties = k, z, 1
        elif z == largest:
            ties += 1
            if rng.random() * ties < 1:
                arm = k
    return arm


@njit(error_model="numpy", forceinline=True)
def learn(params, state, source, user, context, arm, reward, rng):
    """Send a user's private gradient; after the last user of a batch, take a step."""
    weights, total, gradient, message = state.weights, state.total, state.gradient, state.message
    # User side.
    write_gradient(weights, arm, context, reward, state.hidden, gradient)
    release = l2_ball.Mechanism(len(gradient), params.clip, params.truths[source], params.norms[source])
    l2_ball.release(release, gradient, rng, message)
    # Server side.
    for i in range(len(total)):
        total[i] += message[i]
    if (user + 1) % params.batch == 0 or user + 1 == params.users[source]:
        flat = weights.reshape(len(total))
        for i in range(len(total)):
            flat[i] -= params.rate * total[i] / params.batch
            total[i] = 0.0
