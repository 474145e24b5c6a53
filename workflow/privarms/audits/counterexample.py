"""The pair of neighbouring inputs and the event that a search selected, as a file that can be counted once more."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from privarms.audits.reduction import epsilon_lower_bound
from privarms.audits.search import Event, Found, selected
from privarms.audits.verdicts import CONFIDENCE
from privarms.errors import PrivarmsError, check_known
from privarms.files.model import Model, checked
from privarms.files.whole import write_text
from privarms.registry import library, modules
from privarms.registry.modules import EnvironmentModule, PolicyModule


class SavedEvent(Model):
    """An `Event`: its shape, and its scores that are not 0 with their places."""

    shape: tuple[int, int, int]
    threshold: float
    scores: list[tuple[int, int, int, float]]


class Counterexample(Model):
    """What a file has.

    audit, policy: their names; parameters: of the policy's `configure`; epsilon, delta: the claim
    inputs: the fields of the two inputs, the less likely one first
    """

    audit: str
    policy: str
    parameters: dict[str, Any]
    epsilon: Annotated[float, Field(gt=0)]
    delta: Annotated[float, Field(ge=0, lt=1)]
    inputs: Annotated[list[dict[str, Any]], Field(min_length=2, max_length=2)]
    event: SavedEvent


def write(file: Path | str, audit: str, policy: str, parameters: Mapping, promised: tuple, found: Found) -> None:
    """Write a JSON file; promised: the claimed epsilon and delta; parameters: of the policy's `configure`."""
    scores = found.event.scores
    places = [(int(t), int(before), int(arm), float(scores[t, before, arm])) for t, before, arm in np.argwhere(scores)]
    event = SavedEvent(shape=scores.shape, threshold=found.event.threshold, scores=places)
    content = Counterexample(
        audit=audit,
        policy=policy,
        parameters=dict(parameters),
        epsilon=promised[0],
        delta=promised[1],
        inputs=[_plain(one._asdict()) for one in found.inputs],
        event=event,
    )
    write_text(file, content.model_dump_json() + "\n")


def count(file: Path | str, trials: int, seed: int) -> dict[str, Any]:
    """Count the event of a file in fresh runs with each of its two inputs.

    Returns policy, claimed epsilon, delta, the events with the less likely and the likelier input, trials, and the
    lower bound on the privacy loss, valid with probability 0.99999. Raises PrivarmsError for a file that `write` did
    not write, and for an unknown policy.
    """
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise PrivarmsError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise PrivarmsError(f"{file}: expected a JSON file that `privarms audit --save` wrote: {error}") from None
    saved = checked(Counterexample, content, file)
    searches = [audit for audit in modules.audits() if EnvironmentModule(audit).audited_families]
    check_known(f"{file}: audit", "audit", saved.audit, searches)
    check_known(f"{file}: policy", "policy", saved.policy, library.names("policies"))
    policy, module = PolicyModule(saved.policy).module, EnvironmentModule(saved.audit).module
    try:
        params = policy.configure(**saved.parameters)
        pair = [module.INPUT(**{name: _array(value) for name, value in one.items()}) for one in saved.inputs]
        event = Event(np.zeros(saved.event.shape), saved.event.threshold)
        for *place, value in saved.event.scores:
            event.scores[tuple(place)] = value
        arms = {saved.parameters.get("K", event.scores.shape[1]), *event.scores.shape[1:], *map(module.arms, pair)}
        if len(arms) > 1:
            raise ValueError(f"expected one number of arms; found {', '.join(map(str, sorted(arms)))}")
    except (ValueError, TypeError, IndexError, AttributeError, MemoryError) as error:
        raise PrivarmsError(
            f"{file}: expected the inputs and the event of {saved.policy} that `privarms audit --save` wrote: {error}"
        ) from None
    found, events = Found((pair[0], pair[1]), event, np.nan), []
    audit = replace(module.AUDIT, arguments=lambda policy, params, inputs, *_: selected(policy, params, found, inputs))
    for neighbour in (0, 1):
        events.append(audit.count(policy, params, neighbour, None, trials, np.random.default_rng([seed, neighbour])))
    bound = epsilon_lower_bound(events[0], trials, events[1], trials, CONFIDENCE, saved.delta)
    return {
        **{"policy": saved.policy, "claimed_epsilon": saved.epsilon, "delta": saved.delta, "events": events[0]},
        **{"likelier_events": events[1], "trials": trials, "lower_bound": bound},
    }


def _plain(fields: Mapping) -> dict:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in fields.items()}


def _array(value):
    return np.array(value, np.float64) if isinstance(value, list) else value
