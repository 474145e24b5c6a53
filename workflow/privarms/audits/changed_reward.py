"""Two fixed reward streams that differ in one reward: the privacy audit of the choices of private UCB.

All rewards are 0, or, for neighbour 1, the first one of arm 0 is 1. Each event is likelier without arm 0's reward:

last: the last of an odd number of choices is arm 1. Before it, both arms have as many pulls: they take turns. It has
    power against a counter that forgets its noise, as the released one does.
doublings: arm 1 is chosen in all rounds 2 n + 1, n = 1, 2, 4, 8, 16. There both arms have n pulls, as long as they take
    turns, and a tree compares two nodes that no other of these rounds compares: the losses add up. It has power against
    a tree whose nodes do not share the budget, which `noise`, a multiple of the stated scale, makes of a right one.
first_doublings: the same for n = 1, 2, 4. At a horizon of 9 a tree has four levels, of which it shows three; at ties
    every comparison shows about half of a node's share, and more of a larger one: it has power against half the noise.
half: arm 1 is chosen in half of an odd number of rounds, rounded down or up. Without a private bonus the arms do not
    take turns, and often one is given up for its first noise. Where none is, the reward gives arm 0 rounds in advance
    that the confidence radius only slowly takes back. It has power against a counter that forgets its noise.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.jit.cache import compiled
from privarms.policies.bandit import private_ucb

SUBJECT = ("private_ucb", "private_ucb_constant_delta", "private_ucb_noise_only")
STREAMED_AS = {"neighbour": "stream"}

ARM = 1
DOUBLINGS = (3, 5, 9, 17, 33)
HALF = "half"
ROUNDS = {"last": (), "doublings": DOUBLINGS, "first_doublings": DOUBLINGS[:3], HALF: ()}


class Inputs(NamedTuple):
    """n_arms: K = 2; first_reward: of arm 0, 0 or 1, which is the neighbour; rounds: int64, of the event, or none for
    the last one; noise: by which the scale of the policy's noise is multiplied; half: whether the event is about half
    of all rounds instead."""

    n_arms: int
    first_reward: float
    rounds: np.ndarray
    noise: float
    half: bool


def configure(
    K: int,
    neighbour: int,
    event: Literal["last", "doublings", "first_doublings", "half"] = "last",
    noise: float = 1.0,
) -> Inputs:
    """Stream 0, or its neighbour 1, in which arm 0's first reward is 1, for K = 2 arms; noise > 0."""
    if K != 2:
        raise ValueError(f"K: expected 2 arms; found {K}")
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if event not in ROUNDS:
        raise ValueError(f"event: expected {', '.join(ROUNDS)}; found {event!r}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(K), float(neighbour), np.array(ROUNDS[event], np.int64), float(noise), event == HALF)


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the event happens; only the noise of the policy is random.

    Raises ValueError for an even horizon, at which two arms that take turns differ in pulls before the last choice, and
    for one that ends before the event.
    """
    if horizon % 2 == 0:
        raise ValueError(f"horizon: expected an odd number of rounds for this audit; found {horizon}")
    rounds = inputs.rounds if len(inputs.rounds) else np.array([horizon])
    if horizon < rounds[-1]:
        raise ValueError(f"horizon: expected at least the event's {rounds[-1]} rounds; found {horizon}")
    params = _with_noise(params, inputs)
    return compiled(_count)(policy.POLICY, params, inputs.first_reward, rounds, inputs.half, trials, rng)


def _with_noise(params, inputs):
    return params if inputs.noise == 1 else params._replace(node_scale=params.node_scale * inputs.noise)


@njit
def _count(policy, params, first_reward, rounds, half, trials, rng):
    no_context = np.empty(0)
    events = 0
    for _ in range(trials):
        state = policy.init(params)
        first, happens, place, pulls = True, True, 0, 0
        for t in range(1, rounds[-1] + 1):
            arm = policy.choose(params, state, no_context, t, rng)
            pulls += arm == ARM
            if t == rounds[place]:
                happens = happens and arm == ARM
                place += 1
            reward = 0.0
            if arm == 0 and first:
                reward, first = first_reward, False
            state = policy.learn(params, state, no_context, arm, reward, t, rng)
        events += 0 <= pulls - rounds[-1] // 2 <= 1 if half else happens
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 0, in which arm 0 earns nothing."""
    return 0


def claimed_loss(epsilon: float) -> float:
    """epsilon."""
    return epsilon


def event_probability(params: private_ucb.Params, inputs: Inputs) -> float:
    """Of the last choice under the released counter, both arms having n = (T - 1) / 2 pulls before it; else nan, as
    where no private bonus makes them take turns.

    Arm 1 is chosen if its noise exceeds arm 0's by more than the difference of the two sums, 0 or 1; both noises are
    Laplace of scale b = 2 log2(T) / (epsilon (n + 1)), whose difference exceeds x with probability
    exp(-x/b) (2 + x/b) / 4.
    """
    if not params.fresh or len(inputs.rounds) or inputs.half or not params.gamma_scale:
        return math.nan
    params = _with_noise(params, inputs)
    horizon = len(params.log_inverse_delta) - 1
    x = inputs.first_reward / (params.node_scale / ((horizon - 1) // 2 + 1))
    return math.exp(-x) * (2 + x) / 4


def log_ratio(params: private_ucb.Params, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 0] / Pr[event | neighbour 1])."""
    zero, one = (event_probability(params, inputs._replace(first_reward=float(n))) for n in (0, 1))
    return math.log(zero) - math.log(one)
