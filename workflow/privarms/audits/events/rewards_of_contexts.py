"""Audit the choices of private linear UCB on two columns of rewards that differ in the first one.

The contexts are equal in both; they are numbers, d = 1. In rounds 1 to 7 arm 0 has the context 1. Its first reward is
-clip or, for neighbour 1, clip; all others are 0. Arm 1 is never pulled, so its index is known. In rounds 2, 3 and 5
its context makes this index equal to arm 0's for a private sum of arm 0's rewards of `clip`. In all other rounds it has
the context 0. Event: arm 0 is pulled in all of rounds 1 to 5.

Before rounds 2, 3 and 5 arm 0 has 1, 2 and 4 pulls, and its private sum has the noise of one node, each time of another
level. The tree has 3 levels at a horizon of 4 to 7. So the sum is at least `clip` with probability 1/2 for neighbour 1,
and e^(-epsilon / 3) / 2 for neighbour 0. Arm 0 wins round 1 with certainty. Given the rest, it loses round 4 with the
same small probability for both neighbours. The event reveals all of epsilon.
"""

import math
from typing import Literal

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs, scaled
from privarms.kernels.regressions import confidence_radius
from privarms.mechanisms.tree import node_levels
from privarms.policies import Policy, functions
from privarms.policies.linear import private_linear_ucb

SECONDS_PER_RUN = 4e-6

ROUNDS = 5
# Before these rounds arm 0 has 1, 2 and 4 pulls.
COMPARED = (2, 3, 5)
LEVELS = 3


def configure(K: Literal[2], dimensions: Literal[1], neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return rewards that begin with -clip or, for neighbour 1, with clip."""
    return Inputs(neighbour, noise, K, dimensions)


def other_contexts(params: private_linear_ucb.Params) -> np.ndarray:
    """Return arm 1's contexts in rounds 0 to 5, float64[6]. Raise ValueError for one above 1, outside of the claim."""
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
        raise ValueError(
            f"ridge: expected contexts of at most 1 for this audit; found {contexts.max():.6g}. Use the bonus, a ridge "
            "nearer to 0, or a lower epsilon."
        )
    return contexts


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`. Raise ValueError for a horizon without 3 levels or shorter than the event."""
    if horizon < ROUNDS or node_levels(horizon) != LEVELS:
        raise ValueError(f"horizon: expected {ROUNDS} to {2**LEVELS - 1} rounds for this audit; found {horizon}")
    first = (2 * inputs.neighbour - 1) * params.clip
    return functions(Policy, policy), params, other_contexts(params), first


@njit
def happens(policy, params, others, first, rng):
    """Draw whether arm 0 is pulled in all of the rounds."""
    contexts = np.ones((2, 1))
    state = policy.init(params)
    for t in range(1, len(others)):
        contexts[1, 0] = others[t]
        if policy.choose(params, state, contexts, t, rng) != 0:
            return False
        state = policy.learn(params, state, contexts[0], 0, first if t == 1 else 0.0, t, rng)
    return True


def probability(params: private_linear_ucb.Params, inputs: Inputs) -> float:
    """Return (e^(-2 clip (1 - neighbour) / scale) / 2)^3 (1 - e^(-(clip + w) / scale) / 4).

    Arm 0 loses round 4 if its private sum, after 3 pulls, is below -w, w = the private width + the radius times the
    root of the weight. This sum is that of 2 pulls plus the noise of one further node, which is in no other round. The
    sum of 2 pulls is clip + Y with an exponential Y of this scale, because arm 0 won round 3. So the sum is below -w
    with probability E[e^(-(clip + w + Y) / scale)] / 2, and E[e^(-Y / scale)] = 1/2.
    """
    scale, pulls = params.node_scale, ROUNDS - 2
    shift = 2 * params.clip * (1 - inputs.neighbour) / scale
    radius = confidence_radius(pulls, 1, params.ridge, params.beta)
    width = params.private_width + radius * math.sqrt(params.ridge + pulls)
    return (math.exp(-shift) / 2) ** len(COMPARED) * (1 - math.exp(-(params.clip + width) / scale) / 4)


# Claimed: epsilon (definition 2 of Neel & Roth 2018).
AUDIT = Audit(
    subjects="private_linear_ucb",
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=probability,
    exact_loss=lambda params, inputs: len(COMPARED) * 2 * params.clip / params.node_scale,
    with_noise=scaled("node_scale"),
    changed="Only the first reward of an arm was changed, with {K} arms, over 5 rounds.",
)
