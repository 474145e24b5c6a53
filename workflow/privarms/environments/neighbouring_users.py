"""Batches whose last user is one of two: the inputs of the audit of a locally private bandit.

The partition is the unit square halved once. All users of a batch but the last sit in the first bin and pulled arm 0
without a reward. The last one, whose reward is 1, is user 0, in the first bin with arm 0, or user 1, who differs from
user 0 in the context (second bin, arm 0) or in the arm (first bin, arm 1). A locally private mechanism must hide which
of the two came: definition 2.1 and (11) of Ma et al. (2025). Arms are given, as an auxiliary source's are.

Events, of the noisy counts U and reward sums V that the server holds after the batch:

- quadrant: U and V of user 1's bin and arm are at least, and those of user 0's bin and arm at most, what they would be
  without noise if user 1 had come. It is likelier with user 1.
- untouched: every U and V of the second bin is exactly 0. It is likelier with user 0, or equally likely.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from numba import njit

DIFFERENCES = ("context", "arm")
EVENTS = ("quadrant", "untouched")
CONTEXT, ARM = range(len(DIFFERENCES))
QUADRANT, UNTOUCHED = range(len(EVENTS))

# In the first and the second half of the square, whichever of its edges is cut.
COORDINATES = (0.25, 0.75)


class Environment(NamedTuple):
    """What a bandit with auxiliary sources asks of users, see `transfer.covariate_shift`, and what the audit asks.

    differ, event: indices into DIFFERENCES and EVENTS; last_user: 0 or 1; batch: users, the last one included
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
    last_user: int
    batch: int


@njit(forceinline=True)
def place(environment, last_user):
    """The bin, 0 for the first and 1 for the second, and the arm of user 0 or 1."""
    if environment.differ == CONTEXT:
        return last_user, 0
    return 0, last_user


@njit(forceinline=True)
def _is_last(environment, user):
    return (user + 1) % environment.batch == 0


@njit(forceinline=True)
def arrive(environment, source, user, context, rng):
    """The middle of the user's bin, whichever way the square is cut: no draw."""
    i = place(environment, environment.last_user)[0] if _is_last(environment, user) else 0
    context[:] = COORDINATES[i]


@njit(forceinline=True)
def behave(environment, source, user, rng):
    """The user's arm: no draw."""
    return place(environment, environment.last_user)[1] if _is_last(environment, user) else 0


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
    user: int,
    batch: int = 1,
) -> Environment:
    """User 0, or user 1, as the last of a batch of `batch` >= 1 users; K >= 2 arms. Raises ValueError."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if differ not in DIFFERENCES:
        raise ValueError(f"differ: expected {' or '.join(DIFFERENCES)}; found {differ!r}")
    if event not in EVENTS:
        raise ValueError(f"event: expected {' or '.join(EVENTS)}; found {event!r}")
    if user not in (0, 1):
        raise ValueError(f"user: expected 0 or 1; found {user}")
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 user; found {batch}")
    return Environment(
        arrive,
        behave,
        best,
        mean,
        n_arms=int(K),
        dimensions=2,
        point=COORDINATES[0],
        differ=DIFFERENCES.index(differ),
        event=EVENTS.index(event),
        last_user=int(user),
        batch=int(batch),
    )
