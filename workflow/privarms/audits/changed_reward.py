"""Two reward streams that differ in one reward: the choices of private UCB.

All rewards are 0, or, for neighbour 1, the first one of arm 0 is 1. Each event is likelier without that reward:

last: the last of an odd number of choices is arm 1. Before it, both arms have as many pulls, because they take turns.
    It has power against a counter that forgets its noise, as the released one does.
doublings: arm 1 is chosen in all rounds 2 n + 1, n = 1, 2, 4, 8, 16. There both arms have n pulls, as long as they take
    turns, and a tree compares two nodes that it compares in no other of these rounds, so the losses add up. It has
    power against a tree whose nodes do not share the budget, which `noise` makes of a right one.
first_doublings: the same for n = 1, 2, 4. At a horizon of 9 a tree has four levels, of which it shows three. At ties
    each comparison shows about half of a node's share, and more of a larger one: it has power against half the noise.
half: arm 1 is chosen in half of an odd number of rounds, rounded down or up. Without a private bonus the arms do not
    take turns, and often one is given up for its first noise. Where none is, the reward gives arm 0 a lead that the
    confidence radius reduces slowly. It has power against a counter that forgets its noise.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, checked, count_events
from privarms.policies.bandit import private_ucb

SUBJECT = ("private_ucb", "private_ucb_constant_delta", "private_ucb_noise_only")
STREAMED_AS = {"neighbour": "stream"}

ARM = 1
DOUBLINGS = (3, 5, 9, 17, 33)
HALF = "half"
ROUNDS = {"last": (), "doublings": DOUBLINGS, "first_doublings": DOUBLINGS[:3], HALF: ()}


class Inputs(NamedTuple):
    """n_arms: K = 2; neighbour: the first reward of arm 0, 0 or 1; rounds: int64, of the event, or none for the last
    one; noise: multiple of the scale of the policy's noise; half: whether the event is about half of all rounds."""

    n_arms: int
    neighbour: int
    rounds: np.ndarray
    noise: float
    half: bool


def configure(
    K: int,
    neighbour: int,
    event: Literal["last", "doublings", "first_doublings", "half"] = "last",
    noise: float = 1.0,
) -> Inputs:
    """Return stream 0, or its neighbour 1, in which arm 0's first reward is 1, for K = 2 arms; noise > 0."""
    if K != 2:
        raise ValueError(f"K: expected 2 arms; found {K}")
    if event not in ROUNDS:
        raise ValueError(f"event: expected {', '.join(ROUNDS)}; found {event!r}")
    rounds = np.array(ROUNDS[event], np.int64)
    return checked(Inputs(int(K), int(neighbour), rounds, float(noise), event == HALF))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the event happens; only the noise of the policy is random.

    Raises ValueError for an even horizon, at which two arms that take turns differ in pulls before the last choice, and
    for one that ends before the event.
    """
    if horizon % 2 == 0:
        raise ValueError(f"horizon: expected an odd number of rounds for this audit; found {horizon}")
    rounds = inputs.rounds if len(inputs.rounds) else np.array([horizon])
    if horizon < rounds[-1]:
        raise ValueError(f"horizon: expected at least the event's {rounds[-1]} rounds; found {horizon}")
    arguments = (policy.POLICY, with_noise(params, inputs), float(inputs.neighbour), rounds, inputs.half)
    return count_events(happens, arguments, trials, rng)


def with_noise(params, inputs):
    """Return the parameters with the inputs' multiple of the noise."""
    return params if inputs.noise == 1 else params._replace(node_scale=params.node_scale * inputs.noise)


@njit
def happens(policy, params, first_reward, rounds, half, rng):
    no_context = np.empty(0)
    state = policy.init(params)
    first, every, place, pulls = True, True, 0, 0
    for t in range(1, rounds[-1] + 1):
        arm = policy.choose(params, state, no_context, t, rng)
        pulls += arm == ARM
        if t == rounds[place]:
            every = every and arm == ARM
            place += 1
        reward = 0.0
        if arm == 0 and first:
            reward, first = first_reward, False
        state = policy.learn(params, state, no_context, arm, reward, t, rng)
    return 0 <= pulls - rounds[-1] // 2 <= 1 if half else every


def probability(params: private_ucb.Params, inputs: Inputs) -> float:
    """Return that of the last choice under the released counter with n = (T - 1) / 2 pulls of both arms before it.

    Arm 1 is chosen if its noise exceeds arm 0's by more than the difference of the two sums, 0 or 1. Both noises are
    Laplace of scale b = 2 log2(T) / (epsilon (n + 1)), whose difference exceeds x with probability
    exp(-x/b) (2 + x/b) / 4. nan for other events and counters, and where no private bonus makes the arms take turns.
    """
    if not params.fresh or len(inputs.rounds) or inputs.half or not params.gamma_scale:
        return math.nan
    params = with_noise(params, inputs)
    horizon = len(params.log_inverse_delta) - 1
    x = inputs.neighbour / (params.node_scale / ((horizon - 1) // 2 + 1))
    return math.exp(-x) * (2 + x) / 4


def closed_form(params: private_ucb.Params, inputs: Inputs) -> float:
    """Return the log ratio as a difference of logarithms."""
    zero, one = (probability(params, inputs._replace(neighbour=n)) for n in (0, 1))
    return math.log(zero) - math.log(one)


AUDIT = Audit(count, probability, likelier=0, closed_form=closed_form)
