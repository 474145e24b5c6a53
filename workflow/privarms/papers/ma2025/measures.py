"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments.

The results contain only the cells that the claim uses; `variant`, the constant `c` as printed and `deviation` choose an
algorithm among them. Standard errors of ratios are of first order. `measures_table2` has Tables 1 and 2.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd

from privarms.claims.sums import part, summed
from privarms.claims.verdict import Measured
from privarms.inference.laplace_sums import log_miss_bound
from privarms.inference.transfer_rates import regret_rate
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._panels import DIMENSIONS
from privarms.studies.configuration import listed
from privarms.studies.results import Results

# Standard errors of a contradiction: by chance, among a hundred neighbours in a grid, one has probability below .01.
CONTRADICTION = 4
ARMS = 3
# Margin parameter of both environments: gaps close linearly.
BETA = 1.0
OF_TARGET = ["n", "epsilon", "M", "K"]


def _curves(cells: pd.DataFrame, variant: str, c: float | str = "", deviation: str = "") -> pd.DataFrame:
    """Return an algorithm's cells, with the logarithm of their regret and its standard error."""
    mine = (cells["variant"] == variant) & (cells["deviation"] == deviation)
    cells = cells[mine & (cells["c"] == c)] if c else cells[mine]
    return cells.assign(log=np.log(cells["mean_regret"]), log_se=cells["se_regret"] / cells["mean_regret"])


def _ends(cells: pd.DataFrame, column: str) -> tuple[pd.Series, pd.Series]:
    ordered = cells.sort_values(column)
    return ordered.iloc[0], ordered.iloc[-1]


def growth_by_budget(results: Results, environment: str, **algorithm) -> Measured:
    """Return the growth of regret over n at an epsilon over that at the next one: the least in Figure 7(a)."""
    curves = list(_curves(panels.panel(results, "fig7a", environment), **algorithm).groupby("epsilon"))
    pairs = {epsilon: (curve, following) for (epsilon, curve), (_, following) in itertools.pairwise(curves)}
    return _growth_ratios(pairs, Measured.smallest, "By the smaller epsilon of the two")


def growth_with_sources(results: Results, environment: str, **algorithm) -> Measured:
    """Return the growth of regret over n in Figure 7(b) over that in Figure 7(a): the largest over epsilon."""
    helped, alone = (_curves(panels.panel(results, f, environment), **algorithm) for f in ("fig7b", "fig7a"))
    pairs = {epsilon: (curve, alone[alone["epsilon"] == epsilon]) for epsilon, curve in helped.groupby("epsilon")}
    return _growth_ratios(pairs, Measured.largest, "By epsilon")


def _growth_ratios(pairs: dict[float, tuple[pd.DataFrame, pd.DataFrame]], extreme, note: str) -> Measured:
    """Return an extreme of the growth from the smallest to the largest n over that of another curve, by epsilon."""
    output = {}
    for epsilon, curves in pairs.items():
        (a, b), (c, d) = (_ends(curve, "n") for curve in curves)
        above, below = b["mean_regret"] - a["mean_regret"], d["mean_regret"] - c["mean_regret"]
        errors = [end["se_regret"] / below for end in (a, b)] + [above / below**2 * end["se_regret"] for end in (c, d)]
        output[epsilon] = part(above / below, errors, [end["replicates"] for end in (a, b, c, d)])
    each = ", ".join(f"{one.value:.2f} at {epsilon:g}" for epsilon, one in output.items())
    replicates = int(min(one.replicates for one in output.values()))
    return replace(extreme([*output.values()], f"{note}: {each}."), replicates=replicates)


def source_quality(results: Results, environment: str, column: str, **algorithm) -> Measured:
    """Return the mean of ln(R at the next gamma, n_aux or budget (eps_m) / R) over the grid of Figure 8."""
    cells = _curves(panels.figure_8(results, environment), **algorithm)
    cells = cells.assign(budget=[float(e) for e in cells["epsilon_aux"]])
    others = [axis for axis in ("epsilon", "gamma", "n_aux", "budget") if axis != column]
    steps, ends = [], []
    for _, group in cells[cells["n_aux"] > 0].groupby(others):
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
    # Steps from the first to the last cell sum to the difference of these two.
    return summed(mean, [end["log_se"] / len(steps) for end in ends], [end["replicates"] for end in ends], note)


def gain(results: Results, environment: str, **algorithm) -> Measured:
    """Return regret with auxiliary data over that without, geometric mean over the cells of Figure 8."""
    cells = _curves(panels.figure_8(results, environment), **algorithm)
    # As printed, the run without sources is that of Figure 7(a).
    alone = [cells[cells["n_aux"] == 0], _curves(panels.panel(results, "fig7a", environment), **algorithm)]
    alone = pd.concat(alone).drop_duplicates(OF_TARGET)[[*OF_TARGET, "mean_regret", "se_regret"]]
    cells = cells[cells["n_aux"] > 0].merge(alone, on=OF_TARGET, suffixes=("", "_alone"))
    errors, replicates = [*cells["se_regret"] / cells["mean_regret"]], [*cells["replicates"]]
    # Cells with one epsilon share the run without auxiliary data.
    for _, group in cells.groupby("epsilon"):
        errors.append(len(group) * (group["se_regret_alone"] / group["mean_regret_alone"]).iloc[0])
        replicates.append(group["replicates"].iloc[0])
    return _geometric(np.log(cells["mean_regret"] / cells["mean_regret_alone"]), errors, replicates)


def _geometric(logs, errors, replicates) -> Measured:
    """Return the geometric mean; errors: of all independent terms of the logarithms' sum, with their replicates."""
    value = math.exp(float(np.mean(logs)))
    note = f"From {math.exp(np.min(logs)):.2f} to {math.exp(np.max(logs)):.2f} over {len(logs)} pairs of cells."
    return summed(value, [value * error / len(logs) for error in errors], [*replicates], note)


def slope_by_budget(results: Results, environment: str) -> Measured:
    """Return regret at the largest gamma over that at the smallest at eps_m = 8, over the same at 2: Figure 9(b)."""
    cells = _curves(panels.panel(results, "fig9b", environment), "as_released")
    logs, ends = [], []
    for _, group in cells[cells["n_aux"] > 0].groupby("n_aux"):
        pairs = [_ends(group[group["epsilon_aux"] == budget], "gamma") for budget in ("2", "8")]
        low, high = (last["log"] - first["log"] for first, last in pairs)
        logs.append(high - low)
        ends += [end for pair in pairs for end in pair]
    return _geometric(logs, [end["log_se"] for end in ends], [end["replicates"] for end in ends])


def over_rate(results: Results, environment: str, **algorithm) -> Measured:
    """Return regret over Theorem 2.6's rate at epsilon = 1: at the largest n over the same at the smallest."""
    curve = _curves(panels.panel(results, "fig7a", environment), **algorithm)
    curve = curve[curve["epsilon"] == 1].sort_values("n")
    K = int(curve["K"].iloc[0])
    ratios = [row.mean_regret / regret_rate(row.n, 1, K, DIMENSIONS, BETA) for row in curve.itertuples()]
    first, last = _ends(curve, "n")
    value = ratios[-1] / ratios[0]
    every = ", ".join(f"{r:.2f} at {n:,}" for r, n in zip(ratios, curve["n"], strict=True))
    errors = [value * end["log_se"] for end in (first, last)]
    note = f"Regret over the rate without its constant: {every}."
    return summed(value, errors, [first["replicates"], last["replicates"]], note)


def rate_steps(
    results: Results, axis: str, n, epsilon, n_aux=0, epsilon_aux=1, gamma=0, kappa=1, beta=BETA, extreme: str = "max"
) -> Measured:
    """Return the rate (22) at a value of an axis over that at the value before, an extreme over all settings.

    With two sources; without any, n_aux = 0, it is (5)
    """
    settings = {"n": n, "epsilon": epsilon, "n_aux": n_aux, "epsilon_aux": epsilon_aux, "gamma": gamma}
    settings = {name: listed(values) for name, values in (settings | {"kappa": kappa, "beta": beta}).items()}

    def rate(n, epsilon, n_aux, epsilon_aux, gamma, kappa, beta):
        return regret_rate(n, epsilon, ARMS, DIMENSIONS, beta, [(n_aux, epsilon_aux, gamma, kappa)] * 2)

    ratios = []
    for point in itertools.product(*(values[:1] if name == axis else values for name, values in settings.items())):
        fixed = dict(zip(settings, point, strict=True))
        along = [rate(**fixed | {axis: value}) for value in settings[axis]]
        ratios += [after / before for before, after in itertools.pairwise(along)]
    note = f"From {min(ratios):.3g} to {max(ratios):.3g} over {len(ratios)} ratios."
    return Measured({"max": max, "min": min}[extreme](ratios), 0.0, None, note)


def private_over_plain(results: Results) -> Measured:
    """Return the private term of (7) over the other one: the smallest over epsilon up to 1, n, d, and beta up to d."""
    grid = itertools.product((0.01, 0.1, 0.5, 1), (10, 1_000, 10_000, 160_000), range(1, 5), (0.5, 1, 2, 4))
    ratios = [
        (n * e**2) ** (-(1 + beta) / (2 + 2 * d)) / n ** (-(1 + beta) / (2 + d)) for e, n, d, beta in grid if beta <= d
    ]
    return Measured(min(ratios), 0.0, None, f"Up to {max(ratios):.3g}, over {len(ratios)} settings.")


def log_repetitions(results: Results) -> Measured:
    """Return the fewest runs of a cell in the authors' logs."""
    runs = panels.logs(results)["replicates"]
    return Measured(int(runs.min()), 0.0, None, f"At most {runs.max()}.")


def logs_agreement(results: Results, statistic: str) -> Measured:
    """Return the mean or the standard deviation (`std`) of the z-scores of `reference_agreement`."""
    z = panels.agreement(results)["z"].dropna()
    if z.empty:
        return Measured(math.nan, math.nan, 0, "No cell of this scale is in the authors' logs.")
    se = 1 / math.sqrt(len(z)) if statistic == "mean" else 1 / math.sqrt(2 * (len(z) - 1))
    # The number of their cells, not that of our replicates, determines the error.
    return Measured(float(getattr(z, statistic)()), se, None, f"{len(z)} cells.")


def exact_privacy_loss(results: Results, variant: str, differ: str) -> Measured:
    """Return the largest privacy loss of messages over epsilon, from the events' probabilities."""
    table = results.inference("privacy")
    table = table[(table["variant"] == variant) & (table["differ"] == differ)]
    if (table["exact"].isna() & (table["lower_bound"] > -math.inf)).any():
        return Measured(math.nan, note="The exact loss of a counted event is unknown, or contradicts its counts.")
    losses = (table["exact"] / table["epsilon"]).dropna()
    # The sums have many terms: a loss of exactly epsilon is only rounded.
    return Measured(round(float(losses.max()), 9), 0.0, None, f"Over {len(losses)} events that can happen.")


def miss_bound(results: Results, c: float) -> Measured:
    """Return n^2 times a bound on the probability that any estimate is outside (14), for n bins: the largest over the n
    of Figure 7(a)."""
    users = sorted(panels.panel(results, "fig7a")["n"].unique())
    logs = {int(n): log_miss_bound(c, int(n), ARMS) + 2 * math.log(n) for n in users}
    worst = max(logs, key=lambda n: logs[n])
    return Measured(math.exp(logs[worst]), 0.0, None, f"At n = {worst:,}.")
