"""Estimates of a treatment effect from randomised arms with known propensities.

For the experiments of section 5 of Li, Shi & Simchi-Levi (ICML 2024): no contexts, two arms with feature vectors, the
"DML estimator" not specified. Leading axes are replicates. arms: int[..., m], 0 or 1, m >= 1; rewards: finite
float[..., m]; propensity: the probability of arm 1, in (0, 1). All functions raise ValueError for other numbers or
shapes.

Nuisance means are the mean rewards of each arm, 0 for an arm without a reward. With the right propensity the
expectation of a doubly robust score is the effect, for any nuisance means.
"""

import numpy as np

from privarms.ranges import dimensions, finite, positive, same_shape, strictly_within, whole, within


def mean_difference(arms, rewards):
    """Return the mean of arm 1 minus the mean of arm 0; nan if an arm has no reward."""
    counts, sums = _by_arm(*_checked(arms, rewards))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / counts
    return means[..., 1] - means[..., 0]


def inverse_propensity(arms, rewards, propensity: float = 0.5):
    """Return (sum of arm 1 / propensity - sum of arm 0 / (1 - propensity)) / rounds (Horvitz & Thompson 1952)."""
    arms, rewards = _checked(arms, rewards, propensity=propensity)
    _, sums = _by_arm(arms, rewards)
    return (sums[..., 1] / propensity - sums[..., 0] / (1 - propensity)) / arms.shape[-1]


def half_sample(arms, rewards, propensity: float = 0.5):
    """Return the doubly robust estimate on the second half, nuisance means from the first; at least two rounds."""
    arms, rewards = _checked(arms, rewards, 2, propensity=propensity)
    half = arms.shape[-1] // 2
    means = _arm_means(arms[..., :half], rewards[..., :half])
    return _scores(arms[..., half:], rewards[..., half:], means, propensity).mean(axis=-1)


def cross_fitted(arms, rewards, propensity: float = 0.5):
    """Return `half_sample` in both directions, averaged over all scores (Chernozhukov et al. 2018)."""
    arms, rewards = _checked(arms, rewards, 2, propensity=propensity)
    half = arms.shape[-1] // 2
    first, second = (slice(None, half), slice(half, None))
    scores = [
        _scores(arms[..., own], rewards[..., own], _arm_means(arms[..., other], rewards[..., other]), propensity)
        for own, other in ((first, second), (second, first))
    ]
    return np.concatenate(scores, axis=-1).mean(axis=-1)


def plug_in_ridge(arms, rewards, vectors, penalty: float = 1.0):
    """Return (a1 - a0)' theta of a ridge regression without intercept of the rewards on finite float[2, d] vectors."""
    predictions = ridge(arms, rewards, vectors, penalty) @ np.asarray(vectors, float).T
    return predictions[..., 1] - predictions[..., 0]


def ridge(arms, rewards, vectors, penalty: float):
    """Return theta = (penalty I + sum of a a')^-1 sum of a r, float[..., d]; penalty: > 0."""
    dimensions(2, vectors=vectors)
    finite(vectors=vectors)
    positive(penalty=penalty)
    dimensions(0, penalty=penalty)
    vectors = np.asarray(vectors, float)
    if len(vectors) != 2:
        raise ValueError(f"vectors: expected one row per arm, two rows; found {len(vectors)}")
    counts, sums = _by_arm(*_checked(arms, rewards))
    outer = np.einsum("ai,aj->aij", vectors, vectors)
    finite(vectors=outer)  # a product overflows before its factors
    gram = np.einsum("...a,aij->...ij", counts, outer) + penalty * np.eye(vectors.shape[1])
    return np.linalg.solve(gram, (sums @ vectors)[..., None])[..., 0]


def _checked(arms, rewards, rounds: int = 1, **propensity):
    """Return both as arrays; rounds: the least number of them."""
    whole(0, arms=arms)
    within(0, 1, arms=arms)
    finite(rewards=rewards)
    same_shape(arms=arms, rewards=rewards)
    strictly_within(0, 1, **propensity)
    dimensions(0, **propensity)
    arms = np.asarray(arms)
    if not arms.shape or arms.shape[-1] < rounds:
        raise ValueError(
            f"arms: expected at least {rounds} round{'s' if rounds > 1 else ''}; found the shape {arms.shape}"
        )
    return arms, np.asarray(rewards, float)


def _arm_means(arms, rewards):
    """Return the mean reward of each arm, 0 for an arm without one: float[..., 2]."""
    counts, sums = _by_arm(arms, rewards)
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)


def _scores(arms, rewards, means, propensity):
    """Return mu_1 - mu_0 + A (R - mu_1) / p - (1 - A) (R - mu_0) / (1 - p), one score per round."""
    mean_0, mean_1 = means[..., :1], means[..., 1:]
    correction = np.where(arms == 1, (rewards - mean_1) / propensity, -(rewards - mean_0) / (1 - propensity))
    return mean_1 - mean_0 + correction


def _by_arm(arms, rewards):
    """Return the number of rewards of each arm and their sum: float[..., 2] each."""
    treated = arms == 1
    count = treated.sum(axis=-1, dtype=float)
    total, treated_sum = rewards.sum(axis=-1), np.where(treated, rewards, 0.0).sum(axis=-1)
    counts = np.stack([arms.shape[-1] - count, count], axis=-1)
    return counts, np.stack([total - treated_sum, treated_sum], axis=-1)
