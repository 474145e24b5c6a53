"""Bounds on epsilon from the counts of an audit: one table for all audits."""

from collections.abc import Callable, Sequence
from inspect import signature
from types import ModuleType

import numpy as np
import pandas as pd

from privarms.errors import PrivarmsError
from privarms.inference.proportions import clopper_pearson
from privarms.studies import library

ENDS = ("low_0", "high_0", "low_1", "high_1")
MEASURES = ("claimed", "exact", "lower_bound", "confidence", "trials", *ENDS)


def reduce(counts: pd.DataFrame, module: ModuleType, settings: Sequence[str], confidence: float = 0.95) -> pd.DataFrame:
    """Return a row per setting of one audit; columns `audit`, `subject`, the settings, `MEASURES`.

    counts: replicate rows of a study of the protocol `audit`: the parameters of subject and inputs, `neighbour` among
    them, `trials` and `events`
    module: of the audit
    settings: the parameters that distinguish the rows; others that differ follow the measures

    claimed: the privacy loss that is promised at epsilon; exact: the log ratio of the event's probabilities, nan where
    it is unknown; lower_bound: on any epsilon of the subject, from counts, valid with probability `confidence`, -inf
    where the likelier neighbour has no event; trials: with each neighbour; low_0 to high_1: the Clopper-Pearson
    intervals of the event's probability with either neighbour, each of that confidence
    """
    subject, audit = subject_of(counts, module), module.AUDIT
    wanted = list(settings)
    settings = [*wanted, *(k for k in parameters(counts) if k not in wanted and counts[k].nunique(dropna=False) > 1)]
    rows = []
    for setting, cell in counts.groupby(list(settings), observed=True, dropna=False):
        params, pair = configured(subject, module, cell)
        sums = cell.groupby("neighbour")[["events", "trials"]].sum()
        if not {0, 1} <= set(sums.index):
            found = ", ".join(map(str, sums.index))
            raise PrivarmsError(f"the grid of an audit: neighbour: expected [0, 1]; found {found}")
        seen = [tuple(int(sums.loc[n, column]) for column in ("events", "trials")) for n in (0, 1)]
        likelier = audit.likelier_of(pair[0])
        ends = [end for one in seen for end in clopper_pearson(*one, confidence)]
        rows.append(
            {
                "audit": module.__name__.rpartition(".")[2],
                "subject": subject,
                **dict(zip(settings, setting, strict=True)),
                "claimed": audit.claimed(float(cell["epsilon"].iloc[0])),
                "exact": audit.log_ratio(params, pair),
                "lower_bound": epsilon_lower_bound(*seen[1 - likelier], *seen[likelier], confidence),
                "confidence": confidence,
                "trials": seen[1 - likelier][1],
                **{name: float(end) for name, end in zip(ENDS, ends, strict=True)},
            }
        )
    return pd.DataFrame(rows, columns=["audit", "subject", *wanted, *MEASURES, *settings[len(wanted) :]])


def parameters(counts: pd.DataFrame) -> list[str]:
    """Return the parameters of subject and inputs except the neighbour, in the order of their columns."""
    others = ("cell", "policy", "data", "environment", "panels", "neighbour", "replicate", "trials", "events")
    return [k for k in counts.columns if k not in others]


def subject_of(counts: pd.DataFrame, module: ModuleType) -> str:
    """Return the one policy or mechanism that was audited; the audit's first one where the rows have no `policy`."""
    if "policy" not in counts:
        return module.SUBJECT if isinstance(module.SUBJECT, str) else module.SUBJECT[0]
    subjects = counts["policy"].unique()
    if len(subjects) > 1:
        raise PrivarmsError(f"the rows of an audit: expected those of one subject; found {', '.join(subjects)}")
    return subjects[0]


def configured(subject: str, module: ModuleType, rows: pd.DataFrame, **changed) -> tuple:
    """Return the parameters of the subject and the inputs of neighbours 0 and 1.

    rows: of one setting; changed: parameters that replace those of the rows
    """

    def of(configure: Callable, **more):
        takes = signature(configure).parameters
        # Column by column: a row of numbers alone would turn integers into floats.
        values = {k: rows[k].iloc[0] for k in takes if k in rows}
        # A parameter that does not apply is missing in the rows.
        values = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items() if pd.notna(v)}
        return configure(**values | {k: v for k, v in changed.items() if k in takes} | more)

    return of(library.load("policies", subject).configure), [of(module.configure, neighbour=n) for n in (0, 1)]


def epsilon_lower_bound(
    events: int, trials: int, neighbour_events: int, neighbour_trials: int, confidence: float = 0.95
) -> float:
    """Return a lower bound on ln(Pr[event | neighbour] / Pr[event]), and so on the epsilon of any private mechanism.

    The lower end of the Clopper-Pearson interval of the neighbour's probability over the upper end of the other one's.
    Each end errs with probability (1 - confidence) / 2, so both are valid with probability `confidence` (Bonferroni).
    -inf where the neighbour has no event.
    """
    low, _ = clopper_pearson(neighbour_events, neighbour_trials, confidence)
    _, high = clopper_pearson(events, trials, confidence)
    return float(np.log(low / high)) if low > 0 else float("-inf")
