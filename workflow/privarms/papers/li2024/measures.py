"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments."""

import math

from privarms.claims.measures import choose
from privarms.claims.verdict import Measured
from privarms.studies.results import Results


def audit(results: Results, release: str, M: int, against: str = "claimed", budget: str = "") -> Measured:
    """Return the largest audited privacy loss of a release, over epsilon/2 (claimed) or epsilon (theorem).

    The loss is ln of the ratio of the event's shares in the two runs, each with half an event added. Its interval is
    from simultaneous Clopper-Pearson intervals of both, over all epsilon. If an epsilon has no event, the largest loss
    has no upper end. budget: total, or as printed
    """
    rows = choose(results.inference("audit"), {"release": release, "M": M, "budget": budget})
    if not rows[["events_0", "events_1"]].any(axis=None):
        return Measured(math.nan, 0.0, None, "Too few trials: no event was seen.")
    parts = []
    for row in rows.itertuples():
        counts = row.events_0, row.events_1
        shares = [Measured.fraction(events, row.trials, together=2 * len(rows)) for events in counts]
        loss = math.log((row.events_1 + 0.5) / (row.events_0 + 0.5)) if any(counts) else -math.inf
        low = math.log(shares[1].low / shares[0].high) if shares[1].low > 0 else -math.inf
        high = math.log(shares[1].high / shares[0].low) if shares[0].low > 0 else math.inf
        scale = row.epsilon if against == "theorem" else row.claimed
        note = f"At epsilon = {row.epsilon:g}: {row.events_1:,} and {row.events_0:,} events."
        parts.append(Measured(loss / scale, math.nan, int(row.trials), note, low / scale, high / scale))
    return Measured.largest(parts)
