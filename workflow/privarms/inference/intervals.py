"""Standard errors of ratios, and intervals of an estimate from its standard error."""

import numpy as np
from scipy.special import ndtri

from privarms.ranges import strictly_within


def normal_interval(estimate, standard_error, confidence: float = 0.95):
    """(low, high) = estimate -+ z standard_error, z the normal quantile at (1 + confidence) / 2; nan stays nan."""
    estimate, standard_error = np.asarray(estimate, float), np.asarray(standard_error, float)
    strictly_within(0, 1, confidence=confidence)
    half = ndtri((1 + confidence) / 2) * standard_error
    return estimate - half, estimate + half


def ratio(mean, se, base_mean, base_se):
    """Return the ratio of two independent means and its standard error to first order."""
    value = mean / base_mean
    return value, value * np.sqrt((se / mean) ** 2 + (base_se / base_mean) ** 2)
