"""From features to contexts in [0, 1]^d: standardise, project on principal components, scale to [0, 1] and clip."""

import numpy as np
from threadpoolctl import threadpool_limits

from privarms.data.features import Features

DIMENSIONS = 3
# Fitted on the auxiliary rows, so without the target's users, or on all rows.
REDUCTIONS = ("pca_auxiliary", "pca_all")
# A component with a smaller share of the variance is a rounding error and becomes a constant.
NEGLIGIBLE = 1e-12


def reduce(features: Features, sources: np.ndarray, method: str) -> tuple[np.ndarray, dict]:
    """Return contexts float64[n, d] in [0, 1] and facts about the reduction; d = 3, or less for fewer features.

    sources: int64[n], 0 for the target's rows; method: one of REDUCTIONS
    A feature that is constant among the fitted rows, such as a level that only the target has, is left out.
    """
    fitted = np.flatnonzero(sources > 0) if method == "pca_auxiliary" else np.arange(len(sources))
    # Several threads add in another order, but the bytes must not depend on the number of cores.
    with threadpool_limits(limits=1):
        mean, constant = _means(features, fitted)
        scale, values, components = _components(features, fitted, mean, constant)
        weights = (components * _signs(components)[:, None] / scale).T
        scores = np.concatenate([(rows - mean) @ weights for rows in features.chunks(np.arange(len(sources)))])
    low, high = scores[fitted].min(axis=0), scores[fitted].max(axis=0)
    contexts = np.clip((scores - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
    return contexts, {"fitted_rows": len(fitted), "explained_variance": [round(float(v), 6) for v in values]}


def _means(features: Features, fitted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return float64[p], the means over the fitted rows, and bool[p], whether a feature is constant there."""
    total, low, high = np.zeros(1), np.full(1, np.inf), np.full(1, -np.inf)
    for rows in features.chunks(fitted):
        total = total + rows.sum(axis=0)
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return total / len(fitted), low == high


def _components(
    features: Features, fitted: np.ndarray, mean: np.ndarray, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return standard deviations float64[p], and variance shares float64[d] and directions float64[d, p] of components.

    The deviation of a constant feature is 1. Share and direction of a component that does not vary are 0.
    """
    parts = ((rows - mean).T @ (rows - mean) for rows in features.chunks(fitted))
    products = sum(parts, start=np.zeros(2 * mean.shape)) / len(fitted)
    products[constant] = products[:, constant] = 0.0
    scale = np.where(constant, 1.0, np.sqrt(np.diag(products)))
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    shares = values[::-1][:DIMENSIONS] / max(np.count_nonzero(~constant), 1)
    varies = shares > NEGLIGIBLE
    return scale, np.where(varies, shares, 0.0), np.where(varies[:, None], vectors.T[::-1][:DIMENSIONS], 0.0)


def _signs(components: np.ndarray) -> np.ndarray:
    """Return +1 or -1 for each component, which makes its largest loading positive.

    Two levels of one column have loadings of equal size and opposite signs. Among loadings that differ only by
    rounding, the first one decides.
    """
    sizes = np.abs(components)
    leading = (sizes >= sizes.max(axis=1, keepdims=True) * (1 - 1e-6)).argmax(axis=1)
    return np.where(components[np.arange(len(components)), leading] < 0, -1.0, 1.0)
