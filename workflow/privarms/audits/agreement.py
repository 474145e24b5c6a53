"""Compare the exact probabilities and the exact loss of an audit with its counts: once, for every audit.

A formula may be wrong, or its stated range of validity may be. A value that contradicts the counts is not used.
"""

import logging
import math
from collections.abc import Mapping, Sequence

import scipy

from privarms.audits.audit import Audit
from privarms.inference.proportions import clopper_pearson

# The confidence of the interval of one probability. The interval of the loss follows from two of these. So a right
# formula contradicts its counts with a probability of at most 2e-9 per setting: at most 1e-6 over 500 settings.
CONFIDENCE = 1 - 1e-9
# The tolerance for rounding: of probabilities outside of [0, 1], and of a loss, relative and absolute.
ROUNDING = 1e-9

log = logging.getLogger(__name__)


def agreeing_loss(audit: Audit, params, pair: Sequence, counts: Mapping[int, tuple[int, int]]) -> float:
    """Return the exact loss of the audit's event, nan if it is unknown; also nan, with a warning, if counts contradict.

    pair: the inputs of neighbours 0 and 1; counts: events and trials with each neighbour
    """
    if found := contradiction(audit, params, pair, counts):
        log.warning("%s: %s", audit.name, found)
        return math.nan
    return audit.loss(params, pair)


def contradiction(audit: Audit, params, pair: Sequence, counts: Mapping[int, tuple[int, int]]) -> str:
    """Return which exact value lies outside of its counted interval, in one sentence; an empty text if none does."""
    intervals = {n: clopper_pearson(*counts[n], CONFIDENCE) for n in (0, 1)}
    ends = {n: (float(low), float(high)) for n, (low, high) in intervals.items()}
    likelier, loss = audit.likelier_of(pair[0]), audit.loss(params, pair)
    low, high = _log_ratio(ends[likelier], ends[1 - likelier])
    slack = ROUNDING * (1 + abs(loss)) if math.isfinite(loss) else 0.0
    if loss < low - slack or loss > high + slack:
        return _sentence("", loss, (low, high))
    for n in (0, 1):
        chance = audit.probability(params, pair[n])
        if not math.isnan(chance) and not _possible(chance, *counts[n]):
            return _sentence(f"the probability with neighbour {n}: ", chance, ends[n])
    return ""


def _possible(chance: float, events: int, trials: int) -> bool:
    """Return whether the Clopper-Pearson interval of the counts contains a probability, which may be 0 or 1."""
    if not -ROUNDING <= chance <= 1 + ROUNDING:
        return False
    law = scipy.stats.binom(trials, min(max(chance, 0.0), 1.0))
    return min(law.cdf(events), law.sf(events - 1)) > (1 - CONFIDENCE) / 2


def _sentence(of: str, exact: float, ends: tuple[float, float]) -> str:
    low, high = ends
    counted = f"[{low:.3g}, {high:.3g}]"
    return (
        f"The exact formula gives {of}{exact:.3g}, outside of the counted interval {counted}; the formula is not used."
    )


def _log_ratio(likely: tuple[float, float], unlikely: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and the largest log ratio of two probabilities in these intervals."""
    (low, high), (other_low, other_high) = likely, unlikely
    return (
        math.log(low / other_high) if low > 0 else -math.inf,
        math.log(high / other_low) if other_low > 0 else math.inf,
    )
