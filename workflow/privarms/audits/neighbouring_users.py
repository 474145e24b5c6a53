"""Batches whose last user is one of two: what the users of a locally private bandit send.

The partition is the unit square halved once. All users of a batch except the last are in the first bin and pulled
arm 0 without a reward. The last one, whose reward is 1, is user 0, in the first bin with arm 0, or user 1, who differs
from user 0 in the context (second bin, arm 0) or in the arm (first bin, arm 1). A locally private mechanism must hide
which of the two came: definition 2.1 and (11) of Ma et al. (2025). Arms are given, as an auxiliary source's are.

Events, of the noisy counts U and reward sums V that the server holds after the batch:

- quadrant: U and V of user 1's bin and arm are at least, and those of user 0's bin and arm at most, what they would be
  without noise if user 1 had come. It is likelier with user 1.
- untouched: every U and V of the second bin is exactly 0. It is likelier with user 0, or equally likely.

A message (11) has U = 1 and V = the reward in [0, 1] at one bin and arm, and 0 elsewhere. Two users differ by at most 2
in U and by at most 2 in V, whatever differs of context, arm and reward: L1 sensitivity 4, so Lap(4 / epsilon) in every
bin, as (12) of Ma et al. (2025) is read below it, is epsilon-LDP. With noise from the users of a bin alone, as
released, a bin without users keeps sums of exactly 0, and no finite epsilon holds for the context.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import Audit, checked, count_events
from privarms.fast_paths.locally_private import ldp_mab as fast_path
from privarms.jit.cache import compiled
from privarms.policies.locally_private import ldp_mab
from privarms.protocols.locally_private import new_record

SUBJECT = "ldp_mab"
STREAMED_AS = {"neighbour": "user"}
# A trial is one batch, not a run of the policy: 0.6 microseconds for one user, 1.6 for a hundred.
SECONDS_PER_RUN = 1.5e-6
SECONDS_PER_STEP = 0.0

DIFFERENCES = ("context", "arm")
EVENTS = ("quadrant", "untouched")
CONTEXT, ARM = range(len(DIFFERENCES))
QUADRANT, UNTOUCHED = range(len(EVENTS))

# In the first and the second half of the square, whichever of its edges is cut.
COORDINATES = (0.25, 0.75)

# The bin of a tree whose two parts are the partition.
ROOT = 0
# What a batch changes of a server.
RESTARTED = ("bins", "arms", "truths", "live", "removals", "counts")


class Inputs(NamedTuple):
    """The functions of a bandit with auxiliary sources, see `environments._covariate_shift`, and the audit's own.

    differ, event: indices into DIFFERENCES and EVENTS; neighbour: who comes last, user 0 or 1; batch: users, the last
    one included; noise: multiple of the scale of the noise
    """

    arrive: Callable
    behave: Callable
    best: Callable
    mean: Callable
    n_arms: int
    dimensions: int
    point: float
    differ: int
    event: int
    neighbour: int
    batch: int
    noise: float


@njit(forceinline=True)
def place(environment, neighbour):
    """Return the bin, 0 for the first and 1 for the second, and the arm of user 0 or 1."""
    if environment.differ == CONTEXT:
        return neighbour, 0
    return 0, neighbour


@njit(forceinline=True)
def _is_last(environment, user):
    return (user + 1) % environment.batch == 0


@njit(forceinline=True)
def arrive(environment, source, user, context, rng):
    """Set the middle of the user's bin, whichever way the square is cut: no draw."""
    i = place(environment, environment.neighbour)[0] if _is_last(environment, user) else 0
    context[:] = COORDINATES[i]


@njit(forceinline=True)
def behave(environment, source, user, rng):
    """Return the user's arm: no draw."""
    return place(environment, environment.neighbour)[1] if _is_last(environment, user) else 0


@njit(forceinline=True)
def best(environment, source, user, context):
    """Return the first arm: no other is better."""
    return 0


@njit(forceinline=True)
def mean(environment, source, user, context, arm):
    """Return 1 for the last user of a batch, whatever the arm, and 0 for the others."""
    return 1.0 if _is_last(environment, user) else 0.0


def configure(
    K: int,
    differ: Literal["context", "arm"],
    event: Literal["quadrant", "untouched"],
    neighbour: int,
    batch: int = 1,
    noise: float = 1.0,
) -> Inputs:
    """Return user 0, or user 1, as the last of a batch of `batch` >= 1 users; K >= 2 arms, noise > 0."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if differ not in DIFFERENCES:
        raise ValueError(f"differ: expected {' or '.join(DIFFERENCES)}; found {differ!r}")
    if event not in EVENTS:
        raise ValueError(f"event: expected {' or '.join(EVENTS)}; found {event!r}")
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 user; found {batch}")
    asked = (DIFFERENCES.index(differ), EVENTS.index(event), int(neighbour), int(batch), float(noise))
    return checked(Inputs(arrive, behave, best, mean, int(K), 2, COORDINATES[0], *asked))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the batches, each sent to a fresh server, after which the event has happened to the sums.

    With a batch of one user the sums are that user's message. All randomness is noise.
    """
    params = one_batch(with_noise(params, inputs))
    fresh = start(params, rng)
    state = fresh._replace(**{name: getattr(fresh, name).copy() for name in RESTARTED})
    return count_events(happens, (params, inputs, fresh, state, new_record(0, params.n_arms)), trials, rng)


def start(params, rng) -> fast_path.State:
    """Return a server with two bins, the parts of the halved root, every arm active, all sums 0."""
    state = compiled(fast_path.init)(params, rng)
    compiled(fast_path.halve)(state, ROOT)
    return state


def with_noise(params, inputs):
    """Return the same mechanism with the inputs' multiple of the noise, whose scale is as 1 / epsilon."""
    return params._replace(epsilons=params.epsilons / inputs.noise)


def one_batch(params):
    """Return the same mechanism, for one batch of an auxiliary source with the target's budget.

    Bins stay at depth 1. The kernel draws noise when it looks at a bin, so there is no warm-up.
    """
    return params._replace(
        epsilons=np.full(2, params.epsilons[0]),
        users=np.array([0, params.batch]),
        depth=1,
        rules=params.rules._replace(warm_up=0.0),
    )


@njit
def happens(params, inputs, fresh, state, record, rng):
    """Send one batch to a fresh server; return whether the event happens."""
    restart(fresh, state)
    # The only source. A constant in its place would compile the kernel again.
    source = len(params.users) - 1
    fast_path.stream(params, inputs, state, source, np.zeros(0, np.int64), rng, record)
    return event_in(inputs, state.arms)


@njit
def restart(fresh, state):
    """Overwrite a server by a fresh one; the tree is the same, for bins stay at depth 1."""
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
    """Return whether the inputs' event happened; arms: ARM[3, K], of the root, unused, and of both bins."""
    if inputs.event == UNTOUCHED:
        touched = False
        for k in range(arms.shape[1]):
            touched |= arms[ROOT + 2, k].U != 0 or arms[ROOT + 2, k].V != 0
        return not touched
    # The users before the last are where user 0 would be, without rewards.
    i, arm = place(inputs, 0)
    if inputs.batch - 1 < arms[ROOT + 1 + i, arm].U or arms[ROOT + 1 + i, arm].V > 0:
        return False
    i, arm = place(inputs, 1)
    return arms[ROOT + 1 + i, arm].U >= 1 and arms[ROOT + 1 + i, arm].V >= 1


def likelier(inputs: Inputs) -> int:
    """Return user 1 for the quadrant, user 0 for the untouched bin."""
    return 1 if inputs.event == QUADRANT else 0


def noise_scale(epsilon: float) -> float:
    """Return that of the Laplace noise of (12): 4 / epsilon."""
    return 4 / epsilon


def noise_draws(every_user: bool, inputs: Inputs) -> tuple[int, int]:
    """Return how many Laplace draws a batch adds to each sum of the first and of the second bin.

    every_user: one for every user, as printed; else one for every user in the bin, as released
    """
    if every_user:
        return inputs.batch, inputs.batch
    in_second = 1 if inputs.differ == CONTEXT and inputs.neighbour == 1 else 0
    return inputs.batch - in_second, in_second


def survival(x: float, draws: int, scale: float) -> float:
    """Return P(S >= x) for the sum S of `draws` >= 0 Lap(scale) variables.

    S / scale is the difference of two sums of n standard exponentials. When the smaller is used up, J < n of the
    larger's are, J negative binomial; the n - J left are as new: P(S >= x) = sum over j < n of
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

    quadrant: user 1's two sums are at their thresholds without noise if user 1 came and 1 below if not, user 0's the
    other way round; four independent noises: P(S_1 >= 1 - user)^2 P(S_0 >= 1 - user)^2, S_1 and S_0 of their bins.
    untouched: certain if the second bin gets no noise, which is if nobody is in it, and impossible otherwise.
    """
    draws = noise_draws(params.rules.every_user, inputs)
    if inputs.event == UNTOUCHED:
        return 1.0 if draws[1] == 0 else 0.0
    scale = noise_scale(float(with_noise(params, inputs).epsilons[0]))
    first = survival(1 - inputs.neighbour, draws[0], scale)
    other = survival(1 - inputs.neighbour, draws[1], scale) if inputs.differ == CONTEXT else first
    return first**2 * other**2


# Claimed: epsilon (definition 2.1).
AUDIT = Audit(count, probability, likelier)
