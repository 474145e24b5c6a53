"""Ratios and their errors, and intervals from an estimate and its standard error."""

import math

import numpy as np
from scipy.special import ndtri

from privarms.ranges import at_least, dimensions, finite, known, strictly_within, within


def normal_interval(estimate, standard_error, confidence: float = 0.95):
    """Return estimate -+ z standard_error, with z the normal quantile at (1 + confidence) / 2.

    estimate: finite; standard_error: finite and >= 0; both may be nan for an unknown number, which makes both ends nan.
    A confidence so near to 1 that (1 + confidence) / 2 rounds to 1 makes them -inf and inf. Raises ValueError for other
    numbers or a confidence outside (0, 1).
    """
    finite(estimate=known(estimate))
    at_least(0, standard_error=known(standard_error))
    strictly_within(0, 1, confidence=confidence)
    estimate, standard_error = np.asarray(estimate, float), np.asarray(standard_error, float)
    half = ndtri((1 + confidence) / 2) * standard_error
    return estimate - half, estimate + half


def ratio(mean, se, base_mean, base_se):
    """Return the ratio of two independent means and its first-order standard error.

    mean, base_mean: finite; se, base_se: their standard errors, finite and >= 0; nan for any unknown number
    Returns nan for both where a mean is unknown, and for the error where an error is unknown or `mean` is 0. For
    base_mean = 0 the ratio is nan, -inf or inf, and the error nan or inf. Numbers that overflow are inf. Raises
    ValueError for other numbers.
    """
    finite(mean=known(mean), base_mean=known(base_mean))
    at_least(0, se=known(se), base_se=known(base_se))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.divide(mean, base_mean)
        return value, np.abs(value) * np.sqrt(np.divide(se, mean) ** 2 + np.divide(base_se, base_mean) ** 2)


def fieller(mean, half, base_mean, base_half):
    """Return the ends of the interval of a ratio of two independent means, from the half-widths of their own intervals.

    Unlike the first-order standard error, it stays valid for an imprecise denominator (Fieller 1954). Means are finite,
    half-widths >= 0 or inf; nan is an unknown number. The ends are -inf and inf if the denominator's interval contains
    0, or if a number is unknown or infinite. Raises ValueError for other numbers.
    """
    dimensions(0, mean=mean, half=half, base_mean=base_mean, base_half=base_half)
    finite(mean=known(mean), base_mean=known(base_mean))
    within(0, math.inf, half=known(half), base_half=known(base_half))
    below = base_mean**2 - base_half**2
    if not below > 0 or not math.isfinite(half) or math.isnan(mean):
        return -math.inf, math.inf
    # The ratios r with (mean - r base_mean)^2 <= half^2 + r^2 base_half^2.
    reach = math.sqrt(base_half**2 * mean**2 + half**2 * below) / below
    middle = mean * base_mean / below
    return middle - reach, middle + reach
