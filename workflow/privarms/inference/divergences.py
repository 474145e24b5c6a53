"""Divergences between Bernoulli distributions, which bounds and indices use to distinguish two means.

x and y are means in [0, 1]: a bandit asks whether an arm of mean x could be as good as y. level is at least 0 and
epsilon above 0; both may be inf. Other numbers raise ValueError. numba compiles these functions, so the message has no
value, and numba itself refuses anything but numbers.
"""

import numpy as np
from numba import njit

# Limit of Newton's steps, which end earlier once rounding reverses them.
MOST_STEPS = 100


@njit
def kl(x, y):
    """Return the Kullback-Leibler divergence of Bernoulli(y) from Bernoulli(x), inf if y is 0 or 1 and x is not."""
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise ValueError("x, y: expected numbers in [0, 1]")
    divergence = 0.0
    if x > 0:
        divergence += x * np.log(x / y) if y > 0 else np.inf
    if x < 1:
        divergence += (1 - x) * np.log((1 - x) / (1 - y)) if y < 1 else np.inf
    return max(divergence, 0.0)


@njit
def d_epsilon(x, y, epsilon):
    """Return inf over z in [x, y] of epsilon (z - x) + kl(z, y) (Azize et al. 2025, section 3); 0 for y <= x.

    The derivative in z is epsilon + logit(z) - logit(y), which increases. The infimum is at z = x if the derivative is
    not negative there. Otherwise it is where logit(z) = logit(y) - epsilon, with the value -ln(1 - y (1 -
    e^-epsilon)) - epsilon x. The result is at most kl(x, y) and at most epsilon (y - x).
    """
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise ValueError("x, y: expected numbers in [0, 1]")
    if not epsilon > 0:
        raise ValueError("epsilon: expected a number > 0")
    if y <= x:
        return 0.0
    if y < 1 and x * (1 - y) >= y * (1 - x) * np.exp(-epsilon):
        return kl(x, y)
    # Not 1 - y (1 - e^-epsilon), which loses its digits where y is near 1.
    remainder = (1 - y) + y * np.exp(-epsilon)
    if remainder == 0:
        return epsilon * (y - x)
    return max(-np.log(remainder) - epsilon * x, 0.0)


@njit
def kl_upper(x, level):
    """Return the largest y in [0, 1] with kl(x, y) <= level.

    Newton's method from above, where kl(x, .) - level is positive, increasing and convex: it falls to the root and
    never below it. It starts from the smaller of Pinsker's bound and that of kl(x, y) >= -(1 - x) ln(1 - y) -
    entropy of x.
    """
    if not (0 <= x <= 1 and level >= 0):
        raise ValueError("x, level: expected x in [0, 1] and level >= 0")
    if x >= 1:
        return 1.0
    if x <= 0:
        return -np.expm1(-level)
    entropy = -x * np.log(x) - (1 - x) * np.log1p(-x)
    y = min(x + np.sqrt(level / 2), -np.expm1(-(level + entropy) / (1 - x)))
    for _ in range(MOST_STEPS):
        if y <= x or y >= 1:
            break
        step = (kl(x, y) - level) * y * (1 - y) / (y - x)
        if not step > 1e-15 * y:
            break
        y -= step
    return min(max(y, x), 1.0)


@njit
def d_epsilon_upper(x, level, epsilon):
    """Return the largest y in [0, 1] with d_epsilon(x, y, epsilon) <= level.

    d_epsilon equals kl up to the y with logit(y) = logit(x) + epsilon, and its closed form beyond.
    """
    if not (0 <= x <= 1 and level >= 0 and epsilon > 0):
        raise ValueError("x, level, epsilon: expected x in [0, 1], level >= 0 and epsilon > 0")
    # For a large epsilon, e^-epsilon is 0.
    turn = x / (x + (1 - x) * np.exp(-epsilon)) if x > 0 else 0.0
    if turn > x and kl(x, turn) >= level:
        return kl_upper(x, level)
    return min(np.expm1(-(level + epsilon * x)) / np.expm1(-epsilon), 1.0)
