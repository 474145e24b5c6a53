"""Declared measures: compute the number that a claim judges, with an interval valid for all its rows together.

A declared measure is a mapping. One key of KINDS gives the number, as a column or as a formula of columns
(`DataFrame.eval`). docs/extend.md explains all keys.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from privarms.claims import sums
from privarms.claims.verdict import CONFIDENCE, Measured
from privarms.errors import NoCellsError, PrivarmsError
from privarms.studies import library
from privarms.studies.configuration import listed
from privarms.studies.measure_keys import default_error, kind_of
from privarms.studies.results import Results, among

EXTREMES = {"max": Measured.largest, "min": Measured.smallest}
# A note names cells in which one run contributes a larger share of the mean regret.
CARRIED = 0.1
# Numeric settings that are not parameters of a policy or an environment.
SETTINGS = ("horizon", "arm", "n", "m")


def function(measure: str | Mapping, named: Mapping[str, Callable]) -> Callable[..., Measured]:
    """Return the function of a claim's measure: the paper's function of this name, or `declared`."""
    return named[measure] if isinstance(measure, str) else partial(declared, measure=measure)


def declared(results: Results, measure: Mapping) -> Measured:
    """Compute a declared measure of the rows that a claim uses; measure: as in claims.schema.json, $defs.measure.

    Raises NoCellsError if no row satisfies `where` and `condition`, or a row of a ratio has no partner. Raises
    PrivarmsError for an unknown column, a count that is no whole number, or several rows where one is expected.
    """
    rows = _rows(results, measure)
    kind = kind_of(measure)
    parts = KINDS[kind](rows, measure, results)
    fewest = None
    if kind == "growth":
        fewest = int(rows["replicates"].min())
        rows = pd.concat([group.iloc[-1:] for group in _groups(rows, measure)])
    if kind == "spread":
        measured = _spread(parts)
    elif measure.get("extreme") == "pooled":
        events, trials = (sum(counts) for counts in zip(*_counts(rows, measure), strict=True))
        measured = Measured.fraction(events, trials, f"{events:,} of {trials:,} in {len(rows):,} rows.")
    elif "extreme" in measure:
        measured = _extreme(rows, parts, measure["extreme"], measure[kind])
    elif len(parts) == 1:
        measured = parts[0]
    else:
        raise PrivarmsError(
            f"measure {dict(measure)}: expected one row, found {len(parts)}; choose one or add `extreme`"
        )
    note = f"{measured.note} {_carried_by_one(rows)}".strip()
    low, high = measured.interval
    low, runs = max(low, measure.get("floor", -math.inf)), fewest or measured.replicates
    return replace(measured, replicates=runs, note=note, low=low, high=high)


def _carried_by_one(rows: pd.DataFrame) -> str:
    """Name the cells in which one run has over a tenth of the regret, and over twice an average share."""
    if "regret_largest_share" not in rows:
        return ""
    carried = rows[rows["regret_largest_share"] > np.maximum(CARRIED, 2 / rows["replicates"])]
    share = carried["regret_largest_share"].max()
    return (
        f"In {', '.join(carried['cell'].unique())} one run makes up to {share:.0%} of the mean." if len(carried) else ""
    )


def _extreme(rows: pd.DataFrame, parts: Sequence[Measured], extreme: str, own: str) -> Measured:
    values = np.array([part.value for part in parts])
    measured = EXTREMES[extreme](parts)
    if math.isnan(measured.value):
        return replace(measured, note="A row has no finite number.")
    place = int(values.argmax() if extreme == "max" else values.argmin())
    word = {"max": "Largest", "min": "Smallest"}[extreme]
    setting, detail = _setting(rows, place, own), parts[place].note
    where = f"{word} of {len(rows):,} rows" + (f", at {setting}" if setting else "") if len(rows) > 1 else "One row"
    return replace(measured, note=f"{where}: {detail}" if detail else f"{where}.")


def _spread(parts: Sequence[Measured]) -> Measured:
    """Return the largest divided by the smallest; the standard error is nan unless all numbers are exact."""
    # `parts * 2` widens the intervals, because those of the largest and the smallest must be valid together.
    top, bottom = Measured.largest(parts * 2), Measured.smallest(parts * 2)
    note = f"From {bottom.value:.3g} to {top.value:.3g} in {len(parts):,} rows."
    if all(part.replicates is None for part in parts):
        return Measured(top.value / bottom.value, note=note)
    low, high = max(1.0, top.low / bottom.high), top.high / bottom.low if bottom.low > 0 else math.inf
    fewest = min(part.replicates for part in parts)
    return Measured(top.value / bottom.value, math.nan, fewest, note, low, high)


def _rows(results: Results, measure: Mapping) -> pd.DataFrame:
    """Return the chosen rows of an inference table, or of a study's cells at the end of their runs."""
    if "table" in measure:
        rows = pd.concat([results.inference(table) for table in listed(measure["table"])], ignore_index=True)
    else:
        rows = results.cells(measure["cells"])
        rows = rows[rows["t"] == rows["horizon"]] if "t" in rows else rows
    rows = choose(rows, measure.get("where", {}))
    if "condition" not in measure:
        return rows
    fitting = rows[_column(rows, "condition", measure["condition"], measure).to_numpy(bool)]
    if fitting.empty:
        raise NoCellsError(f"none of the claim's cells satisfies {measure['condition']}")
    return fitting


def choose(rows: pd.DataFrame, where: Mapping) -> pd.DataFrame:
    """Return the rows with one of the values ("": none) in each column; NoCellsError if there are none."""
    chosen = np.ones(len(rows), bool)
    for column, values in where.items():
        if column in rows:
            chosen &= among(rows[column], listed(values))
        elif "" not in listed(values) or not library.is_parameter(column):
            raise PrivarmsError(f"measure: where: no column {column!r}; expected one of {', '.join(rows)}")
    if not chosen.any():
        asked = "; ".join(f"{column} {values}" for column, values in where.items() if values != "")
        raise NoCellsError(f"none of the claim's cells is in this run: {asked}")
    return rows[chosen]


def _column(rows: pd.DataFrame, key: str, formula: str, measure: Mapping) -> pd.Series:
    """Return a column or a formula of columns; key: of the measure, for the message."""
    if formula in rows:
        return rows[formula]
    try:
        value = rows.eval(formula, engine="python")
    except (NameError, SyntaxError, TypeError, ValueError) as error:
        source = measure.get("table", measure.get("cells"))
        raise PrivarmsError(
            f"measure.{key}: {source} has no column {formula!r} ({error}). Expected a formula of {', '.join(rows)}."
        ) from None
    # A formula without a column is one number for all rows.
    return value if isinstance(value, pd.Series) else pd.Series(value, rows.index)


def _check_columns(rows: pd.DataFrame, key: str, names: Sequence[str], measure: Mapping) -> None:
    if missing := [name for name in names if name not in rows]:
        source = measure.get("table", measure.get("cells"))
        raise PrivarmsError(
            f"measure.{key}: {source} has no column {missing[0]!r}. Expected some of {', '.join(rows)}."
        )


def _setting(rows: pd.DataFrame, place: int, own: str) -> str:
    """Name the values of one row in the settings that vary among the rows; `own`, the judged column, is no setting."""
    settings = [
        column
        for column in rows
        if column not in ("cell", own)
        and (column in SETTINGS or not pd.api.types.is_numeric_dtype(rows[column]) or library.is_parameter(column))
        and rows[column].nunique(dropna=False) > 1
    ]
    values = rows.iloc[place][settings].dropna()
    return ", ".join(f"{k} = {_shown(v)}" for k, v in values.items())


def _shown(value) -> str:
    if isinstance(value, str):
        return value
    return f"{int(value):,}" if value == int(value) else f"{value:.6g}"


def _numbers(rows: pd.DataFrame, measure: Mapping, key: str, column: str) -> list[Measured]:
    """Return one number per row: exact, with its standard error, or with its given interval.

    key: of the measure, which names the number: a column or a formula
    """

    def floats(key: str, formula: str | float) -> np.ndarray:
        if not isinstance(formula, str):
            return np.full(len(rows), float(formula))
        return _column(rows, key, formula, measure).to_numpy(float)

    over = floats("over", measure.get("over", 1.0))
    values = floats(key, column) / over
    values = np.where(np.isfinite(values), values, math.nan)
    if measure.get("exact"):
        return [Measured(float(value)) for value in values]
    runs = floats("replicates", measure.get("replicates", "replicates"))
    if "interval" in measure:
        # A negative `over` exchanges the ends.
        ends = np.sort([floats("interval", end) / over for end in measure["interval"]], axis=0).T
        some = zip(values, runs, ends, strict=True)
        return [Measured(float(v), math.nan, int(n), "", float(low), float(high)) for v, n, (low, high) in some]
    errors = floats("se", measure.get("se", default_error(column))) / np.abs(over)
    numbers = [Measured(float(v), float(e), int(n)) for v, e, n in zip(values, errors, runs, strict=True)]
    if "sd" in measure:
        spreads = floats("sd", measure["sd"]) / np.abs(over)
        return [replace(one, sd=float(sd)) for one, sd in zip(numbers, spreads, strict=True)]
    if "range" not in measure or "difference" in measure:
        return numbers
    lowest, highest = np.sort([floats("range", end) / over for end in measure["range"]], axis=0)
    # A ratio has two numbers per row, and the intervals of all numbers must be valid together.
    return [
        Measured.agreed(one.value, one.replicates, low, high, 2 * len(rows)) if one.agrees else one
        for one, low, high in zip(numbers, lowest, highest, strict=True)
    ]


def _plain(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    kind = kind_of(measure)
    return _numbers(rows, measure, kind, measure[kind])


def _counts(rows: pd.DataFrame, measure: Mapping) -> list[tuple[int, int]]:
    """Return events and trials of each row; raise PrivarmsError unless they are counts."""
    formulas = {"fraction": measure["fraction"], "trials": measure.get("trials", "replicates")}
    counts = np.array([_column(rows, key, formula, measure).to_numpy(float) for key, formula in formulas.items()])
    whole = np.rint(counts)
    # A mean times a number of runs is whole up to rounding.
    fits = (
        (np.abs(counts - whole) <= 1e-6 * np.maximum(whole, 1)).all(axis=0) & (whole[0] >= 0) & (whole[0] <= whole[1])
    )
    if not fits.all():
        events, trials = counts[:, ~fits][:, 0]
        raise PrivarmsError(
            f"measure.fraction: expected whole numbers with 0 <= events <= trials; found {formulas['fraction']} = "
            f"{events:g} of {formulas['trials']} = {trials:g}. Multiply a share by its number of trials"
        )
    return [(int(events), int(trials)) for events, trials in whole.T]


def _fractions(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return one probability per row, with Clopper-Pearson intervals that are valid for all rows together."""
    return [
        Measured.fraction(events, trials, f"{events:,} of {trials:,}.", together=len(rows))
        for events, trials in _counts(rows, measure)
    ]


def _distances(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return one Kolmogorov-Smirnov distance per row, with intervals valid for all rows together (Massart 1990)."""
    parts = []
    distances = _column(rows, "distance", measure["distance"], measure)
    replicates = _column(rows, "replicates", measure.get("replicates", "replicates"), measure)
    for distance, runs in zip(distances.astype(float), replicates.astype(int), strict=True):
        reach = math.sqrt(math.log(2 * len(rows) / (1 - CONFIDENCE)) / (2 * runs))
        parts.append(Measured(distance, math.nan, runs, "", max(0.0, distance - reach), min(1.0, distance + reach)))
    return parts


def _pairs(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[tuple[Measured, Measured]]:
    """Return the number of each row with its partner's number."""
    kind = kind_of(measure)
    column = measure[kind]
    below = {**measure, **measure["to"], "where": measure.get("where", {}) | measure["to"].get("where", {})}
    others = _rows(results, below)
    denominators = _numbers(others, below, kind, below.get("ratio", column))
    if "by" in measure:
        for some in (rows, others):
            _check_columns(some, "by", measure["by"], measure)
        keys = [tuple(row) for row in others[measure["by"]].itertuples(index=False)]
        partners = dict(zip(keys, denominators, strict=True))
        wanted = [tuple(row) for row in rows[measure["by"]].itertuples(index=False)]
        if len(partners) < len(keys) or not set(wanted) <= set(partners):
            raise NoCellsError(f"not every row has exactly one partner with the same {', '.join(measure['by'])}")
        denominators = [partners[key] for key in wanted]
    elif len(denominators) == 1:
        denominators *= len(rows)
    else:
        raise PrivarmsError(
            f"measure {dict(measure)}: expected one row in `to`, found {len(others)}; select one or add `by`"
        )
    return list(zip(_numbers(rows, measure, kind, column), denominators, strict=True))


def _ratios(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return the ratio of each row to its independent partner, with intervals valid for all rows together."""
    return [
        Measured.ratio(top, bottom, f"{top.value:.4g} over {bottom.value:.4g}.", together=len(rows))
        for top, bottom in _pairs(rows, measure, results)
    ]


def _geometric(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return the geometric mean of the ratios of all rows to their partners; the interval comes from its logarithm."""
    pairs = _pairs(rows, measure, results)
    ratios = [top.value / bottom.value for top, bottom in pairs]
    ends = [end for pair in pairs for end in pair]
    errors = [end.se / end.value / len(pairs) for end in ends]
    note = f"From {min(ratios):.2f} to {max(ratios):.2f} over {len(pairs)} pairs of cells."
    log = sums.summed(float(np.mean(np.log(ratios))), errors, [end.replicates for end in ends], note)
    value, (low, high) = math.exp(log.value), log.interval
    return [replace(log, value=value, se=value * log.se, low=math.exp(low), high=math.exp(high))]


def _differences(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return the mean over all rows of row minus partner; `range` bounds the number of a single run."""
    pairs = _pairs(rows, measure, results)
    n, (lowest, highest) = len(pairs), measure.get("range", (-math.inf, math.inf))
    tops, bottoms = zip(*pairs, strict=True)
    ends = [*tops, *bottoms]
    means = [float(np.mean([end.value for end in some])) for some in (tops, bottoms)]
    reach = [((top.value - lowest) / n, (highest - top.value) / n) for top in tops]
    reach += [((highest - bottom.value) / n, (bottom.value - lowest) / n) for bottom in bottoms]
    note = f"{means[0]:.4g} minus {means[1]:.4g}."
    errors, replicates = [end.se / n for end in ends], [end.replicates for end in ends]
    return [sums.summed(means[0] - means[1], errors, replicates, note, reach)]


def _growths(rows: pd.DataFrame, measure: Mapping, results: Results) -> list[Measured]:
    """Return the exponent p of growth like `along`^p from first to last row, one per group of `by`."""
    parts = []
    for group in _groups(rows, measure):
        first, last = _numbers(group.iloc[[0, -1]], measure, "growth", measure["growth"])
        start, end = group[measure["along"]].iloc[[0, -1]].astype(float)
        width = math.log(end / start)
        errors = [one.se / one.value / width for one in (first, last)]
        part = sums.part(math.log(last.value / first.value) / width, errors, [first.replicates, last.replicates])
        parts.append(replace(part, note=f"From {first.value:.4g} to {last.value:.4g}."))
    return parts


def _groups(rows: pd.DataFrame, measure: Mapping) -> list[pd.DataFrame]:
    _check_columns(rows, "along", [measure["along"]], measure)
    _check_columns(rows, "by", measure.get("by", ()), measure)
    ordered = rows.sort_values(measure["along"])
    return [group for _, group in ordered.groupby(measure["by"], dropna=False)] if "by" in measure else [ordered]


KINDS = {
    "of": _plain,
    "fraction": _fractions,
    "ratio": _ratios,
    "geometric": _geometric,
    "difference": _differences,
    "growth": _growths,
    "spread": _plain,
    "distance": _distances,
}
