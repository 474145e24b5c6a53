"""How each claim's value is measured; a function takes the results and the claim's arguments.

The results show only the cells on which the claim rests (`over`), so that a measure takes all that it finds.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from privarms.claims.verdict import CONFIDENCE, ROUNDING, Measured
from privarms.inference.proportions import clopper_pearson
from privarms.plots.curves import ratio
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

# By how much a run's regret grows at most if its arms stay for an epoch more: R_(e + 1) is below 5 times R_e (line 8).
ANOTHER_EPOCH = 5


def smallest_ratio(results: Results, width: str | None = None) -> Measured:
    """DP-UCB's mean regret over DP-SE's in the setting where it is smallest, of one width or of all."""
    ratios = results.inference("ratios")
    ratios = ratios[ratios["policy"] == "dp_ucb"]
    if width is not None:
        ratios = ratios[ratios["width"] == width]
    worst = ratios.loc[ratios["ratio"].idxmin()]
    times = results.published("at_least_times")
    holding = (ratios["ratio"] >= times).sum()
    note = (
        f"Smallest at {_instance(worst)}, epsilon = {worst['epsilon']:g}, width {worst['width']}; at least {times} "
        f"times in {holding} of {len(ratios)} settings, up to {ratios['ratio'].max():.1f} times."
    )
    found = Measured.smallest([Measured(r.ratio, r.ratio_se, int(r.replicates)) for r in ratios.itertuples()], note)
    # No regret is negative, however much some runs of a setting spread.
    low, high = found.interval
    return replace(found, low=max(low, 0.0), high=high)


def _instance(setting) -> str:
    """The means of the arms in words."""
    spacing = setting.get("spacing")
    return f"K = {setting['K']:g}" if pd.isna(spacing) else f"K = {setting['K']:g}, spacing {spacing}"


def _second_half(results: Results, policy: str, width: str | None = None) -> pd.DataFrame:
    cells = results.inference("second_half")
    return cells[(cells["policy"] == policy) & ((cells["width"] == width) if width else True)]


def _fractions(cells: pd.DataFrame, event: str) -> Iterator[Measured]:
    """In which fraction of the runs of each cell an event happened, all of them together."""
    for count, runs in zip(cells[event], cells["replicates"], strict=True):
        yield Measured.fraction(round(count), int(runs), together=len(cells))


def growing_fraction(results: Results, policy: str, width: str) -> Measured:
    """The fraction of runs whose regret grows in the second half of the horizon, where it is smallest."""
    fractions = list(_fractions(_second_half(results, policy, width), "growing"))
    values = [f.value for f in fractions]
    return Measured.smallest(fractions, f"From {min(values):.3f} to {max(values):.3f} by epsilon.")


def growing_curves(results: Results, policy: str, runs: int) -> Measured:
    """With which probability the mean of some runs grows in the second half of the horizon, where it is smallest."""
    cells = _second_half(results, policy)

    def any_of(share: float | None) -> float:
        return 1 - (1 - share) ** runs

    parts = [
        Measured(any_of(f.value), np.nan, f.replicates, low=any_of(f.low), high=any_of(f.high))
        for f in _fractions(cells, "growing")
    ]
    growth = cells["end"] / cells["half"] - 1
    note = f"The mean regret grows by {growth.min():.1%} to {growth.max():.1%} in the second half of the horizon."
    return Measured.smallest(parts, note)


def late_fraction(results: Results, policy: str) -> Measured:
    """The fraction of runs with regret in the second half of the horizon, where it is largest."""
    cells = _second_half(results, policy)
    late, runs = (cells["replicates"] - cells["settled"]).sum(), cells["replicates"].sum()
    note = f"{late:,} of {runs:,} runs have regret after round {cells['early'].min():,.0f}, the first recorded."
    return Measured.largest(list(_fractions(cells, "growing")), note)


def unsettled_fraction(results: Results, policy: str) -> Measured:
    """The fraction of runs with regret after the first round that was recorded, where it is largest."""
    cells = _second_half(results, policy)
    note = f"After round {cells['early'].min():,.0f}."
    cells = cells.assign(unsettled=cells["replicates"] - cells["settled"])
    return Measured.largest(list(_fractions(cells, "unsettled")), note)


def epsilon_effect(results: Results, width: str) -> Measured:
    """The factor by which regret falls from the smallest epsilon to the largest, DP-UCB's over DP-SE's."""
    ratios = results.inference("ratios")
    chosen = ratios[(ratios["policy"] == "dp_ucb") & (ratios["width"] == width)].sort_values("epsilon")
    ends = [chosen.iloc[0], chosen.iloc[-1]]
    falls = [
        ratio(*(row[c] for row in ends for c in (f"regret_mean{which}", f"regret_se{which}")))
        for which in ("", "_dp_se")
    ]
    value, se = ratio(*falls[0], *falls[1])
    low, high = (row["epsilon"] for row in ends)
    note = (
        f"From epsilon = {low:g} to {high:g} DP-UCB's regret falls {falls[0][0]:.2f} times, DP-SE's "
        f"{falls[1][0]:.2f} times."
    )
    return Measured(value, se, int(min(row["replicates"] for row in ends)), note)


def growth_exponent(results: Results, policy: str, width: str | None = None) -> Measured:
    """p for which the regret grows like ln(T)^p from the shortest horizon to the longest."""
    rows = results.inference("growth")
    (row,) = rows[(rows["policy"] == policy) & ((rows["width"] == width) if width else True)].to_dict("records")
    note = (
        f"From T = {row['first']:.0e} to {row['last']:.0e}; at least {row['least']:.2f} from one horizon to the next."
    )
    value, se, runs = row["exponent"], row["exponent_se"], int(row["replicates"])
    if se > ROUNDING * value:
        return Measured(value, se, runs, note)
    half = float(ANOTHER_EPOCH * _others(runs) / np.log(np.log(row["last"]) / np.log(row["first"])))
    return Measured(value, se, runs, note, value - half, value + half)


def noise_variance_spread(results: Results) -> Measured:
    """The largest over the smallest ratio of the noise's variance to log2(T)^3 / epsilon^2; nothing is simulated."""
    ratios = results.inference("noise_per_step")["variance_ratio"]
    note = f"The variance of a released sum is {ratios.min():.2f} to {ratios.max():.2f} times log2(T)^3 / epsilon^2."
    return Measured(ratios.max() / ratios.min(), note=note)


def noise_over_logarithm(results: Results) -> Measured:
    """The noise's standard deviation over ln(T) / epsilon at the longest horizon, over the same at the shortest."""
    rows = results.inference("noise_per_step").sort_values("horizon")
    first, last = rows.iloc[0], rows.iloc[-1]
    note = (
        f"It is {first['deviation_ratio']:.2f} times ln(T) / epsilon at T = {first['horizon']:.0e} and "
        f"{last['deviation_ratio']:.2f} times at {last['horizon']:.0e}."
    )
    return Measured(last["deviation_ratio"] / first["deviation_ratio"], note=note)


def _stopping(results: Results, policy: str, table: str = "stopping") -> pd.DataFrame:
    cells = results.inference(table)
    return cells[cells["policy"] == policy]


def _failures(cells: pd.DataFrame) -> Measured:
    failures = (cells["failure_mean"] * cells["replicates"]).round()
    note = f"{failures.sum():g} failures in {cells['replicates'].sum():,} runs over {len(cells)} settings."
    return Measured.largest(list(_fractions(cells.assign(failures=failures), "failures")), note)


def largest_failure_rate(results: Results, policy: str) -> Measured:
    """The largest failure probability over the grid."""
    return _failures(_stopping(results, policy))


def largest_failure_rate_of_noise(results: Results, policy: str) -> Measured:
    """The same where the noise decides alone."""
    return _failures(_stopping(results, policy, "noise_alone"))


def _largest_share(cells: pd.DataFrame, event: pd.Series, note: str) -> Measured:
    """The largest share of runs of a cell with an event, from the shares."""
    counts = (event * cells["replicates"]).round()
    return Measured.largest(list(_fractions(cells.assign(event=counts), "event")), note)


def late_share(results: Results, table: str) -> Measured:
    """The largest fraction of runs of Algorithm 2 that do not halt by Theorem 3.3's t_U."""
    cells = _stopping(results, "dp_exponential_nas", table)
    cells = cells[cells["by_upper"].notna()]
    times = (cells["longest"] / cells["t_upper"]).max()
    worst = cells.loc[cells["by_upper"].idxmin()]
    note = f"The longest run took about {times:.2g} of t_U."
    if worst["by_upper"] < 1:
        failing = (cells["by_upper"] < 1 - cells["beta"]).sum()
        note = (
            f"Largest at alpha = {worst['alpha']:g}, mu = {worst['mu']:g}, epsilon = {worst['epsilon']:g}, where "
            f"t_U = {worst['t_upper']:.0f}; {failing} of {len(cells)} settings fail. {note}"
        )
    return _largest_share(cells, 1 - cells["by_upper"], note)


def early_share(results: Results, policy: str) -> Measured:
    """The largest fraction of runs that need no more samples than the number in Theorem 3.4's proof."""
    cells = _stopping(results, policy)
    times = cells["stopping_time_mean"] / cells["t_lower"]
    note = f"The mean stopping time is {times.min():,.0f} to {times.max():,.0f} times that number."
    return _largest_share(cells, cells["by_lower"], note)


def quartile_over_proof(results: Results, policy: str, table: str) -> Measured:
    """What a quarter of the stopping times exceed over the most samples that the proof of Theorem 3.4 allows."""
    cells = _stopping(results, policy, table)
    parts = [
        Measured(r.upper_quartile / r.t_proof, np.nan, int(r.replicates), "", *(q / r.t_proof for q in ends))
        for r in cells.itertuples()
        for ends in [(r.quartile_low, r.quartile_high)]
    ]
    least = cells.loc[(cells["upper_quartile"] / cells["t_proof"]).idxmin()]
    note = f"Smallest at alpha = {least['alpha']:g}, mu = {least['mu']:g}, epsilon = {least['epsilon']:g}."
    found = Measured.smallest(parts, note)
    if found.low == found.high:
        note += (
            " Most stopping times there are one number: both ends of the interval are that, so that there is no margin."
        )
    return replace(found, note=note)


def _spread(parts: list[Measured], note: str) -> Measured:
    """The largest over the smallest of some positive numbers."""
    # Twice as many, for the two must hold together.
    top, bottom = Measured.largest(parts * 2), Measured.smallest(parts * 2)
    value, se = ratio(top.value, top.se, bottom.value, bottom.se)
    low, high = top.low / bottom.high, top.high / bottom.low
    return Measured(value, se, min(top.replicates, bottom.replicates), note, low, high)


def optimality_spread(results: Results) -> Measured:
    """The largest over the smallest ratio of Algorithm 2's mean stopping time to Corollary 3.6's expression."""
    cells = _stopping(results, "dp_exponential_nas")
    ratios = cells["stopping_time_mean"] / cells["order"]
    parts = [
        Measured(one, se, int(runs))
        for one, se, runs in zip(ratios, cells["stopping_time_se"] / cells["order"], cells["replicates"], strict=True)
    ]
    note = f"Its mean stopping time is {ratios.min():.0f} to {ratios.max():.0f} times the corollary's expression."
    return _spread(parts, note)


def doubling_cost(results: Results) -> Measured:
    """The largest ratio of Algorithm 2's mean stopping time to Algorithm 1's in the same setting."""
    keys, time = ["alpha", "mu", "epsilon", "beta"], ["stopping_time_mean", "stopping_time_se"]
    one, two = (_stopping(results, policy)[[*keys, *time, "replicates"]] for policy in ("dp_nas", "dp_exponential_nas"))
    both = two.merge(one, on=keys, suffixes=("", "_one"), validate="one_to_one")
    value, se = ratio(*(both[c] for c in (*time, *(f"{c}_one" for c in time))))
    runs = both[["replicates", "replicates_one"]].min(axis=1)
    parts = [Measured(*three) for three in zip(value, se, runs.astype(int), strict=True)]
    return Measured.largest(parts, f"{value.min():.2f} to {value.max():.2f} times over {len(both)} settings.")


def fact_2_1(results: Results, half: str) -> Measured:
    """ln(a ln x) / (b x) where it is smallest (first half) or largest (second); nothing is simulated."""
    rows = results.inference("fact_2_1")
    rows = rows[rows["half"] == half]
    worst = rows.loc[rows["ratio"].idxmin() if half == "first" else rows["ratio"].idxmax()]
    fails = (rows["ratio"] < 1 if half == "first" else rows["ratio"] > 1).sum()
    note = (
        f"At a = {worst['a']:g}, b = {worst['b']:.4g}, x = {worst['x']:.4g}; it fails at {fails} of {len(rows)} a, b."
    )
    return Measured(worst["ratio"], note=note)


def _with_noise(results: Results, table: str, noise: float) -> pd.DataFrame:
    rows = results.inference(table)
    return rows[rows["noise"] == noise]


def audit_exact(results: Results, table: str, noise: float = 1.0) -> Measured:
    """The largest exact log ratio over epsilon."""
    rows = _with_noise(results, table, noise)
    ratios = rows["exact"] / rows["claimed"]
    return Measured(ratios.max(), note=f"{ratios.min():.6f} to {ratios.max():.6f} of epsilon.")


def audit_loss(results: Results, table: str, noise: float, extreme: str) -> Measured:
    """The privacy loss from counts over epsilon: the largest or the smallest."""
    rows = _with_noise(results, table, noise)
    if not np.isfinite(rows[["loss", "loss_low", "loss_high"]]).all(axis=None):
        return Measured(np.nan, np.nan, int(rows["trials"].min()), "Too few trials: an input has no event.")
    ends = rows[["loss", "loss_low", "loss_high"]].div(rows["claimed"], axis=0)
    parts = [
        Measured(value, np.nan, int(trials), low=low, high=high)
        for (value, low, high), trials in zip(ends.to_numpy(), rows["trials"], strict=True)
    ]
    exact = rows["exact"] / rows["claimed"]
    note = f"Exactly it is {exact.min():.3f} to {exact.max():.3f} of epsilon."
    return {"largest": Measured.largest, "smallest": Measured.smallest}[extreme](parts, note)


def _note_on_pulls(rows: pd.DataFrame) -> str:
    constants = rows["mean"] / rows["order"]
    return (
        f"Mean pulls are {constants.min():.0f} to {constants.max():.0f} times the expression of Lemma 4.2, and at most "
        f"{(rows['largest'] / rows['ceiling']).max():.3f} of the explicit ceiling."
    )


def pulls_above_ceiling(results: Results, at_horizon: bool, pooled: bool) -> Measured:
    """The fraction of runs that pulled any suboptimal arm more often than the explicit ceiling.

    at_horizon: for beta = 1/T, else for the larger beta; pooled: of the runs of all cells, else where it is largest
    """
    rows = results.inference("pulls")
    rows = rows[(rows["beta"] == 1 / rows["horizon"]) == at_horizon]
    cells = rows.drop_duplicates("cell")
    events = (cells["any_above"] * cells["replicates"]).round()
    if pooled:
        return Measured.fraction(round(events.sum()), int(cells["replicates"].sum()), _note_on_pulls(rows))
    return Measured.largest(list(_fractions(cells.assign(events=events), "events")), _note_on_pulls(rows))


def _others(runs: int, together: int = 1) -> float:
    """How large a share of runs may have another regret, though all that were made have the same."""
    _, high = clopper_pearson(0, runs, 1 - (1 - CONFIDENCE) / together)
    return float(high)


def _largest_mean(cells: pd.DataFrame, column: str, note: str) -> Measured:
    """The largest of means of runs of DP-SE in some unit.

    Runs that all have the same regret do not say that all runs would: as many as Clopper and Pearson allow may have an
    epoch more. Where that regret is the first epoch's, the probability of any other is known by formula, and no regret
    is above the gap times T.
    """
    parts = []
    for row in cells.to_dict("records"):
        value, se, runs = row[column], row[f"{column}_se"], int(row["replicates"])
        if se > ROUNDING * value:
            parts.append(Measured(value, se, runs))
            continue
        others = _others(runs, len(cells))
        ends = 1 - others, 1 + ANOTHER_EPOCH * others
        first = row.get("first_epoch", np.nan)
        if abs(row.get("regret_mean", np.nan) - first) <= 1e-9 * first:
            other = row["otherwise"]
            exact = 1 - other, 1 + other * row["gap"] * row["horizon"] / first
            ends = max(ends[0], exact[0]), min(ends[1], exact[1])
        parts.append(Measured(value, se, runs, "", *(value * end for end in ends)))
    return Measured.largest(parts, note)


def regret_over_ceiling(results: Results) -> Measured:
    """The largest ratio of DP-SE's mean regret to its explicit bound."""
    cells = results.inference("scaling")
    cells = cells[(cells["policy"] == "dp_se") & cells["ratio"].notna()]
    worst = cells.loc[cells["ratio"].idxmax()]
    low, high = cells["order_ratio"].min(), cells["order_ratio"].max()
    second = cells["ratio"].nlargest(2).iloc[-1]
    note = (
        f"Largest at K = {worst['K']:g}, epsilon = {worst['epsilon']:g}; next {second:.2f}. The mean regret is "
        f"{low:.1f} to {high:.1f} times the expression of Theorem 4.3."
    )
    return _largest_mean(cells, "ratio", note)


def _at_the_worst_gap(cells: pd.DataFrame, column: str) -> Measured:
    worst = cells.loc[cells[column].idxmax()]
    setting = f"K = {worst['K']:g}, epsilon = {worst['epsilon']:g}, T = {int(worst['horizon']):,}"
    return _largest_mean(cells, column, f"At {setting}, gap {worst['gap']:.4f}.")


def minimax_constant(results: Results) -> Measured:
    """The largest ratio of DP-SE's mean regret to Theorem 4.4's expression."""
    return _at_the_worst_gap(results.inference("minimax"), "ratio")


def minimax_over_ceiling(results: Results) -> Measured:
    """The largest ratio of DP-SE's mean regret to its explicit bound at the same gap."""
    cells = results.inference("minimax")
    found = _at_the_worst_gap(cells, "ceiling_ratio")
    if "otherwise" not in cells:
        return found
    wide = cells.loc[cells["gap"] >= 0.5, "otherwise"]
    note = f"{found.note} From gap .5 on all others leave in epoch 1 but with probability {wide.max():.0e}, by formula."
    return replace(found, note=note) if len(wide) else found


def smallest_epoch_growth(results: Results) -> Measured:
    """The smallest ratio of two successive epochs' lengths, from line 8 alone; nothing is simulated."""
    found = results.inference("epoch_growth")
    smallest = found.loc[found["growth"].idxmin()]
    in_figure_1 = found["epsilon"].isin(results.published_table("figure1")["epsilon"])
    note = (
        f"Smallest at |S| = {smallest['arms']:g} falling to {smallest['left']:g}, epoch {smallest['epoch']:g}, epsilon "
        f"= {smallest['epsilon']:g}, beta = {smallest['beta']:g}; at the epsilon of Figure 1 R_e grows at least "
        f"{found.loc[in_figure_1, 'growth'].min():.2f} times. R_e counts pulls of an arm."
    )
    return Measured(smallest["growth"], note=note)


MEASURES = functions_of(__name__)
