"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.synthesis import _advice
from privarms.plots.registry import functions_of
from privarms.plots.sheet import Entry, Sheet
from privarms.plots.tables import shown
from privarms.studies.results import Results


def advice(results: Results) -> pd.DataFrame:
    """What to take and what to expect; a row per T, K and epsilon."""
    return _advice.advise(results.inference("runs"), results.inference("tests"), results.inference("privacy"))


def advice_sheet(rows: pd.DataFrame, results: Results) -> Sheet:
    """The same in fewer columns."""
    heads = [
        [("", 2), ("regret over instances", 3), ("test at 5%", 3), ("95% interval", 2), ("privacy loss", 1)],
        [
            *((name, 1) for name in ("take", "ε", "mean", "of uniform", "times not private", "naive errs")),
            *((name, 1) for name in ("valid test", "its power", "mean ±", "gap ±", "shown / ε")),
        ],
    ]
    lines: list = []
    for (K, T), part in rows.groupby(["K", "T"], sort=True):
        lines += [f"K = {int(K)}, T = {int(T):,}", *(_advice_line(row) for _, row in part.iterrows())]
    return Sheet(heads, lines, [])


def _advice_line(row: pd.Series) -> list[Entry]:
    loss = row["loss_shown"] if pd.isna(row["loss_exact"]) else row["loss_exact"]
    others = f" (+{row['as_good'].count(';') + 1})" if row["as_good"] else ""
    times = row["times_not_private_most"]
    texts = (
        f"{row['epsilon']:g}",
        f"{row['regret_least']:,.0f} to {row['regret_most']:,.0f}",
        f"{row['of_uniform_most']:.0%}" if row["of_uniform_most"] >= 0.01 else "under 1%",
        shown(times, 2) if times < 100 else f"{times:,.0f}",
        f"{row['naive_error_most']:.0%}",
        row["test"],
        f"{row['test_power']:.0%}",
        shown(row["mean_width"] / 2, 2),
        shown(row["gap_width"] / 2, 2),
        "no audit" if pd.isna(loss) else f"{loss:.2f}",
    )
    return [Entry(row["take"] + others, bold=True), *map(Entry, texts)]


def runs(results: Results) -> pd.DataFrame:
    """Regret and bias; a row per instance, T, policy and epsilon."""
    rows = results.inference("runs").rename(columns={"curve": "label", "horizon": "T"})
    columns = ["instance", "K", "T", "epsilon", "policy", "label", "claims", "replicates", "regret", "se", "median"]
    columns += ["q90"]
    columns += ["bound", "over_bound", "over_bound_se", "uniform", "unpulled", "worst_bias", "worst_bias_se"]
    columns += ["theorem", "over_theorem", "over_theorem_se"]
    return rows.reindex(columns=columns)


def tests_and_intervals(results: Results) -> pd.DataFrame:
    """Tests and intervals; a row per instance, T, policy, epsilon and procedure."""
    rows = _advice.rates(results.inference("tests")).rename(columns={"curve": "label", "horizon": "T"})
    columns = ["instance", "K", "T", "epsilon", "policy", "label", "claims", "procedure", "trials", "error", "power"]
    columns += ["mean_coverage", "mean_width", "gap_coverage", "gap_width", "log_gamma"]
    return rows.reindex(columns=columns)


def privacy(results: Results) -> pd.DataFrame:
    """What the audits show over what is claimed; a row per policy and variant."""
    return results.inference("privacy")


def local_numbers(results: Results) -> pd.DataFrame:
    """Locally private policies; a row per environment, users, policy and epsilon."""
    rows = results.inference("local").rename(columns={"curve": "label", "horizon": "users"})
    columns = ["instance", "users", "epsilon", "policy", "label", "replicates", "regret", "regret_se", "of_uniform"]
    columns += ["of_uniform_se", "reward", "reward_se", "missed", "missed_se", "removals", "wrong", "wrong_se", "lost"]
    columns += ["lost_se", "in_parts", "in_parts_se", "alone"]
    return rows.reindex(columns=columns)


TABLES = functions_of(__name__)
SHEETS = {"advice": advice_sheet}
