"""The contrasts of Figures 6 to 9: every value is a quotient or an exponent that is below 1 if the text is right.

An algorithm is the authors' program, its older version, the program with noise from every user, or the text with a
constant c. No text gives c. At c = 64 and above the text's algorithm removes no arm in the published settings, because
half-widths of 2 r stay too wide: without noise a removal needs 4 tau_s <= 1, so a bin of depth 7 or more and about
24,500 c users. By chance it needs estimates that are far outside their radius, and no run at c = 64 has removed an arm.
Play is then uniform, which is known exactly: regret is proportional to the target users.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from privarms.inference.rows import as_frame
from privarms.inference.transfer_rates import regret_rate
from privarms.ledger.contrasts import error, log_spread
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._panels import DIMENSIONS, HIGH_FIRST, LOW_FIRST, NOISY, OLDER_PROGRAM, PROGRAM, UNIFORM
from privarms.planning.results import Results
from privarms.registry.artifacts import inference

ARMS = {"exponential": 3, "symmetric": 2}
# The captions' settings. A contrast leaves out all other settings of a panel.
EPSILONS = (1, 2, 4, 8, 1024)
SIZES = {"as_released": (10_000, 20_000, 40_000, 60_000, 80_000, 120_000, 160_000),
         "as_printed": (10_000, 40_000, 80_000, 160_000)}  # fmt: skip
SOURCES = (0, 5_000, 10_000, 20_000, 50_000, 100_000)
# As printed a contrast along one axis of Figures 8 and 9 has one setting of the others: 50,000 users per source (2,500
# at scale quick), this budget, gamma = 0.
PRINTED_BUDGET = "8"
# The program's batches; a cell with another one, or with other settings that differ within its panel, is left out.
BATCHES = {"fig8": 500, "fig9c": 500}
KEYS = ["environment", "variant", "algorithm"]


@inference(studies=["regret", "regret_printed", "regret_symmetric", "eliminations"])
@as_frame
def contrasts(results: Results) -> Iterator[dict]:
    """Return the contrasts of Figures 7 to 9, one row per contrast, panel, algorithm and, for some, budget.

    value, value_se, runs, cells: the quotient or exponent, its first-order error, the fewest runs of a cell, the cells.
    value_low, value_high: both equal to the value where it is exact, which is uniform play

    growth : exponent p of regret like n_P^p between the ends of a curve
    slower : growth of regret between the ends at the next larger epsilon, over that at `epsilon`
    less_steep : growth with auxiliary data (Figure 7(b)) over that without, at `epsilon`
    gamma, n_aux, epsilon_aux : regret with better sources over that with worse ones, in Figure 8 (ends of the axis)
    gain : regret with auxiliary data over that without, in Figure 8
    kappa : regret at kappa = 1 over that at 0, by the sources' `budget`, in Figure 9(a)
    shift : regret at gamma = 0 over that at 2, by `budget`, in Figure 9(b)
    shift_by_budget : regret at gamma = 2 over that at 0 at eps_m = 2, over the same quotient at 8
    order : regret with the high-quality source first over that with the low-quality source first, in Figure 9(c)
    removals : the same quotient of best arms removed while the sources stream
    spread_epsilon, spread_epsilon_aux : standard deviation of regret at the largest budget over that at the smallest
    spread_sources, spread_alone : standard deviation of regret without auxiliary data over that with them, at epsilon =
        1024 in Figure 7, and in Figure 8
    over_rate : regret over its rate, (5) or (22) without the constant, at the largest n (n_Q) over that at the smallest
    noise : regret of the program with noise from every user over its regret without

    Contrasts over several settings are geometric means. The older program only drew Figure 7(a): contrasts of Figure
    7(b) with 7(a) take 7(b) from the program.
    """
    for environment in panels.STUDIES:
        spread = _spread(results, environment)
        cells = {figure: _cells(results, figure, environment, spread) for figure in panels.FIGURES}
        cells["fig8"] = _once(cells, "fig8")
        for name, algorithms in _by_algorithm(cells):
            about = dict(zip(KEYS, name, strict=True))
            rows = (*_of_figure_7(algorithms), *_of_figure_8(algorithms), *_of_figure_9(algorithms))
            yield from (_finished(about | row) for row in rows if row["runs"])
        yield from _of_noise(cells, environment)
    yield from _of_removals(results)


def _cells(results: Results, figure: str, environment: str, spread: pd.DataFrame) -> pd.DataFrame:
    """Return a panel's cells and those of uniform play, with `log` (of regret), `log_sd`, `over_rate` and their errors.

    spread : `_spread` of the environment
    """
    cells = panels.panel(results, figure, environment)
    batch = next((size for prefix, size in BATCHES.items() if figure.startswith(prefix)), 100)
    chosen = cells["also"].isin(["", f"batch={batch}"]) & cells["epsilon"].isin(EPSILONS)
    chosen &= np.array([set(budgets) <= set(EPSILONS) for budgets in cells["budgets"]], bool)
    cells = cells[chosen & (cells["policy"] == panels.POLICY) & (cells["K"] == ARMS[environment])]
    named = cells[panels.ALGORITHM[1:]].itertuples(index=False)
    cells = cells.assign(algorithm=[panels.algorithm(*one) for one in named])
    cells = cells[cells["algorithm"] != ""]
    if results.scale == "paper":
        cells = cells[[n in SIZES[v] for n, v in zip(cells["n"], cells["variant"], strict=True)]]
        cells = cells[cells["n_aux"].isin(SOURCES)]
    cells = cells.merge(spread, on="cell", how="left")
    cells = cells.assign(log=np.log(cells["mean_regret"]), log_se=cells["se_regret"] / cells["mean_regret"])
    # Uniform play: regret is n times a constant, and runs have one distribution at every setting with the same n.
    uniform = cells[cells["algorithm"] == PROGRAM]
    uniform = uniform.assign(variant="as_printed", algorithm=UNIFORM, cell=UNIFORM + uniform["cell"], log_se=0.0,
                             log=np.log(uniform["n"]), mean_regret=1.0 * uniform["n"], se_regret=0.0, log_sd=0.0,
                             log_sd_se=0.0)  # fmt: skip
    both = pd.concat([cells, uniform], ignore_index=True)
    rates = [math.log(_rate(row)) for row in both.itertuples()]
    return both.assign(over_rate=both["log"] - rates, over_rate_se=both["log_se"])


def _rate(cell) -> float:
    """Return (22) at a cell's setting. The sources of the program have the transfer exponent d gamma."""
    gamma = cell.gamma * (DIMENSIONS if cell.variant == "as_released" else 1)
    budgets = [float(e) for e in cell.epsilon_aux.split("|")] * (1 if cell.order else int(cell.M))
    sources = [(cell.n_aux, e, gamma, cell.kappa) for e in budgets] if cell.n_aux else []
    return regret_rate(cell.n, cell.epsilon, int(cell.K), DIMENSIONS, sources=sources)


def _spread(results: Results, environment: str) -> pd.DataFrame:
    """Return the logarithm of the standard deviation of each cell's regret over runs, and its standard error."""
    rows = []
    for study in panels.STUDIES[environment]:
        runs = results.replicates(study, ("cell", "t", "horizon", "regret"))
        runs = runs[runs["t"] == runs["horizon"]]
        for cell, regret in runs.groupby("cell", observed=True, sort=False)["regret"]:
            rows.append((cell, *log_spread(regret.to_numpy())))
    return pd.DataFrame(rows, columns=["cell", "log_sd", "log_sd_se"]).astype({"cell": str})


def _once(cells: dict[str, pd.DataFrame], prefix: str) -> pd.DataFrame:
    """Return the cells of all panels of a figure, each once."""
    parts = [frame for figure, frame in cells.items() if figure.startswith(prefix)]
    return pd.concat(parts, ignore_index=True).drop_duplicates(["cell", "algorithm"], ignore_index=True)


def _by_algorithm(cells: dict[str, pd.DataFrame]) -> Iterator[tuple[tuple, dict[str, pd.DataFrame]]]:
    """Yield each algorithm with its cells of each panel; `of_7b`: those that are compared with Figure 7(a)."""
    for key in pd.concat(list(cells.values()))[KEYS].drop_duplicates().itertuples(index=False):
        own = {figure: frame[frame["algorithm"] == key.algorithm] for figure, frame in cells.items()}
        helped = PROGRAM if key.algorithm == OLDER_PROGRAM else key.algorithm
        own["of_7b"] = cells["fig7b"][cells["fig7b"]["algorithm"] == helped]
        yield tuple(key), own


def _of_figure_7(cells: dict[str, pd.DataFrame]) -> Iterator[dict]:
    slopes = {figure: _slopes(cells[figure]) for figure in ("fig7a", "fig7b", "of_7b")}
    for figure in ("fig7a", "fig7b"):
        for epsilon, curve in cells[figure].groupby("epsilon"):
            first, last = _ends(curve, "n")
            row = _mean([(last, 1), (first, -1)], [], "log")
            width = math.log(last["n"].iloc[0] / first["n"].iloc[0])
            exponent = {"value": math.log(row["value"]) / width, "value_se": row["value_se"] / row["value"] / width}
            yield {"contrast": "growth", "figure": figure, "epsilon": epsilon} | row | exponent
            if figure == "fig7a":
                over_rate = _mean([(last, 1), (first, -1)], [], "over_rate")
                yield {"contrast": "over_rate", "figure": figure, "epsilon": epsilon} | over_rate
        for epsilon, following in itertools.pairwise(EPSILONS):
            if {epsilon, following} <= set(slopes[figure]):
                row = _over(slopes[figure][following], slopes[figure][epsilon])
                yield {"contrast": "slower", "figure": figure, "epsilon": epsilon} | row
        ends = [(_budget(cells[figure], "epsilon", e), sign) for e, sign in ((1024, 1), (1, -1))]
        yield {"contrast": "spread_epsilon", "figure": figure} | _mean(ends, ["n"], "log_sd")
    for epsilon in sorted(slopes["of_7b"].keys() & slopes["fig7a"].keys()):
        row = _over(slopes["of_7b"][epsilon], slopes["fig7a"][epsilon])
        yield {"contrast": "less_steep", "figure": "fig7b", "epsilon": epsilon} | row
    ends = [(_budget(cells[figure], "epsilon", 1024), sign) for figure, sign in (("fig7a", 1), ("of_7b", -1))]
    yield {"contrast": "spread_sources", "figure": "fig7b"} | _mean(ends, ["n"], "log_sd")


def _of_figure_8(cells: dict[str, pd.DataFrame]) -> Iterator[dict]:
    frame = cells["fig8"]
    helped = frame[frame["n_aux"] > 0].assign(budget=lambda f: f["epsilon_aux"].astype(float))
    alone, every = frame[frame["n_aux"] == 0], _of_design(frame, "gamma")
    axes = ["epsilon", "n_aux", "gamma", "budget"]
    for axis, better, worse in (("gamma", 0, 1), ("n_aux", 1, 0), ("budget", 1, 0)):
        name = "epsilon_aux" if axis == "budget" else axis
        ends, on = _extremes(_of_design(helped, name), axis), [a for a in axes if a != axis]
        contrast = {"contrast": name, "figure": "fig8"}
        yield contrast | _mean([(ends[better], 1), (ends[worse], -1)], on, "log")
        if axis == "n_aux":
            yield contrast | {"contrast": "over_rate"} | _mean([(ends[1], 1), (ends[0], -1)], on, "over_rate")
        if axis == "budget":
            row = _mean([(ends[1], 1), (ends[0], -1)], on, "log_sd")
            yield contrast | {"contrast": "spread_epsilon_aux"} | row
    designed = _of_design(helped, "gamma")
    yield {"contrast": "gain", "figure": "fig8"} | _mean([(designed, 1), (alone, -1)], ["epsilon"], "log")
    yield {"contrast": "spread_alone", "figure": "fig8"} | _mean([(alone, 1), (designed, -1)], ["epsilon"], "log_sd")
    ends = [(_budget(every, "epsilon", e), sign) for e, sign in ((2, 1), (1, -1))]
    yield {"contrast": "spread_epsilon", "figure": "fig8"} | _mean(ends, ["n_aux", "epsilon_aux", "gamma"], "log_sd")


def _of_figure_9(cells: dict[str, pd.DataFrame]) -> Iterator[dict]:
    for figure, axis, contrast, better in (("fig9a", "kappa", "kappa", 1), ("fig9b", "gamma", "shift", 0)):
        helped = _of_design(cells[figure][cells[figure]["n_aux"] > 0], "epsilon_aux", "gamma")
        parts = {}
        for budget, some in helped.groupby(helped["epsilon_aux"].astype(float)):
            ends = _extremes(some, axis)
            parts[budget] = [(ends[better], 1), (ends[1 - better], -1)]
            yield {"contrast": contrast, "figure": figure, "budget": budget} | _mean(parts[budget], ["n_aux"], "log")
        if axis == "gamma" and {2.0, 8.0} <= set(parts):
            both = [*parts[8.0], *((frame, -sign) for frame, sign in parts[2.0])]
            yield {"contrast": "shift_by_budget", "figure": figure} | _mean(both, ["n_aux"], "log")
    helped = _of_design(cells["fig9c"], "epsilon_aux", "gamma")
    ends = [(helped[helped["order"] == order], sign) for order, sign in ((HIGH_FIRST, 1), (LOW_FIRST, -1))]
    yield {"contrast": "order", "figure": "fig9c"} | _mean(ends, ["n", "epsilon", "n_aux"], "log")


def _of_noise(cells: dict[str, pd.DataFrame], environment: str) -> Iterator[dict]:
    for figure in ("fig7a", "fig7b", "fig8", "fig9"):
        both = _once(cells, figure)
        ends = [(both[both["algorithm"] == name], sign) for name, sign in ((NOISY, 1), (PROGRAM, -1))]
        about = {"contrast": "noise", "environment": environment, "variant": "as_released", "algorithm": NOISY}
        row = _mean(ends, panels.AXES, "log")
        if row["runs"]:
            yield _finished(about | {"figure": figure} | row)


def _of_removals(results: Results) -> Iterator[dict]:
    """Yield the quotient of wrong removals, summed over epsilon, which no order has in uniform play."""
    table = panels.named(results.cells("eliminations"))
    in_order = table["panels"].map(lambda p: "order" in str(p).split())
    table = table[in_order & table["epsilon"].isin([1, 2]) & (table["policy"] == panels.POLICY)]
    table = table[table["also"].isin(["", "batch=100"])]
    about = {"contrast": "removals", "figure": "fig9c", "environment": "exponential"}
    names = [panels.algorithm(*row) for row in table[panels.ALGORITHM[1:]].itertuples(index=False)]
    for (variant, name), some in table.assign(algorithm=names).groupby(["variant", "algorithm"], sort=False):
        if name:
            sums = [_sum(some[some["order"] == order], "auxiliary_wrong") for order in (HIGH_FIRST, LOW_FIRST)]
            yield _finished(about | {"variant": variant, "algorithm": name} | _over(*sums))
    yield _finished(about | {"variant": "as_printed", "algorithm": UNIFORM, "value": 1.0})


FIGURE_6 = {"elimination": "eliminated_after", "global": "regret", "local": "local_regret", "other arms": "share"}


@inference(studies=["illustration_curves"])
@as_frame
def figure6(results: Results) -> Iterator[dict]:
    """Return the contrasts of Figure 6, one row per contrast, size of the target (`users`), algorithm and quantity.

    value, value_se, runs, cells, value_low, value_high: as in `contrasts`. The quantities of a run, at the test point
    except for `global`: average regret of all users and at the test point, and the share of the other arms. The first
    one is the share of the target's users before a sub-optimal arm is eliminated (0 in the auxiliary stage, 1 if none)

    elimination : the first quantity with `data` (effective or weak) minus that without auxiliary data
    impact : the first quantity with effective minus that with weak data
    descent, quality : average regret with `data` over that without, and with effective data over that with weak data
    over_time : a quantity over all users minus that over the first 20, the mean of the runs' differences
    """
    runs = _runs_of_figure_6(results)
    for (users, variant, name), kinds in runs.items():
        about = {"users": users, "variant": variant, "algorithm": name}
        kinds = dict(kinds)
        for row in _of_figure_6(kinds):
            yield _finished(about | row)
        # Uniform play changes nothing, on average exactly.
        for row in _of_figure_6(kinds) if name == "program with uniform choices" else ():
            value = 1.0 if row["contrast"] in ("descent", "quality") else 0.0
            yield _finished(row | {"users": users, "variant": "as_printed", "algorithm": UNIFORM, "value": value})


def _of_figure_6(kinds: dict[str, pd.DataFrame]) -> Iterator[dict]:
    pairs = [("effective", "none"), ("weak", "none"), ("effective", "weak")]
    for data, base in pairs:
        if not {data, base} <= set(kinds):
            continue
        ends = [kinds[name] for name in (data, base)]
        yield {"contrast": "elimination" if base == "none" else "impact", "data": data} | _minus(ends)
        for quantity in ("global", "local"):
            means = [_of_runs(runs, quantity) for runs in ends]
            contrast = "descent" if base == "none" else "quality"
            yield {"contrast": contrast, "data": data, "quantity": quantity} | _over(*means)
    for data, runs in kinds.items():
        for quantity in ("global", "local", "other arms"):
            row = _of_runs(runs.assign(change=runs[quantity] - runs[f"{quantity} first"]), "change")
            yield {"contrast": "over_time", "data": data, "quantity": quantity} | row


def _runs_of_figure_6(results: Results) -> dict[tuple, dict[str, pd.DataFrame]]:
    """Return (users, variant, algorithm) -> kind of auxiliary data -> the quantities of each run, and its cell."""
    cells = panels.named(results.cells("illustration_curves"))
    cells = cells[(cells["policy"] == panels.POLICY) & cells["also"].isin(["", "batch=10"])]
    chosen = cells.drop_duplicates("cell").set_index("cell").to_dict("index")
    found: dict[tuple, dict[str, pd.DataFrame]] = {}
    for head, columns in results.by_cell("illustration_curves", ("t", "replicate", "arm", *FIGURE_6.values())):
        cell = chosen.get(name := str(head["cell"].iloc[0]))
        if cell is None:
            continue
        known = panels.algorithm(cell["variant"], cell["c"], cell["deviation"])
        kind = next((k for k in ("none", "effective", "weak") if known and k in str(cell["panels"]).split()), "")
        if kind:
            quantities = _quantities(pd.DataFrame(columns)).assign(cell=name)
            found.setdefault((int(cell["n"]), cell["variant"], known), {}).setdefault(kind, quantities)
    return found


def _quantities(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the quantities of Figure 6 for each run, over all users and over the first ones; arm 0 is the best."""
    first, last = rows["t"].min(), rows["t"].max()
    at_end = rows[rows["t"] == last]
    others = at_end[at_end["arm"] > 0].groupby("replicate")["eliminated_after"].min()
    output = pd.DataFrame({"elimination": others.fillna(float(last)) / last})
    for end, t in (("", last), (" first", first)):
        best = rows[(rows["t"] == t) & (rows["arm"] == 0)].set_index("replicate")
        output[f"global{end}"], output[f"local{end}"] = best["regret"] / t, best["local_regret"] / t
        output[f"other arms{end}"] = 1 - best["share"]
    return output


def _of_runs(runs: pd.DataFrame, quantity: str) -> dict:
    mean, se = runs[quantity].mean(), runs[quantity].sem()
    return {"value": mean, "value_se": se, "runs": len(runs), "cells": runs["cell"].iloc[0]}


def _minus(ends: Sequence[pd.DataFrame]) -> dict:
    """Return the difference of the shares of users before an elimination, which are from 0 to 1."""
    top, bottom = (_of_runs(runs, "elimination") for runs in ends)
    errors = [float(error(one["value"], one["value_se"], one["runs"], 0, 1)) for one in (top, bottom)]
    rest = {"runs": min(top["runs"], bottom["runs"]), "cells": f"{top['cells']} {bottom['cells']}"}
    return {"value": top["value"] - bottom["value"], "value_se": math.hypot(*errors)} | rest


def _mean(parts: Sequence[tuple[pd.DataFrame, int]], on: Sequence[str], column: str) -> dict:
    """Return the exponential of the mean of signed logarithms over rows of several frames with the same `on`.

    Cells are independent; a cell that is in several terms counts with its total weight. nan without such rows.
    """
    tables: list[dict[tuple, list]] = []
    for frame, _ in parts:
        rows: dict[tuple, list] = {}
        keys = zip(*(frame[k] for k in on), strict=True) if on else [()] * len(frame)
        columns = (frame[k] for k in ("cell", column, f"{column}_se", "replicates"))
        for key, row in zip(keys, zip(*columns, strict=True), strict=True):
            rows.setdefault(key, []).append(row)
        tables.append(rows)
    common = [key for key in tables[0] if all(key in rows for rows in tables)]
    terms = [term for key in common for term in itertools.product(*(rows[key] for rows in tables))]
    weights: dict[str, float] = {}
    for term in terms:
        for (cell, *_), (__, sign) in zip(term, parts, strict=True):
            weights[cell] = weights.get(cell, 0.0) + sign / len(terms)
    cells = {row[0]: row for term in terms for row in term}
    if not cells:
        return {"value": math.nan, "value_se": math.nan, "runs": 0, "cells": ""}
    value = math.exp(sum(weights[cell] * log for cell, log, *_ in cells.values()))
    se = value * math.hypot(*(weights[cell] * error for cell, _, error, _ in cells.values()))
    return {
        "value": value,
        "value_se": se,
        "runs": int(min(row[3] for row in cells.values())),
        "cells": " ".join(cells),
    }


def _slopes(curves: pd.DataFrame) -> dict[float, dict]:
    """Return epsilon -> the growth of mean regret between the ends of a curve, with error, runs and cells."""
    found = {}
    for epsilon, curve in curves.groupby("epsilon"):
        first, last = (end.iloc[0] for end in _ends(curve, "n"))
        found[epsilon] = {
            "value": last["mean_regret"] - first["mean_regret"],
            "value_se": math.hypot(last["se_regret"], first["se_regret"]),
            "runs": int(min(last["replicates"], first["replicates"])),
            "cells": f"{first['cell']} {last['cell']}",
        }
    return found


def _sum(rows: pd.DataFrame, column: str) -> dict:
    return {
        "value": rows[f"{column}_mean"].sum(skipna=False),
        "value_se": math.sqrt((rows[f"{column}_se"] ** 2).sum(skipna=False)),
        "runs": int(rows["replicates"].min()) if len(rows) else 0,
        "cells": " ".join(rows["cell"]),
    }


def _over(top: dict, bottom: dict) -> dict:
    """Return the quotient of two independent values, with its first-order error."""
    value = top["value"] / bottom["value"] if bottom["value"] else math.nan
    se = math.hypot(top["value_se"], value * bottom["value_se"]) / abs(bottom["value"]) if bottom["value"] else math.nan
    cells = " ".join(dict.fromkeys(f"{top['cells']} {bottom['cells']}".split()))
    return {"value": value, "value_se": se, "runs": min(top["runs"], bottom["runs"]), "cells": cells}


def _ends(rows: pd.DataFrame, axis: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    ordered = rows.sort_values(axis)
    return ordered.iloc[[0]], ordered.iloc[[-1]]


def _extremes(rows: pd.DataFrame, axis: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows at the smallest and at the largest value of an axis."""
    return rows[rows[axis] == rows[axis].min()], rows[rows[axis] == rows[axis].max()]


def _budget(rows: pd.DataFrame, axis: str, value: float) -> pd.DataFrame:
    return rows[rows[axis] == value]


def _of_design(rows: pd.DataFrame, *free: str) -> pd.DataFrame:
    """Return the rows of a contrast: as printed only those with the design's setting in all axes that are not free."""
    fixed = {"n_aux": rows["n_aux"].isin((50_000, 2_500)), "epsilon_aux": rows["epsilon_aux"] == PRINTED_BUDGET}
    fixed["gamma"] = rows["gamma"] == 0
    printed = rows["algorithm"].str.startswith("text with c = ") & (rows["n_aux"] > 0)
    inside = np.logical_and.reduce([chosen for axis, chosen in fixed.items() if axis not in free])
    return rows[~printed | inside]


def _finished(row: dict) -> dict:
    """Return a row; that of uniform play is exact and uses no cells. Rounded, so no effect is exactly 1."""
    if row["algorithm"] == UNIFORM:
        value = round(row["value"], 9)
        row |= {
            "value": value,
            "value_low": value,
            "value_high": value,
            "value_se": math.nan,
            "runs": None,
            "cells": "",
        }
    # A run with few cells may have no contrast with a budget.
    return {"value_low": math.nan, "value_high": math.nan, "budget": math.nan, "epsilon": math.nan} | row
