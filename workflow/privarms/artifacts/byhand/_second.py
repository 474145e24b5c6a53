"""A second implementation, of many runs at once: round by round, or batch by batch where a policy has batches."""

from collections.abc import Mapping

import numpy as np

from privarms.artifacts.byhand._indices import BATCHED, FORGETS, RULES, next_count

SEED = 8128
RUNS = 80_000


def with_noise(policy: str, means: np.ndarray, cell: Mapping, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """float64[K] each: the mean pulls of Bernoulli arms over `RUNS` runs, and their standard errors.

    noise: multiple of every Laplace scale; only 1 is the policy
    """
    rng = np.random.default_rng(SEED)
    pulls = (_in_batches if policy in BATCHED else _round_by_round)(policy, means, cell, noise, rng)
    return pulls.mean(axis=0), pulls.std(axis=0, ddof=1) / np.sqrt(RUNS)


def _round_by_round(policy: str, means: np.ndarray, cell: Mapping, multiple: float, rng) -> np.ndarray:
    T, K = int(cell["horizon"]), len(means)
    everyone = np.arange(RUNS)
    n, s, noise = np.zeros((RUNS, K)), np.zeros((RUNS, K)), np.zeros((RUNS, K))
    # nodes[run, arm, bit]: the noise of the node of 2^bit rewards that is part of the arm's count now.
    nodes = np.zeros((RUNS, K, T.bit_length() + 1))
    for t in range(1, T + 1):
        arm = np.full(RUNS, t - 1) if t <= K else RULES[policy](n, s + noise, t, cell)
        n[everyone, arm] += 1
        s[everyone, arm] += rng.random(RUNS) < means[arm]
        count = n[everyone, arm].astype(int)
        if cell.get("variant") == "as_released":
            # A fresh draw of twice the scale at every count, over the count and one more.
            noise[everyone, arm] = rng.laplace(0, 2 * multiple * np.log2(T) / cell["epsilon"], RUNS) / (count + 1)
        else:
            noise[everyone, arm] = _count_by_tree(
                nodes, everyone, arm, count, multiple * _node_scale(policy, cell), rng
            )
    return n


def _node_scale(policy: str, cell: Mapping) -> float:
    """Neel & Roth 2018 have log2 T levels, DP-UCB the next whole number of them."""
    levels = np.log2(cell["horizon"])
    return (np.ceil(levels) if policy == "dp_ucb" else levels) / cell["epsilon"]


def _count_by_tree(nodes, everyone, arm, count, scale, rng) -> np.ndarray:
    """The noise of a count in a binary tree: one node for each 1 of the count in base 2; the lowest is new."""
    lowest = np.log2(count & -count).astype(int)
    own = nodes[everyone, arm]
    own[np.arange(own.shape[1]) <= lowest[:, None]] = 0
    own[everyone, lowest] = rng.laplace(0, scale, len(everyone))
    nodes[everyone, arm] = own
    return own.sum(axis=1)


def _in_batches(policy: str, means: np.ndarray, cell: Mapping, multiple: float, rng) -> np.ndarray:
    T, K = int(cell["horizon"]), len(means)
    following = np.array([next_count(policy, count, cell) for count in range(T + 1)])
    pulls, rewards, sums = np.zeros((RUNS, K), int), np.ones((RUNS, K)), np.zeros((RUNS, K))
    playing = np.arange(RUNS)
    while len(playing):
        t = pulls[playing].sum(axis=1)
        first = (pulls[playing] == 0).any(axis=1)
        arm = np.argmax(pulls[playing] == 0, axis=1)
        if (~first).any():
            ready = playing[~first]
            arm[~first] = RULES[policy](rewards[ready], sums[ready], t[~first, None] + 1, cell)
        had = pulls[playing, arm]
        size = np.minimum(following[had] - had, T - t)
        paid = rng.binomial(size, means[arm]) + rng.laplace(0, multiple / cell["epsilon"], len(playing))
        pulls[playing, arm] += size
        if policy in FORGETS:
            rewards[playing, arm], sums[playing, arm] = size, paid
        else:
            rewards[playing, arm] = pulls[playing, arm]
            sums[playing, arm] += paid
        playing = playing[t + size < T]
    return pulls
