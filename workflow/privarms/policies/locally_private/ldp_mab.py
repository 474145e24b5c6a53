"""LDPMAB: locally private nonparametric bandits with transfer (Ma, Jiang, Zhao, Yang & Yu 2025), Algorithms 1 to 3.

This is the reference implementation: user by user, in plain Python, with the paper's equations. In every bin of a
    partition of [0, 1]^d, noisy counts U and noisy reward sums V of the active arms give estimates and radii. An arm
    that is clearly worse is eliminated, and a bin whose radii are small is refined. Users of the auxiliary sources come
    first, source by source, then those of the target, which is source 0. Without sources Algorithm 3 is Algorithm 2.

The parameters choose between the algorithm as printed, the authors' program, and any mixture: each point in which the
two differ is one of DEVIATIONS. Studies run the fast path, `fast_paths.locally_private.ldp_mab`.

Messages and updates: `learn` and `update`; refinement: `max_edge`. The rules, with the same names in the fast path:
    `weight`, `terms`, `sums`, `estimate`, `radius`, `half_width`, `eliminated`, `is_fine` and `chances`. Their
    parameters: `_ldp_mab_parameters`.
"""

import math

import numpy as np

from privarms.mechanisms import laplace
from privarms.policies.locally_private._ldp_mab_parameters import DEVIATIONS, Params, configure

__all__ = ["DEVIATIONS", "Params", "choose", "configure", "init", "learn"]

LABEL = "LDPMAB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 150e-9


class Bin:
    """A bin B_s^j of the active partition.

    s: depth; lower, upper: corners; arms: A_s^j, the active arms
    t: int64[M + 1], users of each source while the bin is active, (9)
    U, V: float64[M + 1, K], sums of the messages of each source's users, (12) and (25)
    N, D, B: float64[K], sums over batches, which replace the sums over users in the released program
    f, r: by arm, the estimate and the radius at the last update; empty before the first one
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
    """The server's partition, and a log of its decisions.

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
    """Receive one user's message and, after the last of a batch, update the partition: Algorithms 2 and 3."""
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
    """Return the radius r of an arm, (14) and (28); infinite before a source has a weight."""
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
    """Return whether the bin is refined, (17): radii of some arm, as printed, or of all arms are below tau_s."""
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
