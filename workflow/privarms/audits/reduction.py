"""From counts to bounds: what audits show, whichever they are, in one table."""

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


def reduce(counts: pd.DataFrame, audit: ModuleType, settings: Sequence[str], confidence: float = 0.95) -> pd.DataFrame:
    """A row per setting of one audit; columns `audit`, `subject` and `MEASURES`, the same for all, and the settings.

    counts: replicate rows of a study of the protocol `audit`: the parameters of its subject and its inputs, of which
    `neighbour` is one, `trials` and `events`
    audit: a module of this room
    settings: the parameters that tell the rows apart; others that differ stand behind the measures

    claimed: the privacy loss that is promised at epsilon; exact: the log ratio of the event's probabilities, nan where
    it is not known; lower_bound: on any epsilon that the subject has, from counts, which holds with probability
    `confidence`, -inf where the likelier neighbour has no event; trials: with each neighbour; low_0 to high_1: the
    Clopper-Pearson intervals of the event's probability with either neighbour, each of that confidence
    """
    subject = subject_of(counts, audit)
    configure = library.load("policies", subject).configure
    wanted = list(settings)
    settings = [*wanted, *(k for k in parameters(counts) if k not in wanted and counts[k].nunique(dropna=False) > 1)]
    rows = []
    for setting, cell in counts.groupby(list(settings), observed=True, dropna=False):
        params, inputs = configure(**given(configure, cell)), audit.configure(**given(audit.configure, cell))
        sums = cell.groupby("neighbour")[["events", "trials"]].sum()
        if not {0, 1} <= set(sums.index):
            found = ", ".join(map(str, sums.index))
            raise PrivarmsError(f"the grid of an audit: neighbour: expected [0, 1]; found {found}")
        seen = {n: tuple(int(sums.loc[n, column]) for column in ("events", "trials")) for n in (0, 1)}
        likelier = audit.likelier(inputs)
        ends = [end for n in (0, 1) for end in clopper_pearson(*seen[n], confidence)]
        rows.append(
            {
                "audit": audit.__name__.rpartition(".")[2],
                "subject": subject,
                **dict(zip(settings, setting, strict=True)),
                "claimed": audit.claimed_loss(float(cell["epsilon"].iloc[0])),
                "exact": audit.log_ratio(params, inputs),
                "lower_bound": epsilon_lower_bound(*seen[1 - likelier], *seen[likelier], confidence),
                "confidence": confidence,
                "trials": seen[1 - likelier][1],
                **{name: float(end) for name, end in zip(ENDS, ends, strict=True)},
            }
        )
    return pd.DataFrame(rows, columns=["audit", "subject", *wanted, *MEASURES, *settings[len(wanted) :]])


def parameters(counts: pd.DataFrame) -> list[str]:
    """The parameters of subject and inputs but for the neighbour, in the order of their columns."""
    others = ("cell", "policy", "data", "environment", "panels", "neighbour", "replicate", "trials", "events")
    return [k for k in counts.columns if k not in others]


def subject_of(counts: pd.DataFrame, audit: ModuleType) -> str:
    """The one policy or mechanism that was audited; the audit's first where the rows do not say."""
    if "policy" not in counts:
        return audit.SUBJECT if isinstance(audit.SUBJECT, str) else audit.SUBJECT[0]
    subjects = counts["policy"].unique()
    if len(subjects) > 1:
        raise PrivarmsError(f"the rows of an audit: expected those of one subject; found {', '.join(subjects)}")
    return subjects[0]


def epsilon_lower_bound(
    events: int, trials: int, neighbour_events: int, neighbour_trials: int, confidence: float = 0.95
) -> float:
    """A lower bound on ln(Pr[event | neighbour] / Pr[event]), and so on the epsilon of any private mechanism.

    The lower end of the Clopper-Pearson interval of the neighbour's probability over the upper end of the other's.
    Each end errs with probability (1 - confidence) / 2, so that both hold with probability `confidence` (Bonferroni).
    -inf where the neighbour has no event.
    """
    low, _ = clopper_pearson(neighbour_events, neighbour_trials, confidence)
    _, high = clopper_pearson(events, trials, confidence)
    return float(np.log(low / high)) if low > 0 else float("-inf")


def given(configure: Callable, rows: pd.DataFrame) -> dict:
    """What `configure` takes of the rows' parameters; one that does not apply is missing there."""
    # Column by column: a row of numbers alone would make floats of integers.
    given = {k: rows[k].iloc[0] for k in signature(configure).parameters if k in rows}
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in given.items() if pd.notna(v)}
