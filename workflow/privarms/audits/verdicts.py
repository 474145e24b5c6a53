"""The verdicts of audit.csv: which mechanisms and policies exceed the epsilon that they claim.

A row with less than the full noise is a weakened control. Its bound must exceed the claim of the row with full noise.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import NamedTuple

import pandas as pd

from privarms.audits.agreement import contradiction
from privarms.audits.audit import Audit
from privarms.audits.power import power
from privarms.audits.reduction import ENDS, configured, counted, parameters, promised_delta, reduce
from privarms.registry.modules import EnvironmentModule, PolicyModule

NOT_PRIVATE, NO_VIOLATION, NOT_CAUGHT, NOT_AUDITED = VERDICTS = (
    "not private as claimed",
    "no violation shown",
    "not caught",
    "not audited",
)
MEASURES = (
    *("subject", "family", "variant", "claimed_epsilon", "exact", "lower_bound", "level", "trials"),
    *("power_against_half_noise", "broken_twin_lower_bound", "verdict", "note"),
)
COLUMNS = (*MEASURES, "reading", "setting", "epsilon", "audit", "paper", "study", "confidence", *ENDS)
# The confidence of one bound. It is fixed: another audit changes only the joint level of all bounds.
CONFIDENCE = 1 - 1e-5
HALF = 0.5
WRITE_ONE = "Write an audit and a study that runs it (docs/extend-by-kind.md, An audit)."
# The tolerance for rounding of an exact loss that equals the claim.
ROUNDING = 1e-6


class Audited(NamedTuple):
    """One setting: its row as `reduce` returns it, with the columns that distinguish it from others.

    noise: the multiple; half: the event's probabilities with half the noise, the smaller one first; None if unknown
    row["found"]: what a search selected, in words, if there was one; row["searched"]: whether the audit searches
    scope: what the audit changed, in words; contradicted: the exact value that contradicts the counts, empty if none
    """

    row: dict
    noise: float
    half: tuple[float, float] | None
    scope: str = ""
    contradicted: str = ""

    @property
    def key(self) -> tuple:
        """Return the key that a row shares with its weakened controls."""
        return tuple(self.row[k] for k in ("paper", "audit", "subject", "variant", "setting", "claimed"))

    @property
    def seen(self) -> tuple[float, float]:
        """Return the observed rates of the event, the smaller one first."""
        one, other = (self.row[f"{which}_events"] / self.row[f"{which}_trials"] for which in ("likelier", "other"))
        return min(one, other), max(one, other)


def table(studies: Iterable[tuple[str, str, pd.DataFrame]], subjects: Iterable[str] = ()) -> pd.DataFrame:
    """Return one row per subject and setting with the full noise, `COLUMNS`; subjects that are not private come first.

    studies: paper, name and replicate rows of each study of the protocol `audit`
    subjects: others that claim an epsilon; each that no study audits gets a row "not audited"
    """
    settings = [one for paper, study, counts in studies for one in _of_study(paper, study, counts)]
    # A policy may refuse the larger budget of a control.
    controls = [one for one in settings if one.noise < 1 and one.row["trials"]]
    # Each bound errs with the same probability, so all are valid together with this one (Bonferroni).
    level = round(1 - len(settings) * (1 - CONFIDENCE), 10)
    rows = [_judged(one, [c for c in controls if c.key == one.key], level) for one in settings if one.noise >= 1]
    audited = {one.row["subject"] for one in settings}
    rows += [_unaudited(subject, f"No audit fits. {WRITE_ONE}") for subject in subjects if subject not in audited]
    rows.sort(key=lambda row: VERDICTS.index(row["verdict"]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line per subject, variant and assumption, with the verdict of its most informative setting.

    A subject is not private as claimed if one setting shows this. Otherwise no violation is shown if at least one
    setting could have shown one. The line is the setting of that verdict with the largest ratio of bound to claim.
    Columns: `COLUMNS` and `settings`, their number.
    """
    lines = []
    for _, group in rows.groupby(["subject", "variant", "reading"], sort=False, dropna=False):
        first = next(verdict for verdict in VERDICTS if (group["verdict"] == verdict).any())
        those = group[group["verdict"] == first]
        share = (those["lower_bound"] / those["claimed_epsilon"]).astype(float).fillna(-math.inf)
        lines.append(those.iloc[int(share.to_numpy().argmax())].to_dict() | {"settings": len(group)})
    lines.sort(key=lambda line: VERDICTS.index(line["verdict"]))
    return pd.DataFrame(lines, columns=[*COLUMNS, "settings"])


def warning(lines: pd.DataFrame, policies: Iterable[tuple[str, str]]) -> str:
    """Return which of `policies` are not private as claimed or were not audited; an empty string if there are none.

    lines: as `summary` returns them
    policies: pairs of a policy and its variant. A line or a pair without a variant fits all variants of the policy
    """
    shown, policies = [], list(policies)
    for verdict, sentence in (
        (NOT_PRIVATE, "The audits show that {names} {are} not private as claimed."),
        (NOT_AUDITED, "{names} {were} not audited."),
    ):
        those = lines[lines["verdict"] == verdict]
        names = {
            PolicyModule(subject).label + (f" ({variant.replace('_', ' ')})" if variant else ""): None
            for subject, variant in zip(
                those["subject"], ["" if pd.isna(v) else v for v in those["variant"]], strict=True
            )
            if any(subject == policy and (not variant or own in ("", variant)) for policy, own in policies)
        }
        one = len(names) == 1
        verbs = {"are": "is" if one else "are", "were": "was" if one else "were"}
        shown += [sentence.format(names=_listed([*names]), **verbs)] if names else []
    return " ".join(shown)


def _listed(names: Sequence[str]) -> str:
    """Return names as an enumeration: "a", "a and b" or "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _of_study(paper: str, study: str, counts: pd.DataFrame) -> Iterable[Audited]:
    """Return the settings of one study, weakened controls included."""
    audit = EnvironmentModule(counts["environment"].iloc[0]).audit
    for policy, own in counts.groupby("policy", sort=False, observed=True):
        subject = str(policy)
        takes = PolicyModule(subject).arguments
        settings = [k for k in parameters(own) if own[k].notna().any()]
        apart = [k for k in settings if k not in ("variant", "epsilon", "noise", "promised")]
        readings = [k for k in apart if k in takes and takes[k].choices]
        for _, cell in own.groupby(settings, sort=False, observed=True, dropna=False):
            ran = cell["trials"].sum() > 0
            row = cell.iloc[0][settings].to_dict() | {"audit": audit.name, "trials": 0}
            row |= reduce(cell, audit, settings, CONFIDENCE).iloc[0].to_dict() if ran else {}
            epsilon = float(row["epsilon"])
            promised = _or(row.get("promised"), epsilon)
            noise = _or(row.get("noise"), 1.0) * promised / epsilon
            read = {k: _or(row[k], takes[k].default) for k in readings}
            row |= {"subject": subject, "family": PolicyModule(subject).family, "paper": paper, "study": study}
            row |= {"variant": _or(row.get("variant"), ""), "setting": _words(row, apart)}
            row |= {"reading": _words(read, readings), "epsilon": promised, "claimed": audit.claimed(promised)}
            row |= {"found": cell["found"].iloc[0]} if "found" in cell else {}
            row |= {"promised_delta": promised_delta(subject, cell), "searched": bool(audit.families)}
            half = _with_half_the_noise(subject, audit, cell) if noise == 1 and ran else None
            # An exact loss that the counts contradict is missing in the row, like one that is unknown.
            contradicted = ""
            if ran and math.isnan(row["exact"]):
                contradicted = contradiction(audit, *configured(subject, audit, cell), counted(cell))
            yield Audited(row, noise, half, audit.scope([row]), contradicted)


def _or(value, otherwise):
    return otherwise if value is None or pd.isna(value) else value


def _words(row: Mapping, names: Iterable[str]) -> str:
    return ", ".join(f"{k} = {row[k]}" for k in names if pd.notna(row[k]))


def _with_half_the_noise(subject: str, audit: Audit, cell: pd.DataFrame) -> tuple[float, float] | None:
    """Return the exact rates with half the noise; None where they are unknown."""
    takes = {*PolicyModule(subject).arguments, *signature(audit.inputs).parameters}
    # If an audit separates the claimed budget from the policy's own, twice the budget is half the noise.
    half = {"epsilon": float(cell["epsilon"].iloc[0]) / HALF} if "promised" in takes else {"noise": HALF}
    if not half.keys() & takes:
        return None
    try:
        params, pair = configured(subject, audit, cell, **half)
    except ValueError:
        # The audit has no such inputs for a policy with half the noise.
        return None
    likelier = audit.likelier_of(pair[0])
    rates = audit.probability(params, pair[1 - likelier]), audit.probability(params, pair[likelier])
    return None if any(map(math.isnan, rates)) else rates


def _judged(audited: Audited, controls: list[Audited], level: float) -> dict:
    """Return the row of audit.csv."""
    row, claimed = audited.row, audited.row["claimed"]
    if not row["trials"]:
        return _unaudited(
            row["subject"], "It could not be run here; the log of its shard gives the reason. " + WRITE_ONE
        ) | {k: row[k] for k in ("variant", "reading", "setting", "audit", "paper", "study")}
    exact, bound = float(row["exact"]), float(row["lower_bound"])
    # The control with the smallest bound, because no control may hide another.
    control = min(controls, key=lambda one: one.row["lower_bound"], default=None)
    judged = {
        **{k: row[k] for k in COLUMNS if k in row},
        **{"claimed_epsilon": claimed, "level": level},
        "broken_twin_lower_bound": control.row["lower_bound"] if control else math.nan,
    }
    half, notes, observed = audited.half, [], False
    if audited.contradicted or any(one.contradicted for one in controls):
        half = None
    if half is None:
        half = next((one.seen for one in controls if one.noise == HALF), None)
        observed = half is not None
    delta = row["promised_delta"]
    caught = power(*half, claimed, int(row["trials"]), CONFIDENCE, delta) if half else math.nan
    # The exact loss knows no delta.
    if bound > claimed or (not delta and exact > claimed * (1 + ROUNDING)):
        judged["verdict"] = NOT_PRIVATE
        notes, caught = [] if bound > claimed else ["The exact calculation shows this; these trials do not."], math.nan
    else:
        control_caught = control is not None and control.row["lower_bound"] > claimed
        judged["verdict"] = NO_VIOLATION if control_caught else NOT_CAUGHT
        detection = _detection(audited.scope, caught, control and control.noise, control_caught, row["searched"])
        notes += [audited.scope, detection]
        if observed:
            notes += ["We computed this probability from the rates of the event in the control."]
        if bound == -math.inf:
            notes += ["The event never happened."]
    if not math.isclose(claimed, row["epsilon"]):
        notes.insert(0, f"The claim is about this event, for a budget of {row['epsilon']:g}.")
    notes.insert(0, audited.contradicted)
    notes.append(_or(row.get("found"), ""))
    return judged | {"power_against_half_noise": caught, "note": " ".join(filter(None, notes))}


def _detection(scope: str, power: float, control: float | None, caught: bool, searched: bool = False) -> str:
    """Return sentences on the probability that half of the noise is detected, and on the weakened control that ran.

    scope: what the audit changed, if it says so; power: nan if unknown; searched: whether the change was searched
    control: the noise of the weakened control, a multiple; None if none ran; caught: whether the audit detected it
    """
    sentence = "The probability that the audit detects half of the noise is unknown"
    if not math.isnan(power):
        own = "The same search, with inputs and an event of its own,"
        audit = own if searched else "With this change the audit" if scope else "The audit"
        sentence = f"{audit} detects half of the noise with probability {math.floor(100 * power) / 100:g}"
        if control == HALF:
            expected = caught == (power >= HALF)
            return f"{sentence}, {'and' if expected else 'but'} it {'did' if caught else 'did not'}."
    if control is None:
        return f"{sentence}. No weakened control ran."
    return f"{sentence}. The audit {'detected' if caught else 'did not detect'} the control with {control:.3g} of it."


def _unaudited(subject: str, note: str) -> dict:
    """Return the row of a subject that claims an epsilon and has no audit."""
    return {
        **dict.fromkeys(COLUMNS, math.nan),
        **{"subject": subject, "family": PolicyModule(subject).family, "variant": "", "reading": "", "setting": ""},
        **{"verdict": NOT_AUDITED, "note": note},
    }
