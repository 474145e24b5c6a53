"""Batches whose last user is one of two: the privacy audit of what a locally private bandit's users send.

The partition is the unit square halved once. All users of a batch but the last sit in the first bin and pulled arm 0
without a reward. The last one, whose reward is 1, is user 0, in the first bin with arm 0, or user 1, who differs from
user 0 in the context (second bin, arm 0) or in the arm (first bin, arm 1). A locally private mechanism must hide which
of the two came: definition 2.1 and (11) of Ma et al. (2025). Arms are given, as an auxiliary source's are.

Events, of the noisy counts U and reward sums V that the server holds after the batch:

- quadrant: U and V of user 1's bin and arm are at least, and those of user 0's bin and arm at most, what they would be
  without noise if user 1 had come. It is likelier with user 1.
- untouched: every U and V of the second bin is exactly 0. It is likelier with user 0, or equally likely.

A message (11) has U = 1 and V = the reward in [0, 1] at one bin and arm, and 0 elsewhere. Two users differ by at most 2
in U and by at most 2 in V, whatever differs of context, arm and reward: L1 sensitivity 4, so that Lap(4 / epsilon) in
every bin, as (12) of Ma et al. (2025) is read below it, is epsilon-LDP. With noise from the users of a bin alone, as
released, a bin without users keeps sums of exactly 0, and no finite epsilon holds for the context.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit

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
    """What a bandit with auxiliary sources asks of users, see `environments._covariate_shift`, and what the audit asks.

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
    """The bin, 0 for the first and 1 for the second, and the arm of user 0 or 1."""
    if environment.differ == CONTEXT:
        return neighbour, 0
    return 0, neighbour


@njit(forceinline=True)
def _is_last(environment, user):
    return (user + 1) % environment.batch == 0


@njit(forceinline=True)
def arrive(environment, source, user, context, rng):
    """The middle of the user's bin, whichever way the square is cut: no draw."""
    i = place(environment, environment.neighbour)[0] if _is_last(environment, user) else 0
    context[:] = COORDINATES[i]


@njit(forceinline=True)
def behave(environment, source, user, rng):
    """The user's arm: no draw."""
    return place(environment, environment.neighbour)[1] if _is_last(environment, user) else 0


@njit(forceinline=True)
def best(environment, source, user, context):
    """No arm is better than another: the first."""
    return 0


@njit(forceinline=True)
def mean(environment, source, user, context, arm):
    """1 for the last user of a batch, whatever the arm, and 0 for the others."""
    return 1.0 if _is_last(environment, user) else 0.0


def configure(
    K: int,
    differ: Literal["context", "arm"],
    event: Literal["quadrant", "untouched"],
    neighbour: int,
    batch: int = 1,
    noise: float = 1.0,
) -> Inputs:
    """User 0, or user 1, as the last of a batch of `batch` >= 1 users; K >= 2 arms, noise > 0. Raises ValueError."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if differ not in DIFFERENCES:
        raise ValueError(f"differ: expected {' or '.join(DIFFERENCES)}; found {differ!r}")
    if event not in EVENTS:
        raise ValueError(f"event: expected {' or '.join(EVENTS)}; found {event!r}")
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 user; found {batch}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(
        arrive,
        behave,
        best,
        mean,
        n_arms=int(K),
        dimensions=2,
        point=COORDINATES[0],
        differ=DIFFERENCES.index(differ),
        event=EVENTS.index(event),
        neighbour=int(neighbour),
        batch=int(batch),
        noise=float(noise),
    )


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """After how many of so many batches, each sent to a fresh server, the event has happened to the sums.

    With a batch of one user the sums are that user's message. All randomness is noise.
    """
    params = one_batch(with_noise(params, inputs))
    fresh = start(params, rng)
    state = fresh._replace(**{name: getattr(fresh, name).copy() for name in RESTARTED})
    record = new_record(0, params.n_arms)
    return compiled(_count)(params, inputs, fresh, state, record, trials, rng)


def start(params, rng) -> fast_path.State:
    """Return a server with two bins, the parts of the halved root, every arm active, all sums 0."""
    state = compiled(fast_path.init)(params, rng)
    compiled(fast_path.halve)(state, ROOT)
    return state


def with_noise(params, inputs):
    """The same mechanism with the inputs' multiple of the noise, whose scale is as 1 / epsilon."""
    return params._replace(epsilons=params.epsilons / inputs.noise)


def one_batch(params):
    """The same mechanism, for one batch of an auxiliary source with the target's budget.

    Bins stay at depth 1. The kernel draws noise when it looks at a bin, so there is no warm-up.
    """
    return params._replace(
        epsilons=np.full(2, params.epsilons[0]),
        users=np.array([0, params.batch]),
        depth=1,
        rules=params.rules._replace(warm_up=0.0),
    )


@njit
def _count(params, inputs, fresh, state, record, trials, rng):
    # The only one. A constant in its place would compile the kernel again.
    source = len(params.users) - 1
    checkpoints = np.zeros(0, np.int64)
    events = 0
    for _ in range(trials):
        restart(fresh, state)
        fast_path.stream(params, inputs, state, source, checkpoints, rng, record)
        if happened(inputs, state.arms):
            events += 1
    return events


@njit
def restart(fresh, state):
    """Overwrite a server by a fresh one; the tree is the same, for bins stay at depth 1."""
    for i in range(len(state.bins)):
        state.bins[i] = fresh.bins[i]
        for k in range(state.arms.shape[1]):
            state.arms[i, k] = fresh.arms[i, k]
            state.truths[i, k] = fresh.truths[i, k]
    state.live[:] = fresh.live
    state.counts[0] = fresh.counts[0]


@njit
def happened(inputs, arms):
    """Return whether the inputs' event happened; arms: ARM[3, K], of the root, unused, and of both bins."""
    if inputs.event == UNTOUCHED:
        touched = False
        for k in range(arms.shape[1]):
            touched |= arms[ROOT + 2, k].U != 0 or arms[ROOT + 2, k].V != 0
        return not touched
    # Who came before the last user is where user 0 would be, without rewards.
    i, arm = place(inputs, 0)
    if inputs.batch - 1 < arms[ROOT + 1 + i, arm].U or arms[ROOT + 1 + i, arm].V > 0:
        return False
    i, arm = place(inputs, 1)
    return arms[ROOT + 1 + i, arm].U >= 1 and arms[ROOT + 1 + i, arm].V >= 1


def likelier(inputs: Inputs) -> int:
    """User 1 for the quadrant, user 0 for the untouched bin."""
    return 1 if inputs.event == QUADRANT else 0


def claimed_loss(epsilon: float) -> float:
    """epsilon: definition 2.1."""
    return epsilon


def noise_scale(epsilon: float) -> float:
    """Of the Laplace noise of (12): 4 / epsilon."""
    return 4 / epsilon


def noise_draws(every_user: bool, inputs: Inputs) -> tuple[int, int]:
    """How many Laplace draws a batch adds to each sum of the first and of the second bin.

    every_user: one for every user, as printed; else one for every user in the bin, as released
    """
    if every_user:
        return inputs.batch, inputs.batch
    in_second = 1 if inputs.differ == CONTEXT and inputs.neighbour == 1 else 0
    return inputs.batch - in_second, in_second


def survival(x: float, draws: int, scale: float) -> float:
    """P(S >= x) for the sum S of `draws` >= 0 Lap(scale) variables.

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


def event_probability(params: ldp_mab.Params, inputs: Inputs) -> float:
    """The probability of the event with the inputs' last user.

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


def log_ratio(params: ldp_mab.Params, inputs: Inputs) -> float:
    """ln of the event's probability with the user with whom it is likelier over that with the other.

    No mechanism with a smaller epsilon has it; inf where the event cannot happen with one of them, nan where it can
    with neither. For one user and `quadrant` it is 4 / noise_scale = epsilon, but inf as released for the context.
    """
    likely = likelier(inputs)
    p, q = (event_probability(params, inputs._replace(neighbour=user)) for user in (likely, 1 - likely))
    if q == 0:
        return math.inf if p > 0 else math.nan
    return math.log(p / q)
