"""Counts of LDPMAB's fast path for the protocol's records; no decision depends on them."""

import numpy as np
from numba import njit

from privarms.fast_paths.locally_private._partition import record_type

# Quantities of an arm in a bin that the algorithm does not know; updated only if misses are counted.
TRUTH = record_type(
    ("expected", np.float64),  # sum of the expected rewards of the current batch
    ("total", np.float64),  # sums of expected rewards, and of users, of the current source
    ("users", np.float64),
    ("weighted_total", np.float64),  # weighted as N and D are: their ratio is the expectation in (14)
    ("weighted_users", np.float64),
)
COUNTS = record_type(
    ("live", np.int64),  # bins that are followed
    ("removals", np.int64),  # arms that were eliminated in a bin
    ("looks", np.int64),  # updates of estimates with a finite radius
    ("misses", np.int64),  # of them, those whose error exceeds the radius, (14)
    # Of the target:
    ("in_parts", np.int64),  # users in a followed bin that is not the whole cube
    ("halvings", np.int64),  # halvings of these bins, summed over the users
    ("followed", np.int64),  # followed bins, summed over batches
    ("empty", np.int64),  # of them, those without a user in the batch
    ("alone", np.int64),  # of them, those with one user in the batch
)


@njit(inline="always")
def count_look(rules, counts, arm, truth, share):
    """Count the update of an estimate, and a miss if its expectation, (14), is outside the radius."""
    total = truth.weighted_total + share * truth.total
    users = truth.weighted_users + share * truth.users
    if not rules.single_sum:
        truth.weighted_total, truth.weighted_users = total, users
    expected = total / users if users != 0 else 0.0
    if arm.radius < np.inf:
        counts.looks += 1
        counts.misses += abs(arm.estimate - expected) > arm.radius


@njit(inline="always")
def count_messages(counts, halvings, here):
    """Count a bin in the target's batch; halvings: of the bin; here: users in it."""
    if halvings > 0:
        counts.in_parts += here
        counts.halvings += here * halvings
    counts.followed += 1
    counts.empty += here == 0
    counts.alone += here == 1
