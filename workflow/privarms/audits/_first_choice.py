"""Two reward streams that differ in one reward of one arm: the audit of the first choice after every arm's first batch.

What policies that pull in batches release of an arm's first batch is the sum of its rewards with one Laplace draw, and
one reward moves the sum by 1, that is by epsilon scales of that noise. The first choice compares these sums. Its rounds
before are the same in both streams: every arm's first batch, in index order.

With equal sums, far from 0 and from the size of the batch, the largest sum is chosen. Event: it is the last arm's, of
which one reward is 0 or, for neighbour 1, 1. Among 20 arms the other sums' largest is mostly above what the last arm
would have without noise; there the Laplace law of its noise falls by exactly e^epsilon over a step of epsilon scales.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms import laplace
from privarms.policies.bandit import _batches


class Inputs(NamedTuple):
    """n_arms: K >= 2; share: of the first batch's rewards that are 1, but for the one that differs, the same of all
    arms; event: the arm whose choice is counted; neighbour: 0 or 1, the reward of arm `changed` that differs."""

    n_arms: int
    share: float
    event: int
    changed: int
    neighbour: int


def inputs(K: int, neighbour: int, share: float, event: int, changed: int) -> Inputs:
    """Checked inputs. Raises ValueError."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    return Inputs(int(K), float(share), int(event), int(changed), int(neighbour))


def count(policy, batch_size: Callable, params, inputs: Inputs, trials: int, rng) -> int:
    """In how many trials the first choice is the event's arm; only the noise of the policy is random.

    batch_size(params, state, arm): of the policy
    """
    return compiled(_count)(policy.best, batch_size, params, params.noise / params.epsilon, inputs, trials, rng)


@njit
def _count(best, batch_size, params, scale, inputs, trials, rng):
    events = 0
    for _ in range(trials):
        state, t = _batches.new_state(inputs.n_arms), 1
        for arm in range(inputs.n_arms):
            size = batch_size(params, state, arm)
            total = np.floor(inputs.share * size)
            if arm == inputs.changed:
                total += inputs.neighbour
            _batches.release(state, arm, size, total, scale, True, rng)
            t += size
        if best(params, state, t) == inputs.event:
            events += 1
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1, whose last arm is higher."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon."""
    return epsilon


def log_ratio(params, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0]), of `event_probability`."""
    one, zero = (event_probability(params, inputs._replace(neighbour=n)) for n in (1, 0))
    return math.log(one / zero)


def event_probability(params, inputs: Inputs) -> float:
    """The probability that the last arm, which is the one changed, has the largest noisy sum; the others' are equal."""
    shift = inputs.neighbour * params.epsilon / params.noise
    others = inputs.n_arms - 1

    def density(x):
        return laplace.density(x - shift) * laplace.at_most(x) ** others

    # Beyond 60 scales there is less than e^-60.
    ends = sorted({-60.0, 0.0, shift, 60.0 + shift})
    return sum(scipy.integrate.quad(density, low, high, epsabs=1e-14)[0] for low, high in itertools.pairwise(ends))
