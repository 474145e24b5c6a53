"""How the claims about arms that go are measured: Figure 6, Proposition 2.7, the explanation of Figure 9(c).

A function takes the results and the claim's arguments; `variant` and `c` are as in `_regret_measures`.
"""

import math

import numpy as np
import pandas as pd

from privarms.claims.sums import summed
from privarms.claims.verdict import Measured
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._regret_measures import of_algorithm
from privarms.studies.results import Results


def _removals(results: Results, variant: str, c: float) -> pd.DataFrame:
    return of_algorithm(results.inference("eliminations"), variant, c)


def wrong_by_order(results: Results, variant: str, c: float = 0) -> Measured:
    """Best arms removed while the sources stream, with the low-quality one first less with the other first, a run."""
    table = _removals(results, variant, c)
    orders = (panels.LOW_FIRST, panels.HIGH_FIRST)
    low, high = (table[table["order"] == order].set_index("epsilon") for order in orders)
    difference = (low["source_wrong"] - high["source_wrong"]).mean()
    errors = [error / len(low) for table in (low, high) for error in table["source_wrong_se"]]
    note = f"{low['source_wrong'].mean():.2f} against {high['source_wrong'].mean():.2f}."
    return summed(float(difference), errors, [*low["replicates"], *high["replicates"]], note)


def blind_removals(results: Results, variant: str, c: float = 0) -> Measured:
    """The share of removals that hit the best arm, pooled over epsilon, without auxiliary data."""
    table = _removals(results, variant, c)
    table = table[table["n_aux"] == 0]
    by_epsilon = ", ".join(f"{row.wrong:.2f} at {row.epsilon:g}" for row in table.itertuples())
    total = table["removed"].sum()
    if total == 0:
        return Measured(math.nan, math.nan, int(table["replicates"].min()), "No arm is ever removed.")
    weights = table["removed"] / total
    chosen = table["wrong"].fillna(0)
    value = float((weights * chosen).sum())
    errors, note = [*(weights * table["wrong_se"].fillna(0))], f"By epsilon: {by_epsilon}."
    # A run's removals are taken to be as many as in the mean.
    reach = [(w * share, w * (1 - share)) for w, share in zip(weights, chosen, strict=True)]
    return summed(value, errors, [*table["replicates"]], note, reach)


def first_elimination(results: Results, variant: str, better: str, worse: str, panel: str, c: float = 0) -> Measured:
    """Mean target users before a sub-optimal arm goes at the test point, in one setting less that in another, over the
    number of target users.

    0 where it goes in the auxiliary stage, the horizon where none goes. better, worse: none, effective or weak; panel:
    fig6, or fig6_caption_size
    """
    table = results.inference("first_eliminations")
    table = table[(table["policy"] == panels.POLICY) & (table["variant"] == variant)]
    table = table[table["c"] == c] if variant == "as_printed" else table
    names = table["panels"].str.split()
    a, b = (table[[{panel, setting} <= set(n) for n in names]].iloc[0] for setting in (better, worse))
    note = f"{better}: {a['users']:,.0f} users; {worse}: {b['users']:,.0f}."
    errors = [end["users_se"] / a["horizon"] for end in (a, b)]
    # A run has between none and all of the users.
    first, second = a["users"] / a["horizon"], b["users"] / a["horizon"]
    reach = [(first, 1 - first), (1 - second, second)]
    return summed(first - second, errors, [a["replicates"], b["replicates"]], note, reach)


def descent(
    results: Results, variant: str, better: str, worse: str, panel: str, measure: str, part: float, c: float = 0
) -> Measured:
    """The average regret of a part of the target's users in one setting of Figure 6 over that in another.

    measure: regret, or local_regret, at the test point; part: of the horizon; the rest as in `first_elimination`
    """
    cells = of_algorithm(results.cells("illustration").assign(deviation=""), variant, c)
    names = cells["panels"].str.split()
    ends = []
    for setting in (better, worse):
        cell = cells[[{panel, setting} <= set(n) for n in names]]
        cell = cell[cell["arm"] == 0]
        # The checkpoint next to it; of the same horizon, so the same for both.
        ends.append(cell.loc[(np.log(cell["t"] / (part * cell["horizon"]))).abs().idxmin()])
    (a, a_se), (b, b_se) = ((end[f"{measure}_mean"] / end["t"], end[f"{measure}_se"] / end["t"]) for end in ends)
    note = f"After {ends[0]['t']:,} users: {better} {a:.3f} a user, {worse} {b:.3f}."
    # A user's regret is between 0 and 1, as rewards are.
    reach = [(a / b, (1 - a) / b), (a / b * (1 - b) / b, a / b)]
    return summed(a / b, [a_se / b, a / b * b_se / b], [end["replicates"] for end in ends], note, reach)
