"""Bounds on epsilon from the counts of an audit: one table for all audits."""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from privarms.audits.agreement import agreeing_loss
from privarms.audits.audit import Audit
from privarms.inference.proportions import clopper_pearson
from privarms.ranges import dimensions, part_and_total, strictly_within, whole, within
from privarms.registry import privacy
from privarms.registry.modules import PolicyModule

ENDS = ("low_0", "high_0", "low_1", "high_1")
MEASURES = ("claimed", "exact", "lower_bound", "confidence", "trials", *ENDS)
COUNTS = ("likelier_events", "likelier_trials", "other_events", "other_trials")


def reduce(counts: pd.DataFrame, audit: Audit, settings: Sequence[str], confidence: float = 0.95) -> pd.DataFrame:
    """Return one row per setting of one audit; columns `audit`, `subject`, the settings, `MEASURES`, `COUNTS`, `cells`.

    counts: replicate rows of one subject in a study of the protocol `audit`: `cell`, `policy`, the parameters of
        subject and inputs, with `neighbour`, then `trials` and `events`
    settings: the parameters that distinguish the rows; other parameters that vary are appended before `COUNTS`

    claimed: the privacy loss that is promised at epsilon
    exact: the log ratio of the event's probabilities, nan if it is unknown or contradicts the counts (`agreement`)
    lower_bound: on epsilon, as `epsilon_lower_bound`
    trials: with each neighbour; `COUNTS`: with the neighbour with which the event is likelier, and with the other one
    low_0 to high_1: the Clopper-Pearson intervals of the event's probability with each neighbour, at `confidence`
    cells: the names of the cells of both neighbours
    """
    subject, wanted = counts["policy"].iloc[0], list(settings)
    further = [k for k in parameters(counts) if k not in wanted and counts[k].nunique(dropna=False) > 1]
    rows = []
    for setting, cell in counts.groupby([*wanted, *further], observed=True, dropna=False):
        params, pair = configured(subject, audit, cell)
        sums = counted(cell)
        likelier = audit.likelier_of(pair[0])
        likely, other = sums[likelier], sums[1 - likelier]
        ends = [end for n in (0, 1) for end in clopper_pearson(*sums[n], confidence)]
        rows.append(
            {
                "audit": audit.name,
                "subject": subject,
                **dict(zip([*wanted, *further], setting, strict=True)),
                "claimed": audit.claimed(float(cell["epsilon"].iloc[0])),
                "exact": agreeing_loss(audit, params, pair, sums),
                "lower_bound": epsilon_lower_bound(*other, *likely, confidence, promised_delta(subject, cell)),
                "confidence": confidence,
                "trials": other[1],
                **dict(zip(ENDS, map(float, ends), strict=True)),
                **dict(zip(COUNTS, (*likely, *other), strict=True)),
                "cells": " ".join(map(str, cell["cell"].unique())),
            }
        )
    return pd.DataFrame(rows, columns=["audit", "subject", *wanted, *MEASURES, *further, *COUNTS, "cells"])


def counted(cell: pd.DataFrame) -> dict[int, tuple[int, int]]:
    """Return the events and trials with neighbours 0 and 1, from replicate rows of one setting."""
    sums = cell.groupby("neighbour")[["events", "trials"]].sum().transpose()
    return {n: tuple(sums[n].tolist()) for n in (0, 1)}


def losses(table: pd.DataFrame, confidence: float) -> dict[str, pd.Series | np.ndarray]:
    """Return the columns `loss`, `loss_low` and `loss_high` of a table that `reduce` returned.

    loss: the log ratio of the shares of events, -inf or nan if a neighbour has none
    loss_low, loss_high: an interval; each end of each proportion errs with probability (1 - confidence) / 2
    """
    events, trials, other_events, other_trials = (table[name] for name in COUNTS)
    low, high = clopper_pearson(events, trials, confidence)
    other_low, other_high = clopper_pearson(other_events, other_trials, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "loss": np.log((events / trials) / (other_events / other_trials)),
            "loss_low": np.log(low / other_high),
            "loss_high": np.log(high / other_low),
        }


def promised_delta(subject: str, cell: pd.DataFrame) -> float:
    """Return the delta of (epsilon, delta)-privacy that a subject promises in these rows, 0 for pure privacy."""
    given = cell["delta"].iloc[0] if "delta" in cell else None
    return privacy.promised_delta(subject, {} if pd.isna(given) else {"delta": float(given)})


def parameters(counts: pd.DataFrame) -> list[str]:
    """Return the parameters of subject and inputs except the neighbour, in the order of their columns."""
    others = ("cell", "policy", "data", "environment", "panels", "neighbour", "replicate", "trials", "events", "found")
    return [k for k in counts.columns if k not in others]


def configured(subject: str, audit: Audit, rows: pd.DataFrame, **changed) -> tuple[Any, list]:
    """Return the parameters of the subject and the inputs of both neighbours; changed: parameters not from the rows."""

    def of(configure: Callable, **more):
        takes = signature(configure).parameters
        # Column by column: taking a row of numbers would turn integers into floats.
        values = {k: rows[k].iloc[0] for k in takes if k in rows}
        # A parameter that does not apply is missing in the rows.
        values = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items() if pd.notna(v)}
        return configure(**values | {k: v for k, v in changed.items() if k in takes} | more)

    return of(PolicyModule(subject).module.configure), [of(audit.inputs, neighbour=n) for n in (0, 1)]


def epsilon_lower_bound(
    events: int,
    trials: int,
    neighbour_events: int,
    neighbour_trials: int,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Return a lower bound on ln((Pr[event | neighbour] - delta) / Pr[event]).

    So it bounds the epsilon of any (epsilon, delta)-private mechanism, with delta = 0 of any epsilon-private one. It
    takes the lower Clopper-Pearson end of the neighbour's probability and the upper end of the other one. Each end errs
    with probability (1 - confidence) / 2, so both are valid with probability `confidence` (Bonferroni). Returns -inf if
    the lower end is not above delta, as without an event. Raises ValueError for counts that are not whole numbers with
    0 <= events <= trials, for no trials, for a confidence outside (0, 1) and for a delta outside [0, 1].
    """
    numbers = {"neighbour_events": neighbour_events, "neighbour_trials": neighbour_trials, "confidence": confidence}
    dimensions(0, events=events, trials=trials, delta=delta, **numbers)
    whole(1, trials=trials, neighbour_trials=neighbour_trials)
    part_and_total(events=events, trials=trials)
    part_and_total(neighbour_events=neighbour_events, neighbour_trials=neighbour_trials)
    strictly_within(0, 1, confidence=confidence)
    within(0, 1, delta=delta)
    low, _ = clopper_pearson(neighbour_events, neighbour_trials, confidence)
    _, high = clopper_pearson(events, trials, confidence)
    return float(np.log((low - delta) / high)) if low > delta else float("-inf")
