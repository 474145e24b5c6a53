"""Stopping rules: they read samples and ask, now and then, whether these suffice; the protocol `stopping` runs them.

`init(params, rng)` makes the state, `ask` the state of the next query, with the number of samples `at` which it comes,
`stops` answers it from the sum `total` of t samples, and `estimate` says then what their mean is.
"""

from collections.abc import Callable
from typing import NamedTuple

CONTRACT = {
    "init": ("params", "rng"),
    "ask": ("params", "state", "rng"),
    "stops": ("params", "state", "t", "total", "rng"),
    "estimate": ("params", "t", "total", "rng"),
}
FAST_PATH = ("params", "environment", "rng")


class Rule(NamedTuple):
    """The four functions, `@njit`, of a stopping rule."""

    init: Callable
    ask: Callable
    stops: Callable
    estimate: Callable
