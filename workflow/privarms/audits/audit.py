"""The type of an audit: how often an event happens with each of two neighbouring inputs, and how often it should."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numba import njit

from privarms.jit.cache import compiled


class Inputs(NamedTuple):
    """neighbour: which of the two inputs, 0 or 1; noise: multiple of the noise, below 1 for a weakened control."""

    neighbour: int
    noise: float


def checked(inputs):
    """Return inputs with the field `neighbour`, and perhaps `noise`. Raises ValueError for an impossible value."""
    if inputs.neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {inputs.neighbour}")
    if not 0 < getattr(inputs, "noise", 1.0) < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {inputs.noise}")
    return inputs


@dataclass(frozen=True)
class Audit:
    """One event, for the neighbouring inputs that the `configure` of the audit's module returns.

    count(policy, params, inputs, horizon, trials, rng): in how many trials the event happens; policy: the module of the
    subject, params: what its `configure` returns; all randomness comes from the subject
    probability(params, inputs): of the event, exactly; nan where it is unknown
    likelier: the neighbour with which the event is likelier, or a function of the inputs that returns it
    claimed(epsilon): the log ratio of the two probabilities that the subject promises not to exceed, epsilon
    closed_form(params, inputs): the exact log ratio, where a formula is simpler than the ratio of the probabilities
    """

    count: Callable
    probability: Callable = lambda params, inputs: math.nan
    likelier: int | Callable = 1
    claimed: Callable = lambda epsilon: epsilon
    closed_form: Callable | None = None

    def likelier_of(self, inputs) -> int:
        """Return the neighbour with which the event is likelier, 0 or 1."""
        return self.likelier(inputs) if callable(self.likelier) else self.likelier

    def log_ratio(self, params, pair: Sequence) -> float:
        """Return the logarithm of the event's probability with the likelier neighbour over that with the other one.

        pair: the inputs of neighbours 0 and 1. inf for an event that is impossible with the less likely neighbour, nan
        for an event that is impossible with both or has no known probability.
        """
        if self.closed_form:
            return self.closed_form(params, pair[0])
        likelier = self.likelier_of(pair[0])
        likely, unlikely = (self.probability(params, pair[n]) for n in (likelier, 1 - likelier))
        if unlikely == 0:
            return math.inf if likely > 0 else math.nan
        return math.log(likely / unlikely)


def count_events(happens: Callable, arguments: tuple, trials: int, rng) -> int:
    """Return in how many trials the kernel `happens(*arguments, rng)` is true.

    Do not start `arguments` with a function: numba then warns that it tries to unify a tuple of functions.
    """
    return compiled(_count)(happens, arguments, trials, rng)


@njit
def _count(happens, arguments, trials, rng):
    events = 0
    for _ in range(trials):
        events += happens(*arguments, rng)
    return events
