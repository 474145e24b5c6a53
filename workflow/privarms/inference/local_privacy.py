"""What one user's message costs in local privacy: exactly, for the users and events of `neighbouring_users`.

A message (11) has U = 1 and V = the reward in [0, 1] at one bin and arm, and 0 elsewhere. Two users differ by at most 2
in U and by at most 2 in V, whatever differs of context, arm and reward: L1 sensitivity 4, so that Lap(4 / epsilon) in
every bin, as (12) of Ma et al. (2025) is read below it, is epsilon-LDP. With noise from the users of a bin alone, as
released, a bin without users keeps sums of exactly 0, and no finite epsilon holds for the context.
"""

import math
from typing import Literal

import numpy as np
from scipy import stats

from privarms.environments.neighbouring_users import DIFFERENCES, EVENTS

VARIANTS = ("as_printed", "as_released")


def noise_scale(epsilon: float) -> float:
    """Of the Laplace noise of (12): 4 / epsilon."""
    return 4 / epsilon


def noise_draws(variant: str, differ: str, user: int, batch: int = 1) -> tuple[int, int]:
    """How many Laplace draws a batch adds to each sum of the first and of the second bin.

    as_printed: one for every user; as_released: one for every user in the bin.
    """
    if variant == "as_printed":
        return batch, batch
    in_second = 1 if differ == "context" and user == 1 else 0
    return batch - in_second, in_second


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
    return float(stats.nbinom.pmf(j, draws, 0.5) @ stats.gamma.sf(x / scale, draws - j))


def event_probability(
    variant: Literal["as_printed", "as_released"],
    differ: Literal["context", "arm"],
    event: Literal["quadrant", "untouched"],
    user: int,
    epsilon: float,
    batch: int = 1,
) -> float:
    """The probability of the event when user 0 or 1 is the last of a batch. Raises ValueError for unknown names.

    quadrant: user 1's two sums are at their thresholds without noise if user 1 came and 1 below if not, user 0's the
    other way round; four independent noises: P(S_1 >= 1 - user)^2 P(S_0 >= 1 - user)^2, S_1 and S_0 of their bins.
    untouched: certain if the second bin gets no noise, which is if nobody is in it, and impossible otherwise.
    """
    _check(variant, differ, event, epsilon, batch)
    if user not in (0, 1):
        raise ValueError(f"user: expected 0 or 1; found {user}")
    draws = noise_draws(variant, differ, user, batch)
    if event == "untouched":
        return 1.0 if draws[1] == 0 else 0.0
    scale = noise_scale(epsilon)
    first = survival(1 - user, draws[0], scale)
    other = survival(1 - user, draws[1], scale) if differ == "context" else first
    return first**2 * other**2


def log_ratio(variant: str, differ: str, event: str, epsilon: float, batch: int = 1) -> float:
    """ln of the event's probability with the user with whom it is likelier over that with the other.

    No mechanism with a smaller epsilon has it; inf where the event cannot happen with one of them, nan where it can
    with neither. For one user and `quadrant` it is 4 / noise_scale = epsilon, but inf as released for the context.
    """
    likely = 1 if event == "quadrant" else 0
    p, q = (event_probability(variant, differ, event, user, epsilon, batch) for user in (likely, 1 - likely))
    if q == 0:
        return math.inf if p > 0 else math.nan
    return math.log(p / q)


def _check(variant: str, differ: str, event: str, epsilon: float, batch: int) -> None:
    known = {"variant": (variant, VARIANTS), "differ": (differ, DIFFERENCES), "event": (event, EVENTS)}
    for name, (given, expected) in known.items():
        if given not in expected:
            raise ValueError(f"{name}: expected {' or '.join(expected)}; found {given!r}")
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon: expected a finite number > 0; found {epsilon}")
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 user; found {batch}")
