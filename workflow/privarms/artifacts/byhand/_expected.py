"""How often arms are pulled where nothing is simulated: no chance at all, every history, or one epoch's law."""

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import scipy.signal
import scipy.stats

from privarms.artifacts.byhand._indices import BATCHED, FORGETS, RULES, next_count


def without_chance(policy: str, means: np.ndarray, cell: Mapping) -> np.ndarray:
    """float64[K]: the pulls of arms that pay their mean, 0 or 1, every time."""
    T, K = int(cell["horizon"]), len(means)
    if policy == "successive_elimination":
        return _in_turn_until(_leaves(K, T), K, T)
    if policy in BATCHED:
        return _in_batches(policy, means, cell)
    pulls = np.zeros(K)
    for t in range(1, T + 1):
        pulls[t - 1 if t <= K else RULES[policy](pulls, pulls * means, t, cell)] += 1
    return pulls


def _leaves(K: int, T: int) -> int:
    """The first sweep s with 1 >= 2 sqrt(ln(5 K s^2 T) / s): Even-Dar, Mannor & Mansour 2006, c = 5, delta = 1 / T."""
    s = 1
    while 2 * np.sqrt(np.log(5 * K * s**2 * T) / s) > 1:
        s += 1
    return s


def _in_turn_until(sweeps: int, K: int, T: int) -> np.ndarray:
    """All arms in turn for some sweeps, then the first one."""
    both = min(sweeps * K, T)
    pulls = both // K + (np.arange(K) < both % K).astype(float)
    pulls[0] += T - both
    return pulls


def _in_batches(policy: str, means: np.ndarray, cell: Mapping) -> np.ndarray:
    T, K = int(cell["horizon"]), len(means)
    pulls, rewards = np.zeros(K), np.ones(K)
    while pulls.sum() < T:
        fresh = pulls == 0
        arm = int(np.argmax(fresh)) if fresh.any() else RULES[policy](rewards, rewards * means, pulls.sum() + 1, cell)
        size = min(next_count(policy, int(pulls[arm]), cell) - pulls[arm], T - pulls.sum())
        pulls[arm] += size
        rewards[arm] = size if policy in FORGETS else pulls[arm]
    return pulls


def every_history(policy: str, means: np.ndarray, cell: Mapping) -> np.ndarray:
    """float64[K]: the expected pulls of Bernoulli arms, the probabilities of all histories added up."""
    T, K = int(cell["horizon"]), len(means)
    if policy == "uniform":
        return np.full(K, T / K)
    states = {((0,) * K, (0,) * K): 1.0}
    for t in range(1, T + 1):
        following: dict = defaultdict(float)
        n, s = (np.array([state[i] for state in states], float) for i in (0, 1))
        arms = np.full(len(states), t - 1) if t <= K else RULES[policy](n, s, t, cell)
        for (pulls, sums), arm, probability in zip(list(states), arms, list(states.values()), strict=True):
            one_more = tuple(p + (i == arm) for i, p in enumerate(pulls))
            paid = tuple(s + (i == arm) for i, s in enumerate(sums))
            following[one_more, paid] += probability * means[arm]
            following[one_more, sums] += probability * (1 - means[arm])
        states = following
    return sum(probability * np.array(pulls, float) for (pulls, _), probability in states.items())


def first_epoch(policy: str, means: np.ndarray, cell: Mapping) -> np.ndarray:
    """float64[2]: the expected pulls of two arms of which the worse leaves in epoch 1 or 2: Sajed & Sheffet 2019,
    Algorithm 3, beta = 1 / T. epoch_se: without line 16's radius, line 17's noise and R_e's second term."""
    T, epsilon = int(cell["horizon"]), cell["epsilon"] if policy == "dp_se" else np.inf
    R, following = (epoch_length(2, e, epsilon, 1 / T) for e in (1, 2))
    r = int(np.ceil(R))
    margin = 2 * np.sqrt(np.log(16 * T) / (2 * R)) + 2 * np.log(8 * T) / (R * epsilon)
    counts = np.arange(r + 1)
    better, worse = (scipy.stats.binom.pmf(counts, r, mean) for mean in means)
    difference = scipy.signal.fftconvolve(better, worse[::-1])
    leads = np.arange(-r, r + 1) / r
    leaves = float(difference @ _beyond(margin - leads, 1 / (epsilon * r)))
    worse_pulls = r + (1 - leaves) * np.ceil(following)
    return np.array([T - worse_pulls, worse_pulls])


def epoch_length(arms: int, e: int, epsilon: float, beta: float) -> float:
    """R_e: Sajed & Sheffet 2019, Algorithm 3, line 8."""
    with_chance = 32 * math.log(8 * arms * e**2 / beta) * 4**e
    with_noise = 8 * math.log(4 * arms * e**2 / beta) * 2**e / epsilon
    return max(with_chance, with_noise) + 1


def _beyond(x: np.ndarray, scale: float) -> np.ndarray:
    """The probability that the difference of two Laplace variables exceeds x."""
    if scale == 0:
        return (x < 0).astype(float)
    away = np.abs(x) / scale
    tail = (0.5 + away / 4) * np.exp(-away)
    return np.where(x > 0, tail, 1 - tail)
