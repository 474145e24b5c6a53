"""Stopping rules query at some times whether the samples so far suffice; the protocol `stopping` runs them.

`init(params, rng)` returns the state, and `ask` the state of the next query, whose field `at` is the number of samples
at that query. `stops` answers the query from the sum `total` of t samples, and `estimate` then estimates the mean.
"""

from collections import namedtuple

CONTRACT = {
    "init": ("params", "rng"),
    "ask": ("params", "state", "rng"),
    "stops": ("params", "state", "t", "total", "rng"),
    "estimate": ("params", "t", "total", "rng"),
}
FAST_PATH = ("params", "environment", "rng")

# The four functions, `@njit`, of a stopping rule.
Rule = namedtuple("Rule", CONTRACT)
