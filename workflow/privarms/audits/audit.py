"""The type of an audit: an event on two neighbouring inputs, its observed frequency and its exact probability."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import NamedTuple

from numba import njit

from privarms.kernels.loops import loop

# An exact probability may ignore other events with at most this share of it. Above it the probability is nan.
IGNORED = 1e-6


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
    changed: one sentence for readers of a verdict: in what the two inputs differ, with parameters in braces such as {K}
    setting: parameters with which the audit detects half of the noise, for a run without a study; epsilon is free.
        `times` is a multiple of the requested trials, for an event that is rarer or quicker than others
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
    changed: str = ""
    setting: Mapping = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the audit's module."""
        return self.inputs.__module__.rpartition(".")[2]

    def count(self, policy, params, inputs, horizon: int | None, trials: int, rng) -> int:
        """Return in how many trials the event happens. Raise ValueError if the audit does not fit its arguments."""
        arguments = self.arguments(policy, self._weakened(params, inputs), inputs, horizon, trials, rng)
        return loop(_count)(self.event, arguments, trials, rng)

    def probability(self, params, inputs) -> float:
        """Return the probability of the event, nan if it is unknown."""
        return self.exact(self._weakened(params, inputs), inputs)

    def loss(self, params, pair: Sequence) -> float:
        """Return the log of the event's probability with the likelier neighbour, divided by that with the other one.

        pair: the inputs of neighbours 0 and 1
        Returns inf if the event is impossible only with the other one, and -inf if only with the likelier one. Returns
        nan if it is impossible with both, or if a probability is unknown.
        """
        if self.exact_loss:
            return self.exact_loss(self._weakened(params, pair[0]), pair[0])
        likelier = self.likelier_of(pair[0])
        likely, unlikely = (self.probability(params, pair[n]) for n in (likelier, 1 - likelier))
        if unlikely == 0:
            return math.inf if likely > 0 else math.nan
        return math.log(likely / unlikely) if likely != 0 else -math.inf

    def likelier_of(self, inputs) -> int:
        """Return the neighbour with which the event is likelier, 0 or 1."""
        return self.likelier(inputs) if callable(self.likelier) else self.likelier

    def scope(self, settings: Iterable[Mapping]) -> str:
        """Return what the audit changed in these settings, and that it tried nothing else; empty if it does not say."""
        settings = list(settings)

        def shown(name: str) -> str:
            values = dict.fromkeys(setting[name] for setting in settings)
            return " and ".join(value if isinstance(value, str) else f"{value:,.12g}" for value in values)

        names = [name for _, name, _, _ in Formatter().parse(self.changed) if name]
        sentence = self.changed.format_map({name: shown(name) for name in names})
        return f"{sentence} Other changes were not tried." if sentence else ""

    def _weakened(self, params, inputs):
        return self.with_noise(params, inputs.noise) if hasattr(inputs, "noise") else params


@njit(inline="always")
def _count(event, arguments, trials, rng):
    events = 0
    for _ in range(trials):
        events += event(*arguments, rng)
    return events
