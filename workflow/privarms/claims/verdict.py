"""Verdicts: decisions with known error that compare an interval I with an accepted region R.

R is the region that a claim's tolerance accepts. It is fixed before the value is seen, unless the claim is post hoc.
I contains the true value with probability .999. It is exact if the distribution is known, else it uses the standard
error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from scipy.special import stdtrit

from privarms.errors import PrivarmsError
from privarms.inference.intervals import fieller
from privarms.inference.proportions import clopper_pearson

CONFIDENCE = 0.999
# A standard error below this share of the value is zero up to rounding.
ROUNDING = 1e-12
VERDICTS = ("reproduced", "differs", "inconclusive", "unverifiable")


@dataclass(frozen=True)
class Measured:
    """The measured number of a claim.

    value; its standard error se (nan: unknown); its number of replicates (None: exact by formula); a note, a sentence
    low, high: the ends of the 99.9% interval, if it is not value -+ Student's quantile times se
    of: a ratio's numerator and denominator
    sd: the standard deviation of one replicate, if a control variate made se smaller than sd / sqrt(replicates)
    """

    value: float
    se: float = 0.0
    replicates: int | None = None
    note: str = ""
    low: float | None = None
    high: float | None = None
    of: "tuple[Measured, Measured] | None" = None
    sd: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of I; infinite if the standard error is unknown or all replicates agree."""
        return _interval(self, 1)

    @property
    def agrees(self) -> bool:
        """True if all replicates agree up to rounding; their standard error is then no measure of uncertainty."""
        return self.replicates is not None and self.se <= ROUNDING * abs(self.value)

    def scatter(self, runs: int, published: float) -> float:
        """Return the standard error of a published mean of `runs` runs that vary as ours do.

        For a ratio of means a / b with published value p it is that of a - p b, divided by b. It is nan if all of our
        replicates agree, because they then do not show how much runs vary.
        """
        if self.agrees and self.sd is None:
            return math.nan
        if self.of is None and self.sd is not None:
            return self.sd / math.sqrt(runs)
        if self.of is None:
            return self.se * math.sqrt(self.replicates / runs) if self.replicates else math.nan
        top, bottom = (part.scatter(runs, published) for part in self.of)
        return math.hypot(top, published * bottom) / abs(self.of[1].value)

    @classmethod
    def ratio(cls, top: "Measured", bottom: "Measured", note: str = "", together: int = 1) -> "Measured":
        """Return the ratio of independent means with Fieller's interval; `together` of them are valid together."""
        value = top.value / bottom.value
        replicates = min((part.replicates for part in (top, bottom) if part.replicates is not None), default=None)
        if replicates is None:
            return cls(value, note=note)
        if top.agrees or bottom.agrees:
            (low, high), (least, most) = (_interval(part, 2 * together) for part in (top, bottom))
            known = low >= 0 < least and math.isfinite(high)
            ends = (low / most, high / least) if known else (-math.inf, math.inf)
            return cls(value, math.nan, replicates, note, *ends)
        reach = quantile(replicates, together) if replicates > 1 else math.inf
        low, high = fieller(top.value, reach * top.se, bottom.value, reach * bottom.se)
        se = math.hypot(top.se, value * bottom.se) / abs(bottom.value)
        return cls(value, se, replicates, note, low, high, (top, bottom))

    @classmethod
    def fraction(cls, events: int, trials: int, note: str = "", together: int = 1) -> "Measured":
        """Return a probability, estimated from independent trials, with Clopper and Pearson's interval.

        together: the number of intervals that are valid together with probability .999. The value is nan if trials is 0
        """
        if not trials:
            return cls(math.nan, math.nan, 0, note)
        low, high = clopper_pearson(events, trials, 1 - (1 - CONFIDENCE) / together)
        share = events / trials
        return cls(share, math.sqrt(share * (1 - share) / trials), int(trials), note, float(low), float(high))

    @classmethod
    def agreed(cls, value: float, replicates: int, lowest: float, highest: float, together: int = 1) -> "Measured":
        """Return the mean of identical replicates in [lowest, highest], with a bound on the share of different ones."""
        others = cls.fraction(0, replicates, together=together).high
        low, high = value - others * (value - lowest), value + others * (highest - value)
        return cls(value, 0.0, replicates, low=low, high=high)

    @classmethod
    def largest(cls, parts: Sequence["Measured"], note: str = "") -> "Measured":
        """Return the largest of several numbers; the intervals of all parts are valid together with probability .999.

        parts: their intervals are widened (Bonferroni), except those with ends of their own, which must already be
        valid together (`fraction` with `together`). The result is nan if one part is nan
        """
        return cls._extreme(parts, note, max)

    @classmethod
    def smallest(cls, parts: Sequence["Measured"], note: str = "") -> "Measured":
        """Return the smallest of several numbers, as `largest`."""
        return cls._extreme(parts, note, min)

    @classmethod
    def _extreme(cls, parts: Sequence["Measured"], note: str, extreme) -> "Measured":
        unknown = next((part for part in parts if math.isnan(part.value)), None)
        if unknown is not None:
            return cls(math.nan, math.nan, unknown.replicates, note or unknown.note)
        place = extreme(range(len(parts)), key=lambda i: parts[i].value)
        ends = [_interval(part, len(parts)) for part in parts]
        low, high = (float(extreme(end)) for end in zip(*ends, strict=True))
        chosen = parts[place]
        return replace(chosen, note=note or chosen.note, low=low, high=high, of=None)


def quantile(replicates: int | None, together: int = 1) -> float:
    """Return the half-width of I, one of `together` valid at once, in standard errors; None: normal distribution."""
    tail = (1 - CONFIDENCE) / 2 / together
    return -float(stdtrit(replicates - 1, tail)) if replicates and replicates > 1 else -NormalDist().inv_cdf(tail)


def _interval(measured: Measured, together: int) -> tuple[float, float]:
    """Return I, wide enough for `together` intervals to be valid together."""
    if measured.low is not None and measured.high is not None:
        # An unknown end, nan, would otherwise drop out of the largest or smallest of several.
        low, high = measured.low, measured.high
        return -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high
    if math.isnan(measured.value) or math.isnan(measured.se) or measured.replicates == 1 or measured.agrees:
        return -math.inf, math.inf
    half = quantile(measured.replicates, together) * measured.se
    return measured.value - half, measured.value + half


@dataclass(frozen=True)
class Region:
    """The region R: the numbers from low to high, ends included."""

    low: float
    high: float

    def margin(self, measured: Measured) -> float:
        """Return the distance from the middle of I to the nearest end of R, in half-widths of I.

        It is above 1 if I is inside R, below -1 if they are disjoint, nan if I is a point or infinite.
        """
        low, high = measured.interval
        half = (high - low) / 2
        if not (half > 0 and math.isfinite(half)):
            return math.nan
        middle = (low + high) / 2
        return min(middle - self.low, self.high - middle) / half

    def decide(self, measured: Measured) -> str:
        """Return "reproduced" if I is in R, "differs" if disjoint, "inconclusive" otherwise, "unverifiable" for nan."""
        low, high = measured.interval
        if math.isnan(measured.value):
            return "unverifiable"
        if self.low <= low and high <= self.high:
            return "reproduced"
        if high < self.low or low > self.high:
            return "differs"
        return "inconclusive"


def region(tolerance: Mapping, published: float | str, measured: Measured) -> Region:
    """Return the accepted region of a tolerance.

    at_least, at_most: bounds on one side or both; other keys are then not allowed
    equals: the centre, by default the published number
    absolute: half-width around the centre. With `published_replicates` it grows by 3.29 standard errors of the
    published value (two-sided normal 99.9%), if the paper's runs vary as ours do
    factor: region from centre / factor to centre * factor
    """
    if {"at_least", "at_most"} & set(tolerance):
        if others := set(tolerance) - {"at_least", "at_most"}:
            raise PrivarmsError(f"tolerance: a bound allows no {', '.join(sorted(others))} (found {dict(tolerance)})")
        return Region(tolerance.get("at_least", -math.inf), tolerance.get("at_most", math.inf))
    target = tolerance.get("equals", published)
    if "factor" in tolerance:
        ends = target / tolerance["factor"], target * tolerance["factor"]
        return Region(min(ends), max(ends))
    theirs = 0.0
    if "published_replicates" in tolerance:
        theirs = measured.scatter(tolerance["published_replicates"], target)
        if math.isnan(theirs):
            return Region(math.nan, math.nan)
    slack = tolerance.get("absolute", 0.0) + quantile(None) * theirs
    return Region(target - slack, target + slack)


def describe(tolerance: Mapping, allowed: Region | None = None) -> str:
    """Return a tolerance in words, with the ends of its region if the words do not name them."""
    parts = [f"{k.replace('_', ' ')} {tolerance[k]:g}" for k in ("at_least", "at_most", "equals") if k in tolerance]
    if "factor" in tolerance:
        parts.append(f"within a factor of {tolerance['factor']:g}")
    if tolerance.get("absolute"):
        parts.append(f"within {tolerance['absolute']:g}")
    if "published_replicates" in tolerance:
        runs = f"{tolerance['published_replicates']:,} runs"
        parts.append(f"{quantile(None):.3g} times the standard error of {runs} that vary as ours do")
    words = " and ".join(parts) or "exactly"
    ends = {"at_least", "at_most"} & set(tolerance)
    if allowed is None or ends or allowed.low == allowed.high or not math.isfinite(allowed.low):
        return words
    return f"{words}: {allowed.low:.4g} to {allowed.high:.4g}"
