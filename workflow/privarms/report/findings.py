"""What was found, in sentences that the numbers make: `findings` of config/studies.

A finding names rows (of the ledger, of a table, of the audits) and has wordings, each with what must hold of these rows
for it to be said. The first wording that fits is shown, with the rows' numbers in it; if none does, nothing is.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from privarms.errors import PrivarmsError, check_known

# {row.column}, with a format of Python's for numbers, {row.column:.3g} or {row.column:.0%}.
FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}")
KINDS = ("claim", "table", "audit", "statement")
BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "above": lambda value, bound: value > bound,
    "at_least": lambda value, bound: value >= bound,
    "below": lambda value, bound: value < bound,
    "at_most": lambda value, bound: value <= bound,
}


class Said(NamedTuple):
    """A sentence, the artifact that shows it, and the claims on which it rests, as (claim, variant)."""

    finding: str
    text: str
    artifact: str
    claims: tuple[tuple[str, str], ...]


class Rows(NamedTuple):
    """Where findings read: functions from names to rows, mappings of columns to texts; KeyError for a name unknown.

    claim: name, variant -> the ledger's row; statement: name -> the row of statements.csv
    table: artifact -> its rows; audit: the rows of audit.csv
    """

    claim: Callable[[str, str], Mapping[str, str]]
    statement: Callable[[str], Mapping[str, str]]
    table: Callable[[str], Sequence[Mapping[str, str]]]
    audit: Sequence[Mapping[str, str]]


def check(where: str, findings: Mapping[str, Mapping], artifacts, claims: Sequence[Mapping]) -> None:
    """PrivarmsError for a finding that names an artifact, a claim, a statement or a row that is not there.

    artifacts: names of the paper's; claims: the paper's, as `studies.claims.load` gives them
    """
    named = {(claim["claim"], claim.get("variant", "")) for claim in claims}
    about = {claim["about"] for claim in claims}
    for name, finding in findings.items():
        at = f"{where}: findings.{name}"
        for artifact in [finding["shows"], *(r["table"] for r in finding["reads"].values() if "table" in r)]:
            check_known(at, "artifact", artifact, artifacts)
        for row, read in finding["reads"].items():
            if "claim" in read and (read["claim"], read.get("variant", "")) not in named:
                raise PrivarmsError(f"{at}.reads.{row}: no claim {read['claim']!r} of this variant; correct the name")
            if "statement" in read and read["statement"] not in about:
                raise PrivarmsError(f"{at}.reads.{row}: no statement {read['statement']!r}; correct the name")
        for wording in finding["says"]:
            used = {field[0] for field in FIELD.findall(wording["text"])}
            used |= {key.partition(".")[0] for key in wording.get("when", {})}
            if unknown := sorted(used - set(finding["reads"])):
                known = ", ".join(finding["reads"])
                raise PrivarmsError(f"{at}.says: {unknown[0]!r} is none of the rows under `reads`, {known}; correct it")


def say(where: str, findings: Mapping[str, Mapping], rows: Rows) -> list[Said]:
    """The sentences that the rows allow, in the order of the findings.

    PrivarmsError for a column that a row does not have, and for a row of a table that is not the only one.
    """
    said = []
    for name, finding in findings.items():
        at = f"{where}: findings.{name}"
        found = {row: _row(f"{at}.reads.{row}", read, rows) for row, read in finding["reads"].items()}
        for wording in finding["says"]:
            text = _worded(at, wording, found)
            if text is not None:
                rest = [(r["claim"], r.get("variant", "")) for r in finding["reads"].values() if "claim" in r]
                said.append(Said(name, text, finding["shows"], tuple(rest)))
                break
    return said


def _row(where: str, read: Mapping, rows: Rows) -> Mapping[str, str] | None:
    """The row that is read; None where it was not made."""
    try:
        if "claim" in read:
            return rows.claim(read["claim"], read.get("variant", ""))
        if "statement" in read:
            return rows.statement(read["statement"])
        among = rows.table(read["table"]) if "table" in read else rows.audit
    except KeyError:
        return None
    chosen = read["where"]
    if among and (unknown := [column for column in chosen if column not in among[0]]):
        raise PrivarmsError(f"{where}.where: no column {unknown[0]!r}; expected some of {', '.join(among[0])}")
    fitting = [row for row in among if all(_same(row[column], value) for column, value in chosen.items())]
    if len(fitting) > 1:
        raise PrivarmsError(f"{where}.where: {len(fitting)} rows fit; expected one: name more columns")
    return fitting[0] if fitting else None


def _same(text: str, value) -> bool:
    if isinstance(value, (str, bool)):
        return text == str(value)
    number = _number(text)
    return number is not None and math.isclose(number, value, rel_tol=1e-9)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _worded(where: str, wording: Mapping, rows: Mapping[str, Mapping[str, str] | None]) -> str | None:
    """The wording with its numbers; None where it does not fit or a number is missing."""

    def value(row: str, column: str) -> str | None:
        if rows[row] is None:
            return None
        if column not in rows[row]:
            raise PrivarmsError(f"{where}: {row}.{column}: no such column; expected one of {', '.join(rows[row])}")
        return rows[row][column]

    for key, wanted in wording.get("when", {}).items():
        row, _, column = key.partition(".")
        found = value(row, column)
        if found is None or not _holds(found, wanted):
            return None
    missing = False

    def fill(field: re.Match) -> str:
        nonlocal missing
        found = value(field[1], field[2])
        missing = missing or not found
        if not found:
            return ""
        number = _number(found)
        if number is None:
            return found
        if math.isinf(number):
            return "∞" if number > 0 else "−∞"
        if field[3]:
            return format(number, field[3]).replace("-", "−")
        # It imports pandas, a quarter of a second of every plan, which checks findings and says none.
        from privarms.plots.tables import shown

        return shown(number)

    text = FIELD.sub(fill, wording["text"])
    return None if missing else text


def _holds(found: str, wanted) -> bool:
    if isinstance(wanted, Mapping):
        number = _number(found)
        return number is not None and all(BOUNDS[word](number, bound) for word, bound in wanted.items())
    return any(_same(found, one) for one in (wanted if isinstance(wanted, list) else [wanted]))
