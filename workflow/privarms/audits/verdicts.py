"""What audits say of each mechanism and policy that claims an epsilon: audit.csv, and one line for each of these.

Rows with less than all of the noise are broken twins: they stand beside the row with all of it, which they must exceed.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from types import ModuleType
from typing import NamedTuple

import pandas as pd

from privarms.audits.power import WANTED, power, trials_for
from privarms.audits.reduction import ENDS, given, parameters, reduce
from privarms.studies import library

NOT_PRIVATE, PRIVATE, NOT_CAUGHT, NOT_AUDITED = VERDICTS = (
    "not private as claimed",
    "private as claimed",
    "not caught",
    "not audited",
)
MEASURES = (
    *("subject", "family", "variant", "claimed_epsilon", "exact", "lower_bound", "level", "trials"),
    *("power_against_half_noise", "broken_twin_lower_bound", "verdict", "note"),
)
COLUMNS = (*MEASURES, "reading", "setting", "epsilon", "audit", "paper", "study", "confidence", *ENDS)
# Of one bound, whatever else is audited: another audit changes no bound, but how many hold together.
CONFIDENCE = 1 - 1e-5
HALF = 0.5
WRITE_ONE = "Write an audit and a study that runs it (docs/extend.md, An audit)."
# Of an exact loss that is what is claimed, but for rounding.
ROUNDING = 1e-6


class Loss(NamedTuple):
    """The event's probability with the neighbour with whom it is less and more likely, and the log of their ratio."""

    unlikely: float
    likely: float
    exact: float


class Audited(NamedTuple):
    """What was counted of one setting. row: as `reduce` gives it, and what tells it from others; noise: the multiple;
    seen: the rates; half: what the event shows of half the noise, where that is known."""

    row: dict
    noise: float
    seen: Loss
    half: Loss | None

    @property
    def key(self) -> tuple:
        """The same for a row and its broken twins."""
        return tuple(self.row[k] for k in ("paper", "audit", "subject", "variant", "setting", "claimed"))


def table(studies: Iterable[tuple[str, str, pd.DataFrame]], subjects: Iterable[str] = ()) -> pd.DataFrame:
    """A row per subject and setting with all of the noise, `COLUMNS`; what is not private as claimed stands first.

    studies: paper, name and replicate rows of each study of the protocol `audit`
    subjects: what else claims an epsilon; a row of its own says of each that no study audits it
    """
    found = [one for paper, study, counts in studies for one in _of_study(paper, study, counts)]
    twins: dict[tuple, list[Audited]] = {}
    for one in found:
        if one.noise < 1:
            twins.setdefault(one.key, []).append(one)
    # Each bound errs with the same probability, so that all hold together with this one (Bonferroni).
    level = round(1 - len(found) * (1 - CONFIDENCE), 10)
    rows = [_judged(one, twins.get(one.key, []), level) for one in found if one.noise >= 1]
    audited = {one.row["subject"] for one in found}
    rows += [_unaudited(subject, f"No audit fits it. {WRITE_ONE}") for subject in subjects if subject not in audited]
    rows.sort(key=lambda row: VERDICTS.index(row["verdict"]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """A line per subject, variant and reading: its verdict, and the setting that shows most; `COLUMNS`, `settings`.

    It is not private as claimed if it is not in one setting, and private as claimed if no setting says so and one would
    have. settings: how many there are. Shown is the setting of that verdict with the largest bound over the claim.
    """
    lines = []
    for _, group in rows.groupby(["subject", "variant", "reading"], sort=False, dropna=False):
        first = next(verdict for verdict in VERDICTS if (group["verdict"] == verdict).any())
        those = group[group["verdict"] == first]
        share = (those["lower_bound"] / those["claimed_epsilon"]).astype(float).fillna(-math.inf)
        lines.append(those.loc[share.idxmax()].to_dict() | {"settings": len(group)})
    lines.sort(key=lambda line: VERDICTS.index(line["verdict"]))
    return pd.DataFrame(lines, columns=[*COLUMNS, "settings"])


def _of_study(paper: str, study: str, counts: pd.DataFrame) -> list[Audited]:
    """The rows of one study, those of broken twins too."""
    audit = library.load("environments", counts["environment"].iloc[0])
    found = []
    for subject, own in counts.groupby("policy", sort=False, observed=True):
        configure = library.load("policies", subject).configure
        takes = library.arguments("policies", subject)
        settings = [k for k in parameters(own) if own[k].notna().any()]
        apart = [k for k in settings if k not in ("variant", "epsilon", "noise", "promised")]
        readings = [k for k in apart if k in takes and takes[k].choices]
        defaults = {k: signature(configure).parameters[k].default for k in readings}
        for _, cell in own.groupby(settings, sort=False, observed=True, dropna=False):
            ran = cell["trials"].sum() > 0
            row = cell.iloc[0][settings].to_dict() | {"audit": audit.__name__.rpartition(".")[2], "trials": 0}
            row |= reduce(cell, audit, settings, CONFIDENCE).iloc[0].to_dict() if ran else {}
            epsilon = float(row["epsilon"])
            promised = _or(row.get("promised"), epsilon)
            row |= {"subject": subject, "family": library.family(subject), "paper": paper, "study": study}
            row |= {"variant": _or(row.get("variant"), ""), "setting": _words(row, apart)}
            row |= {"reading": _words(defaults | {k: row[k] for k in readings if pd.notna(row[k])}, readings)}
            row |= {"claimed": audit.claimed_loss(promised), "epsilon": promised}
            noise = _or(row.get("noise"), 1.0) * promised / epsilon
            sums = cell.groupby("neighbour")[["events", "trials"]].sum()
            rates = sorted(sums["events"] / sums["trials"])
            half = _with_half_the_noise(audit, configure, cell) if noise == 1 and ran else None
            found.append(Audited(row, noise, Loss(*rates, math.nan), half))
    return found


def _or(value, otherwise):
    return otherwise if value is None or pd.isna(value) else value


def _words(row: Mapping, names: Iterable[str]) -> str:
    return ", ".join(f"{k} = {row[k]}" for k in names if pd.notna(row[k]))


def _with_half_the_noise(audit: ModuleType, configure: Callable, cell: pd.DataFrame) -> Loss | None:
    """What the event shows of half the noise, exactly; None where that is not known."""
    if not hasattr(audit, "event_probability"):
        return None
    # Where an audit tells what is promised from what a policy is told, half of all noise is twice the budget.
    half = {"noise": HALF}
    if "promised" in signature(audit.configure).parameters:
        half = {"epsilon": float(cell["epsilon"].iloc[0]) / HALF}
    taken = [{k: v for k, v in half.items() if k in signature(f).parameters} for f in (configure, audit.configure)]
    if not any(taken):
        return None

    def of(f: Callable, **changed) -> object:
        return f(**given(f, cell) | taken[f is audit.configure] | changed)

    try:
        params, inputs = of(configure), [of(audit.configure, neighbour=n) for n in (0, 1)]
    except ValueError:
        # The audit has no such inputs for a policy with half the noise.
        return None
    likelier = audit.likelier(inputs[0])
    likely, unlikely = (audit.event_probability(params, inputs[n]) for n in (likelier, 1 - likelier))
    if math.isnan(likely) or math.isnan(unlikely):
        return None
    return Loss(unlikely, likely, math.log(likely / unlikely) if likely > 0 and unlikely > 0 else math.nan)


def _judged(audited: Audited, twins: list[Audited], level: float) -> dict:
    """The row of audit.csv."""
    row, claimed = audited.row, audited.row["claimed"]
    if not row["trials"]:
        return _unaudited(row["subject"], "It could not be run so; the log of its shard says why. " + WRITE_ONE) | {
            k: row[k] for k in ("variant", "reading", "setting", "audit", "paper", "study")
        }
    exact, bound = float(row["exact"]), float(row["lower_bound"])
    # Of several twins the one that is furthest from caught, so that none hides another.
    twin = min(twins, key=lambda one: one.row["lower_bound"], default=None)
    found = {
        **{k: row[k] for k in COLUMNS if k in row},
        **{"claimed_epsilon": claimed, "level": level},
        "broken_twin_lower_bound": twin.row["lower_bound"] if twin else math.nan,
    }
    half, said = audited.half, []
    if half is None:
        measured = [one for one in twins if one.noise == HALF]
        half = measured[0].seen if measured else None
        said += ["The power is that of the rates counted of the twin."] if half else []
    found["power_against_half_noise"] = (
        power(half.unlikely, half.likely, claimed, int(row["trials"]), CONFIDENCE) if half else math.nan
    )
    if bound > claimed or exact > claimed * (1 + ROUNDING):
        found["verdict"] = NOT_PRIVATE
        said = [] if bound > claimed else ["By calculation; these trials do not show it."]
        found["power_against_half_noise"] = math.nan
    else:
        found["verdict"] = PRIVATE if twin and twin.row["lower_bound"] > claimed else NOT_CAUGHT
        said += _of_power(half, found["power_against_half_noise"], claimed)
        said += [_of_twin(twin)] if twin else ["No broken twin was run."]
        if bound == -math.inf:
            said += ["The event never happened."]
    if not math.isclose(claimed, row["epsilon"]):
        said.insert(0, f"Claimed of this event, for a budget of {row['epsilon']:g}.")
    return found | {"note": " ".join(said)}


def _of_power(half: Loss | None, reached: float, claimed: float) -> list[str]:
    """What would be needed where half the noise is caught too rarely."""
    if half is None:
        return ["What half the noise shows is not known."]
    if reached >= WANTED:
        return []
    needed = trials_for(half.unlikely, half.likely, claimed, CONFIDENCE)
    if needed is None:
        shown = math.log(half.likely / half.unlikely) if half.unlikely > 0 < half.likely else math.nan
        seen = f"shows a loss of {shown:.3g} in this event" if math.isfinite(shown) else "shows nothing in this event"
        return [f"Half the noise {seen}, no more than is claimed: no number of trials catches it."]
    return [f"To catch half the noise with a power of {WANTED:.0%} takes {needed:,} trials."]


def _of_twin(twin: Audited) -> str:
    caught = "is caught" if twin.row["lower_bound"] > twin.row["claimed"] else "is not caught"
    return f"The twin with {twin.noise:.3g} of the noise {caught}."


def _unaudited(subject: str, said: str) -> dict:
    """The row of what claims an epsilon and has no audit."""
    return {
        **dict.fromkeys(COLUMNS, math.nan),
        **{"subject": subject, "family": library.family(subject), "variant": "", "reading": "", "setting": ""},
        **{"verdict": NOT_AUDITED, "note": said},
    }
