"""Audit the choices of private UCB on two reward streams that differ in one reward.

All rewards are 0 or, for neighbour 1, the first one of arm 0 is 1. Each event is likelier without that reward:

last: the last of an odd number of choices is arm 1. Before it both arms have the same number of pulls, because they
    take turns. It has power against a counter that forgets its noise, like the released one.
doublings: arm 1 is chosen in all rounds 2 n + 1, n = 1, 2, 4, 8, 16. There both arms have n pulls, if they take turns.
    A tree then compares two nodes that it compares in no other of these rounds, so the losses add up. It has power
    against a tree whose nodes do not share the budget; `noise` makes one of a correct tree.
first_doublings: the same for n = 1, 2, 4. At a horizon of 9 a tree has four levels, and the event reveals three. At
    ties each comparison reveals about half of a node's share or more. It has power against half the noise.
half: arm 1 is chosen in half of an odd number of rounds, rounded down or up. Without a private bonus the arms do not
    take turns, and often one arm is abandoned because of its first noise. Otherwise the reward gives arm 0 a lead that
    the confidence radius reduces slowly. It has power against a counter that forgets its noise.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.any_choice import Table, play
from privarms.audits.audit import Audit, scaled
from privarms.jit.cache import compiled
from privarms.policies import Policy, functions
from privarms.policies.bandit import private_ucb

STREAMED_AS = {"neighbour": "stream"}

DOUBLINGS = (3, 5, 9, 17, 33)
# The rounds of the events that use neither only the last round nor half of all rounds.
ROUNDS = {"doublings": DOUBLINGS, "first_doublings": DOUBLINGS[:3]}


class Inputs(NamedTuple):
    """n_arms: K = 2; neighbour: the first reward of arm 0, 0 or 1; event: its name; noise: multiple of the scale."""

    n_arms: int
    neighbour: int
    event: str
    noise: float


def configure(
    K: Literal[2],
    neighbour: Literal[0, 1],
    event: Literal["last", "doublings", "first_doublings", "half"] = "last",
    noise: float = 1.0,
) -> Inputs:
    """Return stream 0, or its neighbour 1, in which arm 0's first reward is 1."""
    return Inputs(K, neighbour, event, noise)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`.

    Raises ValueError for an even horizon: two arms that take turns then differ in pulls before the last choice. Raises
    it also for a horizon that ends before the event.
    """
    if horizon % 2 == 0:
        raise ValueError(f"horizon: expected an odd number of rounds for this audit; found {horizon}")
    rounds = np.array(ROUNDS.get(inputs.event, (horizon,)))
    if horizon < rounds[-1]:
        raise ValueError(f"horizon: expected at least the event's {rounds[-1]} rounds; found {horizon}")
    table = Table(2, base=0.0, arm=0, changed=inputs.neighbour == 1, lead=0)
    return functions(Policy, policy), params, table, rounds, inputs.event == "half"


@njit
def happens(policy, params, table, rounds, half, rng):
    """Draw whether arm 1 is chosen in all of `rounds` or, if `half`, in half of all rounds up to the last one."""
    choices = np.zeros(rounds[-1], np.int64)
    play(policy, params, table, True, rng, choices)
    if half:
        return 0 <= choices.sum() - len(choices) // 2 <= 1
    return (choices[rounds - 1] == 1).all()


def probability(params: private_ucb.Params, inputs: Inputs) -> float:
    """Return the probability of the last choice under the released counter, with n = (T - 1) / 2 pulls of both arms.

    Arm 1 is chosen if its noise exceeds arm 0's by more than the difference of the two sums, 0 or 1. Both noises are
    Laplace of scale b = 2 log2(T) / (epsilon (n + 1)). Their difference exceeds x with probability exp(-x/b) (2 + x/b)
    / 4. The result is nan for other events and counters, and unless the private bonus makes the arms take turns. For
    this the policy must leave an arm that leads by one pull and by a reward of 1. The bonuses then differ by gamma_T /
    (n (n + 1)) and the means by 1 / (n + 1), so gamma_T > n is required: at T = 501 an epsilon of at most 5.7.
    """
    horizon = len(params.log_inverse_delta) - 1
    n = (horizon - 1) // 2
    if not params.fresh or inputs.event != "last" or compiled(private_ucb.private_bonus)(params, horizon) <= n:
        return math.nan
    x = inputs.neighbour / (params.node_scale / (n + 1))
    return math.exp(-x) * (2 + x) / 4


def exact_loss(params: private_ucb.Params, inputs: Inputs) -> float:
    """Return the log ratio as a difference of logarithms."""
    zero, one = (probability(params, inputs._replace(neighbour=n)) for n in (0, 1))
    return math.log(zero) - math.log(one)


AUDIT = Audit(
    subjects=("private_ucb", "private_ucb_constant_delta", "private_ucb_noise_only"),
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=probability,
    exact_loss=exact_loss,
    likelier=0,
    with_noise=scaled("node_scale"),
)
