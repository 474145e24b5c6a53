"""Inference tables: numbers computed from the studies for figures, tables and claims."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy

from privarms.audits import first_reward, neighbouring_samples, neighbouring_streams
from privarms.audits.audit import Audit
from privarms.audits.reduction import COUNTS, losses, reduce
from privarms.claims.verdict import CONFIDENCE as VERDICT_CONFIDENCE
from privarms.inference.atoms import atoms
from privarms.inference.intervals import ratio
from privarms.inference.rows import as_frame
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019._settings import at_horizon, gaps, of_published_dp_se
from privarms.plots.curves import parameters
from privarms.policies.bandit import dp_ucb
from privarms.studies import library
from privarms.studies.results import Results

CONFIDENCE = 0.95
# The epsilons and K of Figure 1, and values on both sides.
GROWTH_EPSILONS, GROWTH_ARMS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0, 10.0), (2, 3, 5, 10, 20, 50)
GROWTH_EPOCHS, GROWTH_BETA = range(1, 21), 1 / 50_000_000
# For section 1's remarks on the tree, the proof of Theorem 3.3, and Fact 2.1 from near the ends of its ranges on.
RUNS = 30
TREE_HORIZONS = tuple(10**n for n in range(4, 11))
PROOF_SIZES = (0.01, 0.1, 0.5, 0.7, 0.9, 0.96)
FACT_A, FACT_B = (1.05, 1.5, 2.0, 3.0, 10.0, 100.0, 1e4, 1e8), (1 / 17, 0.05, 0.03, 0.01, 1e-3, 1e-5, 1e-8)


def second_half(results: Results) -> pd.DataFrame:
    """Return the regret in the second half of Figure 1's horizon; one row per cell of study `second_half`.

    growing: number of runs whose regret grows in the second half; half, end: mean regret at half the horizon and at the
    horizon
    """
    cells = parameters(results.cells("second_half"))
    runs = results.replicates("second_half", ("cell", "horizon", "replicate", "t", "regret"))
    run = ["cell", "replicate"]
    ends = runs[runs["t"] == runs["horizon"]].set_index(run)["regret"]
    half = runs[runs["t"] <= runs["horizon"] / 2].groupby(run, observed=True)["regret"].max()
    runs = half.to_frame("half").assign(end=ends, growing=lambda f: f["end"] > f["half"])
    columns = {"half": ("half", "mean"), "end": ("end", "mean"), "replicates": ("end", "size")}
    output = runs.groupby("cell", observed=True).agg(**columns, growing=("growing", "sum"))
    return cells.join(output.set_axis(output.index.astype(object))).reset_index()


def regret_atoms(results: Results) -> pd.DataFrame:
    """Return the values of DP-SE's regret at the horizon with their probabilities; one row per cell and value."""
    cells = parameters(results.cells("regret"))
    parts = []
    for first, columns in results.by_cell("regret", ("regret",)):
        if first["policy"].iloc[0] == "dp_se":
            regret = columns["regret"]
            parts.append(atoms(regret).assign(cell=first["cell"].iloc[0], replicates=len(regret)))
    law = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["cell"])
    return law.join(cells, on="cell").sort_values(["K", "epsilon"], kind="stable", ignore_index=True)


def ratios(results: Results) -> pd.DataFrame:
    """Return mean regret at the horizon over DP-SE's in the same setting; one row per cell of another private policy.

    study: figure1, settings or instances. DP-SE's regret is from study `regret`, which has many more runs, or else from
    the same studies; NaN if it was not run. regret_largest_share: the largest share of one run in the mean.
    """
    studies = {study: results.cells(study) for study in ("regret", "figure1", "settings", "instances")}
    ends = pd.concat([at_horizon(c).assign(study=s) for s, c in studies.items()], ignore_index=True)
    around = [k for e in ends["environment"].unique() for k in library.environment_arguments(e)]
    setting = [k for k in dict.fromkeys(("environment", *around, "horizon", "epsilon")) if k in ends]
    base = of_published_dp_se(ends)
    regrets = ["regret_mean", "regret_se"]
    dp_se = ends.loc[base, [*setting, *regrets]].drop_duplicates(setting)
    others = ends[(ends["policy"] != "dp_se") & ends["epsilon"].notna() & (ends["study"] != "regret")]
    own = dict.fromkeys(k for c in studies.values() for k in parameters(c).columns)
    others = others[["study", "cell", *own, "replicates", *regrets, "regret_largest_share"]]
    joined = others.merge(dp_se, on=setting, how="left", suffixes=("", "_dp_se"), validate="many_to_one")
    value, error = ratio(*(joined[c] for c in ("regret_mean", "regret_se", "regret_mean_dp_se", "regret_se_dp_se")))
    joined = joined.assign(ratio=value, ratio_se=error)
    return joined.sort_values(["K", "epsilon", "width"], kind="stable", ignore_index=True)


@as_frame
def growth(results: Results) -> pd.DataFrame:
    """Return how regret grows with the horizon; one row per policy and setting of study `growth`.

    exponent, exponent_se: p for which regret grows like ln(T)^p from the first horizon to the last
    """
    cells = at_horizon(results.cells("growth"))
    settings = [k for k in parameters(cells).columns if k != "horizon" and cells[k].notna().any()]
    for setting, some in cells.groupby(settings, observed=True, dropna=False, sort=False):
        some = some.sort_values("horizon")
        logs, regrets = np.log(np.log(some["horizon"].to_numpy(float))), np.log(some["regret_mean"].to_numpy())
        errors = (some["regret_se"] / some["regret_mean"]).to_numpy()
        # One horizon shows no growth.
        width = logs[-1] - logs[0] or np.nan
        yield {
            **dict(zip(settings, setting, strict=True)),
            "first": some["horizon"].iloc[0],
            "last": some["horizon"].iloc[-1],
            "replicates": some["replicates"].min(),
            "exponent": (regrets[-1] - regrets[0]) / width,
            "exponent_se": np.hypot(errors[-1], errors[0]) / width,
        }


@as_frame
def noise_per_step(results: Results) -> pd.DataFrame:
    """Return the noise of section 1's counter, equal in each round, for epsilon = 1; one row per horizon.

    variance_ratio: its variance over log2(T)^3; deviation_ratio: the root of the variance over ln T
    """
    for horizon in TREE_HORIZONS:
        variance = dp_ucb.log2_ceiling(horizon) * 2 * dp_ucb.configure(2, horizon, 1.0, "log3").node_scale ** 2
        yield {
            "horizon": horizon,
            "variance_ratio": variance / np.log2(horizon) ** 3,
            "deviation_ratio": variance**0.5 / np.log(horizon),
        }


def thirty_runs(results: Results) -> pd.DataFrame:
    """Return the range of 95% of means of 30 runs, for cells of Figure 1 with more runs; one row per cell and t."""
    cells = results.cells("figure1")
    more = tuple(cells.loc[cells["replicates"] >= 2 * RUNS, "cell"].unique())
    if not more:
        return pd.DataFrame({"cell": [], "t": [], "low": [], "high": []})
    runs = results.replicates("figure1", ("cell", "replicate", "t", "regret"), (("cell", "in", more),))
    runs = runs.assign(part=runs["replicate"] // RUNS, cell=runs["cell"].astype(str))
    runs = runs[runs["part"] < runs.groupby("cell")["replicate"].transform("max") // RUNS]
    means = runs.groupby(["cell", "t", "part"])["regret"].mean().groupby(["cell", "t"])
    return pd.DataFrame({"low": means.quantile(0.025), "high": means.quantile(0.975)}).reset_index()


def _audited(results: Results, study: str, policy: str, audit: Audit, settings: list[str]) -> pd.DataFrame:
    """Return the bounds of one audit and its counted privacy loss; one row per setting, over both neighbours.

    loss_low, loss_high: the interval of `loss`, for all rows together at a verdict's confidence
    """
    blocks = results.replicates(study)
    table = reduce(blocks[blocks["policy"] == policy], audit, [k for k in settings if k in blocks], CONFIDENCE)
    counted = losses(table, 1 - (1 - VERDICT_CONFIDENCE) / (2 * len(table)))
    return table.drop(columns=list(COUNTS)).assign(**counted)


def audit(results: Results) -> pd.DataFrame:
    """Return the audit of DP-SE's privacy loss; one row per setting, over both streams."""
    return _audited(results, "audit", "dp_se", neighbouring_streams.AUDIT, ["K", "horizon", "epsilon", "noise"])


def audit_dp_nas(results: Results) -> pd.DataFrame:
    """Return the audit of DP-NAS's privacy loss; one row per setting."""
    settings = ["epsilon", "noise", "alpha", "beta"]
    return _audited(results, "audit_dp_nas", "dp_nas", neighbouring_samples.AUDIT, settings)


def audit_dp_ucb(results: Results) -> pd.DataFrame:
    """Return the audit of DP-UCB's privacy loss; one row per setting."""
    settings = ["K", "horizon", "width", "epsilon", "noise"]
    return _audited(results, "audit_dp_ucb", "dp_ucb", first_reward.AUDIT, settings)


def pulls(results: Results) -> pd.DataFrame:
    """Return DP-SE's pulls of the suboptimal arms with Lemma 4.2; one row per cell and arm.

    order: the lemma's expression; ceiling: the explicit bound by which an arm must be eliminated; above: fraction of
    runs that exceed it; any_above: fraction of runs that do so with any arm of the cell
    """
    cells = parameters(results.cells("pulls"))
    cells["beta"] = cells["beta"].fillna(1 / cells["horizon"]) if "beta" in cells else 1 / cells["horizon"]
    rows = []
    for first, columns in results.by_cell("pulls", ("replicate", "arm", "pulls")):
        if first["policy"].iloc[0] != "dp_se":
            continue
        name, runs = first["cell"].iloc[0], pd.DataFrame(columns)
        cell, runs = cells.loc[name], runs[runs["arm"] > 0]
        table = runs.groupby("arm")["pulls"].agg(replicates="size", mean="mean", largest="max").reset_index()
        gap = table["arm"] * (cell["top"] - cell["bottom"]) / (cell["K"] - 1)
        table.insert(1, "gap", gap if cell.get("spacing") != "one_best" else cell["top"] - cell["bottom"])
        promises = [(gap, int(cell["K"]), cell["epsilon"], cell["beta"]) for gap in table["gap"]]
        table["order"] = [bounds.pulls_order(*promise) for promise in promises]
        table["ceiling"] = [bounds.pulls_ceiling(*promise) for promise in promises]
        above = runs["pulls"] > runs["arm"].map(table.set_index("arm")["ceiling"])
        table["above"] = above.groupby(runs["arm"]).mean().to_numpy()
        setting = pd.DataFrame([cells.loc[name]] * len(table)).reset_index(names="cell")
        rows.append(pd.concat([setting, table.assign(any_above=above.groupby(runs["replicate"]).any().mean())], axis=1))
    return pd.concat(rows).sort_values(["beta", "K", "epsilon"], kind="stable", ignore_index=True)


def scaling(results: Results) -> pd.DataFrame:
    """Return study `scaling` with the bounds of Theorem 4.3; one row per cell.

    order: the theorem's expression, with epsilon = inf without privacy; order_ratio: the mean regret over it
    ceiling: for DP-SE the sum over arms of gap times `bounds.pulls_ceiling`, plus T beta = 1 for the event of
    probability beta: an explicit bound on the mean regret; ratio, ratio_se: the mean regret over it
    """
    cells = at_horizon(results.cells("scaling"))
    budgets, named = cells["epsilon"].fillna(np.inf), of_published_dp_se(cells)
    rows = list(zip(cells.itertuples(), budgets, named, strict=True))
    orders = [bounds.regret_order(gaps(r), r.horizon, epsilon) for r, epsilon, _ in rows]
    ceilings = np.array([_regret_ceiling(r) if known else np.nan for r, _, known in rows])
    return cells.assign(
        order=orders,
        order_ratio=cells["regret_mean"] / orders,
        order_ratio_se=cells["regret_se"] / orders,
        ceiling=ceilings,
        ratio=cells["regret_mean"] / ceilings,
        ratio_se=cells["regret_se"] / ceilings,
    )


def _regret_ceiling(cell) -> float:
    of_arms = gaps(cell)
    K, horizon = int(cell.K), cell.horizon
    pulled = [min(bounds.pulls_ceiling(gap, K, cell.epsilon, 1 / horizon), horizon) for gap in of_arms[1:]]
    return min(float(of_arms[1:] @ pulled) + 1, horizon * of_arms[-1])


def minimax(results: Results) -> pd.DataFrame:
    """Return DP-SE in study `minimax`: gap, Theorem 4.4's expression (order), mean regret over it (ratio, ratio_se)."""
    cells = results.cells("minimax")
    cells = at_horizon(cells[cells["policy"] == "dp_se"])
    order = [bounds.regret_order_any_gaps(int(r.K), int(r.horizon), r.epsilon) for r in cells.itertuples()]
    return cells.assign(
        gap=cells["top"] - cells["bottom"],
        order=order,
        ratio=cells["regret_mean"] / order,
        ratio_se=cells["regret_se"] / order,
    )


def stopping(results: Results, study: str = "stopping") -> pd.DataFrame:
    """Return stopping times with the theorems' bounds; one row per cell, NaN outside of a theorem's conditions.

    t_upper: t_U of Theorem 3.3; t_lower: number of samples in the proof of Theorem 3.4; t_proof: the largest number
    that it allows; by_upper, by_lower: fractions of runs that stop by t_upper and t_lower; order: expression of
    Corollary 3.6; upper_quartile: a quarter of the stopping times exceed it; quartile_low, quartile_high: its interval
    for all cells together at a verdict's confidence
    """
    cells = results.cells(study).set_index("cell")
    runs = results.replicates(study, ("cell", "stopping_time"))
    times = {cell: group["stopping_time"] for cell, group in runs.groupby("cell", observed=True, sort=False)}
    rows = []
    for cell, row in cells.iterrows():
        setting = [row.get(k, np.nan) for k in ("epsilon", "alpha", "beta", "mu", "R")]
        setting[-1] = 1.0 if pd.isna(setting[-1]) else setting[-1]
        known = {
            "t_upper": bounds.halting_time(*setting),
            "t_lower": bounds.private_samples(*setting),
            "order": bounds.samples_order(*setting),
            "t_proof": bounds.private_samples_of_proof(*setting),
        }
        for end in ("upper", "lower"):
            bound = known[f"t_{end}"]
            known[f"by_{end}"] = (times[cell] <= bound).mean() if bound > 0 else np.nan
        quartile = _upper_quartile(times[cell].to_numpy(), len(cells))
        rows.append(known | dict(zip(("upper_quartile", "quartile_low", "quartile_high"), quartile, strict=True)))
    return cells.assign(**pd.DataFrame(rows, cells.index)).reset_index()


def _upper_quartile(times: np.ndarray, together: int) -> tuple[float, float, float]:
    """Return the quantile at 3/4 with its interval of order statistics, simultaneous for `together` samples."""
    ordered, tail = np.sort(times), (1 - VERDICT_CONFIDENCE) / 2 / together
    ranks = scipy.stats.binom.ppf([tail, 1 - tail], len(times), 0.75).astype(int)
    low, high = (ordered[rank] if rank < len(times) else np.inf for rank in (max(ranks[0] - 1, 0), ranks[1]))
    return float(np.quantile(ordered, 0.75)), float(low), float(high)


@as_frame
def fact_2_1(results: Results) -> pd.DataFrame:
    """Return Fact 2.1 by formula; one row per a, b and half of the fact.

    ratio: ln(a ln x) / (b x), the smallest over a grid of x (first half: must be above 1) or the largest (second half:
    must be below 1)
    """
    for a, b in itertools.product(FACT_A, FACT_B):
        end = np.log(a * np.log(1 / b)) / b
        for half, ends, extreme in (("first", (np.e, end), min), ("second", (2 * end, 1e6 * end), max)):
            if ends[0] < ends[1]:
                ratios = [bounds.iterated_logarithm(a, b, float(x)) for x in np.geomspace(*ends, 1001)[1:-1]]
                yield {"a": a, "b": b, "half": half, "ratio": extreme(ratios)}


@as_frame
def theorem_3_3_facts(results: Results) -> pd.DataFrame:
    """Return the three facts in the proof of Theorem 3.3 and their conclusions by formula, at the smallest t, R = 1.

    ratio: left over right side of the inequality, which must be at most 1; one row per setting and inequality
    """
    for alpha, mu, epsilon, beta in itertools.product(PROOF_SIZES, PROOF_SIZES, (1e-3, 0.1, 1.0, 100.0), (1e-6, 0.08)):
        iterated = np.log(1 / (alpha * mu)) / beta
        if iterated <= 1:
            continue
        # t_0, t_1 and t_2, times the factors of the facts; the first query comes at t = 2.
        first = max(2.0, 1000 * np.log(iterated) / (alpha * mu) ** 2)
        second = max(2.0, 1000 * np.log(iterated) / (epsilon * mu))
        third = 48 * np.log(1 / beta) / (epsilon * alpha * mu)
        ratios = {
            "1": np.log(4 * np.log2(first / beta)) / first * (18 / (alpha * mu)) ** 2,
            "1, implied": 2 * np.log(16 * np.log2(first) ** 2 / beta) / first * (9 / (alpha * mu)) ** 2,
            "2": np.log(4 * np.log2(second / beta)) / second * 288 / (epsilon * mu),
            "2, implied": 96 * np.log(4 * np.log2(second) / beta) / second * 3 / (epsilon * mu),
            "3": 4 * np.log(4 / beta) / third * 3 / (alpha * epsilon * mu),
        }
        setting = {"alpha": alpha, "mu": mu, "epsilon": epsilon, "beta": beta}
        for fact, value in ratios.items():
            yield setting | {"fact": fact, "ratio": value}


def epoch_growth(results: Results) -> pd.DataFrame:
    """Return R_(e+1) over R_e by line 8; one row per |S|, number of arms left, e and epsilon."""
    rows = [
        {"arms": arms, "left": left, "epoch": epoch, "epsilon": epsilon, "beta": GROWTH_BETA}
        | {"growth": bounds.epoch_growth(arms, left, epoch, epsilon, GROWTH_BETA)}
        for epsilon, arms, epoch in itertools.product(GROWTH_EPSILONS, GROWTH_ARMS, GROWTH_EPOCHS)
        for left in range(2, arms + 1)
    ]
    return pd.DataFrame(rows).sort_values(["growth", "arms", "left", "epoch", "epsilon"], ignore_index=True)


def _stopping_of(study: str) -> Callable[[Results], pd.DataFrame]:
    return lambda results: stopping(results, study)


large_mean, other_range, noise_alone = map(_stopping_of, ("large_mean", "other_range", "noise_alone"))
