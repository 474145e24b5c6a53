"""Ratios and their errors, and intervals from an estimate and its standard error."""

import math

import numpy as np
from scipy.special import ndtri

from privarms.ranges import strictly_within


def normal_interval(estimate, standard_error, confidence: float = 0.95):
    """Return estimate -+ z standard_error, with z the normal quantile at (1 + confidence) / 2; nan stays nan."""
    estimate, standard_error = np.asarray(estimate, float), np.asarray(standard_error, float)
    strictly_within(0, 1, confidence=confidence)
    half = ndtri((1 + confidence) / 2) * standard_error
    return estimate - half, estimate + half


def ratio(mean, se, base_mean, base_se):
    """Return the ratio of two independent means and its first-order standard error; nan or inf if over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(mean, base_mean)
        return value, value * np.sqrt(np.divide(se, mean) ** 2 + np.divide(base_se, base_mean) ** 2)


def fieller(mean, half, base_mean, base_half):
    """Return the ends of the interval of a ratio of two independent means, from the half-widths of their own intervals.

    Unlike the first-order standard error, it stays valid for an imprecise denominator (Fieller 1954). The ends are -inf
    and inf if the denominator's interval contains 0, or for a nan.
    """
    below = base_mean**2 - base_half**2
    if not below > 0 or not math.isfinite(half):
        return -math.inf, math.inf
    # The ratios r with (mean - r base_mean)^2 <= half^2 + r^2 base_half^2.
    reach = math.sqrt(base_half**2 * mean**2 + half**2 * below) / below
    middle = mean * base_mean / below
    return middle - reach, middle + reach
