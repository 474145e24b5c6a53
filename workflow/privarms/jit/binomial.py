"""Binomial draws for counts of any size."""

from numba import njit

# Above about 3e9 the compiled `Generator.binomial` squares counts beyond the range of an int64.
DIRECT = 2**31


@njit
def binomial(n, p, rng):
    """Draw from Binomial(n, p), for 0 <= n <= 2**62 and p in [0, 1].

    A large n is halved until it is small. The i-th smallest of n uniform draws is Beta(i, n + 1 - i). If it is at most
    p, the count is i plus a binomial of the draws above it; otherwise it is a binomial of the draws below it.
    """
    count = 0
    while n > DIRECT:
        i = (n + 1) // 2
        below = rng.standard_gamma(i)
        cut = below / (below + rng.standard_gamma(n + 1 - i))
        if cut <= p:
            count += i
            n -= i
            p = min((p - cut) / (1 - cut), 1.0)
        else:
            n = i - 1
            p = min(p / cut, 1.0)
    return count + rng.binomial(n, p)
