"""Test whether two samples have one distribution. m p-values reject below FALSE_ALARM / m (Bonferroni)."""

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

FALSE_ALARM = 1e-5


def same_law(pairs) -> bool:
    """Return whether no pair (kind, a, b) of samples differs significantly; kind is "continuous" or "atoms".

    The probability of a false alarm is at most FALSE_ALARM for all pairs together.
    """
    test = {"continuous": _continuous, "atoms": _atoms}
    return min(test[kind](a, b) for kind, a, b in pairs) > FALSE_ALARM / len(pairs)


def _rounded(a, b):
    """Round both samples to 9 digits of the largest value, so sums in another order of addition are equal."""
    scale = max(np.abs(a).max(), np.abs(b).max()) or 1.0
    return np.round(a / scale, 9), np.round(b / scale, 9)


def _continuous(a, b) -> float:
    """Return the Kolmogorov-Smirnov p-value; with ties it is too large, never too small."""
    return ks_2samp(*_rounded(a, b)).pvalue


def _atoms(a, b) -> float:
    """Return the chi-square p-value of the counts; values with fewer than 20 counts form one class."""
    _, codes = np.unique(np.concatenate(_rounded(a, b)), return_inverse=True)
    rare = np.bincount(codes) < 20
    codes = np.where(rare[codes], -1, codes)
    classes, codes = np.unique(codes, return_inverse=True)
    table = np.stack([np.bincount(part, minlength=len(classes)) for part in (codes[: len(a)], codes[len(a) :])])
    if table[:, 0].sum() < 20 and len(classes) > 1 and classes[0] == -1:
        table[:, 1] += table[:, 0]
        table = table[:, 1:]
    return chi2_contingency(table, correction=False).pvalue if table.shape[1] > 1 else 1.0
