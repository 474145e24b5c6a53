"""Locally private nonparametric bandit with transfer (Ma, Jiang, Zhao, Yang & Yu 2025), Algorithms 1 to 3.

Auxiliary sources stream first, one after another, then the target. In every bin of a partition of [0, 1]^d, noisy
counts U and noisy reward sums V of the active arms give estimates and radii; an arm that is clearly worse goes, and a
bin whose radii are small is halved. One kernel runs the algorithm as printed, as the authors' program runs it, and
everything between: each point in which the two differ is a parameter.

Noise is drawn for many users at once, where nothing looks at the sums between them, as the difference of two gammas.
A bin with one arm left plays that arm for ever, as all its parts would: it is not followed further.

Where noise comes from every user for every bin, nearly all of the time goes into a few numbers of every arm in every
bin that is followed. While a source streams they lie side by side in `lanes`, for a processor's vectors.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.jit.intrinsics import either
from privarms.mechanisms.laplace import laplace, laplace_sum
from privarms.policies.locally_private._auxiliary import users_and_budgets
from privarms.policies.locally_private._counts import (
    ALONE,
    COUNTS,
    EMPTY,
    FOLLOWED,
    HALVINGS,
    IN_PARTS,
    LOOKS,
    MISSES,
)
from privarms.fast_paths.locally_private._partition import Tree, draw_tree, find, refine
from privarms.sure import sure

LABEL = "LDPMAB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 150e-9

MOST_ARMS = 62
# The printed algorithm has no largest depth. For d = 2 and c = 2 a bin of depth 12 would be halved if noise alone put
# its sum 19 standard deviations away from 0, or after some 100 million users.
PRINTED_DEPTH = 12
# More users than there are.
FOR_EVER = 2**62
# Squares that differ by more than this differ without rounding too, as long as the numbers under them are differences
# of some that are at most 10^8 times as large: 10^8 times 2^-53 is far below 10^-6.
BELOW, ABOVE, FARTHEST = 1 - 1e-6, 1 + 1e-6, 1e16

# The points in which the authors' program deviates from the text: what each is as printed, and as released.
DEVIATIONS = {
    # Laplace noise, in every active bin: from every user; or only from the users in the bin.
    "noise": ("every_user", "bin_users"),
    # Sums over users, (13) and (26); or such sums added up anew after each batch.
    "sums": ("single", "running"),
    # An estimate as it is; or clipped to [0, 1].
    "clip": ("none", "unit_interval"),
    # Added to the sum by which an estimate divides.
    "denominator": (0, 0.0001),
    # (27); or without its absolute value.
    "sign": ("absolute", "signed"),
    # A source counts from the warm-up's last user on; or from the one after.
    "first_weight": ("at_warm_up", "after_warm_up"),
    # The radius with c ln n; or c log2 n*, where n* is n if a data set of n users has a budget of 1 or more.
    "logarithm": ("natural", "binary"),
    # ln(n)^2 users of any source, (16) and (29); or floor(log2 n*)^2 users of the source now streaming.
    "warm_up": ("any_source", "this_source"),
    # A bin is fine enough for radii above 2 sqrt(d) 2^(-s/d), (17); or 2^(-s/d). The floor below stays where it is.
    "threshold": ("diameter", "side"),
    # An estimate's half-width is so many radii;
    "width": (2, 1),
    # and whatever the radius is; or at least 2^(-s/d).
    "floor": ("none", "side"),
    # A bin is halved where the radius of some arm is below the threshold; or those of all. Before the warm-up there is
    # no halving.
    "arms": ("some", "all"),
    # These arms are those that are left after a removal; or that there were before it.
    "asked": ("after_removal", "before_removal"),
    # Of arms: uniform, (8); or in favour of larger estimates.
    "choice": ("uniform", "exponential"),
    # Of bins: free (up to PRINTED_DEPTH); or at most that of the program.
    "depth": ("free", "capped"),
    # Added under the root of the radius.
    "offset": (0, 0.0001),
    # Users between two looks at the sums, where no other number is given.
    "batch": (1, 100),
    # Several of these at once: see BUNDLES.
    "estimator": ("single_sum", "running_sum"),
    "weights": ("absolute", "signed"),
    "band": ("two_radii", "radius_or_side"),
    "split": ("some_arm", "all_arms"),
}
BUNDLES = {
    "estimator": ("sums", "clip", "denominator"),
    "weights": ("sign", "first_weight"),
    "band": ("width", "floor"),
    "split": ("arms", "asked"),
}
VARIANTS = ("as_printed", "as_released")

# What `stream` works on: float64[rows, COLUMNS], LANES numbers of each of the following in a row, as many as the widest
# vector of today's processors holds. Arm k of the bin at place p of `State.live` is element e = p K + k, in row
# e // LANES and lane e % LANES; what stands behind the last element is not looked at. Here a column is that of lane 0.
LANES = 8
# The same as in `State.sums`, which is behind for the bins that are followed, as is `State.t`, until the source ends.
SUMS = 11
_U, _V, _N, _D, _B, _ESTIMATE, _RADIUS, _T, _C, _E, _F = range(0, SUMS * LANES, LANES)
# Users of the source in the bin's time; from how many on the arm is looked at, inf if it is gone; a radius below which
# the bin is halved; the least half-width; at the last look, the estimate less and plus the half-width; a number, the
# bin's, that lay between the two for all its arms when they were last compared: as long as it does none is worse.
_USERS, _FROM, _FINE, _LEAST, _LOWEST, _HIGHEST, _BETWEEN = range(SUMS * LANES, (SUMS + 7) * LANES, LANES)
# Not of an element, but of all that have been here: looks and misses, as in `_counts`.
_LOOKS, _MISSES = range((SUMS + 7) * LANES, (SUMS + 9) * LANES, LANES)
COLUMNS = (SUMS + 9) * LANES


class Params(NamedTuple):
    """What `configure` makes of its arguments.

    n_arms: K; dimensions: d; epsilons: float64[M + 1] and users: int64[M + 1], of the target and of each source
    batch: users between two looks at the sums; depth: the largest of a bin; warm_up: users before a bin is looked at
    scale: what multiplies sqrt(sum + offset) / |sum| in the radius; offset: added under the root
    tau: a bin is halved where radii are below tau 2^(-s/d) at depth s
    denominator: added to the sum by which an estimate divides; width: radii in a half-width
    the rest: whether a switch is as printed
    """

    n_arms: int
    dimensions: int
    epsilons: np.ndarray
    users: np.ndarray
    batch: int
    depth: int
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


class State(NamedTuple):
    """A row per bin of the tree; arrays change in place.

    arms: int64[bins], the active arms (bit k for arm k); only: int64[bins], the last arm left, or -1
    t: int64[bins], users of the source now streaming since the bin came or the source began
    owed: int64[bins], users whose noise is not drawn yet, where only those in the bin add some
    ready: bool[bins], whether an earlier source has passed the warm-up here
    in_bin: int64[bins]; pulled, rewarded: int64[bins, K], of this batch, without noise
    sums: float64[bins, K, SUMS], so that what is read together lies together: what follows, of which the rest are views
    U, V: float64[bins, K], noisy sums of the source now streaming
    N, D, B: float64[bins, K], weighted sums of V, U and variances; of earlier sources, or running over batches
    estimates, radii: float64[bins, K], when the bin was last looked at
    chances: float64[bins, K], of the arms up to and including k; stale: bool[bins], whether to be computed anew
    live: uint32[...], the bins that are followed, the first n_live[0] of it; places: int64[bins], where these are there
    noisy: uint32[..., 2], where users come one by one and all add noise everywhere: the first n_noisy[0] rows are row
    and column, in `lanes`, of the sums U to which they add some, in the order of the draws
    lasts: int64[1], how many more users may come before other sums are among them; 0 where nothing is listed
    removals: int64[..., 4], the first n_removals[0] rows: source, users of the source so far, bin, arm

    What nothing in the algorithm looks at:

    due: float64[bins, K], sum of the expected rewards of those who pulled an arm, of this batch
    T, C: float64[bins, K], sums of these and of their number, of the source now streaming; E, F: weighted as N and D
    are, so that E / F is what an estimate estimates, the expectation in (14)
    counts: int64[COUNTS], see `_counts`
    """

    tree: Tree
    arms: np.ndarray
    only: np.ndarray
    t: np.ndarray
    owed: np.ndarray
    ready: np.ndarray
    in_bin: np.ndarray
    pulled: np.ndarray
    rewarded: np.ndarray
    sums: np.ndarray
    U: np.ndarray
    V: np.ndarray
    N: np.ndarray
    D: np.ndarray
    B: np.ndarray
    estimates: np.ndarray
    radii: np.ndarray
    chances: np.ndarray
    stale: np.ndarray
    live: np.ndarray
    n_live: np.ndarray
    places: np.ndarray
    noisy: np.ndarray
    n_noisy: np.ndarray
    lasts: np.ndarray
    removals: np.ndarray
    n_removals: np.ndarray
    due: np.ndarray
    T: np.ndarray
    C: np.ndarray
    E: np.ndarray
    F: np.ndarray
    counts: np.ndarray


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
    """Parameters for K arms, n_P = horizon users with budget epsilon, and M sources of n_aux users each.

    M, n_aux, epsilon_aux, source_users, auxiliary: as in `_auxiliary.users_and_budgets`
    batch: users between two updates
    c: of C_n = c ln n in (14) and (28); the paper does not give it, the program has 2 with its own logarithm
    deviation: names of DEVIATIONS, with blanks between, in which this run is not as its variant but as the other one

    With n = n_P v max n_Q, n* = max_m n_m min(1, eps_m)^2.

    Raises ValueError for values out of range.
    """
    if not 2 <= K <= MOST_ARMS:
        raise ValueError(f"K: expected 2 to {MOST_ARMS} arms; found {K}")
    if dimensions < 1:
        raise ValueError(f"dimensions: expected at least 1; found {dimensions}")
    if variant not in VARIANTS:
        raise ValueError(f"variant: expected as_printed or as_released; found {variant!r}")
    if not 0 < c < math.inf:
        raise ValueError(f"c: expected a number > 0; found {c}")
    deviating = deviation.split()
    if unknown := [name for name in deviating if name not in DEVIATIONS]:
        raise ValueError(f"deviation: expected some of {', '.join(DEVIATIONS)}; found {', '.join(unknown)}")
    if "batch" in deviating and batch is not None:
        raise ValueError(f"deviation: expected no batch where batch is given; found batch = {batch}")
    deviating += [name for bundle in deviating for name in BUNDLES.get(bundle, ())]
    # Each point as printed, unless as released: the variant's own way, and the other one where it deviates.
    printed = {name: (variant == "as_printed") != (name in deviating) for name in DEVIATIONS}
    users, epsilons = users_and_budgets(horizon, epsilon, M, n_aux, epsilon_aux, source_users, auxiliary)
    batch = DEVIATIONS["batch"][not printed["batch"]] if batch is None else batch
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 user; found {batch}")
    for name, size in (("horizon", horizon), ("n_aux", n_aux)):
        if 0 < size < batch:
            raise ValueError(f"{name}: expected at least one batch of {batch} users; found {size}")

    n = int(users.max())
    effective = float((users * np.minimum(1.0, epsilons) ** 2).max())
    if effective <= 1:
        raise ValueError(f"epsilon: too small, n epsilon^2 = {effective:.3g}; expected more than 1")
    return Params(
        n_arms=int(K),
        dimensions=int(dimensions),
        epsilons=epsilons,
        users=users,
        batch=int(batch),
        depth=PRINTED_DEPTH if printed["depth"] else largest_depth(users, epsilons, dimensions),
        warm_up=math.log(n) ** 2 if printed["warm_up"] else float(math.floor(math.log2(effective)) ** 2),
        scale=math.sqrt(c * (math.log(n) if printed["logarithm"] else math.log2(effective))),
        offset=float(DEVIATIONS["offset"][not printed["offset"]]),
        tau=2 * math.sqrt(dimensions) if printed["threshold"] else 1.0,
        denominator=float(DEVIATIONS["denominator"][not printed["denominator"]]),
        width=float(DEVIATIONS["width"][not printed["width"]]),
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


def largest_depth(users: np.ndarray, epsilons: np.ndarray, dimensions: int) -> int:
    """The released program's cap on the depth of a bin; sources without users count in M alone."""
    d, sets = dimensions, len(users)
    depths = [
        min(d / (2 + d) * math.log2(2 * n * sets), d / (2 + 2 * d) * math.log2(2 * n * epsilon**2 * sets))
        for n, epsilon in zip(users.tolist(), epsilons.tolist(), strict=True)
        if n > 0
    ]
    return max(math.floor(max(depths)), 0)


@njit
def init(params, rng):
    """One bin, the whole cube, with every arm active, in a freshly drawn tree."""
    tree = draw_tree(params.depth, params.dimensions, rng)
    bins, K = len(tree.dimension), params.n_arms
    shape = (bins, K)
    sums = np.zeros((bins, K, SUMS))
    sums[:, :, _RADIUS // LANES] = np.inf
    state = State(
        tree,
        np.zeros(bins, np.int64),
        np.full(bins, -1),
        np.zeros(bins, np.int64),
        np.zeros(bins, np.int64),
        np.zeros(bins, np.bool_),
        np.zeros(bins, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        sums,
        sums[:, :, _U // LANES],
        sums[:, :, _V // LANES],
        sums[:, :, _N // LANES],
        sums[:, :, _D // LANES],
        sums[:, :, _B // LANES],
        sums[:, :, _ESTIMATE // LANES],
        sums[:, :, _RADIUS // LANES],
        np.zeros(shape),
        np.ones(bins, np.bool_),
        np.zeros(2**params.depth, np.uint32),
        np.ones(1, np.int64),
        np.zeros(bins, np.int64),
        np.zeros((2**params.depth * K, 2), np.uint32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros((2**params.depth * (K - 1), 4), np.int64),
        np.zeros(1, np.int64),
        np.zeros(shape),
        sums[:, :, _T // LANES],
        sums[:, :, _C // LANES],
        sums[:, :, _E // LANES],
        sums[:, :, _F // LANES],
        np.zeros(COUNTS, np.int64),
    )
    state.arms[0] = (1 << K) - 1
    return state


# Called and not taken in, as all that takes long or few users need: copies took a third of a kernel's compilation.
@partial(sure, rare=True)
@njit(error_model="numpy")
def _refresh(uniform, arms, lanes, places, chances, i):
    """The chances of the arms of bin i: uniform at the root, before the first look, and for close estimates.

    A bin with one arm left, which has no place in `lanes`, gives it all.
    """
    K = chances.shape[1]
    active, last = 0, 0
    for k in range(K):
        if (arms[i] >> k) & 1:
            active += 1
            last = k
    flat = uniform or i == 0 or active == 1
    lowest, highest = np.inf, -np.inf
    for k in range(0 if flat else K):
        if (arms[i] >> k) & 1:
            row, lane = (places[i] * K + k) // LANES, (places[i] * K + k) % LANES
            lowest = min(lowest, lanes[row, _ESTIMATE + lane])
            highest = max(highest, lanes[row, _ESTIMATE + lane])
            # Infinite before the first look, and where the sums are 0 and so are the estimates.
            flat = flat or lanes[row, _RADIUS + lane] == np.inf
    between = highest - lowest
    flat = flat or between < 0.01
    slope = 0.0 if flat else np.log(1.2 * K / active) / (between + 1e-4)
    total = 0.0
    for k in range(K):
        if (arms[i] >> k) & 1:
            row, lane = (places[i] * K + k) // LANES, (places[i] * K + k) % LANES
            # All the same where they are flat, and nothing is read then.
            total += 1.0 if flat else np.exp(slope * lanes[row, _ESTIMATE + lane])
        chances[i, k] = total
    for k in range(K):
        chances[i, k] = chances[i, k] / total if k < last else 1.0


@partial(sure, rare=True)
@njit
def _noise(scale, count, rng):
    """The sum of `count` >= 1 Lap(scale) draws, one by one where that is faster than by two gammas."""
    if count > 4:
        return laplace_sum(scale, count, rng)
    total = 0.0
    for _ in range(count):
        total += laplace(scale, rng)
    return total


@njit(forceinline=True)
def _weighs(params, t):
    """Whether a source weighs anything in a bin, (27), after t users of it."""
    return (t > params.warm_up) | (params.at_warm_up & (t >= params.warm_up))


@njit
def _with_room(lanes, n_elements):
    """The same numbers, with rows for so many elements."""
    rows = -(-n_elements // LANES)
    if rows <= len(lanes):
        return lanes
    longer = np.zeros((rows, COLUMNS))
    for row in range(len(lanes)):
        for column in range(COLUMNS):
            longer[row, column] = lanes[row, column]
    return longer


@njit
def _occupy(params, state, lanes, place):
    """What is known about the bin that has come to a place."""
    i = state.live[place]
    state.places[i] = place
    side = state.tree.sides[state.tree.depth[i]]
    for k in range(params.n_arms):
        row, lane = divmod(place * params.n_arms + k, LANES)
        for field in range(SUMS):
            lanes[row, field * LANES + lane] = state.sums[i, k, field]
        lanes[row, _USERS + lane] = state.t[i]
        lanes[row, _FROM + lane] = 0.0 if params.any_source and state.ready[i] else params.warm_up
        if not (state.arms[i] >> k) & 1:
            lanes[row, _FROM + lane] = np.inf
        lanes[row, _FINE + lane] = params.tau * side if state.tree.depth[i] < params.depth else 0.0
        lanes[row, _LEAST + lane] = 0.0 if params.no_floor else side
        lanes[row, _BETWEEN + lane] = np.nan


@njit
def _vacate(params, state, lanes, place):
    """What is known at a place, back to its bin."""
    i = state.live[place]
    for k in range(params.n_arms):
        row, lane = divmod(place * params.n_arms + k, LANES)
        for field in range(SUMS):
            state.sums[i, k, field] = lanes[row, field * LANES + lane]
        state.t[i] = int(lanes[row, _USERS + lane])


@njit(forceinline=True)
def _one_by_one(params):
    """Whether users come one by one and all add noise everywhere, so that it pays to list where."""
    return params.every_user & (params.batch == 1)


@partial(sure, rare=True)
@njit
def _list_noisy(params, state, lanes):
    """Write `noisy` and `lasts`: the active arms of the bins in which the source already weighs something."""
    K = params.n_arms
    n_noisy, lasts = 0, np.inf
    for place in range(state.n_live[0] - 1, -1, -1):
        i = state.live[place]
        t = lanes[place * K // LANES, _USERS + place * K % LANES]
        if not _weighs(params, t):
            # The user who makes it weigh something brings the noise of all before.
            needed = np.ceil(params.warm_up) if params.at_warm_up else np.floor(params.warm_up) + 1
            lasts = min(lasts, needed - 1 - t)
            continue
        for k in range(K):
            if (state.arms[i] >> k) & 1:
                state.noisy[n_noisy, 0] = (place * K + k) // LANES
                state.noisy[n_noisy, 1] = _U + (place * K + k) % LANES
                n_noisy += 1
    state.n_noisy[0] = n_noisy
    state.lasts[0] = np.int64(min(lasts, FOR_EVER))


@njit(error_model="numpy", forceinline=True)
def _take_in(lanes, pulled, rewarded, due, i, first):
    """Add what bin i, whose arms are elements from `first` on, has of this batch."""
    for k in range(pulled.shape[1]):
        # Without a sign, of which a quotient and a remainder would take notice.
        element = np.uint64(first + k)
        row, lane = element // np.uint64(LANES), element % np.uint64(LANES)
        lanes[row, np.uint64(_U) + lane] += pulled[i, k]
        lanes[row, np.uint64(_V) + lane] += rewarded[i, k]
        lanes[row, np.uint64(_C) + lane] += pulled[i, k]
        lanes[row, np.uint64(_T) + lane] += due[i, k]
        due[i, k] = 0.0
        pulled[i, k] = 0
        rewarded[i, k] = 0


# Inlined, as all up to `_learn`: at each call of its own numba counts references to every array of the two tuples,
# which took longer than the step itself.
@njit(error_model="numpy", forceinline=True)
def _receive_one(params, state, lanes, source, i, scale, listed, rng):
    """What one user sends who is in bin i: the same as `_receive`, with noise for the sums in `noisy`.

    scale: of the noise; listed: 1, or 0 where nothing is to happen; not asked by the caller, for with another way
    through it references would be counted for every user
    """
    noisy, counted, n_live = state.noisy, state.counts, state.n_live[0]
    in_bin, pulled, rewarded, due = state.in_bin, state.pulled, state.rewarded, state.due
    here = in_bin[i] * listed
    in_bin[i] -= here
    first = state.places[i] * params.n_arms
    for _ in range(here):
        _take_in(lanes, pulled, rewarded, due, i, first)
    of_target = listed * (source == 0)
    counted[FOLLOWED] += n_live * of_target
    counted[EMPTY] += (n_live - here) * of_target
    counted[ALONE] += here * of_target
    counted[IN_PARTS] += here * of_target * (i > 0)
    counted[HALVINGS] += here * of_target * state.tree.depth[i]
    for n in range(np.uint64(state.n_noisy[0] * listed)):
        row, column = np.uint64(noisy[n, 0]), np.uint64(noisy[n, 1])
        lanes[row, column] += laplace(scale, rng)
        lanes[row, column + np.uint64(_V - _U)] += laplace(scale, rng)


@njit(error_model="numpy", forceinline=True)
def _receive(params, state, lanes, source, users, scale, listed, rng):
    """What a batch of users sends: its counts and rewards, and the noise of every bin that is looked at.

    scale, listed: as in `_receive_one`, the latter the other way round
    """
    K = params.n_arms
    tree, live, n_live = state.tree, state.live, state.n_live[0] * (1 - listed)
    arms, due, counted = state.arms, state.due, state.counts
    in_bin, pulled, rewarded, owed = state.in_bin, state.pulled, state.rewarded, state.owed
    empty, alone = 0, 0
    for place in range(n_live - 1, -1, -1):
        i = live[place]
        first = place * K
        t = lanes[first // LANES, _USERS + first % LANES] + users
        here = in_bin[i]
        # Where everyone adds noise: of all, once the source weighs something, and of this batch from then on.
        of_all = users if _weighs(params, t - users) else np.int64(t)
        owes = of_all if params.every_user else owed[i] + here
        empty += here == 0
        alone += here == 1
        if here > 0:
            in_bin[i] = 0
            if source == 0 and i > 0:
                counted[IN_PARTS] += here
                counted[HALVINGS] += here * tree.depth[i]
            _take_in(lanes, pulled, rewarded, due, i, first)
        if owes > 0 and _weighs(params, t):
            active = arms[i]
            for k in range(K):
                if not (active >> k) & 1:
                    continue
                # Without a sign, of which a quotient and a remainder would take notice.
                element = np.uint64(first + k)
                row, lane = element // np.uint64(LANES), element % np.uint64(LANES)
                if owes == 1:
                    lanes[row, np.uint64(_U) + lane] += laplace(scale, rng)
                    lanes[row, np.uint64(_V) + lane] += laplace(scale, rng)
                else:
                    lanes[row, np.uint64(_U) + lane] += _noise(scale, owes, rng)
                    lanes[row, np.uint64(_V) + lane] += _noise(scale, owes, rng)
            owes = 0
        owed[i] = owes
    if source == 0:
        counted[FOLLOWED] += n_live
        counted[EMPTY] += empty
        counted[ALONE] += alone


@njit(error_model="numpy", forceinline=True)
def _weight(params, squared, U, t):
    """(27), of a source in an arm of a bin, after t users of it; squared: its epsilon."""
    share = squared * U / t
    share = either(params.absolute, abs(share), share)
    return either(_weighs(params, t), min(share, 1.0), 0.0)


@njit(error_model="numpy", forceinline=True)
def _add_up(params, lanes, row, lane, squared, t, least):
    """The sums of (13) and (26), of an element's numerator, denominator and variance; least: of the variance."""
    U = lanes[row, _U + lane]
    weight = _weight(params, squared, U, t)
    numerator = lanes[row, _N + lane] + weight * lanes[row, _V + lane]
    denominator = lanes[row, _D + lane] + weight * U
    return numerator, denominator, lanes[row, _B + lane] + weight * weight * max(U, least)


@njit(forceinline=True)
def _asks_squares(params):
    """Whether `_may_change` can tell: of single sums, whose estimates are neither clipped nor moved, and for whom no
    choice looks at them."""
    return params.single_sum & params.unclipped & params.uniform & (params.denominator == 0)


@njit(error_model="numpy", forceinline=True)
def _may_change(params, state, lanes, source, users, asked):
    """Whether an arm may go, (16) and (29), or a bin be halved, (17), after a batch of users, or else surely not.

    asked: 1, or 0 where nothing is to happen and the users are not counted
    That a radius, (14) and (28), is below the threshold and that an estimate is within its half-width of a number is
    asked of squares, all times the squared denominator, which takes neither a root nor a quotient by it.
    """
    squared = params.epsilons[source] ** 2
    inverse, scale = 1 / squared, params.scale**2
    width = BELOW * params.width**2
    n_elements = state.n_live[0] * params.n_arms * asked
    changes = False
    for row in range((n_elements + LANES - 1) // LANES):
        for lane in range(LANES):
            t = lanes[row, _USERS + lane] + users
            lanes[row, _USERS + lane] = t
            active = (t >= lanes[row, _FROM + lane]) & (row * LANES + lane < n_elements)
            numerator, denominator, variance = _add_up(params, lanes, row, lane, squared, t, t * inverse)
            squared_radius = scale * (variance + params.offset)
            threshold = lanes[row, _FINE + lane] * denominator
            least = lanes[row, _LEAST + lane] * denominator
            # Not a number where arms of a bin were never compared.
            distance = numerator - lanes[row, _BETWEEN + lane] * denominator
            kept = (squared_radius > ABOVE * threshold * threshold) & (
                numerator * numerator <= FARTHEST * squared_radius
            )
            kept &= distance * distance <= max(width * squared_radius, BELOW * least * least)
            changes |= active & ~kept
    return changes


@njit(error_model="numpy", forceinline=True)
def _estimate(params, state, lanes, source, users, asked):
    """Estimates and radii of all arms in all bins; whether one says that a bin is fine enough to be halved, and whether
    the arms of some bin have to be compared.

    users: of the batch, or 0 where they are counted; asked: as in `_may_change`
    Without a branch, so that LLVM makes vectors of the inner loop: the divisions and roots of LANES arms at once. It
    knows that no two columns overlap because their distances are constants.
    """
    squared = params.epsilons[source] ** 2
    n_elements = state.n_live[0] * params.n_arms * asked
    running = not params.single_sum
    least, most = (-np.inf, np.inf) if params.unclipped else (0.0, 1.0)
    any_fine, any_unsure = False, False
    for row in range((n_elements + LANES - 1) // LANES):
        for lane in range(LANES):
            t = lanes[row, _USERS + lane] + users
            lanes[row, _USERS + lane] = t
            # Where it is not, nothing changes: an arm is gone, its bin warms up, or there is no such arm.
            active = (t >= lanes[row, _FROM + lane]) & (row * LANES + lane < n_elements)
            numerator, denominator, variance = _add_up(params, lanes, row, lane, squared, t, t / squared)
            kept = active & running
            lanes[row, _N + lane] = either(kept, numerator, lanes[row, _N + lane])
            lanes[row, _D + lane] = either(kept, denominator, lanes[row, _D + lane])
            lanes[row, _B + lane] = either(kept, variance, lanes[row, _B + lane])
            divisor = denominator + params.denominator
            estimate = either(divisor != 0, numerator / either(divisor != 0, divisor, 1.0), 0.0)
            estimate = min(max(estimate, least), most)
            # (14) and (28); infinite before a source counts.
            radius = params.scale * np.sqrt(variance + params.offset) / either(denominator != 0, abs(denominator), 1.0)
            radius = either(denominator != 0, radius, np.inf)
            lanes[row, _ESTIMATE + lane] = either(active, estimate, lanes[row, _ESTIMATE + lane])
            lanes[row, _RADIUS + lane] = either(active, radius, lanes[row, _RADIUS + lane])
            fine = active & (radius < lanes[row, _FINE + lane])
            half_width = max(params.width * radius, lanes[row, _LEAST + lane])
            lowest, highest = estimate - half_width, estimate + half_width
            lanes[row, _LOWEST + lane] = either(active, lowest, -np.inf)
            lanes[row, _HIGHEST + lane] = either(active, highest, np.inf)
            between = lanes[row, _BETWEEN + lane]
            unsure = active & ~((lowest <= between) & (between <= highest))
            any_fine |= fine
            any_unsure |= unsure
    return any_fine, any_unsure


@njit(error_model="numpy", forceinline=True)
def _count_misses(params, state, lanes, source, asked):
    """Looks at estimates, and those farther from what they estimate than the radius, (14); asked: 1, or 0 where nothing
    is to happen."""
    squared = params.epsilons[source] ** 2
    n_elements = state.n_live[0] * params.n_arms * asked
    running = not params.single_sum
    for row in range((n_elements + LANES - 1) // LANES):
        for lane in range(LANES):
            t = lanes[row, _USERS + lane]
            active = (t >= lanes[row, _FROM + lane]) & (row * LANES + lane < n_elements)
            weight = _weight(params, squared, lanes[row, _U + lane], t)
            total = lanes[row, _E + lane] + weight * lanes[row, _T + lane]
            users_there = lanes[row, _F + lane] + weight * lanes[row, _C + lane]
            kept = active & running
            lanes[row, _E + lane] = either(kept, total, lanes[row, _E + lane])
            lanes[row, _F + lane] = either(kept, users_there, lanes[row, _F + lane])
            expected = either(users_there != 0, total / either(users_there != 0, users_there, 1.0), 0.0)
            estimate, radius = lanes[row, _ESTIMATE + lane], lanes[row, _RADIUS + lane]
            finite = active & (radius < np.inf)
            lanes[row, _LOOKS + lane] += either(finite, 1.0, 0.0)
            lanes[row, _MISSES + lane] += either(finite & (abs(estimate - expected) > radius), 1.0, 0.0)


@njit(error_model="numpy", forceinline=True)
def _is_any_worse(params, state, lanes, unsure):
    """Whether some bin has an arm that is clearly worse than another one, (16) and (29)."""
    K = params.n_arms
    worse = False
    # Not asked by the caller: with another way through it references would be counted for every user.
    for place in range(state.n_live[0] if unsure else 0):
        highest, lowest = -np.inf, np.inf
        for element in range(place * K, (place + 1) * K):
            row, lane = element // LANES, element % LANES
            highest = max(highest, lanes[row, _LOWEST + lane])
            lowest = min(lowest, lanes[row, _HIGHEST + lane])
        worse |= highest > lowest
        for element in range(place * K, (place + 1) * K):
            lanes[element // LANES, _BETWEEN + element % LANES] = (highest + lowest) / 2
    return worse


@njit(error_model="numpy", forceinline=True)
def _is_any_fine(params, state, lanes):
    """Whether some bin has radii that are all small enough for it to be halved."""
    K = params.n_arms
    fine = False
    for place in range(state.n_live[0]):
        coarse = False
        for element in range(place * K, (place + 1) * K):
            row, lane = element // LANES, element % LANES
            there = lanes[row, _FROM + lane] < np.inf
            coarse |= there & (lanes[row, _RADIUS + lane] >= lanes[row, _FINE + lane])
        fine |= not coarse
    return fine


@njit(error_model="numpy", forceinline=True)
def _learn(params, state, lanes, source, users, i, misses, at_end, rng):
    """After a batch of users, the last one in bin i: sums, estimates and radii. Whether something is to be decided: an
    arm may go, a bin be halved, or `noisy` be out of date.

    misses: whether `counts` are to have looks and misses; at_end: whether these are the source's last users
    """
    listed = np.int64(state.lasts[0] > 0)
    state.lasts[0] -= listed
    # (12)
    scale = 4 / params.epsilons[source]
    _receive_one(params, state, lanes, source, i, scale, listed, rng)
    _receive(params, state, lanes, source, users, scale, listed, rng)
    outdated = _one_by_one(params) & (state.lasts[0] == 0)
    # Where nobody sees estimates and radii, they are computed only if something may change.
    unseen = np.int64(_asks_squares(params) & (not misses) & (not at_end) & (not outdated))
    changes = _may_change(params, state, lanes, source, users, unseen)
    # In a loop of its own, without a draw: a processor then has several arms' divisions and roots on the way at once.
    fine, unsure = _estimate(params, state, lanes, source, users * (1 - unseen), 1 - unseen * (1 - np.int64(changes)))
    _count_misses(params, state, lanes, source, np.int64(misses))
    if not params.uniform:
        for place in range(state.n_live[0]):
            state.stale[state.live[place]] = True
    if fine and not params.some_arm:
        fine = _is_any_fine(params, state, lanes)
    return fine | _is_any_worse(params, state, lanes, unsure) | outdated


# For where bins change. A stream, which an audit begins for every trial, takes the two in once.
_occupy_apart, _vacate_apart = sure(_occupy, rare=True), sure(_vacate, rare=True)


@njit(error_model="numpy")
def _decide(params, state, lanes, source, seen):
    """The removal of arms and the refinement of bins, after the source's user number `seen`. Returns the lanes.

    Where there is nothing to decide no bin and no arm changes.
    """
    K = params.n_arms
    tree, arms, live, n_live = state.tree, state.arms, state.live, state.n_live[0]
    # Every bin may be halved.
    lanes = _with_room(lanes, 2 * n_live * K)
    # Backwards: what is appended on the way is not looked at, and what fills a gap has been.
    for place in range(n_live - 1, -1, -1):
        i = live[place]
        first = place * K
        t = lanes[first // LANES, _USERS + first % LANES]
        # The weight is 0 until then, so that nothing changes.
        if t < params.warm_up and not (params.any_source and state.ready[i]):
            continue
        threshold = params.tau * tree.sides[tree.depth[i]]
        highest = -np.inf
        for k in range(K):
            highest = max(highest, lanes[(first + k) // LANES, _LOWEST + (first + k) % LANES])
        fine_before, active_before, fine_arms, active = 0, 0, 0, 0
        for k in range(K):
            if not (arms[i] >> k) & 1:
                continue
            row, lane = (first + k) // LANES, (first + k) % LANES
            is_fine = lanes[row, _RADIUS + lane] < threshold
            fine_before += is_fine
            active_before += 1
            # (16) and (29)
            if highest > lanes[row, _HIGHEST + lane]:
                arms[i] ^= 1 << k
                lanes[row, _FROM + lane] = np.inf
                state.stale[i] = True
                removed = state.n_removals[0]
                state.removals[removed, 0] = source
                state.removals[removed, 1] = seen
                state.removals[removed, 2] = i
                state.removals[removed, 3] = k
                state.n_removals[0] = removed + 1
            else:
                fine_arms += is_fine
                active += 1

        fine, asked = (fine_arms, active) if params.after_removal else (fine_before, active_before)
        if active == 1:
            for k in range(K):
                if (arms[i] >> k) & 1:
                    state.only[i] = k
            _vacate_apart(params, state, lanes, place)
            n_live -= 1
            if place < n_live:
                _vacate_apart(params, state, lanes, n_live)
                live[place] = live[n_live]
                _occupy_apart(params, state, lanes, place)
        elif tree.depth[i] < params.depth and (fine > 0 if params.some_arm else fine == asked):
            _vacate_apart(params, state, lanes, place)
            refine(tree, i)
            left = 2 * i + 1
            arms[left] = arms[i]
            arms[left + 1] = arms[i]
            live[place] = left
            live[n_live] = left + 1
            _occupy_apart(params, state, lanes, place)
            _occupy_apart(params, state, lanes, n_live)
            n_live += 1
    state.n_live[0] = n_live
    if _one_by_one(params):
        _list_noisy(params, state, lanes)
    return lanes


@njit(error_model="numpy")
def end_source(params, state, source):
    """Keep what the source's sums contribute, in the bins that are there, and start the next one's at zero."""
    squared = params.epsilons[source] ** 2
    for place in range(state.n_live[0]):
        i = state.live[place]
        t = state.t[i]
        counted = _weighs(params, t)
        for k in range(params.n_arms):
            U, V = state.U[i, k], state.V[i, k]
            if params.single_sum and counted:
                weight = _weight(params, squared, U, t)
                state.N[i, k] += weight * V
                state.D[i, k] += weight * U
                state.B[i, k] += weight * weight * max(U, t / squared)
                state.E[i, k] += weight * state.T[i, k]
                state.F[i, k] += weight * state.C[i, k]
            for sum_of_source in (state.U, state.V, state.T, state.C):
                sum_of_source[i, k] = 0.0
        state.ready[i] = state.ready[i] or counted
        state.t[i] = 0
        state.owed[i] = 0


# Inlined: of some 40 arrays that each call passes on, numba would count the references, in an audit for each trial.
@njit(error_model="numpy", forceinline=True)
def stream(params, environment, state, source, checkpoints, rng, record):
    """All users of one source, batch by batch, up to `end_source`; for the target (0) the protocol's record is written.

    environment: as in `environments._covariate_shift`
    """
    n, K, tree = params.users[source], params.n_arms, state.tree
    shortcut, grid, dimension, cut, refined = tree.shortcut, tree.grid, tree.dimension, tree.cut, tree.refined
    arms, only, stale, chances = state.arms, state.only, state.stale, state.chances
    in_bin, pulled, rewarded = state.in_bin, state.pulled, state.rewarded
    places, due, pulls = state.places, state.due, record.pulls
    context = np.zeros(params.dimensions)
    point = np.full(params.dimensions, environment.point)
    here, shares = np.zeros(K), np.zeros(K)
    regret, earned = 0.0, 0.0
    next_checkpoint = 0
    lanes = np.zeros((-(-state.n_live[0] * K // LANES), COLUMNS))
    for place in range(state.n_live[0]):
        _occupy(params, state, lanes, place)
    if _one_by_one(params):
        _list_noisy(params, state, lanes)
    user, i = 0, 0
    while user < n:
        first = user
        last = min(user + params.batch, n)
        if source == 0:
            i = find(shortcut, grid, dimension, cut, refined, point)
            if stale[i]:
                _refresh(params.uniform, arms, lanes, places, chances, i)
                stale[i] = False
            for k in range(K):
                here[k] = chances[i, k] - (chances[i, k - 1] if k > 0 else 0.0)
        while user < last:
            environment.arrive(environment, source, user, context, rng)
            i = find(shortcut, grid, dimension, cut, refined, context)
            followed = only[i] < 0
            if source > 0:
                arm = environment.behave(environment, source, user, rng)
            elif followed:
                if stale[i]:
                    _refresh(params.uniform, arms, lanes, places, chances, i)
                    stale[i] = False
                u = rng.random()
                # In the place of a loop that ends at the arm: when it would end nobody can foresee.
                arm = 0
                for k in range(K - 1):
                    arm += u >= chances[i, k]
            else:
                arm = only[i]
            expected = 0.0
            if source == 0 or followed:
                expected = environment.mean(environment, source, user, context, arm)
            if source == 0:
                best = environment.best(environment, source, user, context)
                earned += expected
                pulls[arm] += 1
                if arm != best:
                    regret += environment.mean(environment, source, user, context, best) - expected
            if followed:
                in_bin[i] += 1
                if (arms[i] >> arm) & 1:
                    pulled[i, arm] += 1
                    due[i, arm] += expected
                    rewarded[i, arm] += rng.random() < expected
            user += 1
            if source == 0 and next_checkpoint < len(checkpoints) and user == checkpoints[next_checkpoint]:
                record.regret[next_checkpoint] = regret
                record.rewards[next_checkpoint] = earned
                for k in range(K):
                    record.shares[next_checkpoint, k] = shares[k] + (user - first) * here[k]
                next_checkpoint += 1
        for k in range(K):
            shares[k] += (last - first) * here[k]
        if _learn(params, state, lanes, source, last - first, i, record.misses, last == n, rng):
            lanes = _decide(params, state, lanes, source, last)
    for place in range(state.n_live[0]):
        _vacate(params, state, lanes, place)
    for row in range(len(lanes)):
        for lane in range(LANES):
            state.counts[LOOKS] += int(lanes[row, _LOOKS + lane])
            state.counts[MISSES] += int(lanes[row, _MISSES + lane])
