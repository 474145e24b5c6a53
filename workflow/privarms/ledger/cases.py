"""Cases: a statement in each variant, assumption and panel, as rows of an inference table, and their verdicts."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from privarms.errors import PrivarmsError
from privarms.ledger import intervals, rules
from privarms.ledger.intervals import Measured
from privarms.ledger.rules import Accepted
from privarms.planning.statements import Statement, half_unit

COLUMNS = (
    *("statement", "case", "paper", "artifact", "kind", "variant", "assumes", "quote", "place", "test", "published"),
    *("accepted", "measured", "se", "low", "high", "runs", "verdict", "why", "post_hoc", "data"),
)
NUMBERS = ("measured", "se", "low", "high", "runs")
VARIANT = "variant"
# Columns of inference tables that are no settings, although no standard error or interval is theirs.
MEASURED_COLUMNS = (
    *("se", "ks", "ks_p", "effect", "exact", "lower_bound", "claimed", "confidence", "trials", "value"),
    *("events_0", "events_1"),
)
# A reason names the cells in which one run contributes a larger share of the mean regret.
CARRIED = 0.1


def judged(
    statement: Statement,
    table: pd.DataFrame | str,
    *,
    tags: Mapping[str, Sequence[str]],
    shrunk: Collection[str],
    printed: Sequence[Mapping[str, str]] = (),
    data: str = "simulated",
    complete: bool = False,
) -> list[dict]:
    """Return the rows of the ledger about one statement, one per case.

    table: the statement's inference table, or a sentence why there is none
    tags: cell -> the tags of its grids; a row counts if all its cells have a tag
    shrunk: the cells whose settings at this scale are not the published ones, so they are measured and not judged
    printed: the rows of the published table, as texts
    data: simulated, real or stand-in
    complete: whether the table has all rows of scale paper, so each value of `where` must be in one of them

    Raises PrivarmsError for a statement that does not fit its table.
    """
    about = _about(statement) | {"data": data}
    # With a measure, `unverifiable` is the reason for the entries of a printed table that the rows lack.
    if isinstance(table, str) or (statement.unverifiable and not statement.table):
        return [about | _unknown(str(table) if statement.table else statement.unverifiable)]
    # A table without a row has no columns either.
    absent = _absent(statement, table) if len(table) else {}
    if absent and complete:
        column, value = next(iter(absent.items()))
        known = ", ".join(dict.fromkeys(_as_in_where(one) for one in table[column]))
        raise PrivarmsError(
            f"{statement.at}.measure.where.{column}: no row of the inference table {statement.table} has the value "
            f"{_as_in_where(value)}; expected one of {known}"
        )
    cases = list(_cases(statement, _selected(statement, table, tags))) if len(table) else []
    found = [_row(statement, about, values, some, shrunk, printed) for values, some in cases]
    return found + _without_a_row(statement, about, [values for values, _ in cases], printed, absent)


def _about(statement: Statement) -> dict:
    return {
        **dict.fromkeys(COLUMNS, ""),
        "statement": f"{statement.paper}/{statement.name}",
        "paper": statement.paper,
        "artifact": f"{statement.paper}/{statement.artifact}",
        **{key: getattr(statement, key) for key in ("kind", "quote", "place", "test", "post_hoc")},
    }


def _unknown(reason: str) -> dict:
    return {"verdict": "unverifiable", "why": reason}


def _absent(statement: Statement, table: pd.DataFrame) -> dict:
    """Return column -> the first value of `where` that no row has. Raises PrivarmsError for an unknown column."""
    where = {column: values for column, values in statement.where.items() if column != "tag"}
    for column in where:
        if column not in table:
            raise PrivarmsError(
                f"{statement.at}.measure.where: no column {column!r}; expected one of {', '.join(table.columns)}"
            )
    absent = {column: [v for v in values if not among(table[column], [v]).any()] for column, values in where.items()}
    return {column: values[0] for column, values in absent.items() if values}


def _as_in_where(value) -> str:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, str):
        return value or '""'
    return '""' if pd.isna(value) else _brief(value)


def _selected(statement: Statement, table: pd.DataFrame, tags: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the rows of tagged cells with the statement's values."""
    where = dict(statement.where)
    wanted = set(where.pop("tag", ()))
    chosen = np.ones(len(table), bool)
    if "cells" in table:
        # A policy or grid that is added to a study has no tag and changes no case.
        sets = [[set(tags.get(cell, ())) for cell in str(cells).split()] for cells in table["cells"].fillna("")]
        chosen &= [all(one & wanted if wanted else one for one in cells) for cells in sets]
    for column, values in where.items():
        chosen &= among(table[column], values)
    return table[chosen]


def _cases(statement: Statement, rows: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the values that separate a case from the others, and its rows."""
    separating = [k for k in (VARIANT, *statement.by, *statement.assumes) if k in rows]
    if missing := [k for k in (*statement.by, *statement.assumes) if k not in rows]:
        raise PrivarmsError(
            f"{statement.at}: no column {missing[0]!r} in the table; expected {', '.join(rows.columns)}"
        )
    if not separating:
        if len(rows):
            yield {}, rows
        return
    values: tuple
    for values, some in rows.groupby(separating, sort=False, dropna=False, observed=True):
        yield {k: v for k, v in zip(separating, values, strict=True) if not pd.isna(v)}, some


def _row(statement: Statement, about: dict, values: dict, rows: pd.DataFrame, shrunk: Collection[str], printed) -> dict:
    measured, chosen, where = _measure(statement, rows)
    accepted, published = _accepted(statement, values, chosen, measured, printed)
    assumed = {k: v for k, v in values.items() if k in statement.assumes}
    verdict, reason = rules.judge(statement.kind, measured, accepted)
    if verdict == "unverifiable":
        reason = statement.unverifiable or reason
    used = {cell for cells in rows.get("cells", ()) for cell in str(cells).split()}
    # A table may have rows with different data.
    data = next((one for one in ("stand-in", "real") if "data" in rows and one in set(rows["data"])), about["data"])
    if data == "stand-in":
        verdict, reason = "unverifiable", "Measured on synthetic stand-in data."
    elif verdict not in ("measured", "unverifiable") and not used.isdisjoint(shrunk):
        verdict, reason = "undecided", rules.SMALLER_SCALE
    unbounded = _unbounded(rows, statement.measure[1]) if reason == rules.CONTAINS_AN_END else ""
    why = [reason, where, unbounded, _carried(rows)]
    if verdict in rules.BAD:
        why.append(statement.because)
    if verdict == "agrees" and not measured.low <= published[0] <= measured.high:
        why.append("The 99.9% interval leaves out the printed value itself.")
    return about | {
        "case": in_words({k: v for k, v in values.items() if k != VARIANT}),
        "variant": values.get(VARIANT, ""),
        "assumes": in_words(assumed),
        "published": published[1],
        "accepted": described(accepted),
        "measured": measured.value,
        "se": measured.se if not measured.is_exact else "",
        "low": measured.low,
        "high": measured.high,
        "runs": measured.runs if measured.runs is not None else "",
        "data": data,
        "verdict": verdict,
        "why": " ".join(filter(None, why)),
    }


def _measure(statement: Statement, rows: pd.DataFrame) -> tuple[Measured, pd.Series, str]:
    """Return the measured value of a case, its row, and sentences that name the rows of an extreme."""
    how, column = statement.measure
    if column not in rows:
        raise PrivarmsError(
            f"{statement.at}.measure.{how}: no column {column!r}; expected one of {', '.join(rows.columns)}"
        )
    if how == "true":
        if not all(isinstance(one, bool | np.bool_) for one in rows[column]):
            raise PrivarmsError(f"{statement.at}.measure.true: {column} must be true or false in every row")
        wrong = rows[~rows[column].astype(bool)]
        one = 1.0 if wrong.empty else 0.0
        where = f"{len(rows):,} instances." if len(rows) > 1 else ""
        if not wrong.empty and (setting := _setting(rows, wrong.iloc[0], column)):
            where = f"False at {setting}."
        return Measured(one, 0.0, one, one, None), rows.iloc[0], where
    if how == "value":
        if len(rows) != 1:
            settings = "; ".join(filter(None, (_setting(rows, row, column) for _, row in rows.head(3).iterrows())))
            raise PrivarmsError(
                f"{statement.at}: expected one row per case; found {len(rows)}{settings and f' ({settings})'}. "
                "Add a column to `by` or `assumes`, select with `where`, or take `smallest` or `largest`"
            )
        return intervals.of_row(rows.iloc[0], column), rows.iloc[0], ""
    measured, places = intervals.extreme(rows, column, how == "largest")
    return measured, rows.iloc[places[0]], _extreme(rows, column, how, places) if len(rows) > 1 else ""


def _extreme(rows: pd.DataFrame, column: str, how: str, places: Sequence[int]) -> str:
    """Name the row of an extreme, and the rows of its interval's ends where these are others."""
    place, low, high = places
    own, *others = (_setting(rows, rows.iloc[i], column) for i in places)
    # The settings of two rows may be the same text, because it leaves out measured columns.
    lower, upper = (f"The row at {one}" if one not in ("", own) else "Another row" for one in others)
    sentences = [f"{how.capitalize()} of {len(rows):,} rows{f', at {own}' if own else ''}."]
    if low == high != place:
        sentences.append(f"{lower} gives both ends of the interval.")
    else:
        if low != place:
            sentences.append(f"{lower} gives the lower end of the interval.")
        if high != place:
            sentences.append(f"{upper} gives the upper end of the interval.")
    return " ".join(sentences)


def _accepted(
    statement: Statement, values: Mapping, row: pd.Series, measured: Measured, printed
) -> tuple[Accepted | None, tuple[float, str]]:
    """Return the accepted region, and the published number with its text."""
    published = statement.published
    if statement.measure[0] == "true":
        return Accepted(1.0, 1.0), (math.nan, "")
    if (region := rules.side(published)) is not None:
        return region, (math.nan, rules.in_words(published))
    if "table" in published:
        text = next((line[published["value"]] for line in printed if _fits(line, values, statement.by)), None)
        if text is None:
            return None, (math.nan, "")
    elif "value" in published:
        text = str(published["value"])
    else:
        return None, (math.nan, "")
    value, rounding = float(text), half_unit(text)
    if statement.kind == "exact":
        return rules.printed(value, rounding, 0.0), (value, text)
    runs = published.get("runs")
    error = (
        intervals.scatter(row, statement.measure[1], runs, value, published.get("denominator")) if runs else math.nan
    )
    return rules.printed(value, rounding, error), (value, text)


def _without_a_row(statement: Statement, about: dict, found: Sequence[Mapping], printed, absent: Mapping) -> list[dict]:
    """Return unverifiable cases: the entries of a printed table without a measured row, or a statement without rows.

    absent: column -> a value of `where` that no row of the table has
    """
    if "table" not in statement.published:
        lacking = "".join(f" No row has {column} = {_as_in_where(value)}." for column, value in absent.items())
        return [] if found else [about | _unknown(f"This run has none of the statement's rows.{lacking}")]
    rows = []
    for line in printed:
        if not any(_fits(line, values, statement.by) for values in found):
            values = {k: line[k] for k in statement.by}
            number = {"published": line[statement.published["value"]]}
            reason = statement.unverifiable or "This run has no such row."
            rows.append(about | {"case": in_words(values)} | number | _unknown(reason))
    return rows


def _fits(line: Mapping[str, str], values: Mapping, by: Sequence[str]) -> bool:
    return all(_same(values.get(k), _typed(line[k])) for k in by)


def _same(value, printed: str | float) -> bool:
    """Return whether a case has a printed value; "" is no value, and numbers are compared to nine digits."""
    if value is None or isinstance(printed, str):
        return printed == ("" if value is None else str(value))
    return not isinstance(value, str) and math.isclose(value, printed, rel_tol=1e-9)


def _typed(text: str):
    try:
        return float(text)
    except ValueError:
        return text


def among(column: pd.Series, values: Sequence) -> np.ndarray:
    """Return which entries are one of the values; "" matches a missing value, numbers are compared to nine digits."""
    chosen = column.isna().to_numpy() if "" in values else np.zeros(len(column), bool)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        numbers = column.to_numpy(float)
        for value in values:
            if not isinstance(value, str):
                chosen = chosen | np.isclose(numbers, value, rtol=1e-9, atol=0)
        return chosen
    return chosen | column.astype(str).isin([str(v) for v in values]).to_numpy()


def in_words(values: Mapping) -> str:
    """Return settings as text: "K = 5, width = log3"."""
    return ", ".join(f"{k} = {v if isinstance(v, str) else _brief(v)}" for k, v in values.items())


def from_words(text: str) -> dict[str, str]:
    """Return the settings of a text that `in_words` wrote: "K = 5, width = log3" -> {"K": "5", "width": "log3"}.

    A comma separates two settings only before a name and " = ", so values may contain ", ".
    """
    parts = (part.partition(" = ") for part in re.split(r", (?=\w+ = )", text) if part)
    return {name: value for name, _, value in parts}


def _brief(number: float, digits: int = 6) -> str:
    """Return a number as text: whole numbers in full, others with significant digits."""
    whole = not math.isinf(number) and float(number).is_integer() and abs(number) < 1e15
    return str(int(number)) if whole else f"{number:.{digits}g}"


def described(accepted: Accepted | None) -> str:
    """Return an accepted region as text."""
    if accepted is None or math.isnan(accepted.low):
        return ""
    low, high = (_brief(end, 4 if abs(end) < 1000 else 10) for end in (accepted.low, accepted.high))
    if math.isinf(accepted.high):
        return f"{'above' if accepted.open else 'at least'} {low}"
    if math.isinf(accepted.low):
        return f"{'below' if accepted.open else 'at most'} {high}"
    return low if accepted.low == accepted.high else f"{low} to {high}"


def _setting(rows: pd.DataFrame, chosen: pd.Series, own: str) -> str:
    """Name the values of one row in the columns that vary among the rows and that are no measured values."""
    parts = ("se", "low", "high", "events", "trials", "sd", "top_sd", "bottom_sd", "bottom")
    columns = list(rows.columns)
    if "replicates" in columns:
        # A study's measured columns come after it.
        columns = columns[: columns.index("replicates")]
    measured = {own, *(c for c in rows.columns if any(f"{c}_{part}" in rows for part in parts))}
    aside = {"cell", "cells", "runs", "t", "regret_largest_share", *MEASURED_COLUMNS}
    aside |= measured | {f"{c}_{part}" for c in measured for part in parts}
    columns = [c for c in columns if c not in aside and rows[c].nunique(dropna=False) > 1]
    # A number that differs in each of many rows may be measured. In front of the value it is a setting.
    many = [c for c in columns if pd.api.types.is_float_dtype(rows[c]) and rows[c].nunique() == len(rows) > 8]
    before = rows.columns[: rows.columns.get_loc(own)]
    columns = [c for c in columns if c not in many] or [c for c in columns if c in before]
    return in_words({c: chosen[c] for c in columns if not pd.isna(chosen[c])})


def _unbounded(rows: pd.DataFrame, column: str) -> str:
    """Name the first row whose runs give no interval, and what would give one."""
    parts = [intervals.of_row(row, column) for _, row in rows.iterrows()]
    places = [i for i, part in enumerate(parts) if math.isinf(part.low) and math.isinf(part.high)]
    if not places:
        return ""
    first = rows.iloc[places[0]]
    runs = parts[places[0]].runs or 0
    setting = _setting(rows, first, column)
    found = f"its {runs:,} runs agree" if runs > 1 else "it has one run"
    at = f" at {setting}" if setting else ""
    return (
        f"The interval{at} is unbounded, because {found}. Runs that differ would bound it, or the least and the most "
        "that one run can give, as in `ledger.contrasts.error`."
    )


def _carried(rows: pd.DataFrame) -> str:
    """Name the rows in which one run has over a tenth of the regret, and over twice an average share."""
    if "regret_largest_share" not in rows:
        return ""
    carried = rows[rows["regret_largest_share"] > np.maximum(CARRIED, 2 / rows["runs"])]
    share = carried["regret_largest_share"].max()
    return f"In {len(carried)} of the rows one run makes up to {share:.0%} of the mean." if len(carried) else ""
