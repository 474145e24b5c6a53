"""Ordinary least squares and the z-test of one coefficient with known noise (section 5.2 of Neel & Roth 2018).

Leading axes are replicates; the axes of the matrices come last.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from privarms.ranges import finite, of_choices, positive, within

# Refuse a design if its columns, scaled to length 1, have a smallest singular value below this multiple of the largest.
# The inverse of the Gram matrix would then have at most 4 of 16 correct digits.
RANK_TOLERANCE = 1e-6


class Fit(NamedTuple):
    coefficients: np.ndarray  # float64[..., d]
    inverse_gram: np.ndarray  # float64[..., d, d], (X'X)^-1: covariance of the coefficients if the noise has sd 1


def ols_from_moments(gram, moments) -> Fit:
    """Return the least-squares fit from X'X, float64[..., d, d], and X'y, float64[..., d], which a run can accumulate.

    Raises ValueError if the design is rank-deficient (to RANK_TOLERANCE), for other shapes, and for numbers that
    are not finite.
    """
    finite(gram=gram, moments=moments)
    gram, moments = np.asarray(gram, float), np.asarray(moments, float)
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2]:
        raise ValueError(f"gram: expected square matrices [..., d, d]; found the shape {gram.shape}")
    if moments.shape != gram.shape[:-1]:
        raise ValueError(
            f"moments: expected the shape {gram.shape[:-1]}, as gram without the last axis; found {moments.shape}"
        )
    diagonal = np.diagonal(gram, axis1=-2, axis2=-1)
    lengths = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scale = lengths[..., :, None] * lengths[..., None, :]
    values = np.linalg.eigvalsh(gram / scale)
    largest = np.where(values[..., -1] > 0, values[..., -1], 1.0)
    deficient = ~(np.sqrt(np.maximum(values[..., 0] / largest, 0.0)) > RANK_TOLERANCE)
    if deficient.any():
        place = f" in replicate {np.argwhere(deficient)[0].tolist()}" if deficient.ndim else ""
        raise ValueError(f"gram: expected a design of full rank; found a rank-deficient design{place}")
    inverse = np.linalg.inv(gram)
    if not np.isfinite(inverse).all():
        raise ValueError("gram: expected a matrix with a finite inverse; found one whose inverse overflows")
    return Fit(np.einsum("...ij,...j->...i", inverse, moments), inverse)


@of_choices
def z_score(estimate, null, variance, standard_error: Literal["correct", "variance"] = "correct"):
    """Return (estimate - null) / sqrt(variance): standard normal under the null if the design is not adaptive.

    variance: of the estimate, > 0; standard_error: "variance" divides by the variance itself, as the authors' released
    program does. This is wrong by a factor sqrt(variance), so small variances reject far too often. Raises ValueError
    for variances that are not positive, and for numbers that are not finite. The result is -inf or inf where the
    quotient overflows.
    """
    finite(estimate=estimate, null=null)
    positive(variance=variance)
    estimate, null, variance = (np.asarray(x, float) for x in (estimate, null, variance))
    with np.errstate(over="ignore"):
        return (estimate - null) / (variance if standard_error == "variance" else np.sqrt(variance))


def two_sided_p_value(z):
    """Return P(|Z| >= |z|) for a standard normal Z, without cancellation far out; z may be -inf or inf, but not nan."""
    within(-np.inf, np.inf, z=z)
    return 2 * ndtr(-np.abs(np.asarray(z, float)))
