"""The type of an audit: an event on two neighbouring inputs, how often it happens and how often it should."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numba import njit

from privarms.protocols._loops import compiled


class Inputs(NamedTuple):
    """What most audits need to know of their inputs.

    neighbour: which of the two inputs, 0 or 1; noise: multiple of the subject's noise, below 1 for a weakened control
    n_arms, dimensions: the sizes that the subject must have; None for any
    """

    neighbour: int
    noise: float = 1.0
    n_arms: int | None = None
    dimensions: int | None = None


def scaled(field: str) -> Callable:
    """Return the function `with_noise` of an audit whose subject has the scale of its noise in this field."""
    return lambda params, noise: params._replace(**{field: getattr(params, field) * noise})


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One event on two neighbouring inputs, and the privacy loss that its subjects claim.

    subjects: the names of the audited policies or mechanisms, a text or several; none for an audit of families
    families: those of which it can audit any policy
    inputs(..., neighbour): the `configure` of the audit's module; returns a NamedTuple for neighbour 0 or 1
    event(*arguments, rng): the kernel of one trial, which returns whether the event happens; only the subject is random
    arguments(policy, params, inputs, horizon, trials, rng): of the kernel. policy: the module of the subject; params:
        what its `configure` returns. Do not start them with a function: numba warns that it cannot unify functions.
    exact(params, inputs): the probability of the event; nan where it is unknown
    exact_loss(params, inputs): the log ratio of the probabilities, where a formula is simpler than their ratio
    likelier: the neighbour with which the event is likelier, or a function of the inputs that returns it
    claimed(epsilon): the log ratio that is promised not to be exceeded
    with_noise(params, noise): the subject with this multiple of its noise, where the inputs have a `noise`
    """

    subjects: str | tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    inputs: Callable
    event: Callable
    arguments: Callable = lambda policy, params, inputs, *others: (params, inputs)
    exact: Callable = lambda params, inputs: math.nan
    exact_loss: Callable | None = None
    likelier: int | Callable = 1
    claimed: Callable = lambda epsilon: epsilon
    with_noise: Callable = lambda params, noise: params

    @property
    def name(self) -> str:
        """The name of the audit's module."""
        return self.inputs.__module__.rpartition(".")[2]

    def count(self, policy, params, inputs, horizon: int | None, trials: int, rng) -> int:
        """Return in how many trials the event happens. Raises ValueError for what the audit does not fit."""
        arguments = self.arguments(policy, self._weakened(params, inputs), inputs, horizon, trials, rng)
        return compiled(_count)(self.event, arguments, trials, rng)

    def probability(self, params, inputs) -> float:
        """Return the probability of the event, nan where it is unknown."""
        return self.exact(self._weakened(params, inputs), inputs)

    def loss(self, params, pair: Sequence) -> float:
        """Return the logarithm of the event's probability with the likelier neighbour over that with the other one.

        pair: the inputs of neighbours 0 and 1. inf for an event that is impossible with the less likely neighbour, nan
        for an event that is impossible with both or has no known probability.
        """
        if self.exact_loss:
            return self.exact_loss(self._weakened(params, pair[0]), pair[0])
        likelier = self.likelier_of(pair[0])
        likely, unlikely = (self.probability(params, pair[n]) for n in (likelier, 1 - likelier))
        if unlikely == 0:
            return math.inf if likely > 0 else math.nan
        return math.log(likely / unlikely)

    def likelier_of(self, inputs) -> int:
        """Return the neighbour with which the event is likelier, 0 or 1."""
        return self.likelier(inputs) if callable(self.likelier) else self.likelier

    def _weakened(self, params, inputs):
        return self.with_noise(params, inputs.noise) if hasattr(inputs, "noise") else params


@njit
def _count(event, arguments, trials, rng):
    events = 0
    for _ in range(trials):
        events += event(*arguments, rng)
    return events
