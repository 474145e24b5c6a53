"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.artifacts.results import Results
from privarms.mechanisms import lap_plus as mechanism

# By table and regret budget: the published errors of MD and of DML.
PUBLISHED = {
    "table2": {200: (0.31, 0.53), 400: (0.03, 0.07), 800: (0.008, 0.02)},
    "table3": {400: (0.03, 4.1), 800: (0.008, 4.0)},
}
# The rounds m that make MD's error 4 / m the published one.
IMPLIED = {200: 13, 400: 133, 800: 500}


def readings(results: Results, table: str) -> pd.DataFrame:
    """Every estimator under both readings of the regret budget beside the published entry."""
    found = results.inference("estimators")
    found = found[found["table"] == table]
    rows = []
    for reading in ("literal", "implied"):
        for reg, (md, dml) in PUBLISHED[table].items():
            m = reg if reading == "literal" else IMPLIED[reg]
            for row in found[found["m"] == m].itertuples():
                rows.append(
                    {
                        "reading": reading,
                        "estimator": row.estimator,
                        "reg": reg,
                        "m": m,
                        "mse": row.mse,
                        "se": row.se,
                        "replicates": row.replicates,
                        "published": md if row.estimator == "mean_difference" else dml,
                    }
                )
    return pd.DataFrame(rows)


def table1(results: Results) -> pd.DataFrame:
    """Table 1 as published, with what was measured here beside each row."""
    cells = results.inference("pareto")
    plain = cells[(cells["policy"] == "conse_se") & (cells["arrivals"] == "stationary")]
    products = plain["product"].dropna()
    coverage = results.inference("coverage")
    ratios = coverage.loc[coverage["policy"] == "conse_se", "variance_ratio"]
    audit = results.inference("audit")
    lengths = audit[(audit["release"] == "lengths") & (audit["M"] == 10) & (audit["epsilon"] == 0.5)].iloc[0]
    worst, best = plain.loc[products.idxmax()], plain.loc[products.idxmin()]
    rows = [
        ("context", "no", "yes", "run with 1 to 10 features, stationary and seasonal"),
        (
            "lower bound",
            "Omega(1)",
            "Omega(M)",
            f"a statement about all designs; the smallest regret times error / M measured is {best['product']:.3g}",
        ),
        (
            "upper bound",
            "O(log n)",
            "O(M)",
            f"regret times error / M runs from {best['product']:.3g} (n = {best['horizon']:,}, M = {best['M']}, "
            f"alpha = {best['alpha']:g}) to {worst['product']:.3g} (n = {worst['horizon']:,}, M = {worst['M']}, "
            f"alpha = {worst['alpha']:g}): no constant is in sight at these n",
        ),
        (
            "differential privacy",
            "no",
            "yes",
            f"not as claimed: at epsilon = 0.5 and M = 10 the trials' lengths alone lose {lengths['exact']:.2f} "
            f"(measured at least {lengths['lower_bound']:.2f})",
        ),
        (
            "asymptotic normality",
            "no",
            "yes",
            f"normal, but with {ratios.min():.2f} to {ratios.max():.2f} times the stated variance",
        ),
    ]
    return pd.DataFrame(rows, columns=["difference", "simchi_levi_wang_2023", "this_paper", "measured_here"])


def table2(results: Results) -> pd.DataFrame:
    """Table 2 under both readings."""
    return readings(results, "table2")


def table3(results: Results) -> pd.DataFrame:
    """Table 3 under both readings."""
    return readings(results, "table3")


def pareto(results: Results) -> pd.DataFrame:
    """Regret and error of every cell."""
    rows = results.inference("pareto").rename(columns={"policy": "algorithm", "horizon": "n"})
    columns = ["algorithm", "arrivals", "n", "M", "alpha", "epsilon", "replicates", "regret", "regret_se", "mse"]
    return rows[[*columns, "mse_se", "eliminated_fraction", "missing_fraction"]]


def coverage(results: Results) -> pd.DataFrame:
    """Coverage of the three intervals; `replicates` counts the runs with an estimate."""
    rows = results.inference("coverage").rename(columns={"policy": "algorithm", "horizon": "n"})
    columns = ["algorithm", "n", "M", "alpha", "epsilon", "interval", "coverage", "se", "variance_ratio", "ks_p"]
    return rows[[*columns, "replicates"]]


def privacy_audit(results: Results) -> pd.DataFrame:
    """The privacy audit; a row per release, M and epsilon."""
    return results.inference("audit")


def lap_plus(results: Results) -> pd.DataFrame:
    """The sums of Lap+'s probabilities; nothing is simulated."""
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for m in (1, 2, 5, 10, 100, 1000):
            printed, corrected = mechanism.sums(epsilon, m)
            rows.append({"epsilon": epsilon, "m": m, "printed_sum": printed, "corrected_sum": corrected})
    return pd.DataFrame(rows)


def elimination_table(results: Results) -> pd.DataFrame:
    """Elimination per algorithm, n and M."""
    return results.inference("elimination").rename(columns={"policy": "algorithm", "horizon": "n"})


TABLES = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "pareto": pareto,
    "coverage": coverage,
    "privacy_audit": privacy_audit,
    "lap_plus": lap_plus,
    "elimination_table": elimination_table,
}
