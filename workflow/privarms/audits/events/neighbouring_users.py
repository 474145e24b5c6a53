"""Audit the messages of a locally private bandit's users, on batches whose last user is one of two.

The partition is the unit square halved once. All users of a batch except the last are in the first bin and pulled arm 0
without a reward. The last one has the reward 1. It is user 0, in the first bin with arm 0, or user 1. User 1 differs in
the context (second bin, arm 0) or in the arm (first bin, arm 1). A locally private mechanism must hide which of the two
arrived: definition 2.1 and (11) of Ma et al. (2025). Arms are inputs, like those of an auxiliary source.

Events, on the noisy counts U and reward sums V that the server stores after the batch:

- quadrant: U and V of user 1's bin and arm are at least, and those of user 0's bin and arm at most, their noiseless
  values for user 1. It is likelier with user 1.
- untouched: every U and V of the second bin is exactly 0. It is likelier with user 0, or equally likely.

A message (11) has U = 1 and V = the reward in [0, 1] at one bin and arm, and 0 elsewhere. Two users who differ in
context, arm or reward differ by at most 2 in U and by at most 2 in V. So the L1 sensitivity is 4, and Lap(4 / epsilon)
in every bin is epsilon-LDP, as we interpret (12) of Ma et al. (2025). In the released program only the users of a bin
add noise to it. Then a bin without users has sums of exactly 0, and no finite epsilon protects the context.
"""

import copy
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import Audit
from privarms.fast_paths.locally_private import ldp_mab as fast_path
from privarms.jit.cache import compiled
from privarms.policies.locally_private import ldp_mab

STREAMED_AS = {"neighbour": "user"}
# A trial is one batch, not a run of the policy: 0.6 microseconds for one user, 1.6 for a hundred.
SECONDS_PER_RUN = 1.5e-6
SECONDS_PER_STEP = 0.0

# The root of the tree, and the first of its two parts, which form the partition.
ROOT, FIRST = 0, 1


class Inputs(NamedTuple):
    """by_context: whether the users differ in the context, not in the arm; quadrant: whether this is the event.

    neighbour: the last user, 0 or 1; batch: users, the last one included; noise: multiple of the noise
    """

    n_arms: int
    by_context: bool
    quadrant: bool
    neighbour: int
    batch: int
    noise: float


def configure(
    K: int,
    differ: Literal["context", "arm"],
    event: Literal["quadrant", "untouched"],
    neighbour: Literal[0, 1],
    batch: int = 1,
    noise: float = 1.0,
) -> Inputs:
    """Return the inputs with user 0 or user 1 as the last of a batch of `batch` users."""
    return Inputs(K, differ == "context", event == "quadrant", neighbour, batch, noise)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`: a fresh server for one batch, and a copy of it that is overwritten."""
    # For one batch bins stay at depth 1, and without a warm-up noise is drawn at once.
    params = params._replace(depth=1, rules=params.rules._replace(warm_up=0.0))
    # Two bins, the parts of the halved root, every arm active, all sums 0.
    fresh = compiled(fast_path.init)(params, rng)
    compiled(fast_path.halve)(fresh, ROOT)
    return params, inputs, fresh, copy.deepcopy(fresh)


@njit
def place(inputs, neighbour):
    """Return the bin, 0 for the first and 1 for the second, and the arm of user 0 or 1."""
    if inputs.by_context:
        return neighbour, 0
    return 0, neighbour


@njit
def happens(params, inputs, fresh, state, rng):
    """Send one batch to a fresh server; return whether the event happens."""
    restart(fresh, state)
    send_batch(inputs, state, rng)
    fast_path.update(params, state, 0, inputs.batch, inputs.batch, False, rng)
    return event_in(inputs, state.arms)


@njit
def send_batch(inputs, state, rng):
    """Count the users of a batch where the server counts them; only the last one has a reward."""
    for user in range(inputs.batch):
        last = user == inputs.batch - 1
        i, arm = place(inputs, inputs.neighbour if last else 0)
        state.bins[FIRST + i].here += 1
        state.arms[FIRST + i, arm].pulled += 1
        # Drawn like every reward, with probability 1 or 0.
        state.arms[FIRST + i, arm].rewarded += rng.random() < last


@njit
def restart(fresh, state):
    """Overwrite a server with a fresh one. The tree is not copied, because bins stay at depth 1."""
    # Element by element: assignments of whole arrays take 6 seconds longer to compile.
    for i in range(len(state.bins)):
        state.bins[i] = fresh.bins[i]
        for k in range(state.arms.shape[1]):
            state.arms[i, k] = fresh.arms[i, k]
            state.truths[i, k] = fresh.truths[i, k]
    for j in range(len(state.live)):
        state.live[j] = fresh.live[j]
    state.counts[0] = fresh.counts[0]


@njit
def event_in(inputs, arms):
    """Return whether the inputs' event happened; arms: ARM[3, K], of the root, which is unused, and of both bins."""
    if not inputs.quadrant:
        touched = False
        for k in range(arms.shape[1]):
            touched |= arms[FIRST + 1, k].U != 0 or arms[FIRST + 1, k].V != 0
        return not touched
    # The earlier users are in the bin and arm of user 0, without rewards.
    i, arm = place(inputs, 0)
    if inputs.batch - 1 < arms[FIRST + i, arm].U or arms[FIRST + i, arm].V > 0:
        return False
    i, arm = place(inputs, 1)
    return arms[FIRST + i, arm].U >= 1 and arms[FIRST + i, arm].V >= 1


def noise_scale(epsilon: float) -> float:
    """Return the scale of the Laplace noise of (12): 4 / epsilon."""
    return 4 / epsilon


def noise_draws(every_user: bool, inputs: Inputs) -> tuple[int, int]:
    """Return how many Laplace draws a batch adds to each sum of both bins; every_user: as printed."""
    if every_user:
        return inputs.batch, inputs.batch
    in_second = 1 if inputs.by_context and inputs.neighbour == 1 else 0
    return inputs.batch - in_second, in_second


def survival(x: float, draws: int, scale: float) -> float:
    """Return P(S >= x) for the sum S of `draws` >= 0 Lap(scale) variables.

    S / scale is the difference of two sums of n standard exponentials. When the smaller sum is used up, J < n terms of
    the larger are too, J negative binomial. The n - J remaining terms are memoryless, so P(S >= x) = sum over j < n of
    C(n + j - 1, j) 2^-(n + j) P(Gamma(n - j) >= x / scale), x > 0.
    """
    if draws == 0:
        return 1.0 if x <= 0 else 0.0
    if x < 0:
        return 1 - survival(-x, draws, scale)
    j = np.arange(draws)
    return float(scipy.stats.nbinom.pmf(j, draws, 0.5) @ scipy.stats.gamma.sf(x / scale, draws - j))


def probability(params: ldp_mab.Params, inputs: Inputs) -> float:
    """Return the probability of the event with the inputs' last user.

    quadrant: without noise, user 1's two sums are at their thresholds if user 1 arrived and 1 below if not; user 0's
        the reverse. With four independent noises: P(S_1 >= 1 - user)^2 P(S_0 >= 1 - user)^2, S_1 and S_0 of their bins.
    untouched: certain if the second bin gets no noise, that is, contains no user; impossible otherwise.
    """
    draws = noise_draws(params.rules.every_user, inputs)
    if not inputs.quadrant:
        return 1.0 if draws[1] == 0 else 0.0
    scale = noise_scale(float(params.epsilons[0]))
    first = survival(1 - inputs.neighbour, draws[0], scale)
    other = survival(1 - inputs.neighbour, draws[1], scale) if inputs.by_context else first
    return first**2 * other**2


# Claimed: epsilon (definition 2.1).
AUDIT = Audit(
    subjects="ldp_mab",
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=probability,
    # User 1 for the quadrant, user 0 for the untouched bin.
    likelier=lambda inputs: int(inputs.quadrant),
    with_noise=lambda params, noise: params._replace(epsilons=params.epsilons / noise),
    changed="Only the last user of a batch was changed, in context or arm.",
)
