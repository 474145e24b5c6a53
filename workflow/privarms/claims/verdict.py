"""A verdict is a decision with known error: where the interval of what was measured lies, seen from what is allowed.

R is the region that a claim's tolerance allows, stated before the value is looked at unless the claim says otherwise.
I is the interval that holds what was to be measured with probability .999: exact where there is a law, else from the
standard error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scipy.special import stdtrit

from privarms.errors import PrivarmsError
from privarms.inference.intervals import fieller
from privarms.inference.proportions import clopper_pearson

CONFIDENCE = 0.999
# Standard errors below this share of the value are what summing leaves of zero.
ROUNDING = 1e-12
VERDICTS = ("reproduced", "differs", "inconclusive", "unverifiable")


@dataclass(frozen=True)
class Measured:
    """What a claim's measure found.

    value, its standard error se (nan: not known), the replicates on which it rests (None: exact by formula), a
    sentence.
    low, high: the ends of the 99.9% interval, where it is not the value -+ Student's quantile times se
    of: a ratio's numerator and denominator
    """

    value: float
    se: float = 0.0
    replicates: int | None = None
    note: str = ""
    low: float | None = None
    high: float | None = None
    of: "tuple[Measured, Measured] | None" = None

    @property
    def interval(self) -> tuple[float, float]:
        """I's ends; everything where the standard error is not known, or all replicates agree."""
        return _interval(self, 1)

    @property
    def agrees(self) -> bool:
        """Whether all replicates agree, but for rounding: they do not say how rarely one may differ."""
        return self.replicates is not None and self.se <= ROUNDING * abs(self.value)

    def scatter(self, runs: int, published: float) -> float:
        """The standard error that so many runs leave in a published value, by our spread.

        The ratio of two means a and b falls below p where a - p b falls below 0.
        """
        if self.of is None:
            return self.se * math.sqrt(self.replicates / runs) if self.replicates else math.nan
        top, bottom = (part.scatter(runs, published) for part in self.of)
        return math.hypot(top, published * bottom) / abs(self.of[1].value)

    @classmethod
    def ratio(cls, top: "Measured", bottom: "Measured", note: str = "", together: int = 1) -> "Measured":
        """The ratio of two independent means, with Fieller's interval.

        together: how many such intervals hold at once with probability .999
        """
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
        """A probability, from how often an event happened in independent trials; I is Clopper and Pearson's.

        together: how many such intervals hold at once with probability .999. Without a trial nothing is known.
        """
        if not trials:
            return cls(math.nan, math.nan, 0, note)
        low, high = clopper_pearson(events, trials, 1 - (1 - CONFIDENCE) / together)
        share = events / trials
        return cls(share, math.sqrt(share * (1 - share) / trials), int(trials), note, float(low), float(high))

    @classmethod
    def agreed(cls, value: float, replicates: int, lowest: float, highest: float, together: int = 1) -> "Measured":
        """The mean of replicates that all agree, where any replicate's number lies between `lowest` and `highest`.

        I: the share of other replicates is at most Clopper and Pearson's end for none in as many.
        """
        others = cls.fraction(0, replicates, together=together).high
        low, high = value - others * (value - lowest), value + others * (highest - value)
        return cls(value, 0.0, replicates, low=low, high=high)

    @classmethod
    def largest(cls, parts: Sequence["Measured"], note: str = "") -> "Measured":
        """The largest of several numbers; I from intervals that hold all of them together with probability .999.

        parts: their intervals are made as wide as that needs (Bonferroni) but for those that state their own ends,
        which must be so already (`fraction` with `together`). Nothing is known of them all where one is nan
        """
        return cls._extreme(parts, note, max)

    @classmethod
    def smallest(cls, parts: Sequence["Measured"], note: str = "") -> "Measured":
        """The smallest of several numbers, as `largest`."""
        return cls._extreme(parts, note, min)

    @classmethod
    def _extreme(cls, parts: Sequence["Measured"], note: str, extreme) -> "Measured":
        if not parts:
            raise ValueError("parts: expected at least one")
        unknown = next((part for part in parts if math.isnan(part.value)), None)
        if unknown is not None:
            return cls(math.nan, math.nan, unknown.replicates, note or unknown.note)
        place = extreme(range(len(parts)), key=lambda i: parts[i].value)
        ends = [_interval(part, len(parts)) for part in parts]
        low, high = (float(extreme(end)) for end in zip(*ends, strict=True))
        chosen = parts[place]
        return cls(chosen.value, chosen.se, chosen.replicates, note or chosen.note, low, high)


def quantile(replicates: int | None, together: int = 1) -> float:
    """How many standard errors the interval reaches to either side: Student's quantile where the replicates are known.

    together: how many intervals hold at once with probability .999
    """
    tail = (1 - CONFIDENCE) / 2 / together
    return -float(stdtrit(replicates - 1, tail)) if replicates and replicates > 1 else -NormalDist().inv_cdf(tail)


def _interval(measured: Measured, together: int) -> tuple[float, float]:
    """I, so wide that as many hold together."""
    if measured.low is not None and measured.high is not None:
        return measured.low, measured.high
    if math.isnan(measured.value) or math.isnan(measured.se) or measured.replicates == 1 or measured.agrees:
        return -math.inf, math.inf
    half = quantile(measured.replicates, together) * measured.se
    return measured.value - half, measured.value + half


@dataclass(frozen=True)
class Region:
    """R: the numbers from low to high, ends included."""

    low: float
    high: float

    def margin(self, measured: Measured) -> float:
        """The distance from I's middle to R's nearest end over I's half-width: above 1 inside, below -1 disjoint.

        nan where I is a point or has no middle.
        """
        low, high = measured.interval
        half = (high - low) / 2
        if not (half > 0 and math.isfinite(half)):
            return math.nan
        middle = (low + high) / 2
        return min(middle - self.low, self.high - middle) / half

    def decide(self, measured: Measured) -> str:
        """reproduced: I lies inside R; differs: they are disjoint; inconclusive: neither; unverifiable: a NaN."""
        low, high = measured.interval
        if math.isnan(measured.value):
            return "unverifiable"
        if self.low <= low and high <= self.high:
            return "reproduced"
        if high < self.low or low > self.high:
            return "differs"
        return "inconclusive"


def region(tolerance: Mapping, published: float | str, measured: Measured) -> Region:
    """What a tolerance allows.

    at_least, at_most: a bound on one side or on both, and nothing else.
    equals, or none of these for a published number: the number, to either side `absolute` (its rounding, or what is
    allowed) and, where the paper ran so many `published_replicates`, the normal 99.9% quantile times the standard error
    that these leave, each taken to spread as ours do; or a `factor` to either side.
    """
    if {"at_least", "at_most"} & set(tolerance):
        if others := set(tolerance) - {"at_least", "at_most"}:
            raise PrivarmsError(f"a tolerance with a bound has no {', '.join(sorted(others))}; found {dict(tolerance)}")
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
    """A tolerance in words; with its region's ends, where these do not stand in the words."""
    parts = [f"{k.replace('_', ' ')} {tolerance[k]:g}" for k in ("at_least", "at_most", "equals") if k in tolerance]
    if "factor" in tolerance:
        parts.append(f"within a factor of {tolerance['factor']:g}")
    if tolerance.get("absolute"):
        parts.append(f"within {tolerance['absolute']:g}")
    if "published_replicates" in tolerance:
        runs = f"{tolerance['published_replicates']:,} runs"
        parts.append(
            f"{quantile(None):.3g} times the standard error that {runs} leave in the published value, by our spread"
        )
    words = " and ".join(parts) or "exactly"
    ends = {"at_least", "at_most"} & set(tolerance)
    if allowed is None or ends or allowed.low == allowed.high or not math.isfinite(allowed.low):
        return words
    return f"{words}: {allowed.low:.4g} to {allowed.high:.4g}"
