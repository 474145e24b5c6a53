"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.synthesis import _advice, _central_findings, _findings, _local_findings
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
        lines.append(f"K = {int(K)}, T = {int(T):,}")
        for _, row in part.iterrows():
            loss = row["loss_exact"] if row["loss_exact"] == row["loss_exact"] else row["loss_shown"]
            others = row["as_good"].split("; ") if row["as_good"] else []
            name = row["take"] + (f" (+{len(others)})" if others else "")
            lines.append(
                [
                    Entry(name, bold=True),
                    Entry(f"{row['epsilon']:g}"),
                    Entry(f"{row['regret_least']:,.0f} to {row['regret_most']:,.0f}"),
                    Entry(f"{row['of_uniform_most']:.0%}" if row["of_uniform_most"] >= 0.01 else "under 1%"),
                    Entry(_number(row["times_not_private_most"])),
                    Entry(f"{row['naive_error_most']:.0%}"),
                    Entry(row["test"]),
                    Entry(f"{row['test_power']:.0%}"),
                    Entry(shown(row["mean_width"] / 2, 2)),
                    Entry(shown(row["gap_width"] / 2, 2)),
                    Entry(f"{loss:.2f}" if loss == loss else "no audit", quiet=loss != loss),
                ]
            )
    notes = [
        "Take: of the policies that claim epsilon and of which no audit shows more than 1.05 epsilon, the one whose "
        "regret is at most the smallest factor above the least on every instance; (+n): n others that are as good "
        "(not surely above 1.1 times its mean regret on any instance), below.",
        "Regret: range of the means over the instances with a better arm. Of uniform: the largest share of what "
        "uniform choices lose. Times not private: over the best policy without privacy, on the worst instance.",
        "Naive errs: type I error of the naive test of the arm that looks best, largest over the instances with a "
        "better arm and the one without. Valid test: of those whose level a theorem "
        "holds and that need no more users, the one of the largest mean power, over the instances with a better arm. "
        "Intervals: half the mean width of the narrower of the same kind.",
        "Privacy loss: the exact log ratio of the audited event over epsilon, or the lower bound where none is known; "
        "of DP-KLUCB and DP-IMED at another ratio and without a long first batch, which is released once as well. "
        "Where 'of uniform' is about 100%, private choices gain nothing over uniform ones.",
    ]
    for _, row in rows[rows["as_good"] != ""].iterrows():
        where = f"K = {row['K']:.0f}, T = {row['T']:,.0f}, ε = {row['epsilon']:g}"
        notes.append(f"As good, {where}: {row['as_good'].replace('; ', ', ')}.")
    return Sheet(heads, lines, notes)


def _number(value: float) -> str:
    return shown(value, 2) if value < 100 else f"{value:,.0f}"


def findings(results: Results) -> pd.DataFrame:
    """What holds of central privacy and what does not; a row per sentence."""
    return _findings.table(_central_findings.central(*(results.inference(n) for n in ("runs", "tests", "privacy"))))


def local_findings(results: Results) -> pd.DataFrame:
    """What holds of local privacy and what does not; a row per sentence."""
    return _findings.table(_local_findings.local(results.inference("local")))


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
