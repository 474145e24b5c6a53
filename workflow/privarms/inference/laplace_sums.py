"""How often a ratio of noisy sums is outside the radius (14) of Ma, Jiang, Zhao, Yang & Yu (2025), Proposition 2.7.

After t users of a bin, sums V and U of rewards and of pulls have noise of 4 / epsilon (xi, zeta), xi and zeta sums of t
standard Laplace variables. The estimate V / U is farther than the radius from its expectation f if

    |sum of (Y - f) + 4 / epsilon (xi - f zeta)| > sqrt(c ln n max(t / epsilon^2, U)).

The noise has variance 32 t (1 + f^2) / epsilon^2. So at one look n^-2 needs c >= 128 (1 + f^2), in the first order;
over all t <= n another factor n is to be paid for, c >= 192 (1 + f^2), and more for arms, for bins, and for the tails
of the Laplace law while t is small. An absolute constant must do for f = 1.
"""

import numpy as np
from scipy.special import logsumexp

# Of the Chernoff bound's argument, in (0, 1).
ARGUMENTS = np.linspace(0, 1, 2_002)[1:-1]


def log_miss_bound(c: float, n: int, K: int, bins: int | None = None, f: float = 1.0) -> float:
    """The logarithm of a bound on the probability that any estimate is outside at any look, for epsilon <= 1.

    Chernoff's bound, with rewards in [0, 1] by Hoeffding's, added up over t from ln(n)^2 to n, K arms and so many bins
    (n where they are not given). Where epsilon > 1 rewards matter more, but U is in the radius as well.
    """
    first = int(np.ceil(np.log(n) ** 2))
    # The bound falls in t: between two points of the grid it is at most what it is at the left one.
    t = np.unique(np.geomspace(first, n + 1, 200).astype(int))
    s = ARGUMENTS / max(1.0, abs(f))
    # Of the moments of (Y - f) epsilon / 4, at most t of them, and of xi and f zeta.
    cumulant = s**2 / 128 - np.log1p(-(s**2)) - np.log1p(-((f * s) ** 2))
    threshold = np.sqrt(c * np.log(n) * t[:-1]) / 4
    exponent = (t[:-1, None] * cumulant - threshold[:, None] * s).min(axis=1)
    every_look = logsumexp(exponent, b=np.diff(t))
    return float(np.log(2) + every_look + np.log(K) + np.log(n if bins is None else bins))
