"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments."""

import math

from privarms.claims.measures import choose
from privarms.claims.verdict import Measured, quantile
from privarms.studies.results import Results


def estimation_lower_bound(results: Results) -> Measured:
    """The smallest share of runs that err by phi or more over Lemma 1.1's bound, over cells and phi."""
    rows = results.inference("lower_bound")
    parts = []
    for row in rows.itertuples():
        one = Measured.fraction(row.events, row.replicates, together=len(rows))
        note = (
            f"{row.policy}, n = {row.horizon:,}, alpha = {row.alpha:g}: {row.events:,} of {row.replicates:,} runs err "
            f"by {row.phi:.2g} or more, at least {row.bound:.3g} of them must."
        )
        ends = one.low / row.bound, one.high / row.bound
        parts.append(Measured(one.value / row.bound, one.se, one.replicates, note, *ends))
    return Measured.smallest(parts)


def exp3e_spread(results: Results, of: str) -> Measured:
    """The largest over the smallest regret, or regret times error, of ConSE with EXP3E over what is claimed of it.

    of: regret or product; cells of a single run, whose errors are not known, do not enter the interval
    """
    cells = results.inference("pareto")
    cells = cells[cells["policy"] == "conse_exp3e"]
    if of == "product":
        numbers, errors = cells["judged_product"], cells["judged_product_se"]
    else:
        order = cells["M"] * cells["T_min"]
        numbers, errors = cells["regret"] / order, cells["regret_se"] / order
    runs = cells["replicates"].astype(int)
    half = errors * [quantile(n, 2 * numbers.count()) for n in runs]
    low, high = numbers - half, numbers + half
    ends = max(1.0, low.max() / high.min()), high.max() / low.min() if low.min() > 0 else math.inf
    note = f"From {numbers.min():.3g} to {numbers.max():.3g} in {numbers.count()} cells."
    return Measured(numbers.max() / numbers.min(), math.nan, int(runs.min()), note, *ends)


def audit(results: Results, release: str, M: int, against: str = "claimed", budget: str = "") -> Measured:
    """The largest privacy loss shown by a release, over epsilon/2 (claimed) or epsilon (theorem).

    ln of the ratio of the event's shares in the two runs, each with half an event more; I from Clopper and Pearson's
    intervals of both, which hold for all epsilon together. Of an epsilon without an event nothing is known: the largest
    loss has no upper end then. budget: total, or as printed
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
