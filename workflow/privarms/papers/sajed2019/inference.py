"""Inference tables: numbers computed from the studies for figures, tables and statements.

Columns that only statements use: `runs`, the smallest number of runs behind a row, and `cells`, the names of its cells.
"""

from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd
import scipy

from privarms.audits.audit import Audit
from privarms.audits.events import first_reward, neighbouring_samples, neighbouring_streams, samples_at_doublings
from privarms.audits.reduction import COUNTS, losses, reduce
from privarms.execution.streams import digest, stream
from privarms.inference.atoms import atoms
from privarms.inference.intervals import ratio
from privarms.inference.rows import as_frame
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019._rows import EACH, exponents, regret_error, share_over, used
from privarms.papers.sajed2019._settings import at_horizon, gaps, of_published_dp_se
from privarms.planning.labels import parameters
from privarms.planning.results import Results
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule

CONFIDENCE = 0.95
# The number of runs in Figure 1, and of means of so many that are drawn from ours.
RUNS, DRAWS, DRAWN_SEED = 30, 4_000, 2019
# The studies of Figure 1's comparison, in its settings and in others.
COMPARED = ["figure1", "settings", "regret", "instances"]


@inference(studies=["second_half"])
def second_half(results: Results) -> pd.DataFrame:
    """Return the regret in the second half of Figure 1's horizon; one row per cell of study `second_half`.

    growing: number of runs whose regret grows in the second half; half, end: mean regret at half the horizon and at the
    horizon; added, added_se: mean of their difference; still, still_events, still_trials: share of the growing runs
    """
    cells = parameters(results.cells("second_half"))
    runs = results.replicates("second_half", ("cell", "horizon", "replicate", "t", "regret"))
    run = ["cell", "replicate"]
    ends = runs[runs["t"] == runs["horizon"]].set_index(run)["regret"]
    half = runs[runs["t"] <= runs["horizon"] / 2].groupby(run, observed=True)["regret"].max()
    runs = half.to_frame("half").assign(end=ends, growing=lambda f: f["end"] > f["half"])
    runs = runs.assign(added=runs["end"] - runs["half"])
    columns = {"replicates": ("end", "size"), "half": ("half", "mean"), "end": ("end", "mean")}
    columns |= {"added": ("added", "mean"), "added_se": ("added", "sem")}
    output = runs.groupby("cell", observed=True).agg(**columns, growing=("growing", "sum"))
    table = cells.join(output.set_axis(output.index.astype(object))).reset_index()
    shares = {"still_events": table["growing"], "still_trials": table["replicates"]}
    return table.assign(**shares, still=table["growing"] / table["replicates"], **used(table))


@inference(studies=["regret"])
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


@inference(studies=COMPARED)
def ratios(results: Results) -> pd.DataFrame:
    """Return mean regret at the horizon over DP-SE's in the same setting; one row per cell of another private policy.

    study: figure1, settings or instances. DP-SE's regret is from study `regret`, which has many more runs, or else from
    the same studies; NaN if it was not run. regret_largest_share: the largest share of one run in the mean. runs: the
    smaller number of runs; cells: both cells
    """
    studies = {study: results.cells(study) for study in ("regret", "figure1", "settings", "instances")}
    ends = pd.concat([at_horizon(c).assign(study=s) for s, c in studies.items()], ignore_index=True)
    around = [k for e in ends["environment"].unique() for k in EnvironmentModule(e).arguments]
    setting = [k for k in dict.fromkeys(("environment", *around, "horizon", "epsilon")) if k in ends]
    base = of_published_dp_se(ends)
    # If all of DP-SE's runs agree, its mean is not exact.
    ends["regret_se"] = np.where(base, regret_error(ends), ends["regret_se"])
    regrets = ["regret_mean", "regret_se"]
    dp_se = ends.loc[base, [*setting, *regrets, "replicates", "cell"]].drop_duplicates(setting)
    others = ends[(ends["policy"] != "dp_se") & ends["epsilon"].notna() & (ends["study"] != "regret")]
    own = dict.fromkeys(k for c in studies.values() for k in parameters(c).columns)
    others = others[["study", "cell", *own, "replicates", *regrets, "regret_largest_share"]]
    joined = others.merge(dp_se, on=setting, how="left", suffixes=("", "_dp_se"), validate="many_to_one")
    value, error = ratio(*(joined[c] for c in ("regret_mean", "regret_se", "regret_mean_dp_se", "regret_se_dp_se")))
    runs = joined[["replicates", "replicates_dp_se"]].min(axis="columns")
    cells = joined["cell"].astype(str) + " " + joined["cell_dp_se"].astype(object).fillna("").astype(str)
    joined = joined.assign(ratio=value, ratio_se=error, runs=runs, cells=cells)
    return joined.sort_values(["K", "epsilon", "width"], kind="stable", ignore_index=True)


@inference(studies=["growth"])
@as_frame
def growth(results: Results) -> Iterator[pd.DataFrame]:
    """Return how regret grows with the horizon; one row per policy, setting and pair of horizons of study `growth`.

    first, last: the horizons; exponent, exponent_se: p for which regret grows like ln(T)^p from the first to the last
    """
    cells = at_horizon(results.cells("growth"))
    cells = cells.assign(regret_se=regret_error(cells))
    settings = [k for k in parameters(cells).columns if k != "horizon" and cells[k].notna().any()]
    yield from exponents(cells, "regret", settings)


@inference(studies=["figure1"])
@as_frame
def thirty_runs(results: Results) -> Iterator[pd.DataFrame]:
    """Return the middle 95% of means of 30 runs, the paper's number, for cells of Figure 1 with more; a row per t.

    The runs are drawn from ours with replacement, because a few runs may carry most of a mean (bootstrap).
    This was chosen after a picture with a normal band showed such runs.
    """
    cells = results.cells("figure1")
    more = tuple(cells.loc[cells["replicates"] > RUNS, "cell"].unique())
    if not more:
        yield pd.DataFrame({"cell": [], "t": [], "low": [], "high": []})
        return
    runs = results.replicates("figure1", ("cell", "replicate", "t", "regret"), (("cell", "in", more),))
    for cell, own in runs.groupby("cell", observed=True):
        regret = own.pivot(index="replicate", columns="t", values="regret")
        rng = stream(DRAWN_SEED, digest({"cell": str(cell)}), 0)
        drawn = rng.integers(len(regret), size=(DRAWS, RUNS))
        means = np.array([regret.to_numpy()[some].mean(axis=0) for some in drawn])
        low, high = np.quantile(means, (0.025, 0.975), axis=0)
        yield pd.DataFrame({"cell": str(cell), "t": regret.columns, "low": low, "high": high})


def _audited(results: Results, study: str, policy: str, audit: Audit, settings: list[str]) -> pd.DataFrame:
    """Return the bounds of one audit and its counted privacy loss; one row per setting, over both neighbours.

    loss_low, loss_high: the interval of `loss`, for 100 rows at once at a verdict's confidence
    cells: names of the cells with both neighbours
    """
    blocks = results.replicates(study)
    blocks = blocks[blocks["policy"] == policy]
    table = reduce(blocks, audit, [k for k in settings if k in blocks], CONFIDENCE)
    cells = table.pop("cells")
    return table.drop(columns=list(COUNTS)).assign(**losses(table, (1 + EACH) / 2), cells=cells)


@inference(studies=["audit"])
def audit(results: Results) -> pd.DataFrame:
    """Return the audit of DP-SE's privacy loss; one row per setting, over both streams."""
    return _audited(results, "audit", "dp_se", neighbouring_streams.AUDIT, ["K", "horizon", "epsilon", "noise"])


@inference(studies=["audit_dp_nas"])
def audit_dp_nas(results: Results) -> pd.DataFrame:
    """Return the audit of DP-NAS's privacy loss; one row per setting."""
    settings = ["epsilon", "noise", "alpha", "beta"]
    return _audited(results, "audit_dp_nas", "dp_nas", neighbouring_samples.AUDIT, settings)


@inference(studies=["audit_dp_exponential_nas"])
def audit_dp_exponential_nas(results: Results) -> pd.DataFrame:
    """Return the audit of DP exponential NAS's privacy loss; one row per setting."""
    settings = ["epsilon", "noise", "alpha", "beta"]
    return _audited(results, "audit_dp_exponential_nas", "dp_exponential_nas", samples_at_doublings.AUDIT, settings)


@inference(studies=["audit_dp_ucb"])
def audit_dp_ucb(results: Results) -> pd.DataFrame:
    """Return the audit of DP-UCB's privacy loss; one row per setting."""
    settings = ["K", "horizon", "width", "epsilon", "noise"]
    return _audited(results, "audit_dp_ucb", "dp_ucb", first_reward.AUDIT, settings)


@inference(studies=["pulls"])
def pulls(results: Results) -> pd.DataFrame:
    """Return DP-SE's pulls of the suboptimal arms with Lemma 4.2; one row per cell and arm.

    order: the lemma's expression; ceiling: the explicit bound by which an arm must be eliminated; above: fraction of
    runs that exceed it; any_above: fraction of runs that do so with any arm of the cell; any_above_over_beta: this
    fraction over beta, with its interval
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
    rows = pd.concat(rows).sort_values(["beta", "K", "epsilon"], kind="stable", ignore_index=True)
    events = rows["any_above"] * rows["replicates"]
    return rows.assign(**share_over("any_above_over_beta", events, rows["replicates"], rows["beta"]), **used(rows))


@inference(studies=["scaling"])
def scaling(results: Results) -> pd.DataFrame:
    """Return study `scaling` with the bounds of Theorem 4.3; one row per cell.

    order: the theorem's expression, with epsilon = inf without privacy; order_ratio: the mean regret over it
    ceiling: for DP-SE the sum over arms of gap times `bounds.pulls_ceiling`, plus T beta = 1 for the event of
    probability beta: an explicit bound on the mean regret; ratio, ratio_se: the mean regret over it
    If all runs agree, the errors assume that another run may have one more epoch.
    """
    cells = at_horizon(results.cells("scaling"))
    errors = regret_error(cells)
    budgets, named = cells["epsilon"].fillna(np.inf), of_published_dp_se(cells)
    rows = list(zip(cells.itertuples(), cells["horizon"], budgets, named, strict=True))
    orders = [bounds.regret_order(gaps(r), horizon, epsilon) for r, horizon, epsilon, _ in rows]
    ceilings = np.array([_regret_ceiling(r) if known else np.nan for r, _, _, known in rows])
    return cells.assign(
        order=orders,
        order_ratio=cells["regret_mean"] / orders,
        order_ratio_se=errors / orders,
        ceiling=ceilings,
        ratio=cells["regret_mean"] / ceilings,
        ratio_se=errors / ceilings,
        **used(cells),
    )


def _regret_ceiling(cell) -> float:
    of_arms = gaps(cell)
    K, horizon = int(cell.K), cell.horizon
    pulled = [min(bounds.pulls_ceiling(gap, K, cell.epsilon, 1 / horizon), horizon) for gap in of_arms[1:]]
    return min(float(of_arms[1:] @ pulled) + 1, horizon * of_arms[-1])


@inference(studies=["minimax"])
def minimax(results: Results) -> pd.DataFrame:
    """Return DP-SE in study `minimax`: gap, Theorem 4.4's expression (order), mean regret over it (ratio, ratio_se).

    order_ratio, order_ratio_se: the ratio again, with an error also where all runs agree
    """
    cells = results.cells("minimax")
    cells = at_horizon(cells[cells["policy"] == "dp_se"])
    settings = cells[["K", "horizon", "epsilon"]].itertuples(index=False)
    order = [bounds.regret_order_any_gaps(int(K), int(horizon), epsilon) for K, horizon, epsilon in settings]
    return cells.assign(
        gap=cells["top"] - cells["bottom"],
        order=order,
        ratio=cells["regret_mean"] / order,
        ratio_se=cells["regret_se"] / order,
        order_ratio=cells["regret_mean"] / order,
        order_ratio_se=regret_error(cells) / order,
        **used(cells),
    )


@inference(studies=["stopping"])
@inference(studies=["large_mean"], name="large_mean", arguments={"study": "large_mean"})
@inference(studies=["other_range"], name="other_range", arguments={"study": "other_range"})
@inference(studies=["noise_alone"], name="noise_alone", arguments={"study": "noise_alone"})
def stopping(results: Results, study: str = "stopping") -> pd.DataFrame:
    """Return stopping times with the theorems' bounds; one row per cell, NaN outside of a theorem's conditions.

    t_upper: t_U of Theorem 3.3; t_lower: number of samples in the proof of Theorem 3.4; t_proof: the largest number
    that it allows; by_upper, by_lower: fractions of runs that stop by t_upper and t_lower; order: expression of
    Corollary 3.6; upper_quartile: a quarter of the stopping times exceed it; quartile_low, quartile_high: its interval
    for 100 cells at once at a verdict's confidence
    """
    cells = results.cells(study).set_index("cell")
    runs = results.replicates(study, ("cell", "stopping_time"))
    times: dict[Hashable, pd.Series] = {
        cell: group["stopping_time"] for cell, group in runs.groupby("cell", observed=True, sort=False)
    }
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
        quartile = _upper_quartile(times[cell].to_numpy())
        rows.append(known | dict(zip(("upper_quartile", "quartile_low", "quartile_high"), quartile, strict=True)))
    columns = pd.DataFrame(rows, cells.index)
    return cells.assign(**{str(name): column for name, column in columns.items()}).reset_index()


def _upper_quartile(times: np.ndarray) -> tuple[float, float, float]:
    """Return the quantile at 3/4 with its interval of order statistics."""
    ordered, tail = np.sort(times), (1 - EACH) / 2
    ranks = scipy.stats.binom.ppf([tail, 1 - tail], len(times), 0.75).astype(int)
    low, high = (ordered[rank] if rank < len(times) else np.inf for rank in (max(ranks[0] - 1, 0), ranks[1]))
    return float(np.quantile(ordered, 0.75)), float(low), float(high)
