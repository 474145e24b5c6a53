"""Laplace noise (Dwork et al. 2006)."""

from numba import njit


@njit
def laplace(scale, rng):
    """One draw of Lap(scale): density exp(-|x|/scale) / (2 scale), variance 2 scale**2.

    The difference of two standard exponentials is about five times faster in a kernel than `Generator.laplace`.
    """
    return scale * (rng.standard_exponential() - rng.standard_exponential())


@njit
def laplace_sum(scale, count, rng):
    """The sum of `count` >= 1 independent Lap(scale) draws: the difference of two Gamma(count) variables."""
    return scale * (rng.standard_gamma(count) - rng.standard_gamma(count))
