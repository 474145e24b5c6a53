"""The interval I of a measured value: the row of an inference table that states it, and the columns of its error.

A value is a column `NAME` of an inference table. Its error is in further columns of the same row:

NAME_events, NAME_trials : the value is a share of trials; Clopper and Pearson's interval
NAME_se : the standard error of a mean of `runs`; Student's interval, infinite for 0, because identical runs do not make
    a mean exact (`ledger.contrasts.error` has a bound for them)
NAME_low, NAME_high : the ends of an interval that the table states itself, such as those of rounded numbers. A
    random interval must hold for all rows of a case together
none of them : the value is exact
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd
from scipy.special import stdtrit

from privarms.errors import PrivarmsError
from privarms.inference.proportions import clopper_pearson

CONFIDENCE = 0.999
# A standard error below this share of the value is zero up to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Measured:
    """A value, its standard error (nan if it has none), the ends of I, and its number of runs (None: exact)."""

    value: float
    se: float
    low: float
    high: float
    runs: int | None

    @property
    def is_exact(self) -> bool:
        """Return whether the value has no error."""
        return self.runs is None


def of_row(row: pd.Series, name: str, together: int = 1) -> Measured:
    """Return the value of a column and its interval, one of `together` that hold at once with probability .999.

    Raises PrivarmsError for a table without the column, or with an error that has another name or no `runs`.
    """
    if name not in row:
        raise PrivarmsError(f"measure: no column {name!r}; expected one of {', '.join(map(str, row.index))}")
    value = float(row[name])

    def of(part: str) -> float:
        return float(row.get(f"{name}_{part}", math.nan))

    if f"{name}_trials" in row and of("trials") == of("trials"):
        events, trials = round(of("events")), int(of("trials"))
        if not trials:
            return Measured(math.nan, math.nan, math.nan, math.nan, 0)
        low, high = clopper_pearson(events, trials, 1 - (1 - CONFIDENCE) / together)
        share = events / trials
        return Measured(share, math.sqrt(share * (1 - share) / trials), float(low), float(high), trials)
    if math.isnan(value):
        return Measured(math.nan, math.nan, math.nan, math.nan, None)
    if not math.isnan(of("low")) and not math.isnan(of("high")):
        runs = row.get("runs")
        return Measured(value, of("se"), of("low"), of("high"), None if runs is None or pd.isna(runs) else int(runs))
    if f"{name}_se" not in row:
        # In a study the error of regret_mean is regret_se; as a value without an error it would be exact.
        if name.endswith("mean") and (error := f"{name.removesuffix('mean')}se") in row:
            raise PrivarmsError(
                f"measure: the column {name} needs its error in {name}_se; found it in {error}. Rename both columns in "
                "the inference table, for example to `value` and `value_se`, and name the number of runs `runs`"
            )
        return Measured(value, 0.0, value, value, None)
    if "runs" not in row:
        raise PrivarmsError(f"measure: the column {name}_se needs a column `runs`, the number of runs")
    runs, se = int(row["runs"]), of("se")
    if math.isnan(se) or runs < 2 or se <= ROUNDING * abs(value):
        return Measured(value, se, -math.inf, math.inf, runs)
    half = quantile(runs, together) * se
    return Measured(value, se, value - half, value + half, runs)


def extreme(rows: pd.DataFrame, name: str, largest: bool) -> tuple[Measured, tuple[int, int, int]]:
    """Return the largest or smallest value of a column with its simultaneous interval, and the places of three rows.

    The rows are those with the value, with the lower end and with the upper end, because an end is the extreme of the
    rows' ends. The row with the value comes first where several have the same end.
    """
    parts = [of_row(row, name, len(rows)) for _, row in rows.iterrows()]
    missing = next((place for place, part in enumerate(parts) if math.isnan(part.value)), None)
    if missing is not None:
        return parts[missing], (missing, missing, missing)
    choose = max if largest else min
    place = choose(range(len(parts)), key=lambda i: parts[i].value)
    order = sorted(range(len(parts)), key=lambda i: i != place)
    low, high = choose(order, key=lambda i: parts[i].low), choose(order, key=lambda i: parts[i].high)
    runs = [part.runs for part in parts if part.runs is not None]
    ends = parts[low].low, parts[high].high
    return Measured(parts[place].value, parts[place].se, *ends, min(runs) if runs else None), (place, low, high)


def quantile(runs: int | None, together: int = 1) -> float:
    """Return the half-width of I, one of `together` valid at once, in standard errors; None: normal distribution."""
    tail = (1 - CONFIDENCE) / 2 / together
    return -float(stdtrit(runs - 1, tail)) if runs and runs > 1 else -NormalDist().inv_cdf(tail)


def scatter(row: pd.Series, name: str, runs: int, printed: float, denominator: float | None = None) -> float:
    """Return the standard error of the mean that a paper printed, if its runs vary as ours do.

    NAME_sd : the standard deviation of one run, if NAME_se is smaller than its share (default: NAME_se sqrt(runs))
    NAME_top_sd, NAME_bottom_sd, NAME_bottom : of a quotient of two means; the error of the quotient p is that of
        top - p bottom, over the denominator that the paper prints, else over ours
    Returns nan if the table has no such column.
    """

    def of(part: str) -> float:
        return float(row.get(f"{name}_{part}", math.nan))

    if not math.isnan(of("bottom_sd")):
        below = of("bottom") if denominator is None else denominator
        return math.hypot(of("top_sd"), printed * of("bottom_sd")) / math.sqrt(runs) / abs(below)
    if not math.isnan(of("sd")):
        return of("sd") / math.sqrt(runs)
    if f"{name}_trials" in row:
        return math.sqrt(printed * (1 - printed) / runs) if 0 <= printed <= 1 else math.nan
    return of("se") * math.sqrt(float(row["runs"]) / runs) if f"{name}_se" in row else math.nan
