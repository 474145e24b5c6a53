"""LDPMAB's parameters: the points in which the authors' program deviates from the text, and `configure`.

A rule that the reference implementation or the fast path of `ldp_mab` needs is a field of `Rules`.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from privarms.kernels.auxiliary import users_and_budgets
from privarms.ranges import at_least, of_choices, positive

# The printed algorithm has no largest depth. For d = 2 and c = 2 a bin of depth 12 is refined only if noise moves its
# sum 19 standard deviations away from 0, or after some 100 million users.
PRINTED_DEPTH = 12

# The points in which the authors' program deviates from the text: the value as printed, and as released.
DEVIATIONS = {
    # Laplace noise in every active bin: from every user; or only from the users in the bin.
    "noise": ("every_user", "bin_users"),
    # Sums over users, (13) and (26); or such sums accumulated again after each batch.
    "sums": ("single", "running"),
    # An estimate without clipping; or clipped to [0, 1].
    "clip": ("none", "unit_interval"),
    # Added to the divisor of an estimate.
    "denominator": (0, 0.0001),
    # (27); or without its absolute value.
    "sign": ("absolute", "signed"),
    # A source counts from the warm-up's last user on; or from the next one.
    "first_weight": ("at_warm_up", "after_warm_up"),
    # The radius with c ln n; or c log2 n*, where n* is n if a data set of n users has a budget of 1 or more.
    "logarithm": ("natural", "binary"),
    # ln(n)^2 users of any source, (16) and (29); or floor(log2 n*)^2 users of the source now streaming.
    "warm_up": ("any_source", "this_source"),
    # A bin is refined if radii are below 2 sqrt(d) 2^(-s/d), (17); or below 2^(-s/d). The floor below does not change.
    "threshold": ("diameter", "side"),
    # The half-width of an estimate in radii.
    "width": (2, 1),
    # The smallest half-width: none; or 2^(-s/d).
    "floor": ("none", "side"),
    # After the warm-up a bin is halved if the radius of some arm is below the threshold; or those of all arms.
    "arms": ("some", "all"),
    # These arms are those left after a removal; or those before it.
    "asked": ("after_removal", "before_removal"),
    # The choice of arms: uniform, (8); or in favour of larger estimates.
    "choice": ("uniform", "exponential"),
    # The depth of bins: free (up to PRINTED_DEPTH); or at most the program's limit.
    "depth": ("free", "capped"),
    # Added under the root of the radius.
    "offset": (0, 0.0001),
    # Users between two updates, if no other number is set.
    "batch": (1, 100),
}


class Rules(NamedTuple):
    """The differences between the variants.

    warm_up: users before the first estimates of a bin
    scale: the factor of sqrt(sum + offset) / |sum| in the radius; offset: added under the root
    tau: a bin is refined if radii are below tau 2^(-s/d) at depth s
    denominator: added to the divisor of an estimate; width: radii in half a confidence interval
    the rest: whether a switch of DEVIATIONS is as printed
    """

    warm_up: float
    scale: float
    offset: float
    tau: float
    denominator: float
    width: float
    every_user: bool
    single_sum: bool
    unclipped: bool
    absolute: bool
    at_warm_up: bool
    any_source: bool
    no_floor: bool
    some_arm: bool
    after_removal: bool
    uniform: bool


class Params(NamedTuple):
    """The parameters of a run, as `configure` returns them.

    n_arms: K; dimensions: d; epsilons: float64[M + 1] and users: int64[M + 1], of the target and of each source
    batch: users between two updates; depth: the largest of a bin
    """

    n_arms: int
    dimensions: int
    epsilons: np.ndarray
    users: np.ndarray
    batch: int
    depth: int
    rules: Rules


@of_choices
def configure(
    K: int,
    horizon: int,
    epsilon: float,
    variant: Literal["as_printed", "as_released"],
    M: int = 2,
    n_aux: int = 0,
    epsilon_aux: float | str = 1024.0,
    dimensions: int = 2,
    batch: int | None = None,
    c: float = 2.0,
    deviation: str = "",
    source_users: Sequence[int] | None = None,
    auxiliary: Literal["with", "without"] = "with",
) -> Params:
    """Return parameters for K arms, n_P = horizon users with budget epsilon, and M sources of n_aux users each.

    M, n_aux, epsilon_aux, source_users, auxiliary: as in `kernels.auxiliary.users_and_budgets`
    batch: users between two updates
    c: of C_n = c ln n in (14) and (28); the paper does not give it, the program has 2 with its own logarithm
    deviation: names of DEVIATIONS, separated by blanks, in which this run follows the other variant

    With n = n_P v max n_Q, n* = max_m n_m min(1, eps_m)^2. Raises ValueError for values out of range.
    """
    at_least(2, K=K)
    at_least(1, dimensions=dimensions)
    positive(c=c)
    deviating = deviation.split()
    if unknown := [name for name in deviating if name not in DEVIATIONS]:
        raise ValueError(f"deviation: expected some of {', '.join(DEVIATIONS)}; found {', '.join(unknown)}")
    if "batch" in deviating and batch is not None:
        raise ValueError(f"deviation: expected no batch, because the parameter batch is set; found batch = {batch}")
    # Each point follows the variant, and the other variant if it is listed in `deviation`.
    printed = {name: (variant == "as_printed") != (name in deviating) for name in DEVIATIONS}
    chosen = {name: ways[not printed[name]] for name, ways in DEVIATIONS.items()}
    users, epsilons = users_and_budgets(horizon, epsilon, M, n_aux, epsilon_aux, source_users, auxiliary)
    batch = chosen["batch"] if batch is None else batch
    at_least(1, batch=batch)
    for name, size in (("horizon", horizon), ("n_aux", n_aux)):
        if 0 < size < batch:
            raise ValueError(f"{name}: expected at least one batch of {batch} users; found {size}")

    n = int(users.max())
    effective = float((users * np.minimum(1.0, epsilons) ** 2).max())
    if effective <= 1:
        raise ValueError(f"epsilon: expected n epsilon^2 above 1; found {effective:.3g}")
    depth = PRINTED_DEPTH if printed["depth"] else largest_depth(users, epsilons, dimensions)
    rules = Rules(
        warm_up=math.log(n) ** 2 if printed["warm_up"] else float(math.floor(math.log2(effective)) ** 2),
        scale=math.sqrt(c * (math.log(n) if printed["logarithm"] else math.log2(effective))),
        offset=float(chosen["offset"]),
        tau=2 * math.sqrt(dimensions) if printed["threshold"] else 1.0,
        denominator=float(chosen["denominator"]),
        width=float(chosen["width"]),
        every_user=printed["noise"],
        single_sum=printed["sums"],
        unclipped=printed["clip"],
        absolute=printed["sign"],
        at_warm_up=printed["first_weight"],
        any_source=printed["warm_up"],
        no_floor=printed["floor"],
        some_arm=printed["arms"],
        after_removal=printed["asked"],
        uniform=printed["choice"],
    )
    return Params(int(K), int(dimensions), epsilons, users, int(batch), depth, rules)


def largest_depth(users: np.ndarray, epsilons: np.ndarray, dimensions: int) -> int:
    """Return the released program's cap on the depth of a bin; sources without users count only in M."""
    d, sets = dimensions, len(users)
    depths = [
        min(d / (2 + d) * math.log2(2 * n * sets), d / (2 + 2 * d) * math.log2(2 * n * epsilon**2 * sets))
        for n, epsilon in zip(users.tolist(), epsilons.tolist(), strict=True)
        if n > 0
    ]
    return max(math.floor(max(depths)), 0)
