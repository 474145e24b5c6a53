"""Ordinary least squares and the z-test of one coefficient with known noise (section 5.2 of Neel & Roth 2018).

Leading axes are replicates; the axes of the matrices come last.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from privarms.ranges import positive

# Refuse a design if its columns, scaled to length 1, have a smallest singular value below this multiple of the largest.
# The inverse of the Gram matrix would then have at most 4 of 16 correct digits.
RANK_TOLERANCE = 1e-6


class Fit(NamedTuple):
    coefficients: np.ndarray  # float64[..., d]
    inverse_gram: np.ndarray  # float64[..., d, d], (X'X)^-1: covariance of the coefficients if the noise has sd 1


def ols_from_moments(gram, moments) -> Fit:
    """Return the least-squares fit from X'X, float64[..., d, d], and X'y, float64[..., d], which a run can accumulate.

    Raises ValueError if the design is rank-deficient (to RANK_TOLERANCE).
    """
    gram, moments = np.asarray(gram, float), np.asarray(moments, float)
    diagonal = np.diagonal(gram, axis1=-2, axis2=-1)
    lengths = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scale = lengths[..., :, None] * lengths[..., None, :]
    values = np.linalg.eigvalsh(gram / scale)
    largest = np.where(values[..., -1] > 0, values[..., -1], 1.0)
    deficient = ~(np.sqrt(np.maximum(values[..., 0] / largest, 0.0)) > RANK_TOLERANCE)
    if deficient.any():
        raise ValueError(f"gram: found a rank-deficient design in replicate {np.argwhere(deficient)[0].tolist()}")
    inverse = np.linalg.inv(gram)
    return Fit(np.einsum("...ij,...j->...i", inverse, moments), inverse)


def z_score(estimate, null, variance, standard_error: str = "correct"):
    """Return (estimate - null) / sqrt(variance): standard normal under the null if the design is not adaptive.

    variance: of the estimate, > 0; standard_error: "variance" divides by the variance itself, as the authors' released
    program does. This is wrong by a factor sqrt(variance), so small variances reject far too often. Raises ValueError
    for variances that are not positive.
    """
    estimate, null, variance = (np.asarray(x, float) for x in (estimate, null, variance))
    positive(variance=variance)
    return (estimate - null) / (variance if standard_error == "variance" else np.sqrt(variance))


def two_sided_p_value(z):
    """Return P(|Z| >= |z|) for a standard normal Z, without cancellation far out; ValueError for nan."""
    z = np.asarray(z, float)
    if np.isnan(z).any():
        raise ValueError("z: expected numbers; found nan")
    return 2 * ndtr(-np.abs(z))
