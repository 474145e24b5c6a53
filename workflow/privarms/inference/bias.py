"""The bias of sample means under adaptive pulls, and what privacy promises about it (section 3 of Neel & Roth 2018).

Where the paper states an order, the function is the expression inside O with constant 1, and says so.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from privarms.ranges import positive, within

# So many stand in memory as float64, whatever type they are given in.
REPLICATES_AT_ONCE = 2**15


class Bias(NamedTuple):
    bias: np.ndarray  # float64[K], mean over replicates of sample mean minus mean; nan for an arm that none pulled
    standard_error: np.ndarray  # float64[K], of that mean; nan below two replicates
    replicates: np.ndarray  # int64[K], in which the arm was pulled


class Average(NamedTuple):
    value: float  # what the average of |bias| over arms is expected to be over so many runs
    standard_error: float  # of that value, from all replicates
    spread: float  # the standard deviation of that average over so many runs


def sample_mean_bias(pulls, reward_sums, means) -> Bias:
    """The bias of the sample mean of each arm, from R >= 1 independent replicates.

    pulls: [R, K], >= 0; reward_sums: float64[R, K]; means: float64[K], the true ones
    The sample mean of an arm without a pull does not exist: that replicate is left out for that arm, and `replicates`
    says how many are there (Theorem 1 is about algorithms that pull every arm).
    """
    pulls, sums, means = np.asarray(pulls), np.asarray(reward_sums), np.asarray(means, float)
    pulled = pulls > 0
    replicates = pulled.sum(axis=0)
    if pulled.all() and len(pulls) > 1:
        n = len(pulls)
        bias = _sum(sums[some] / pulls[some] - means for some in blocks(n)) / n
        squares = _sum((sums[some] / pulls[some] - means - bias) ** 2 for some in blocks(n))
        return Bias(bias, np.sqrt(squares / (n - 1)) / np.sqrt(n), replicates)
    bias, standard_error = np.full(len(means), np.nan), np.full(len(means), np.nan)
    for arm, n in enumerate(replicates):
        there = pulled[:, arm]
        errors = sums[there, arm] / pulls[there, arm] - means[arm]
        if n > 0:
            bias[arm] = errors.mean()
        if n > 1:
            standard_error[arm] = errors.std(ddof=1) / np.sqrt(n)
    return Bias(bias, standard_error, replicates)


def blocks(replicates: int) -> Iterator[slice]:
    """Slices of REPLICATES_AT_ONCE, the last one shorter."""
    for start in range(0, replicates, REPLICATES_AT_ONCE):
        yield slice(start, start + REPLICATES_AT_ONCE)


def _sum(parts: Iterator[np.ndarray]) -> np.ndarray:
    """The sum over all rows of arrays of K columns, row after row: to the bit that of one array of all of them."""
    total = next(parts).sum(axis=0)
    for part in parts:
        total = np.concatenate([total[None], part]).sum(axis=0)
    return total


def average_absolute_bias(pulls, reward_sums, means) -> tuple[float, float]:
    """The mean over arms of |bias| and its standard error, from replicates as in `sample_mean_bias`.

    Arms that were never pulled are left out; both are nan where no arm has a bias. The standard error is that of the
    mean over arms of the signed errors, the signs being those that were found.
    """
    pulls, sums, means = np.asarray(pulls), np.asarray(reward_sums), np.asarray(means, float)
    bias, _, replicates = sample_mean_bias(pulls, sums, means)
    there = replicates > 0
    if not there.any():
        return float("nan"), float("nan")
    if (replicates == len(pulls)).all():
        parts = [(sums[some] / pulls[some] - means) @ np.sign(bias) / len(means) for some in blocks(len(pulls))]
    else:
        # To first order: what a replicate adds to the mean of each arm, which fewer of them make up.
        weights, parts = len(pulls) / replicates[there], []
        for some in blocks(len(pulls)):
            pulled = pulls[some] > 0
            sample_means = sums[some] / np.where(pulled, pulls[some], 1.0)
            deviations = np.where(pulled, sample_means - means - bias, 0.0)[:, there]
            parts.append(deviations * weights @ np.sign(bias[there]) / there.sum())
    errors = np.concatenate(parts)
    n = len(errors)
    return float(np.abs(bias[there]).mean()), float(errors.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def expected_average(pulls, reward_sums, means, runs: int) -> Average:
    """What the average over arms of |mean error over `runs` runs| is expected to be, from R >= 2 replicates.

    Noise makes an absolute value larger, and the more so the fewer the runs: an average over 10,000 runs is to be
    compared with averages over 10,000 runs. The mean error b of an arm over R runs is normal around its bias, with
    variance s^2 / R; |b + a normal variable of variance s^2 (1/runs - 1/R)| therefore has the mean that it would have
    over `runs` runs. With fewer replicates than `runs` it is that over R runs. The spread takes the |correlation| of
    two arms for that of their absolute values, which it bounds (Mehler's expansion); by the same expansion the value's
    own variance is at most runs / R of the spread's. All are nan where a run lacks an arm.
    """
    pulls, sums, means = (np.asarray(x, float) for x in (pulls, reward_sums, means))
    bias, _, replicates = sample_mean_bias(pulls, sums, means)
    R, K = pulls.shape
    if R < 2 or (replicates < R).any():
        return Average(float("nan"), float("nan"), float("nan"))
    runs = min(int(runs), R)
    covariance = np.cov((sums / pulls).T).reshape(K, K)
    variance = np.diag(covariance)
    value = _folded_mean(bias, np.sqrt(variance * (1 / runs - 1 / R))).mean()
    squares = variance / runs + bias**2
    deviations = np.sqrt(np.maximum(squares - _folded_mean(bias, np.sqrt(variance / runs)) ** 2, 0.0))
    roots = np.sqrt(np.where(variance > 0, variance, 1.0))
    spread = float(np.sqrt(deviations @ np.abs(covariance / np.outer(roots, roots)) @ deviations)) / K
    return Average(float(value), spread * float(np.sqrt(runs / R)), spread)


def _folded_mean(mean, deviation):
    """E|X| of a normal X."""
    z = mean / np.where(deviation > 0, deviation, 1.0)
    folded = deviation * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + mean * (2 * ndtr(z) - 1)
    return np.where(deviation > 0, folded, np.abs(mean))


def bias_bound(epsilon, mu):
    """(e^epsilon - 1) mu: Theorem 1 at delta = 0, a bound on |bias| of an arm of mean mu under epsilon-privacy.

    mu: in [0, 1]; inf where e^epsilon overflows. At mu = 0 the bound is 0.
    """
    epsilon, mu = np.asarray(epsilon, float), np.asarray(mu, float)
    positive(epsilon=epsilon)
    within(0, 1, mu=mu)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(mu > 0, np.expm1(epsilon) * mu, 0.0)[()]
