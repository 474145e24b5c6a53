"""Two columns of rewards that differ in the first one: the choices of private linear UCB.

Contexts are the same in both; they are numbers, d = 1. In rounds 1 to 7 arm 0 has the context 1; its first reward is
-clip or, for neighbour 1, clip, and all others are 0. Arm 1 is never pulled, so everything is known of its index. In
rounds 2, 3 and 5 its context makes this index what arm 0's is if the private sum of arm 0's rewards is `clip`. In all
other rounds it has the context 0. Event: arm 0 is pulled in all of rounds 1 to 5.

Before rounds 2, 3 and 5 arm 0 has 1, 2 and 4 pulls, and its private sum has the noise of one node, of another level
each time: the sum is at least `clip` with probability 1/2 for neighbour 1, and e^(-epsilon / 3) / 2 for neighbour 0,
because the tree has 3 levels at a horizon of 4 to 7. In rounds 1 and 4 arm 0 loses with a probability far below 1e-4,
given the rest, because its private width is above 10 scales. The event shows all of epsilon.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, checked, count_events
from privarms.mechanisms.tree import node_levels
from privarms.policies.linear import private_linear_ucb
from privarms.policies.linear._regressions import confidence_radius

SUBJECT = "private_linear_ucb"
SECONDS_PER_RUN = 4e-6
SECONDS_PER_STEP = 0.0

ROUNDS = 5
# Before which arm 0 has 1, 2 and 4 pulls.
COMPARED = (2, 3, 5)
LEVELS = 3


class Inputs(NamedTuple):
    """n_arms: K = 2; dimensions: d = 1; neighbour: 0 or 1, the sign of the first reward; noise: multiple of the scale
    of a node."""

    n_arms: int
    dimensions: int
    neighbour: int
    noise: float


def configure(K: int, dimensions: int, neighbour: int, noise: float = 1.0) -> Inputs:
    """Return rewards that begin with -clip, or their neighbour, that begins with clip; K = 2, d = 1, noise > 0."""
    if K != 2:
        raise ValueError(f"K: expected 2 arms; found {K}")
    if dimensions != 1:
        raise ValueError(f"dimensions: expected 1; found {dimensions}")
    return checked(Inputs(int(K), int(dimensions), int(neighbour), float(noise)))


def other_contexts(params: private_linear_ucb.Params) -> np.ndarray:
    """Return those of arm 1 in rounds 0 to 5, float64[6]. Raises ValueError for one above 1: nothing is promised."""
    contexts = np.zeros(ROUNDS + 1)
    unpulled = confidence_radius(0, 1, params.ridge, params.beta) / math.sqrt(params.ridge)
    unpulled += params.private_width / params.ridge
    for t in COMPARED:
        n = t - 1
        weight = params.ridge + n
        radius = confidence_radius(n, 1, params.ridge, params.beta)
        index = (params.clip + params.private_width) / weight + radius / math.sqrt(weight)
        contexts[t] = index / unpulled
    if contexts.max() > 1:
        raise ValueError(f"bonus: expected contexts of length at most 1; found {contexts.max():.3g}, give a larger one")
    return contexts


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which arm 0 is pulled in all of the rounds; only the policy's noise is random.

    Raises ValueError for a horizon that does not have 3 levels or is shorter than the event.
    """
    if horizon < ROUNDS or node_levels(horizon) != LEVELS:
        raise ValueError(f"horizon: expected {ROUNDS} to {2**LEVELS - 1} rounds for this audit; found {horizon}")
    scaled = params._replace(node_scale=params.node_scale * inputs.noise)
    first = (2 * inputs.neighbour - 1) * params.clip
    return count_events(happens, (policy.POLICY, scaled, other_contexts(params), first), trials, rng)


@njit
def happens(policy, params, others, first, rng):
    contexts = np.ones((2, 1))
    state = policy.init(params)
    for t in range(1, len(others)):
        contexts[1, 0] = others[t]
        if policy.choose(params, state, contexts, t, rng) != 0:
            return False
        state = policy.learn(params, state, contexts[0], 0, first if t == 1 else 0.0, t, rng)
    return True


def probability(params: private_linear_ucb.Params, inputs: Inputs) -> float:
    """Return (e^(-2 clip (1 - neighbour) / scale) / 2)^3, which ignores round 4."""
    shift = 2 * params.clip * (1 - inputs.neighbour) / (params.node_scale * inputs.noise)
    return (math.exp(-shift) / 2) ** len(COMPARED)


# Claimed: epsilon (definition 2 of Neel & Roth 2018).
AUDIT = Audit(
    count,
    probability,
    closed_form=lambda params, inputs: len(COMPARED) * 2 * params.clip / (params.node_scale * inputs.noise),
)
