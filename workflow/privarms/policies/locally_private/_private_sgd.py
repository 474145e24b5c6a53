"""A bandit that learns by locally private stochastic gradients, after auxiliary sources: the loop of Linear and NN.

Han, Liang, Wang & Zhang (2021), Algorithm 2 in its form for one parameter an arm, as a competitor in section 4.2 of Ma
et al. (2025). The arm with the largest estimated reward is pulled, by the user, who alone knows the context; the user
sends a private gradient of the logistic loss, and the server takes a step. A user's gradient is one vector over the
parameters of all arms, zero but for those of the pulled arm, and is released once, with the whole budget
(`mechanisms.l2_ball`): arm, context and reward are private together. Steps are taken after a batch, with the mean of
its gradients; one that a source leaves unfinished counts for as many users as it has. Auxiliary users send the gradient
of the arm that their behaviour policy pulled, with their source's budget.

An arm's reward is estimated as 1/(1 + e^-z). Without a hidden layer z = w x + b; with one, z = v max(W x + b, 0) + c.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms import l2_ball
from privarms.policies.locally_private._auxiliary import users_and_budgets

LEARNT = ("all", "first")


class Params(NamedTuple):
    """What `configure` makes of its arguments.

    n_arms: K; dimensions: d; width: units of the hidden layer, 0 without one
    users: int64[M + 1] and truths, norms: float64[M + 1], the release of the target's users and of each source's
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


def configure(
    K: int,
    horizon: int,
    epsilon: float,
    dimensions: int,
    width: int,
    batch: int,
    rate: float,
    clip: float,
    learnt: Literal["all", "first"],
    **auxiliary: int | float | str | Sequence[int] | None,
) -> Params:
    """Parameters for K arms and horizon users with budget epsilon; auxiliary: see `_auxiliary`.

    learnt: of the sources, all or only the first. Raises ValueError for values out of range.
    """
    for name, value, least in (("K", K, 2), ("dimensions", dimensions, 1), ("width", width, 0), ("batch", batch, 1)):
        if value < least:
            raise ValueError(f"{name}: expected at least {least}; found {value}")
    for name, number in (("rate", rate), ("clip", clip)):
        if not 0 < number < math.inf:
            raise ValueError(f"{name}: expected a finite number > 0; found {number}")
    if learnt not in LEARNT:
        raise ValueError(f"learnt: expected all or first; found {learnt!r}")
    users, epsilons = users_and_budgets(horizon, epsilon, **auxiliary)
    if learnt == "first":
        users, epsilons = users[:2], epsilons[:2]
    releases = [l2_ball.configure(K * parameters(dimensions, width), clip, e) for e in epsilons.tolist()]
    return Params(
        int(K),
        int(dimensions),
        int(width),
        users,
        np.array([r.truth for r in releases]),
        np.array([r.norm for r in releases]),
        int(batch),
        float(rate),
        float(clip),
    )


def parameters(dimensions: int, width: int) -> int:
    """Of one arm: w and b; or W, b, v and c, in this order, W by rows."""
    return width * (dimensions + 2) + 1 if width > 0 else dimensions + 1


@njit
def init(params, rng):
    """float64[K, p]: zeros without a hidden layer; with one uniform within 1/sqrt(inputs) of each layer, so that its
    units differ."""
    d, width = params.dimensions, params.width
    first = width * (d + 1)
    p = first + width + 1 if width > 0 else d + 1
    weights = np.zeros((params.n_arms, p))
    if width > 0:
        for arm in range(params.n_arms):
            for i in range(p):
                weights[arm, i] = (2 * rng.random() - 1) / math.sqrt(d if i < first else width)
    return weights


@njit(forceinline=True)
def _score(weights, width, arm, context, hidden):
    """z of one arm; overwrites its row of `hidden`, float64[K, width]."""
    d = len(context)
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
        hidden[arm, i] = max(unit, 0.0)
        total += weights[arm, first + i] * hidden[arm, i]
    return total


@njit(error_model="numpy", forceinline=True)
def _gradient(weights, width, arm, context, hidden, error, gradient):
    """Overwrite `gradient`, float64[K p], by that of the loss of one arm; `error` is the estimate less the reward."""
    d, p = len(context), weights.shape[1]
    gradient[:] = 0.0
    start = arm * p
    if width == 0:
        for j in range(d):
            gradient[start + j] = error * context[j]
        gradient[start + d] = error
        return
    first = width * (d + 1)
    for i in range(width):
        gradient[start + first + i] = error * hidden[arm, i]
        if hidden[arm, i] > 0:
            through = error * weights[arm, first + i]
            for j in range(d):
                gradient[start + i * d + j] = through * context[j]
            gradient[start + width * d + i] = through
    gradient[start + first + width] = error


@njit(error_model="numpy")
def stream(params, environment, state, source, checkpoints, rng, record):
    """All users of one source, batch by batch; for the target (0) the protocol's record is written.

    state: the weights, as from `init`; they change in place

    environment: as in `environments._covariate_shift`
    """
    n, K, d, width = params.users[source], params.n_arms, params.dimensions, params.width
    weights, size = state, state.size
    release = l2_ball.Mechanism(size, params.clip, params.truths[source], params.norms[source])
    flat = weights.reshape(size)
    context, scores, hidden = np.zeros(d), np.zeros(K), np.zeros((K, width))
    gradient, released, total = np.zeros(size), np.zeros(size), np.zeros(size)
    regret, earned = 0.0, 0.0
    next_checkpoint = 0
    in_batch = 0
    for user in range(n):
        environment.arrive(environment, source, user, context, rng)
        if source > 0:
            arm = environment.behave(environment, source, user, rng)
            scores[arm] = _score(weights, width, arm, context, hidden)
        else:
            arm, largest, ties = 0, -np.inf, 1
            for k in range(K):
                score = _score(weights, width, k, context, hidden)
                scores[k] = score
                if score > largest:
                    arm, largest, ties = k, score, 1
                elif score == largest:
                    ties += 1
                    if rng.random() * ties < 1:
                        arm = k
            best = environment.best(environment, source, user, context)
            expected = environment.mean(environment, source, user, context, arm)
            earned += expected
            record.pulls[arm] += 1
            if arm != best:
                regret += environment.mean(environment, source, user, context, best) - expected
        reward = 1.0 if rng.random() < environment.mean(environment, source, user, context, arm) else 0.0
        estimate = 1 / (1 + np.exp(-scores[arm]))
        _gradient(weights, width, arm, context, hidden, estimate - reward, gradient)
        l2_ball.release(release, gradient, rng, released)
        for i in range(size):
            total[i] += released[i]
        in_batch += 1
        if in_batch == params.batch or user == n - 1:
            for i in range(size):
                flat[i] -= params.rate * total[i] / params.batch
                total[i] = 0.0
            in_batch = 0
        if source == 0 and next_checkpoint < len(checkpoints) and user + 1 == checkpoints[next_checkpoint]:
            record.regret[next_checkpoint] = regret
            record.rewards[next_checkpoint] = earned
            next_checkpoint += 1


def end_source(params, state, source):
    """The next source goes on from the weights as they are."""
