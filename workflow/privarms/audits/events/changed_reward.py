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

from privarms.audits.audit import IGNORED, Audit, scaled
from privarms.audits.events.any_choice import Table, play
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
    table = Table(np.zeros((2, horizon)), arm=0, pull=0, value=float(inputs.neighbour))
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
    Laplace of scale b / (n + 1), b = 2 log2(T) / epsilon. Their difference exceeds x of these scales with probability
    exp(-x) (2 + x) / 4. The arms must take turns before; see `turns_break`. The result is nan for other events and
    counters. It is also nan if the arms may fail to take turns with more than `IGNORED` of this probability: for
    private UCB at T = 501 above an epsilon of 2.2.
    """
    horizon = len(params.log_inverse_delta) - 1
    n = (horizon - 1) // 2
    if not params.fresh or inputs.event != "last":
        return math.nan
    x = inputs.neighbour * (n + 1) / params.node_scale
    chance = math.exp(-x) * (2 + x) / 4
    return chance if turns_break(params, inputs.neighbour) <= IGNORED * chance else math.nan


def turns_break(params: private_ucb.Params, neighbour: int) -> float:
    """Return an upper bound on the probability that the two arms do not take turns before the last round T = 2 n + 1.

    They take turns if the arm of each round 2 m + 1, 1 <= m < n, is not chosen again in round t = 2 m + 2. It then has
    m + 1 pulls, the other arm m. Its confidence radius is smaller. Multiply both indices by m (m + 1): being chosen
    again requires m / (m + 2) of its own draw, minus the other arm's draw, to be at least gamma_t - m, or gamma_t
    without a reward. Both draws are Laplace of scale b. Which arm leads depends on them, so both cases are added. A
    factor below 1 makes large differences of two symmetric unimodal variables rarer. So the bound is the sum over m of
    2 exp(-x) (2 + x) / 4, x = (gamma_t - m) / b; a term without x > 0 is 1.
    """
    n = (len(params.log_inverse_delta) - 2) // 2
    pulls = np.arange(1, n)
    x = (compiled(private_ucb.private_bonus)(params, 2 * pulls + 2) - neighbour * pulls) / params.node_scale
    positive = np.maximum(x, 0.0)
    return float(np.where(x > 0, np.exp(-positive) * (2 + positive) / 2, 1.0).sum())


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
    changed="Only the first reward of arm 0 was changed, while all other rewards were 0.",
)
