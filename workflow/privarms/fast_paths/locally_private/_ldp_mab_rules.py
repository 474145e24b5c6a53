"""The rules of LDPMAB's fast path, with the same names as in `policies.locally_private.ldp_mab`.

Inlined functions get numbers, records and `Rules`, which contain no array. Numba counts the references to every array
argument, which in a loop over bins takes longer than the work itself. t: users of the current source since the bin
became active; squared: the square of this source's epsilon.
"""

import numpy as np
from numba import njit

from privarms.fast_paths.locally_private._partition import record_type

# An arm in a bin.
ARM = record_type(
    ("U", np.float64),  # noisy sums of the current source, (12) and (25)
    ("V", np.float64),
    ("N", np.float64),  # weighted sums of V, of U and of variances, (26) and (28), of earlier sources;
    ("D", np.float64),  # where sums are running, of earlier batches
    ("B", np.float64),
    ("estimate", np.float64),  # at the last update
    ("radius", np.float64),  # at the last update; infinite before the first
    ("chance", np.float64),  # the probability that a user in the bin pulls this arm or one before it
    ("pulled", np.int64),  # users of the current batch who pulled the arm, without noise
    ("rewarded", np.int64),  # of them, those with reward 1
    ("active", np.bool_),
)


@njit(inline="always")
def weighs(rules, t):
    """Return whether the source has a weight in a bin, (27)."""
    return (t > rules.warm_up) | (rules.at_warm_up & (t >= rules.warm_up))


@njit(inline="always")
def weight(rules, squared, U, t):
    """Return lambda, the weight of the source, (27), for its noisy count U."""
    share = squared * U / t
    return min(abs(share) if rules.absolute else share, 1.0) if weighs(rules, t) else 0.0


@njit(inline="always")
def terms(squared, t, share, arm):
    """Return the source's terms, at weight `share`, in numerator and denominator of (26) and in the sum of (28)."""
    return share * arm.V, share * arm.U, share * share * max(arm.U, t / squared)


@njit(inline="always")
def sums(rules, squared, t, arm):
    """Return the source's weight, numerator and denominator of (26), and the sum of variances in (28)."""
    share = weight(rules, squared, arm.U, t)
    numerator, denominator, variance = terms(squared, t, share, arm)
    return share, arm.N + numerator, arm.D + denominator, arm.B + variance


@njit(inline="always")
def estimate(rules, numerator, denominator):
    """Return the estimate of an arm, (13) and (26), with 0/0 = 0."""
    divisor = denominator + rules.denominator
    f = numerator / divisor if divisor != 0 else 0.0
    return f if rules.unclipped else min(max(f, 0.0), 1.0)


@njit(inline="always")
def radius(rules, denominator, variance):
    """Return the radius r of an arm, (14) and (28); infinite before a source has a weight."""
    if denominator == 0:
        return np.inf
    return rules.scale * np.sqrt(variance + rules.offset) / abs(denominator)


@njit(inline="always")
def half_width(rules, side, arm):
    """Return half the width of an arm's confidence interval in (16) and (29)."""
    width = rules.width * arm.radius
    return width if rules.no_floor else max(width, side)


@njit(inline="always")
def eliminated(rules, side, best, arm):
    """Return whether an arm's interval is below `best`, the highest lower end of an interval, (16) and (29)."""
    return best > arm.estimate + half_width(rules, side, arm)


@njit(inline="always")
def is_narrow(rules, side, arm):
    """Return whether an arm's radius is below tau_s, (17)."""
    return arm.radius < rules.tau * side


@njit(inline="always")
def is_fine(rules, narrow, asked):
    """Return whether the bin is refined, (17), if `narrow` of the `asked` radii are below tau_s."""
    return narrow > 0 if rules.some_arm else narrow == asked


@njit(error_model="numpy")
def set_chances(rules, bins, arms, i):
    """Write the probabilities of the arms in bin i: uniform, (8), or those of the released program."""
    K, active, lowest, highest = arms.shape[1], 0, np.inf, -np.inf
    for k in range(K):
        if arms[i, k].active:
            active += 1
            lowest, highest = min(lowest, arms[i, k].estimate), max(highest, arms[i, k].estimate)
    spread, slope, total = highest - lowest, 0.0, 0.0
    if not rules.uniform and i > 0 and spread >= 0.01:
        slope = np.log(1.2 * K / active) / (spread + 1e-4)
    for k in range(K):
        if arms[i, k].active:
            total += np.exp(slope * arms[i, k].estimate)
        arms[i, k].chance = total
    for k in range(K):
        arms[i, k].chance /= total
    bins[i].stale = False
