"""Five kinds of statements, and the one rule of each: from a measured value to a verdict.

There is no other limit than what a paper prints, and no effect (a ratio of 1, a difference of 0, an exponent of 1).
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from privarms.ledger.intervals import Measured, quantile
from privarms.planning.statements import NO_EFFECT

VERDICTS = (
    *("agrees", "differs", "holds", "fails", "refuted", "not refuted", "true", "false"),
    *("measured", "undecided", "unverifiable"),
)
GOOD, BAD = ("agrees", "holds", "not refuted", "true"), ("differs", "fails", "refuted", "false")
# Reasons that follow from the numbers of a case.
CONTAINS_AN_END = "The 99.9% interval contains an end of the accepted range."
SMALLER_SCALE = "This scale is smaller than the published setting; run scale paper."
WORDS = {
    "number": ("agrees", "differs"),
    "comparison": ("holds", "fails"),
    "universal": ("not refuted", "refuted"),
    "exact": ("true", "false"),
}


class Accepted(NamedTuple):
    """The numbers that a statement allows, from low to high; open: whether the ends themselves are excluded."""

    low: float
    high: float
    open: bool = False

    def contains(self, measured: Measured) -> bool:
        """Return whether I lies in the region."""
        if self.open:
            return self.low < measured.low and measured.high < self.high
        return self.low <= measured.low and measured.high <= self.high

    def misses(self, measured: Measured) -> bool:
        """Return whether I and the region are disjoint."""
        if self.open:
            return measured.high <= self.low or measured.low >= self.high
        return measured.high < self.low or measured.low > self.high


def side(published: Mapping) -> Accepted | None:
    """Return the region of a statement about one side of a boundary; None if it states no side.

    published : {at_least | at_most | above | below: a printed number}, or {ratio | difference | exponent: a side}
    """
    for effect, boundary in NO_EFFECT.items():
        if effect in published:
            published = {published[effect]: boundary}
    for word, boundary in published.items():
        if word in ("at_least", "above"):
            return Accepted(float(boundary), math.inf, word == "above")
        if word in ("at_most", "below"):
            return Accepted(-math.inf, float(boundary), word == "below")
    return None


def in_words(published: Mapping) -> str:
    """Return the side of a boundary as text: "at least 5", "ratio below 1"."""
    ((key, value),) = published.items()
    side, boundary = (value, f"{NO_EFFECT[key]:g}") if key in NO_EFFECT else (key, f"{value:g}")
    return " ".join(filter(None, (key if key in NO_EFFECT else "", side.replace("_", " "), boundary)))


def printed(value: float, rounding: float, error: float) -> Accepted:
    """Return R of a printed number: the number -+ its rounding -+ 3.29 standard errors of the paper's own mean."""
    reach = rounding + quantile(None) * error
    return Accepted(value - reach, value + reach)


def judge(kind: str, measured: Measured, accepted: Accepted | None) -> tuple[str, str]:
    """Return the verdict and, for some verdicts, its reason, a sentence.

    accepted : None for `words`, and for an order O() without constants, which nothing can refute
    """
    if math.isnan(measured.value):
        return "unverifiable", "No number could be measured."
    if kind == "words" or accepted is None:
        return "measured", ""
    good, bad = WORDS[kind]
    if math.isnan(accepted.low) or math.isnan(accepted.high):
        return "undecided", "The standard error of the printed number is not known."
    if accepted.misses(measured):
        return bad, ""
    if kind == "universal" or accepted.contains(measured):
        return good, ""
    if kind == "exact":
        return "undecided", "Rounding leaves both possible."
    return "undecided", CONTAINS_AN_END
