"""Algorithms 1 to 3 of Ma et al. (2025) user by user, in plain Python: what `ldp_mab` is held against.

It has the family's functions, so that the protocol runs it like a policy.

Every user's noise is drawn on its own, bins are halved when they are halved, and nothing is left out because it
cannot matter. Equations are those of the paper; `params` says which of them hold as printed, see `ldp_mab.configure`.
"""

import math

import numpy as np


class Bin:
    """A bin B_s^j of the active partition: what the server knows about it."""

    def __init__(self, s, lower, upper, arms, sources):
        self.s, self.lower, self.upper, self.arms = s, lower, upper, list(arms)
        K = max(arms) + 1
        self.t = [0] * sources
        # What nobody knows: how many pulled an arm, the sum of their expected rewards, and both as N and D add them up.
        self.C, self.T = np.zeros((sources, K)), np.zeros((sources, K))
        self.E, self.F = np.zeros((sources, K)), np.zeros((sources, K))
        self.U, self.V = np.zeros((sources, K)), np.zeros((sources, K))
        # What the released program adds up after each batch.
        self.N, self.D, self.B = np.zeros((sources, K)), np.zeros((sources, K)), np.zeros((sources, K))
        self.f, self.r = {}, {}

    def holds(self, x):
        return all(a <= c and (c < b or b == 1) for a, c, b in zip(self.lower, x, self.upper, strict=True))


class Server:
    """The active partition, and what is done with it.

    laplace(scale, shape) -> so many draws; pick(ties) -> one of the longest edges' dimensions
    removals: (source, users of it so far, lower corner, depth, arm); refined: (lower corner, depth, arms)
    looks: at estimates with a finite radius; misses: those that find it farther from its expectation, (14)
    """

    def __init__(self, params, laplace, pick):
        self.params, self.laplace, self.pick = params, laplace, pick
        d, self.sources = params.dimensions, len(params.users)
        self.bins = [Bin(0, (0.0,) * d, (1.0,) * d, range(params.n_arms), self.sources)]
        self.removals, self.refined = [], []
        self.looks = self.misses = 0

    def find(self, x):
        return next(B for B in self.bins if B.holds(x))

    def receive(self, m, x, arm, reward, mean):
        """What one user of source m sends: (11) with (12), or (24) with (25); mean: the reward's expectation."""
        scale = 4 / self.params.epsilons[m]
        for B in self.bins:
            B.t[m] += 1
            inside = B.holds(x)
            if inside and arm in B.arms:
                B.U[m, arm] += 1
                B.V[m, arm] += reward
                B.C[m, arm] += 1
                B.T[m, arm] += mean
            if inside or self.params.every_user:
                noise = self.laplace(scale, (2, len(B.arms)))
                B.U[m, B.arms] += noise[0]
                B.V[m, B.arms] += noise[1]

    def weight(self, B, m, k):
        """(27)"""
        p, t = self.params, B.t[m]
        if t == 0:
            return 0.0
        share = p.epsilons[m] ** 2 * B.U[m, k] / t
        if t > p.warm_up or (t == p.warm_up and p.at_warm_up):
            return min(abs(share) if p.absolute else share, 1.0)
        return 0.0

    def parts(self, B, m, k):
        """The terms of source m in the sums of (26) and (28)."""
        lam = self.weight(B, m, k)
        U, V = B.U[m, k], B.V[m, k]
        t_by_squared_epsilon = B.t[m] / self.params.epsilons[m] ** 2
        return lam * V, lam * U, lam**2 * max(U, t_by_squared_epsilon)

    def estimate(self, B, m, k):
        """(26) and (28), or what the released program has in their place."""
        p = self.params
        if p.single_sum:
            N, D, V = np.sum([self.parts(B, i, k) for i in range(self.sources)], axis=0)
        else:
            N, D, V = B.N[:, k].sum(), B.D[:, k].sum(), B.B[:, k].sum()
        f = N / (D + p.denominator) if D + p.denominator != 0 else 0.0
        if not p.unclipped:
            f = min(max(f, 0.0), 1.0)
        return f, p.scale * math.sqrt(V + p.offset) / abs(D) if D != 0 else math.inf

    def expectation(self, B, k):
        """That of (13) or (26) over rewards, and without noise but in the weights, as in (14)."""
        if self.params.single_sum:
            weights = [self.weight(B, i, k) for i in range(self.sources)]
            E, F = np.dot(weights, B.T[:, k]), np.dot(weights, B.C[:, k])
        else:
            E, F = B.E[:, k].sum(), B.F[:, k].sum()
        return E / F if F != 0 else 0.0

    def update(self, m, seen):
        """After a batch of source m, whose user number `seen` was the last: estimate, eliminate, refine."""
        p = self.params
        partition = []
        for B in self.bins:
            if not p.single_sum:
                for k in B.arms:
                    N, D, V = self.parts(B, m, k)
                    B.N[m, k] += N
                    B.D[m, k] += D
                    B.B[m, k] += V
                    weight = self.weight(B, m, k)
                    B.E[m, k] += weight * B.T[m, k]
                    B.F[m, k] += weight * B.C[m, k]
            looks = max(B.t) >= p.warm_up if p.any_source else B.t[m] >= p.warm_up
            partition += self.decide(B, m, seen) if looks else [B]
        self.bins = partition

    def decide(self, B, m, seen):
        p = self.params
        side = 2 ** (-B.s / p.dimensions)
        B.f, B.r = {}, {}
        for k in B.arms:
            B.f[k], B.r[k] = self.estimate(B, m, k)
            # A bin with one arm left is settled.
            if B.r[k] < math.inf and len(B.arms) > 1:
                self.looks += 1
                self.misses += abs(B.f[k] - self.expectation(B, k)) > B.r[k]
        h = {k: p.width * B.r[k] if p.no_floor else max(p.width * B.r[k], side) for k in B.arms}
        # (16) and (29)
        best = max(B.f[k] - h[k] for k in B.arms)
        gone = [k for k in B.arms if best > B.f[k] + h[k]]
        before = list(B.arms)
        for k in gone:
            B.arms.remove(k)
            self.removals.append((m, seen, B.lower, B.s, k))
        # (17)
        fine = [B.r[k] < p.tau * side for k in (B.arms if p.after_removal else before)]
        fine = any(fine) if p.some_arm else all(fine)
        if B.s < p.depth and fine:
            self.refined.append((B.lower, B.s, tuple(B.arms)))
            return self.halves(B)
        return [B]

    def halves(self, B):
        """Algorithm 1."""
        edges = [b - a for a, b in zip(B.lower, B.upper, strict=True)]
        k = self.pick([i for i, edge in enumerate(edges) if edge == max(edges)])
        middle = (B.lower[k] + B.upper[k]) / 2
        upper, lower = list(B.upper), list(B.lower)
        upper[k] = lower[k] = middle
        return [
            Bin(B.s + 1, B.lower, tuple(upper), B.arms, self.sources),
            Bin(B.s + 1, tuple(lower), B.upper, B.arms, self.sources),
        ]

    def chances(self, B):
        """(8), or the released program's policy."""
        p = self.params
        size = len(B.arms)
        values = [B.f[k] for k in B.arms] if B.f else [0.0]
        between = max(values) - min(values)
        if p.uniform or B.s == 0 or between < 0.01:
            return dict.fromkeys(B.arms, 1 / size)
        odds = {k: math.exp(B.f[k] * math.log(1.2 * p.n_arms / size) / (between + 1e-4)) for k in B.arms}
        return {k: odd / sum(odds.values()) for k, odd in odds.items()}


def init(params, rng) -> Server:
    """A server whose noise and ties come from rng."""
    return Server(
        params, lambda scale, shape: rng.laplace(0.0, scale, shape), lambda ties: ties[rng.integers(len(ties))]
    )


def stream(params, environment, state, source, checkpoints, rng, record):
    """All users of one source, as `ldp_mab.stream`, in the same law; state: a `Server`."""
    server, n = state, int(params.users[source])
    context, point = np.zeros(params.dimensions), np.full(params.dimensions, environment.point)
    regret = earned = 0.0
    shares = np.zeros(params.n_arms)
    for user in range(n):
        environment.arrive(environment, source, user, context, rng)
        if source > 0:
            arm = environment.behave(environment, source, user, rng)
            mean = environment.mean(environment, source, user, context, arm)
        else:
            chances = server.chances(server.find(context))
            arm = int(rng.choice(list(chances), p=list(chances.values())))
            mean = environment.mean(environment, source, user, context, arm)
            best = environment.best(environment, source, user, context)
            regret += environment.mean(environment, source, user, context, best) - mean
            earned += mean
            record.pulls[arm] += 1
            for k, chance in server.chances(server.find(point)).items():
                shares[k] += chance
        server.receive(source, context, arm, float(rng.random() < mean), mean)
        if (user + 1) % params.batch == 0 or user + 1 == n:
            server.update(source, user + 1)
        if source == 0:
            for c in np.flatnonzero(checkpoints == user + 1):
                record.regret[c], record.rewards[c], record.shares[c] = regret, earned, shares


def end_source(params, state, source):
    """A server keeps the sums of every source apart."""
