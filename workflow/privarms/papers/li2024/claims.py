"""How each claim's value is measured; a function takes the results and the claim's arguments.

The cells on which a claim rests are those that its `over` names: whatever else is in a grid changes no number. A
number over a grid has an interval from intervals that hold in all of its cells together.
"""

import math

import numpy as np
import pandas as pd

from privarms.claims.verdict import CONFIDENCE, Measured, quantile
from privarms.inference.proportions import clopper_pearson
from privarms.papers.li2024 import _formula_claims, _table_claims
from privarms.papers.li2024._extremes import NOTHING, largest, measured, spread
from privarms.plots.curves import ratio
from privarms.plots.registry import functions_of
from privarms.studies.results import Results


def _cells(results: Results, policy: str) -> pd.DataFrame:
    cells = results.inference("pareto")
    return cells[cells["policy"] == policy]


def _budget(row: pd.Series) -> str:
    return "" if math.isnan(row["epsilon"]) else f", epsilon = {row['epsilon']:g}"


def _with_epsilon(rows: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """The rows of a budget; of policies without one for 0."""
    return rows[rows["epsilon"] == epsilon if epsilon else rows["epsilon"].isna()]


def _in_short(row: pd.Series) -> str:
    return f"n = {row['horizon']:,}, M = {row['M']}, alpha = {row['alpha']:g}, {row['arrivals']}{_budget(row)}"


def _at(row: pd.Series) -> str:
    lost = f", {row['missing_fraction']:.0%} of the runs without an estimate" if row["missing_fraction"] > 0.01 else ""
    return _in_short(row) + lost


def _of_budget(rows: pd.DataFrame, budget: str) -> pd.DataFrame:
    """The rows of a budget, each release's as printed or the total; printed where none is named."""
    if "budget" not in rows:
        return rows[[budget == "printed"] * len(rows)]
    return rows[rows["budget"].astype(object).fillna("printed") == budget]


def _product(cells: pd.DataFrame, policy: str) -> tuple[pd.Series, pd.Series]:
    """Regret times error over M and its standard error.

    The errors of DP-ConSE rest on rare short trials and those of EXP3E on few runs: by formula.
    """
    relative = (cells["regret_se"] / cells["regret"]) ** 2
    if policy == "conse_se":
        relative += (cells["mse_se"] / cells["mse"]) ** 2
    product = cells["product"] if policy == "conse_se" else cells["expected_product"]
    return product, product * np.sqrt(relative)


def _said(policy: str) -> str:
    reason = {"dp_conse": "a simulated one rests on rare short trials", "conse_exp3e": "its runs are few"}.get(policy)
    return f" Errors by formula, for {reason}." if reason else ""


def smallest_product(results: Results) -> Measured:
    """The smallest regret times error, over all algorithms and cells, over the bound in the proof of Theorem 2.1.

    3 / 128 of the sum of gaps for rewards of -1 and 1; for 0 and 1 gap and regret are half, the error a quarter of
    theirs, so that it is 3 / 512.
    """
    parts, best = [], None
    for policy in results.inference("pareto")["policy"].unique():
        cells = _cells(results, policy)
        product, error = _product(cells, policy)
        bound = 3 / 512 * cells["gap_sum"] / cells["M"]
        parts += measured(product / bound, error / bound, cells["replicates"])
        if (product / bound).notna().any():
            place = (product / bound).idxmin()
            one = (product[place] / bound[place], f"At {_at(cells.loc[place])}, {policy}.")
            best = one if best is None else min(best, one)
    return Measured.smallest(parts, best[1]) if parts else NOTHING


def estimation_lower_bound(results: Results) -> Measured:
    """The smallest share of runs that err by phi or more over Lemma 1.1's bound, over cells and phi."""
    rows = results.inference("lower_bound")
    parts = []
    for row in rows.itertuples():
        one = Measured.fraction(row.events, row.replicates, together=len(rows))
        parts.append(
            Measured(one.value / row.bound, one.se, one.replicates, "", one.low / row.bound, one.high / row.bound)
        )
    worst = rows.loc[(rows["events"] / rows["replicates"] / rows["bound"]).idxmin()]
    note = (
        f"{worst['policy']}, n = {worst['horizon']:,}, alpha = {worst['alpha']:g}: {worst['events']:,} of "
        f"{worst['replicates']:,} runs err by {worst['phi']:.2g} or more, at least {worst['bound']:.3g} of them must."
    )
    return Measured.smallest(parts, note)


def product_spread(results: Results, policy: str | list[str]) -> Measured:
    """The largest over the smallest regret times error over M in the grid, of an algorithm or of several."""
    policies = [policy] if isinstance(policy, str) else policy
    cells = [_cells(results, name) for name in policies]
    product, error = (pd.concat(some) for some in zip(*map(_product, cells, policies), strict=True))
    cells = pd.concat(cells)
    gone = product[cells["eliminated_fraction"] > 0.999]

    def of(place):
        name = cells.loc[place, "policy"]
        return f"{product[place]:.3g} ({_in_short(cells.loc[place])}{f', {name}' if len(policies) > 1 else ''})"

    def note(worst, best):
        apart = f"{gone.min():.3g} to {gone.max():.3g} in the {gone.count()}" if gone.count() else "there are none"
        return (
            f"From {of(best)} to {of(worst)}; {apart} of {product.count()} cells in which the worse arms are "
            f"eliminated.{' Errors by formula.' * any(map(_said, policies))}"
        )

    return spread(product, error, cells["replicates"], note)


def scaled_error(results: Results, policy: str) -> Measured:
    """The largest error times T_min over the cells, T_min at the expected count of the rarest feature."""
    cells = _cells(results, policy).dropna(subset="mse")
    by_formula = policy != "conse_se"
    scaled = cells["expected_mse" if by_formula else "mse"] * cells["T_min"]
    error = scaled * 0 if by_formula else cells["mse_se"] * cells["T_min"]

    def note(worst):
        found = f"Largest at {_at(cells.loc[worst])}; median over the grid {scaled.median():.2f}."
        if policy == "dp_conse":
            measured = cells.loc[worst, "mse"] * cells.loc[worst, "T_min"]
            found += f" {measured:.3g} in that cell's runs."
        return found + _said(policy)

    return largest(scaled, error, None if by_formula else cells["replicates"], note)


def scaled_regret(results: Results, policy: str) -> Measured:
    """The largest regret over M max(f^(1 - alpha), log n (/ epsilon)) over the grid, over the smallest."""
    cells = _cells(results, policy)
    order = cells["M"] * cells["T_min"]
    scaled = cells["regret"] / order

    def note(worst, best):
        at = _in_short(cells.loc[best]), _in_short(cells.loc[worst])
        return f"From {scaled[best]:.2f} at {at[0]} to {scaled[worst]:.0f} at {at[1]}."

    return spread(scaled, cells["regret_se"] / order, cells["replicates"], note)


def first_half_constant(results: Results, policy: str, bound: str = "order") -> Measured:
    """The largest first-half regret over a bound, over the cells in which all worse arms are eliminated.

    bound: order, sum log(n)/gap (+ M log(n)/epsilon); sure, what the proof's events leave: see `sure_pulls`
    """
    rows = results.inference("elimination")
    rows = rows[rows["policy"] == policy]
    gone = rows[rows["eliminated_fraction"] > 0.999]
    if gone.empty:
        return Measured(math.nan, 0.0, None, "In no cell of the grid are the worse arms eliminated.")
    over = gone["sure_regret"]
    if bound == "order":
        private = (gone["M"] / gone["epsilon"]).fillna(0)
        over = np.log(gone["horizon"].astype(float)) * (gone["inverse_gap_sum"] + private)
    constants = gone["first_half_regret"] / over

    def note(worst):
        row = gone.loc[worst]
        return (
            f"Largest at n = {row['horizon']:,}, M = {row['M']}{_budget(row)}, smallest {constants.min():.3g}; "
            f"{len(gone)} of {len(rows)} cells are such."
        )

    return largest(constants, gone["first_half_se"] / over, gone["replicates"], note)


def second_half_constant(results: Results, policy: str) -> Measured:
    """The largest second-half regret over T_min times the sum of gaps, over the grid.

    Its variance is at most that of the whole regret: the halves are independent, or dear together.
    """
    cells = _cells(results, policy)
    order = cells["T_min"] * cells["gap_sum"]
    scaled = (cells["regret"] - cells["first_half_regret"]) / order
    gone = scaled[cells["eliminated_fraction"] > 0.999]

    def note(worst):
        return (
            f"Largest at {_at(cells.loc[worst])}; at most {gone.max():.2f} where the worse arms are eliminated in the "
            "first half."
        )

    return largest(scaled, cells["regret_se"] / order, cells["replicates"], note)


def runs_beyond(results: Results, policy: str, event: str, n: int) -> Measured:
    """The largest share, over the cells of one feature, of runs with an event that has probability 1/n at most.

    event: over_bound, more pulls of the worse arm than in the proofs of Lemmas 2.1 and 3.1; over_sure, more than their
    events leave; wrong, the better arm goes
    """
    rows = results.inference("elimination")
    rows = rows[(rows["policy"] == policy) & (rows["M"] == 1) & (rows["horizon"] == n)]
    if rows.empty:
        return Measured(math.nan, 0.0, None, f"n = {n:,} is not in the grid of this scale.")
    parts = [Measured.fraction(r[event], r["replicates"], together=len(rows)) for r in rows.to_dict("records")]
    note = f"{rows[event].sum()} of {rows['replicates'].sum():,} runs."
    if event != "wrong":
        limit = rows["pulls_bound" if event == "over_bound" else "sure_pulls"]
        note += f" The most pulls in a run are {(rows['worst_pulls'] / limit).max():.2g} of the bound."
    return Measured.largest(parts, note)


def eliminated(results: Results, policy: str, n: int, M: int, epsilon: float = 0) -> Measured:
    """The share of features that lose an arm in the first half; I as if those of a run were all alike."""
    rows = results.inference("elimination")
    rows = _with_epsilon(rows[(rows["policy"] == policy) & (rows["horizon"] == n) & (rows["M"] == M)], epsilon)
    if rows.empty:
        return Measured(math.nan, 0.0, None, f"n = {n:,} is not in the grid of this scale.")
    row = rows.iloc[0]
    note = f"R_1 is {row['R_1']:.0f} patients of a feature, of about {n / 2 / M:,.0f} in the first half."
    if policy == "conse_exp3e":
        note = f"C = {row['constant']:.2g}."
    runs = int(row["replicates"])
    return Measured.fraction(round(row["eliminated_fraction"] * runs), runs, note)


def _longest(results: Results, policy: str, interval: str) -> tuple[pd.DataFrame, pd.Series | None]:
    """The rows of an interval, and that of the longest trial; the larger budget where two are as long."""
    rows = results.inference("coverage")
    rows = rows[(rows["policy"] == policy) & (rows["interval"] == interval)]
    if rows["T"].dropna().empty:
        return rows, None
    return rows, rows.sort_values(["T", "epsilon"], kind="stable", na_position="first").iloc[-1]


def variance_ratio(results: Results, policy: str) -> Measured:
    """The variance of sqrt(T) (estimate - effect) over s0^2 + s1^2 at the longest trial in the grid (alpha = .1)."""
    rows, row = _longest(results, policy, "printed")
    if row is None:
        return NOTHING
    others = rows["variance_ratio"]
    note = f"T = {row['T']:,.0f}; {others.min():.2f} to {others.max():.2f} over the grid."
    return Measured(row["variance_ratio"], row["variance_ratio_se"], int(row["replicates"]), note)


def variance_with_privacy(results: Results, epsilon: float, alpha: float) -> Measured:
    """The largest variance of DP-ConSE's estimate over that of ConSE's at the same n, M and alpha."""
    rows = results.inference("coverage")
    rows = rows[(rows["interval"] == "printed") & (rows["alpha"] == alpha)]
    private = rows[(rows["policy"] == "dp_conse") & (rows["epsilon"] == epsilon)]
    both = private.merge(rows[rows["policy"] == "conse_se"], on=["horizon", "M"], suffixes=("", "_plain"))
    names = ("variance_ratio", "variance_ratio_se", "variance_ratio_plain", "variance_ratio_se_plain")
    value, error = ratio(*(both[name] for name in names))

    def note(worst):
        return f"At n = {both.loc[worst, 'horizon']:,}, M = {both.loc[worst, 'M']}, T = {both.loc[worst, 'T']:,.0f}."

    return largest(value, error, both["replicates"], note)


def coverage(results: Results, policy: str, interval: str) -> Measured:
    """The coverage of an interval at the longest trial in the grid."""
    rows, row = _longest(results, policy, interval)
    if row is None:
        return NOTHING
    note = f"From {rows['coverage'].min():.3f} to {rows['coverage'].max():.3f} over the grid."
    runs = int(row["replicates"])
    return Measured.fraction(round(row["coverage"] * runs), runs, note)


def unbiased(results: Results, policy: str) -> Measured:
    """The largest |mean error| over the effect, over the cells."""
    rows = results.inference("coverage")
    rows = rows[(rows["policy"] == policy) & (rows["interval"] == "printed")].dropna(subset="bias")
    if rows.empty:
        return NOTHING
    parts = []
    for row in rows.itertuples():
        off, half = abs(row.bias), quantile(row.replicates, len(rows)) * row.bias_se
        ends = max(0.0, off - half) / row.effect, (off + half) / row.effect
        parts.append(Measured(off / row.effect, row.bias_se / row.effect, int(row.replicates), "", *ends))
    row = rows.loc[(rows["bias"].abs() / rows["effect"]).idxmax()]
    z = (rows["bias"] / rows["bias_se"]).abs().max()
    note = (
        f"{len(rows)} cells, at most {z:.1f} standard errors; largest at n = {row['horizon']:,}, M = {row['M']}, "
        f"alpha = {row['alpha']:g}."
    )
    return Measured.largest(parts, note)


def normality(results: Results, policy: str, alpha: float, epsilon: float = 0) -> Measured:
    """The largest distance of the corrected, standardised estimate's law from the normal one, over the cells.

    Kolmogorov and Smirnov's; the true distance is less than sqrt(ln(2 / level) / (2 runs)) away from that of the runs,
    but for that level (Dvoretzky, Kiefer & Wolfowitz, with Massart's constant). epsilon: 0 for ConSE
    """
    rows = results.inference("coverage")
    rows = rows[(rows["policy"] == policy) & (rows["interval"] == "corrected_laplace") & (rows["alpha"] == alpha)]
    rows = _with_epsilon(rows, epsilon).dropna(subset="ks")
    if rows.empty:
        return NOTHING
    parts = []
    for row in rows.itertuples():
        reach = math.sqrt(math.log(2 * len(rows) / (1 - CONFIDENCE)) / 2 / row.replicates)
        ends = max(0.0, row.ks - reach), row.ks + reach
        parts.append(Measured(row.ks, math.nan, int(row.replicates), "", *ends))
    worst = rows.loc[rows["ks"].idxmax()]
    note = f"At n = {worst['horizon']:,}, M = {worst['M']}, T = {worst['T']:,.0f}; p = {worst['ks_p']:.2g}."
    if worst["ks_p"] < 1 - CONFIDENCE:
        note += f" So many runs tell this law from the normal one; it is within {max(p.high for p in parts):.2g} of it."
    return Measured.largest(parts, note)


def privacy_is_free(results: Results, measure: str, epsilon: float, budget: str = "printed") -> Measured:
    """The largest ratio of DP-ConSE's error or regret to ConSE's over the grid at an epsilon.

    budget: whether epsilon is for every release, as printed, or in total; the error is by formula as printed
    """
    everything = results.inference("privacy_cost")
    everything = _of_budget(everything[everything["policy"].isin(["dp_conse", "dp_conse_total"])], budget)
    rows = everything[everything["epsilon"] == epsilon]
    by_formula = measure == "mse" and budget == "printed"
    column = {"mse": "expected_mse_ratio" if by_formula else "mse_ratio", "regret": "regret_ratio"}[measure]
    errors = rows[column] * 0 if by_formula else rows[f"{column}_se"]

    def note(place):
        worst = rows.loc[place]
        found = (
            f"Largest at n = {worst['horizon']:,}, M = {worst['M']}, alpha = {worst['alpha']:g}, {worst['arrivals']}"
        )
        found += f"; median over the grid {rows[column].median():.3g}."
        if by_formula:
            dear = everything[everything["noise_ratio"] - 3 * everything["noise_ratio_se"] > 1.1]
            found += (
                " By formula. The noise adds a tenth to the trial's own error at epsilon^2 T_min = 89; runs show more "
                f"than that by 3 standard errors up to {dear['eps2_T'].max():.0f}."
            )
        return found

    return largest(rows[column], errors, None if by_formula else rows["replicates"], note)


def audit(results: Results, release: str, M: int, against: str = "claimed", budget: str = "printed") -> Measured:
    """The largest privacy loss shown by a release, over epsilon/2 (claimed) or epsilon (theorem).

    ln of the ratio of the event's shares in the two runs, each with half an event more; I from Clopper and Pearson's
    intervals of both, which hold for all epsilon together. Of an epsilon without an event nothing is known: the largest
    loss has no upper end then. against: exact, the loss by formula over what is claimed
    """
    rows = _of_budget(results.inference("audit"), budget)
    rows = rows[(rows["release"] == release) & (rows["M"] == M)]
    seen = rows[["events_0", "events_1"]].sum(axis=1) > 0
    if not (seen.any() or (against == "exact" and len(rows))):
        return Measured(math.nan, 0.0, None, "Too few trials: no event was seen.")
    if against == "exact":
        losses = rows["exact"] / rows["claimed"]
        worst = rows.loc[losses.idxmax()]
        return Measured(
            float(losses.max()), note=f"At epsilon = {worst['epsilon']:g}: {worst['exact']:.3f}, by formula."
        )
    parts = []
    for row in rows.to_dict("records"):
        scale = row["epsilon"] if against == "theorem" else row["claimed"]
        level = 1 - (1 - CONFIDENCE) / (2 * len(rows))
        (low_0, high_0), (low_1, high_1) = (
            clopper_pearson(row[f"events_{run}"], row["trials"], level) for run in (0, 1)
        )
        seen = row["events_0"] + row["events_1"] > 0
        loss = math.log((row["events_1"] + 0.5) / (row["events_0"] + 0.5)) if seen else -math.inf
        ends = math.log(low_1 / high_0) if low_1 > 0 else -math.inf, math.log(high_1 / low_0) if low_0 > 0 else math.inf
        parts.append(Measured(loss / scale, math.nan, int(row["trials"]), "", *(end / scale for end in ends)))
    worst = rows.iloc[int(np.argmax([part.value for part in parts]))]
    note = (
        f"At M = {worst['M']}, epsilon = {worst['epsilon']:g}: exactly {worst['exact']:.3f}; {worst['events_1']:,} and "
        f"{worst['events_0']:,} events in {worst['trials']:,} trials of either run."
    )
    if any(part.high == math.inf for part in parts):
        none = ", ".join(f"{r['epsilon']:g}" for r in rows.to_dict("records") if r["events_0"] == 0)
        note += f" At epsilon = {none} a run has no event: the loss has no upper end, and no margin."
    return Measured.largest(parts, note)


def missing(results: Results, policy: str) -> Measured:
    """The share of runs in which some feature never gets its estimate, largest over the cells."""
    cells = _cells(results, policy)
    shares = cells["missing_fraction"].dropna()
    if shares.empty:
        return NOTHING
    events = (shares * cells.loc[shares.index, "replicates"]).round().astype(int)
    trials = cells.loc[shares.index, "replicates"]
    parts = [Measured.fraction(e, t, together=len(shares)) for e, t in zip(events, trials, strict=True)]
    return Measured.largest(parts, f"At {_at(cells.loc[shares.idxmax()])}; smallest {shares.min():.2f}.")


MEASURES = functions_of(__name__, _formula_claims, _table_claims)
