"""The probability that a ratio of noisy sums leaves the radius (14) of Ma et al. (2025), Proposition 2.7.

After t users of a bin, the sums V of rewards and U of pulls have noise (4 / epsilon) xi and (4 / epsilon) zeta. Here xi
and zeta are sums of t standard Laplace variables. The estimate V / U is farther than the radius from its expectation f
if

  |sum of (Y - f) + 4 / epsilon (xi - f zeta)| > sqrt(c ln n max(t / epsilon^2, U)).

The noise has variance 32 t (1 + f^2) / epsilon^2. At one evaluation, a probability of n^-2 thus needs c >= 128
(1 + f^2), to first order. A union over all t <= n costs another factor n and needs c >= 192 (1 + f^2). Arms, bins and
the tails of the Laplace distribution at small t need more. An absolute constant must also cover f = 1.
"""

import numpy as np
from scipy.special import logsumexp

from privarms.ranges import dimensions, positive, whole

# Arguments of the Chernoff bound, in (0, 1).
ARGUMENTS = np.linspace(0, 1, 2_002)[1:-1]


def log_miss_bound(c: float, n: int, K: int, bins: int | None = None) -> float:
    """Return ln of a bound on the probability that any estimate ever leaves the radius, for epsilon <= 1 and f = 1.

    Chernoff's bound, with Hoeffding's for rewards in [0, 1], summed over t from ln(n)^2 to n, K arms and `bins` bins
    (default: n). For epsilon > 1 rewards matter more, but U is in the radius as well. c: > 0; n: >= 2; K, bins: >= 1.
    Raises ValueError for other numbers.
    """
    bins = n if bins is None else bins
    dimensions(0, c=c, n=n, K=K, bins=bins)
    positive(c=c)
    whole(2, n=n)
    whole(1, K=K, bins=bins)
    first = int(np.ceil(np.log(n) ** 2))
    # The bound falls in t, so between two grid points it is at most its value at the left one.
    t = np.unique(np.geomspace(first, n + 1, 200).astype(int))
    s = ARGUMENTS
    # Cumulants of (Y - f) epsilon / 4, at most t of them, and of xi and zeta.
    cumulant = s**2 / 128 - np.log1p(-(s**2)) - np.log1p(-(s**2))
    threshold = np.sqrt(c * np.log(n) * t[:-1]) / 4
    exponent = (t[:-1, None] * cumulant - threshold[:, None] * s).min(axis=1)
    every_look = logsumexp(exponent, b=np.diff(t))
    return float(np.log(2) + every_look + np.log(K) + np.log(bins))
