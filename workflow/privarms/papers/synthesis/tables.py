"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.files.numbers import shown
from privarms.papers.synthesis import _advice
from privarms.planning.results import Results
from privarms.plots.sheet import Entry, Sheet
from privarms.registry.artifacts import table


def advice_sheet(rows: pd.DataFrame, results: Results) -> Sheet:
    """Return the table laid out for the report, in fewer columns."""
    heads = [
        [("", 2), ("regret over instances", 3), ("test at 5%", 3), ("95% interval", 2), ("privacy loss", 1)],
        [
            *((name, 1) for name in ("take", "ε", "mean", "of uniform", "times not private", "naive errs")),
            *((name, 1) for name in ("valid test", "its power", "mean ±", "gap ±", "shown / ε")),
        ],
    ]
    lines: list = []
    key: tuple
    for key, part in rows.groupby(["K", "T"], sort=True):
        K, T = key
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


@table(
    "Recommended policy by T and epsilon, with its regret, tests and privacy",
    inference=["runs", "tests", "privacy"],
    front=True,
    sheet=advice_sheet,
)
def advice(results: Results) -> pd.DataFrame:
    """Take: the recommended policy. Among the policies that claim epsilon, are audited and show at most 1.05 epsilon,
    its largest factor above the smallest regret of an instance is smallest; (+n): n others are not significantly (99.9%
    intervals) above 1.1 times its regret on any instance. Regret: range over the instances with a better arm; of
    uniform: largest share of the regret of uniform choices; times not private: largest ratio to the best policy without
    privacy. Naive errs: largest type I error, over all instances, of the naive test of the arm that looks best. Valid
    test: the largest mean power among tests whose level a theorem guarantees without more users. Interval: half the
    mean width of the narrowest such interval. Privacy loss: exact log ratio of the audited event, or its lower bound if
    none is known; DP-KLUCB and DP-IMED are audited at another ratio and without a long first batch, which is also
    released once. The CSV file has all columns, both ends of each range, and the names of the n others."""
    return _advice.advise(results.inference("runs"), results.inference("tests"), results.inference("privacy"))


@table("Regret and bias", inference=["runs"], card="Regret, validity and width on the same runs", tab="All cells")
def runs(results: Results) -> pd.DataFrame:
    """Regret and bias, one row per instance, T, policy and epsilon. `bound` and `uniform` are the lower bound by
    d_epsilon times ln T and the regret of uniform choices; `over_theorem` is the largest |bias| over Theorem 1's bound.
    """
    rows = results.inference("runs").rename(columns={"curve": "label", "horizon": "T"})
    columns = ["instance", "K", "T", "epsilon", "policy", "label", "claims", "replicates", "regret", "se", "median"]
    columns += ["q90", "bound", "over_bound", "over_bound_se", "uniform", "unpulled", "worst_bias", "worst_bias_se"]
    columns += ["theorem", "over_theorem", "over_theorem_se"]
    return rows.reindex(columns=columns)


@table("Tests and intervals", inference=["tests"], card="Tests and intervals: level and cost", tab="All cells")
def tests_and_intervals(results: Results) -> pd.DataFrame:
    """Tests and intervals, one row per instance, T, policy, epsilon and procedure. `log_gamma` is ln of the level of
    max-information."""
    rows = _advice.rates(results.inference("tests")).rename(columns={"curve": "label", "horizon": "T"})
    columns = ["instance", "K", "T", "epsilon", "policy", "label", "claims", "procedure", "trials", "error", "power"]
    columns += ["mean_coverage", "mean_width", "gap_coverage", "gap_width", "log_gamma"]
    return rows.reindex(columns=columns)


@table("Local privacy: regret, validity and leakage of messages", inference=["local"])
def local_numbers(results: Results) -> pd.DataFrame:
    """Locally private policies, one row per environment, number of users, policy and epsilon; an empty entry was not
    measured. `of_uniform` is the regret over that of uniform choices. `missed` is the share of evaluations at which an
    estimate is farther from its expectation than its radius. `lost` is the share of users whose best arm is
    eliminated at the end. `in_parts` is the share of users whose message names their part of the cube."""
    rows = results.inference("local").rename(columns={"curve": "label", "horizon": "users"})
    columns = ["instance", "users", "epsilon", "policy", "label", "replicates", "regret", "regret_se", "of_uniform"]
    columns += ["of_uniform_se", "reward", "reward_se", "missed", "missed_se", "removals", "wrong", "wrong_se", "lost"]
    columns += ["lost_se", "in_parts", "in_parts_se", "alone"]
    return rows.reindex(columns=columns)
