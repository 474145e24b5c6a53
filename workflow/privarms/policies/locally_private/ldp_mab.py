"""LDPMAB: locally private nonparametric bandits with transfer (Ma, Jiang, Zhao, Yang & Yu 2025), Algorithms 1 to 3.

This is the reference implementation: user by user, in plain Python, with the paper's equations. In every bin of a
partition of [0, 1]^d, noisy counts U and noisy reward sums V of the active arms give estimates and radii. An arm that
is clearly worse is eliminated, and a bin whose radii are small is refined. Users of the auxiliary sources come first,
source by source, then those of the target, which is source 0; without sources Algorithm 3 is Algorithm 2.

The parameters choose between the algorithm as printed, the authors' program, and everything between: each point in
which the two differ is one of DEVIATIONS. Studies run the fast path, `fast_paths.locally_private.ldp_mab`.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from privarms.mechanisms import laplace
from privarms.policies.locally_private._auxiliary import users_and_budgets

LABEL = "LDPMAB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 150e-9

# The printed algorithm has no largest depth. For d = 2 and c = 2 a bin of depth 12 would be refined if noise alone put
# its sum 19 standard deviations away from 0, or after some 100 million users.
PRINTED_DEPTH = 12

# The points in which the authors' program deviates from the text: what each is as printed, and as released.
DEVIATIONS = {
    # Laplace noise, in every active bin: from every user; or only from the users in the bin.
    "noise": ("every_user", "bin_users"),
    # Sums over users, (13) and (26); or such sums added up again after each batch.
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


class Rules(NamedTuple):
    """What the variants differ in.

    warm_up: users before a bin is looked at
    scale: what multiplies sqrt(sum + offset) / |sum| in the radius; offset: added under the root
    tau: a bin is refined where radii are below tau 2^(-s/d) at depth s
    denominator: added to the sum by which an estimate divides; width: radii in half a confidence interval
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
    """What `configure` makes of its arguments.

    n_arms: K; dimensions: d; epsilons: float64[M + 1] and users: int64[M + 1], of the target and of each source
    batch: users between two looks at the sums; depth: the largest of a bin
    """

    n_arms: int
    dimensions: int
    epsilons: np.ndarray
    users: np.ndarray
    batch: int
    depth: int
    rules: Rules


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
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
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
    depth = PRINTED_DEPTH if printed["depth"] else largest_depth(users, epsilons, dimensions)
    rules = Rules(
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
    return Params(int(K), int(dimensions), epsilons, users, int(batch), depth, rules)


def largest_depth(users: np.ndarray, epsilons: np.ndarray, dimensions: int) -> int:
    """The released program's cap on the depth of a bin; sources without users count in M alone."""
    d, sets = dimensions, len(users)
    depths = [
        min(d / (2 + d) * math.log2(2 * n * sets), d / (2 + 2 * d) * math.log2(2 * n * epsilon**2 * sets))
        for n, epsilon in zip(users.tolist(), epsilons.tolist(), strict=True)
        if n > 0
    ]
    return max(math.floor(max(depths)), 0)


class Bin:
    """A bin B_s^j of the active partition.

    s: depth; lower, upper: corners; arms: A_s^j, the active arms
    t: int64[M + 1], users of each source while the bin is active, (9)
    U, V: float64[M + 1, K], sums of what the users of each source sent, (12) and (25)
    N, D, B: float64[K], sums over batches, which the released program has instead of the sums over users
    f, r: by arm, the estimate and the radius at the last look; empty before the first look
    """

    def __init__(self, s, lower, upper, arms, sources, K):
        self.s, self.lower, self.upper, self.arms = s, lower, upper, list(arms)
        self.t = np.zeros(sources, int)
        self.U, self.V = np.zeros((sources, K)), np.zeros((sources, K))
        self.N, self.D, self.B = np.zeros(K), np.zeros(K), np.zeros(K)
        self.f, self.r = {}, {}

    def contains(self, x):
        """Return whether a context is in the bin, which is half-open, or closed where a coordinate is 1."""
        return all(a <= c and (c < b or b == 1) for a, c, b in zip(self.lower, x, self.upper, strict=True))

    def side(self):
        """Return 2^(-s/d), about the length of an edge."""
        return 2 ** (-self.s / len(self.lower))


class State:
    """What the server knows, and what it has done.

    bins: the active partition
    removals: (source, users of it so far, lower corner, depth, arm); refined: (lower corner, depth, arms)
    """

    def __init__(self, bins):
        self.bins = bins
        self.removals, self.refined = [], []


def init(params, rng) -> State:
    """Return the whole cube as the only bin, with every arm active."""
    d, K, sources = params.dimensions, params.n_arms, len(params.users)
    return State([Bin(0, (0.0,) * d, (1.0,) * d, range(K), sources, K)])


def choose(params, state, context, rng) -> int:
    """Draw the arm of a user of the target."""
    (B,) = (B for B in state.bins if B.contains(context))
    below = np.cumsum(chances(params, B))
    return int((rng.random() >= below[:-1]).sum())


def learn(params, state, source, user, context, arm, reward, rng) -> None:
    """Take in what one user sends and, after the last user of a batch, update the partition: Algorithms 2 and 3."""
    # User side: two users differ by at most 2 in all U and by at most 2 in all V.
    scale = laplace.configure(params.epsilons[source], sensitivity=4).scale
    for B in state.bins:
        B.t[source] += 1
        inside = B.contains(context)
        for k in B.arms:
            # (11) with (12), or (24) with (25).
            if inside or params.rules.every_user:
                B.U[source, k] += (inside and arm == k) + rng.laplace(0.0, scale)
                B.V[source, k] += (inside and arm == k) * reward + rng.laplace(0.0, scale)
    # Server side.
    seen = user + 1
    if seen % params.batch == 0 or seen == params.users[source]:
        state.bins = [part for B in state.bins for part in update(params, state, B, source, seen, rng)]


def update(params, state, B, source, seen, rng) -> list[Bin]:
    """Update estimates of a bin, eliminate arms and refine the bin; return the bin, or its two parts."""
    rules = params.rules
    if not rules.single_sum:
        for k in B.arms:
            numerator, denominator, variance = terms(params, B, source, k)
            B.N[k] += numerator
            B.D[k] += denominator
            B.B[k] += variance
    if (B.t.max() if rules.any_source else B.t[source]) < rules.warm_up:
        return [B]
    # Estimating reward functions.
    B.f = {k: estimate(params, B, k) for k in B.arms}
    B.r = {k: radius(params, B, k) for k in B.arms}
    # Eliminating arms.
    before = list(B.arms)
    for k in eliminated(params, B):
        B.arms.remove(k)
        state.removals.append((source, seen, B.lower, B.s, k))
    # Refining bins.
    if B.s == params.depth or not is_fine(params, B, B.arms if rules.after_removal else before):
        return [B]
    state.refined.append((B.lower, B.s, tuple(B.arms)))
    return max_edge(B, rng)


def max_edge(B, rng) -> list[Bin]:
    """Halve a bin at the midpoint of a longest edge, uniformly chosen: Algorithm 1."""
    edges = [b - a for a, b in zip(B.lower, B.upper, strict=True)]
    longest = [i for i, edge in enumerate(edges) if edge == max(edges)]
    k = longest[int(rng.random() * len(longest))]
    middle = (B.lower[k] + B.upper[k]) / 2
    upper, lower = list(B.upper), list(B.lower)
    upper[k] = lower[k] = middle
    corners = (B.lower, tuple(upper)), (tuple(lower), B.upper)
    return [Bin(B.s + 1, *pair, B.arms, *B.U.shape) for pair in corners]


def weight(params, B, m, k) -> float:
    """Return lambda, the weight of source m, (27)."""
    rules, t = params.rules, B.t[m]
    if t < rules.warm_up or t == 0 or (t == rules.warm_up and not rules.at_warm_up):
        return 0.0
    share = params.epsilons[m] ** 2 / t * B.U[m, k]
    return min(abs(share) if rules.absolute else share, 1.0)


def terms(params, B, m, k) -> np.ndarray:
    """Return the terms of source m in the numerator and denominator of (26), and in the sum of variances in (28)."""
    share, U, V = weight(params, B, m, k), B.U[m, k], B.V[m, k]
    return np.array([share * V, share * U, share**2 * max(B.t[m] / params.epsilons[m] ** 2, U)])


def sums(params, B, k) -> np.ndarray:
    """Return numerator and denominator of (26) and the sum of variances in (28)."""
    if params.rules.single_sum:
        return sum(terms(params, B, m, k) for m in range(len(params.users)))
    return np.array([B.N[k], B.D[k], B.B[k]])


def estimate(params, B, k) -> float:
    """Return the estimate of an arm, (13) and (26), with 0/0 = 0."""
    numerator, denominator, _ = sums(params, B, k)
    denominator += params.rules.denominator
    f = numerator / denominator if denominator != 0 else 0.0
    return f if params.rules.unclipped else min(max(f, 0.0), 1.0)


def radius(params, B, k) -> float:
    """Return the radius r of an arm, (14) and (28); infinite before a source weighs anything."""
    _, denominator, variance = sums(params, B, k)
    if denominator == 0:
        return math.inf
    return params.rules.scale * math.sqrt(variance + params.rules.offset) / abs(denominator)


def half_width(params, B, k) -> float:
    """Return half the width of an arm's confidence interval in (16) and (29): two radii, as printed."""
    width = params.rules.width * B.r[k]
    return width if params.rules.no_floor else max(width, B.side())


def eliminated(params, B) -> list[int]:
    """Return the arms whose interval is below that of another arm, (16) and (29)."""
    best = max(B.f[k] - half_width(params, B, k) for k in B.arms)
    return [k for k in B.arms if best > B.f[k] + half_width(params, B, k)]


def is_fine(params, B, arms) -> bool:
    """Return whether radii are below tau_s, (17), so that the bin is refined: of some arm, as printed, or of all."""
    fine = [B.r[k] < params.rules.tau * B.side() for k in arms]
    return any(fine) if params.rules.some_arm else all(fine)


def chances(params, B) -> list[float]:
    """Return the probability of each arm for a user in the bin: uniform, (8), or that of the released program."""
    K, f = params.n_arms, [B.f.get(k, 0.0) for k in B.arms]
    spread = max(f) - min(f)
    if params.rules.uniform or B.s == 0 or spread < 0.01:
        return [(k in B.arms) / len(B.arms) for k in range(K)]
    odds = {k: math.exp(B.f[k] * math.log(1.2 * K / len(B.arms)) / (spread + 1e-4)) for k in B.arms}
    return [odds.get(k, 0.0) / sum(odds.values()) for k in range(K)]
