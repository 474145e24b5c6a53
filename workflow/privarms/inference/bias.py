"""The bias of sample means under adaptive pulls, and its bound under privacy (section 3 of Neel & Roth 2018).

Replicates are tables of R rows and K columns. pulls: [R, K], whole numbers >= 0; reward_sums: float[R, K]; means:
float[K], the true means, which need not be in [0, 1]. Other shapes, and numbers that are not finite, raise ValueError.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from privarms.ranges import dimensions, finite, positive, same_shape, whole, within

# Replicates whose temporary arrays are in memory at the same time.
REPLICATES_AT_ONCE = 2**15


class Bias(NamedTuple):
    bias: np.ndarray  # float64[K], mean over replicates of (sample mean - mean); nan for an arm never pulled
    standard_error: np.ndarray  # float64[K], of that mean; nan below two replicates
    replicates: np.ndarray  # int64[K], replicates in which the arm was pulled


class Average(NamedTuple):
    value: float  # expected average of |bias| over arms in so many runs
    standard_error: float  # standard error of `value`, from all replicates
    spread: float  # standard deviation of this average between samples of so many runs


def sample_mean_bias(pulls, reward_sums, means) -> Bias:
    """Return the bias of the sample mean of each arm, from R >= 1 independent replicates.

    A replicate in which an arm was never pulled is excluded for that arm, because it has no sample mean there.
    `replicates` counts those that remain (Theorem 1 is about algorithms that pull every arm). The bias is nan without
    a remaining replicate, and the standard error with fewer than two.
    """
    _check(pulls, reward_sums, means)
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
        has_pulls = pulled[:, arm]
        errors = sums[has_pulls, arm] / pulls[has_pulls, arm] - means[arm]
        if n > 0:
            bias[arm] = errors.mean()
        if n > 1:
            standard_error[arm] = errors.std(ddof=1) / np.sqrt(n)
    return Bias(bias, standard_error, replicates)


def controlled_bias(pulls, reward_sums, means) -> Bias:
    """Return the same with a control variate: an estimate of the same bias with a smaller standard error.

    An arm's rewards minus its mean, summed over its N pulls, have expectation 0, because an arm is chosen before its
    reward is seen (Wald). So they may be divided by the mean of N and subtracted from the errors. The result estimates
    -Cov(N, sample mean)/E[N], which is the bias (Bowden & Trippa 2017, Statistical Methods in Medical Research 26(5)).
    An arm with the same N in all replicates keeps its errors: nothing would be left of them, not even their scatter.
    """
    _check(pulls, reward_sums, means)
    pulls, sums, means = np.asarray(pulls), np.asarray(reward_sums, float), np.asarray(means, float)
    controlled_sums = _controlled(pulls, sums, means)
    controlled_sums += means
    controlled_sums *= pulls
    return sample_mean_bias(pulls, controlled_sums, means)


def _check(pulls, reward_sums, means) -> None:
    dimensions(2, pulls=pulls)
    whole(0, pulls=pulls)
    finite(reward_sums=reward_sums, means=means)
    same_shape(pulls=pulls, reward_sums=reward_sums)
    if (expected := np.shape(pulls)[1:]) != (found := np.shape(means)):
        raise ValueError(f"means: expected one number per column of pulls, {expected}; found {found}")
    if not np.size(pulls):
        raise ValueError(f"pulls: expected at least one replicate and one arm; found the shape {np.shape(pulls)}")


def _controlled(pulls: np.ndarray, sums: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the errors of the sample means minus their control variates: [R, K], 0 where an arm was not pulled."""
    pulled = pulls > 0
    average = pulls.sum(axis=0) / np.maximum(pulled.sum(axis=0), 1)
    varies = pulls.max(axis=0) > pulls.min(axis=0, where=pulled, initial=pulls.max())
    controlled = np.empty(sums.shape)
    for some in blocks(len(pulls)):
        shares = 1 / np.where(pulled[some], pulls[some], 1) - varies / np.where(varies, average, 1)
        controlled[some] = (sums[some] - means * pulls[some]) * shares
    return controlled


def blocks(replicates: int) -> Iterator[slice]:
    """Return slices of REPLICATES_AT_ONCE replicates; the last one may be shorter."""
    dimensions(0, replicates=replicates)
    whole(0, replicates=replicates)
    return (slice(start, start + REPLICATES_AT_ONCE) for start in range(0, int(replicates), REPLICATES_AT_ONCE))


def _sum(parts: Iterator[np.ndarray]) -> np.ndarray:
    """Return the sum over all rows of arrays with K columns, with the same bits as for one large array."""
    total = next(parts).sum(axis=0)
    for part in parts:
        total = np.concatenate([total[None], part]).sum(axis=0)
    return total


def average_absolute_bias(pulls, reward_sums, means) -> tuple[float, float]:
    """Return the mean over arms of |bias| and its standard error, from replicates as in `sample_mean_bias`.

    Arms that were never pulled are excluded; both values are nan if no arm was pulled. The standard error is that of
    the mean over arms of the signed errors, with the signs of the estimated biases. It is nan below two replicates.
    """
    _check(pulls, reward_sums, means)
    pulls, sums, means = np.asarray(pulls), np.asarray(reward_sums), np.asarray(means, float)
    bias, _, replicates = sample_mean_bias(pulls, sums, means)
    has_pulls = replicates > 0
    if not has_pulls.any():
        return float("nan"), float("nan")
    if (replicates == len(pulls)).all():
        parts = [(sums[some] / pulls[some] - means) @ np.sign(bias) / len(means) for some in blocks(len(pulls))]
    else:
        # First order: a replicate's part in each arm's mean. An arm pulled in fewer replicates has larger parts.
        weights, parts = len(pulls) / replicates[has_pulls], []
        for some in blocks(len(pulls)):
            pulled = pulls[some] > 0
            sample_means = sums[some] / np.where(pulled, pulls[some], 1.0)
            deviations = np.where(pulled, sample_means - means - bias, 0.0)[:, has_pulls]
            parts.append(deviations * weights @ np.sign(bias[has_pulls]) / has_pulls.sum())
    errors = np.concatenate(parts)
    n = len(errors)
    return float(np.abs(bias[has_pulls]).mean()), float(errors.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def expected_average(pulls, reward_sums, means, runs: int) -> Average:
    """Return the expected average over arms of |mean error over `runs` runs|, runs >= 1, from R >= 2 replicates.

    Noise makes an absolute value larger, and more so with fewer runs. An average over 10,000 runs must therefore be
    compared with averages over 10,000 runs. The mean error of an arm over `runs` runs is normal around its bias with
    variance s^2 / runs. The estimate of the bias (`controlled_bias`) is normal around it with a variance v, so adding a
    normal variable of variance s^2 / runs - v gives this distribution. If R < runs, the result is for R runs. The
    spread replaces the correlation of two absolute values by its upper bound, the |correlation| of the two arms
    (Mehler's expansion). By the same expansion an absolute value's expectation given the estimate varies by at most its
    own standard deviation times sqrt(v runs) / s. All fields are nan if a run lacks an arm, and below two replicates.
    """
    _check(pulls, reward_sums, means)
    dimensions(0, runs=runs)
    whole(1, runs=runs)
    pulls, sums, means = np.asarray(pulls), np.asarray(reward_sums, float), np.asarray(means, float)
    R, K = pulls.shape
    if R < 2 or (pulls == 0).any():
        return Average(float("nan"), float("nan"), float("nan"))
    runs = min(int(runs), R)
    errors = _controlled(pulls, sums, means)
    bias, noise = errors.mean(axis=0), np.cov(errors.T).reshape(K, K) / R
    covariance = np.cov((sums / pulls).T).reshape(K, K) / runs
    variance = np.diag(covariance)
    value = _folded_mean(bias, np.sqrt(np.maximum(variance - np.diag(noise), 0.0))).mean()
    squares = variance + bias**2
    deviations = np.sqrt(np.maximum(squares - _folded_mean(bias, np.sqrt(variance)) ** 2, 0.0))
    share = np.diag(noise) / np.where(variance > 0, variance, 1.0)
    return Average(float(value), _bound(deviations * np.sqrt(share), noise), _bound(deviations, covariance))


def _bound(deviations: np.ndarray, covariance: np.ndarray) -> float:
    """Return the standard deviation of an average of K variables whose correlations are at most these in size."""
    roots = np.sqrt(np.diag(covariance))
    roots = np.where(roots > 0, roots, 1.0)
    return float(np.sqrt(deviations @ np.abs(covariance / np.outer(roots, roots)) @ deviations)) / len(deviations)


def _folded_mean(mean, deviation):
    """Return E|X| of a normal X."""
    z = mean / np.where(deviation > 0, deviation, 1.0)
    folded = deviation * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + mean * (2 * ndtr(z) - 1)
    return np.where(deviation > 0, folded, np.abs(mean))


def bias_bound(epsilon, mu):
    """Return (e^epsilon - 1) mu, mu in [0, 1]: Theorem 1 at delta = 0, a bound on |bias| under epsilon-privacy.

    This is the theorem's expression and no more. For rewards in [0, 1] no |bias| exceeds max(mu, 1 - mu), so the bound
    says nothing where it is larger. It is inf where e^epsilon overflows and mu > 0.
    """
    positive(epsilon=epsilon)
    within(0, 1, mu=mu)
    epsilon, mu = np.asarray(epsilon, float), np.asarray(mu, float)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(mu > 0, np.expm1(epsilon) * mu, 0.0)[()]
