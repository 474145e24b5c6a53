"""The pair of neighbouring inputs and the event that a search selected, as a file that can be counted once more."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from privarms.audits.reduction import epsilon_lower_bound
from privarms.audits.search import Event, Found
from privarms.audits.verdicts import CONFIDENCE
from privarms.errors import PrivarmsError
from privarms.files.whole import write_text
from privarms.policies import Policy, functions
from privarms.registry import library


def write(file: Path | str, audit: str, policy: str, parameters: Mapping, promised: tuple, found: Found) -> None:
    """Write a JSON file; promised: the claimed epsilon and delta; parameters: of the policy's `configure`."""
    places = np.argwhere(found.event.scores)
    content = {
        **{"audit": audit, "policy": policy, "parameters": dict(parameters)},
        **{"epsilon": promised[0], "delta": promised[1]},
        "inputs": [_plain(one._asdict()) for one in found.inputs],
        "event": {
            "shape": found.event.scores.shape,
            "threshold": found.event.threshold,
            "scores": [[*map(int, place), float(found.event.scores[tuple(place)])] for place in places],
        },
    }
    write_text(file, json.dumps(content, indent=1) + "\n")


def count(file: Path | str, trials: int, seed: int) -> dict[str, Any]:
    """Count the event of a file in fresh runs with each of its two inputs.

    Returns policy, claimed epsilon, delta, the events with the less likely and the likelier input, trials, and the
    lower bound on the privacy loss, valid with probability 0.99999. Raises PrivarmsError for a file that `write` did
    not write, and for an unknown policy.
    """
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        name, event = content["policy"], content["event"]
        scores = np.zeros(event["shape"])
        for *place, value in event["scores"]:
            scores[tuple(place)] = value
        module = library.load("environments", content["audit"])
        inputs = [module.INPUT(**{k: _array(v) for k, v in one.items()}) for one in content["inputs"]]
        promised, delta = float(content["epsilon"]), float(content["delta"])
    except OSError as error:
        raise PrivarmsError(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, ImportError) as error:
        raise PrivarmsError(
            f"{file}: expected a file that `privarms audit --save` wrote; found a fault: {error}"
        ) from None
    if name not in library.names("policies"):
        raise PrivarmsError(f"{file}: policy: unknown policy {name!r}; name its folder with --extension")
    policy = library.load("policies", name)
    params, kernel = policy.configure(**content["parameters"]), Event(scores, event["threshold"])
    events = []
    for neighbour, one in enumerate(inputs):
        choices = np.zeros(len(scores), np.int64)
        arguments = functions(Policy, policy), params, one, kernel, choices
        audit = replace(module.AUDIT, arguments=lambda *_, arguments=arguments: arguments)
        events.append(audit.count(policy, params, one, None, trials, np.random.default_rng([seed, neighbour])))
    bound = epsilon_lower_bound(events[0], trials, events[1], trials, CONFIDENCE, delta)
    return {
        **{"policy": name, "claimed_epsilon": promised, "delta": delta, "events": events[0]},
        **{"likelier_events": events[1], "trials": trials, "lower_bound": bound},
    }


def _plain(fields: Mapping) -> dict:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in fields.items()}


def _array(value):
    return np.array(value, np.float64) if isinstance(value, list) else value
