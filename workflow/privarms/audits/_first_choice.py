"""Two reward streams that differ in one reward of one arm: the first choice after the first batch of every arm.

Policies that pull in batches release the sum of an arm's first batch with one Laplace draw. One reward moves the sum by
1, which is epsilon scales of that noise. The first choice compares these sums. The rounds before it are the same in
both streams: the first batch of every arm, in index order.

With equal sums, far from 0 and from the size of the batch, the largest sum is chosen. Event: it is the sum of the last
arm, of which one reward is 0 or, for neighbour 1, 1. Among 20 arms the largest of the other sums mostly exceeds the sum
of the last arm without noise. There the density of the noise falls by exactly e^epsilon over a step of epsilon scales.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import Audit
from privarms.mechanisms import laplace
from privarms.policies.bandit import _batches


class Inputs(NamedTuple):
    """n_arms: K >= 2; share: of the rewards of a first batch that are 1, except for the one that differs; changed: the
    arm with the reward that differs, which is `neighbour`, 0 or 1."""

    n_arms: int
    share: float
    changed: int
    neighbour: int


@njit
def happens(params, best, batch_size, inputs, rng):
    """Draw whether the last arm is chosen first."""
    scale = params.noise / params.epsilon
    state, t = _batches.new_state(inputs.n_arms), 1
    for arm in range(inputs.n_arms):
        size = batch_size(params, state, arm)
        total = np.floor(inputs.share * size)
        if arm == inputs.changed:
            total += inputs.neighbour
        _batches.release(state, arm, size, total, scale, True, rng)
        t += size
    return best(params, state, t, rng) == inputs.n_arms - 1


def probability(params, inputs: Inputs) -> float:
    """Return the probability that the last arm, the changed one, has the largest noisy sum; the others are equal."""
    shift = inputs.neighbour * params.epsilon / params.noise
    others = inputs.n_arms - 1

    def density(x):
        return laplace.density(x - shift) * laplace.at_most(x) ** others

    # Beyond 60 scales the rest is below e^-60.
    ends = sorted({-60.0, 0.0, shift, 60.0 + shift})
    return sum(scipy.integrate.quad(density, low, high, epsabs=1e-14)[0] for low, high in itertools.pairwise(ends))


def first_choice(
    subject: str,
    inputs: Callable,
    batch_size: Callable,
    exact: Callable = probability,
    best: Callable | None = None,
    **more,
) -> Audit:
    """Return the audit whose event is that the last arm is chosen first; batch_size(params, state, arm): of the policy.

    exact: the probability of the event, if it is not the order of the sums alone; best(params, state, t, rng): the
    choice, if it is not the policy's own; more: of `Audit`
    """

    def arguments(policy, params, inputs, *others):
        return params, best or policy.best, batch_size, inputs

    return Audit(subjects=subject, inputs=inputs, event=happens, arguments=arguments, exact=exact, **more)
