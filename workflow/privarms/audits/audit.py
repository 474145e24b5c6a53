"""The type of an audit: an event on two neighbouring inputs, its observed frequency and its exact probability."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numba import njit

from privarms.protocols._loops import compiled


class Inputs(NamedTuple):
    """The inputs of most audits.

    neighbour: which of the two inputs, 0 or 1; noise: multiple of the subject's noise, below 1 for a weakened control
    n_arms, dimensions: the sizes that the subject must have; None for any
    """

    neighbour: int
    noise: float = 1.0
    n_arms: int | None = None
    dimensions: int | None = None


def scaled(field: str) -> Callable:
    """Return the `with_noise` of an audit whose subject stores the scale of its noise in this field."""
    return lambda params, noise: params._replace(**{field: getattr(params, field) * noise})


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One event on two neighbouring inputs, and the privacy loss that its subjects claim.

    subjects: the names of the audited policies or mechanisms, one string or several; none for an audit of families
    families: the families of which it can audit any policy
    inputs(..., neighbour): the `configure` of the audit's module; returns a NamedTuple for neighbour 0 or 1
    event(*arguments, rng): the kernel of one trial; returns whether the event happens; only the subject is random
    arguments(policy, params, inputs, horizon, trials, rng): returns the arguments of the kernel from the module of the
        subject, `policy`, and the result of its `configure`, `params`. Their first item must not be a function: numba
        warns that it cannot unify functions.
    exact(params, inputs): the probability of the event; nan if it is unknown
    exact_loss(params, inputs): the log ratio of the probabilities, if a formula is simpler than their ratio
    likelier: the neighbour with which the event is likelier, or a function of the inputs that returns it
    claimed(epsilon): the log ratio that the subject promises not to exceed
    with_noise(params, noise): the subject with this multiple of its noise, if the inputs have a `noise`
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
        """Return the name of the audit's module."""
        return self.inputs.__module__.rpartition(".")[2]

    def count(self, policy, params, inputs, horizon: int | None, trials: int, rng) -> int:
        """Return in how many trials the event happens. Raise ValueError if the audit does not fit its arguments."""
        arguments = self.arguments(policy, self._weakened(params, inputs), inputs, horizon, trials, rng)
        return compiled(_count)(self.event, arguments, trials, rng)

    def probability(self, params, inputs) -> float:
        """Return the probability of the event, nan if it is unknown."""
        return self.exact(self._weakened(params, inputs), inputs)

    def loss(self, params, pair: Sequence) -> float:
        """Return the log of the event's probability with the likelier neighbour, divided by that with the other one.

        pair: the inputs of neighbours 0 and 1
        Returns inf if the event is impossible only with the less likely neighbour, nan if with both or if unknown.
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


@njit(inline="always")
def _count(event, arguments, trials, rng):
    events = 0
    for _ in range(trials):
        events += event(*arguments, rng)
    return events
