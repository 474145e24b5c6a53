"""How the claims about Figures 7 to 9, Theorems 2.6 and 3.4 and the authors' logs are measured.

A function takes the results and the claim's arguments. `variant` is as_released or as_printed, the latter with `c`, or
`private`: as released, but with the noise from every user that local privacy needs. Standard errors of ratios are of
first order.
"""

import itertools
import math

import numpy as np
import pandas as pd

from privarms.claims.sums import part, summed, told
from privarms.claims.verdict import Measured
from privarms.inference.transfer_rates import regret_rate
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._transfer import BETA, DIMENSIONS, gains
from privarms.studies.results import Results

# A contradiction among some hundred neighbours in a grid: that of chance has probability below .01 in all.
CONTRADICTION = 4
PRIVATE = "private"


def of_algorithm(cells: pd.DataFrame, variant: str, c: float = 0) -> pd.DataFrame:
    """The cells of LDPMAB as released, or as printed with this c, without any deviation but those of the program's
    older version; private: as released, with noise from every user."""
    if variant == PRIVATE:
        private = cells["deviation"] == panels.PRIVATE
        return cells[(cells["policy"] == panels.POLICY) & (cells["variant"] == "as_released") & private]
    mine = (cells["policy"] == panels.POLICY) & (cells["variant"] == variant)
    if variant == "as_printed":
        mine &= cells["c"] == c
    older = cells["program"] == "older" if "program" in cells else False
    return cells[mine & ((cells["deviation"] == "") | older)]


def _curves(
    results: Results, figure: str, environment: str, variant: str, c: float = 0, *, current: bool = False
) -> pd.DataFrame:
    """A panel's cells; of Figure 7(a) as released those of the program that drew it, or of the current one."""
    cells = of_algorithm(panels.panel(results, figure, environment), variant, c)
    program = "older" if not current and (cells["program"] == "older").any() else "current"
    cells = cells[cells["program"].isin((program, ""))]
    return cells.assign(log=lambda f: np.log(f["mean_regret"]), log_se=lambda f: f["se_regret"] / f["mean_regret"])


def _ends(cells: pd.DataFrame, column: str) -> tuple[pd.Series, pd.Series]:
    ordered = cells.sort_values(column)
    return ordered.iloc[0], ordered.iloc[-1]


def _each(found: dict[float, Measured]) -> str:
    return ", ".join(f"{one.value:.2f} at {epsilon:g}" for epsilon, one in found.items())


def _growth_ratio(curve: pd.DataFrame, other: pd.DataFrame) -> Measured:
    """The growth of regret from the smallest to the largest n, over that of another curve."""
    (a, b), (c, d) = _ends(curve, "n"), _ends(other, "n")
    above, below = b["mean_regret"] - a["mean_regret"], d["mean_regret"] - c["mean_regret"]
    errors = [end["se_regret"] / below for end in (a, b)] + [above / below**2 * end["se_regret"] for end in (c, d)]
    return part(above / below, errors, [end["replicates"] for end in (a, b, c, d)])


def growth_by_budget(results: Results, figure: str, environment: str, variant: str, c: float = 0) -> Measured:
    """The growth of regret from the smallest to the largest n at an epsilon over that at the next one; the least."""
    curves = _curves(results, figure, environment, variant, c)
    pairs = itertools.pairwise(curves.groupby("epsilon"))
    found = {epsilon: _growth_ratio(curve, following) for (epsilon, curve), (_, following) in pairs}
    note = f"By the smaller epsilon of the two: {_each(found)}."
    return told(Measured.smallest([*found.values()]), curves["replicates"].min(), note)


def _with_and_without(results: Results, environment: str, variant: str, c: float = 0):
    """Figure 7(b)'s cells and those of Figure 7(a) of the same version of the program."""
    helped = _curves(results, "fig7b", environment, variant, c, current=True)
    return helped, _curves(results, "fig7a", environment, variant, c, current=True)


def growth_with_sources(results: Results, environment: str, variant: str, c: float = 0) -> Measured:
    """The growth of regret in Figure 7(b) over that without auxiliary data, the largest over epsilon."""
    helped, alone = _with_and_without(results, environment, variant, c)
    found = {e: _growth_ratio(curve, alone[alone["epsilon"] == e]) for e, curve in helped.groupby("epsilon")}
    return told(Measured.largest([*found.values()]), helped["replicates"].min(), f"By epsilon: {_each(found)}.")


def _figure_8(results: Results, environment: str, variant: str, c: float = 0) -> pd.DataFrame:
    cells = panels.distinct(pd.concat([_curves(results, f, environment, variant, c) for f in panels.FIGURE_8]))
    return cells.assign(budget=[float(e) for e in cells["epsilon_aux"]])


def _neighbours(cells: pd.DataFrame, column: str, others: list[str]) -> Measured:
    """The mean of ln(R at the next value of a column / R) over the grid, and how often it has the wrong sign."""
    steps, ends = [], []
    for _, group in cells.groupby(others):
        ordered = group.sort_values(column)
        ends += _ends(ordered, column)
        for (_, a), (_, b) in itertools.pairwise(ordered.iterrows()):
            steps.append((b["log"] - a["log"], math.hypot(a["log_se"], b["log_se"])))
    differences, errors = (np.array(x) for x in zip(*steps, strict=True))
    mean = float(differences.mean())
    wrong = int(np.sum(np.sign(mean) * differences < -CONTRADICTION * errors))
    note = (
        f"A step changes regret by a factor of {math.exp(mean):.2f} on average; {wrong} of {len(steps)} steps go the "
        f"other way by more than {CONTRADICTION} standard errors."
    )
    # Steps from the first cell to the last one add up to the difference of these two.
    return summed(mean, [end["log_se"] / len(steps) for end in ends], [end["replicates"] for end in ends], note)


def source_quality(results: Results, environment: str, variant: str, column: str, c: float = 0) -> Measured:
    """Figure 8: the mean log step of regret along gamma, n_aux or budget (eps_m)."""
    cells = _figure_8(results, environment, variant, c)
    axes = ["epsilon", "gamma", "n_aux", "budget"]
    cells = cells[cells["n_aux"] > 0]
    return _neighbours(cells, column, [a for a in axes if a != column])


def gain(results: Results, environment: str, variant: str, c: float = 0) -> Measured:
    """Figure 8: regret with auxiliary data over that without, geometric mean over the panel's cells."""
    cells = of_algorithm(gains(results, (environment,)), variant, c)
    own = np.sqrt(np.maximum((cells["gain_se"] / cells["gain"]) ** 2 - cells["base_error"] ** 2, 0))
    errors, replicates = [*own], [*cells["replicates"]]
    # Cells with one epsilon share the run without auxiliary data.
    for _, group in cells.groupby("epsilon"):
        errors.append(len(group) * group["base_error"].iloc[0])
        replicates.append(group["replicates"].iloc[0])
    return _geometric(np.log(cells["gain"]), errors, replicates)


def _geometric(logs, errors, replicates) -> Measured:
    """The geometric mean; errors: of all independent terms of the sum of the logarithms, with their replicates."""
    value = math.exp(float(np.mean(logs)))
    note = f"From {math.exp(np.min(logs)):.2f} to {math.exp(np.max(logs)):.2f} over {len(logs)} pairs of cells."
    return summed(value, [value * error / len(logs) for error in errors], [*replicates], note)


def slope_by_budget(results: Results, environment: str) -> Measured:
    """Figure 9(b): regret at the largest gamma over that at the smallest at eps_m = 8, over the same at eps_m = 2:
    geometric mean over n_Q."""
    cells = _curves(results, "fig9b", environment, "as_released")
    logs, ends = [], []
    for _, group in cells[cells["n_aux"] > 0].groupby("n_aux"):
        pairs = [_ends(group[group["epsilon_aux"] == budget], "gamma") for budget in ("2", "8")]
        low, high = (last["log"] - first["log"] for first, last in pairs)
        logs.append(high - low)
        ends += [end for pair in pairs for end in pair]
    return _geometric(logs, [end["log_se"] for end in ends], [end["replicates"] for end in ends])


def cost_of_privacy(results: Results, figures: str, environment: str) -> Measured:
    """Regret with noise from every user over regret as released, in all cells of some figures: geometric mean.

    figures: the panels whose names begin so
    """
    drawn = [figure for figure in panels.FIGURES if figure.startswith(figures)]
    # Figure 7(a) by the version of the program that has both.
    # Without auxiliary users their budget is no setting.
    settings = [*panels.AXES, "batch"]
    of_all = [
        panels.distinct(pd.concat([_curves(results, f, environment, v, current=True) for f in drawn]), settings)
        for v in (PRIVATE, "as_released")
    ]
    both = of_all[0].merge(of_all[1], on=settings, suffixes=("", "_released"), validate="one_to_one")
    logs = both["log"] - both["log_released"]
    errors = [*both["log_se"], *both["log_se_released"]]
    return _geometric(logs, errors, [*both["replicates"], *both["replicates_released"]])


def over_rate(results: Results, environment: str, variant: str, c: float = 0) -> Measured:
    """Regret over Theorem 2.6's rate at epsilon = 1: at the largest n over the same at the smallest."""
    curve = _curves(results, "fig7a", environment, variant, c)
    curve = curve[curve["epsilon"] == 1].sort_values("n")
    K = int(curve["K"].iloc[0])
    ratios = [row.mean_regret / regret_rate(row.n, 1, K, DIMENSIONS, BETA) for row in curve.itertuples()]
    first, last = _ends(curve, "n")
    value = ratios[-1] / ratios[0]
    every = ", ".join(f"{r:.2f} at {n:,}" for r, n in zip(ratios, curve["n"], strict=True))
    errors = [value * end["log_se"] for end in (first, last)]
    note = f"Regret over the rate without its constant: {every}."
    return summed(value, errors, [first["replicates"], last["replicates"]], note)


def over_transfer_rate(results: Results, environment: str, variant: str, c: float = 0) -> Measured:
    """How auxiliary data change regret over how they change Theorem 3.4's rate: the largest ratio over Figure 8."""
    cells = of_algorithm(gains(results, (environment,)), variant, c)
    ratios = cells["gain"] / cells["rate"]
    worst = cells.loc[ratios.idxmax()]
    note = (
        f"At epsilon = {worst['epsilon']:g}, eps_m = {worst['epsilon_aux']}, gamma = {worst['gamma']:g}, "
        f"n_Q = {worst['n_aux']:,}."
    )
    parts = [
        part(cell["gain"] / cell["rate"], [cell["gain_se"] / cell["rate"]], [cell["replicates"]])
        for _, cell in cells.iterrows()
    ]
    return told(Measured.largest(parts), cells["replicates"].min(), note)


def logs_agreement(results: Results, statistic: str) -> Measured:
    """The mean or the standard deviation of the z-scores of `reference_agreement`, over distinct cells."""
    table = panels.agreement(results)
    z = table.loc[table["distinct"], "z"].dropna()
    everything = table["z"].dropna()
    if z.empty:
        return Measured(math.nan, math.nan, 0, "No cell of this scale is among theirs.")
    value, over_all = (getattr(x, statistic)() for x in (z, everything))
    se = 1 / math.sqrt(len(z)) if statistic == "mean" else 1 / math.sqrt(2 * (len(z) - 1))
    note = f"{len(z)} distinct cells; over all {len(everything)} rows of their panels {over_all:.3f}."
    # It is the number of their cells that decides how well it is known, not that of our replicates.
    return Measured(float(value), se, None, note)
