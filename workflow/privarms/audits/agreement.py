"""Compare the exact probabilities and the exact loss of an audit with its counts: once, for every audit.

A formula may be wrong, or its stated range of validity may be. A value that contradicts the counts is not used.
"""

import logging
import math
from collections.abc import Mapping, Sequence

from privarms.audits.audit import Audit
from privarms.inference.proportions import clopper_pearson

# The confidence of one interval of a probability. All three intervals are functions of two of these, so a right formula
# contradicts its counts with a probability of at most 2e-9 per setting: less than 1e-6 over 500 settings.
CONFIDENCE = 1 - 1e-9
# The tolerance for the rounding of a loss, relative and absolute.
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
    likelier = audit.likelier_of(pair[0])
    ends = {n: tuple(map(float, clopper_pearson(*counts[n], CONFIDENCE))) for n in (0, 1)}
    values = [("", audit.loss(params, pair), _log_ratio(ends[likelier], ends[1 - likelier]))]
    values += [(f"the probability with neighbour {n}: ", audit.probability(params, pair[n]), ends[n]) for n in (0, 1)]
    for of, exact, (low, high) in values:
        slack = ROUNDING * (1 + abs(exact)) if math.isfinite(exact) else 0.0
        if exact < low - slack or exact > high + slack:
            return (
                f"The exact formula gives {of}{exact:.3g}, outside of the counted interval [{low:.3g}, {high:.3g}]; "
                "the formula is not used."
            )
    return ""


def _log_ratio(likely: tuple[float, float], unlikely: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and the largest log ratio of two probabilities in these intervals."""
    (low, high), (other_low, other_high) = likely, unlikely
    return (
        math.log(low / other_high) if low > 0 else -math.inf,
        math.log(high / other_low) if other_low > 0 else math.inf,
    )
