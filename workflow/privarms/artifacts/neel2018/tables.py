"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.artifacts.neel2018.inference import LEVEL, ladder
from privarms.artifacts.results import Results
from privarms.inference import max_information

HORIZONS = (100, 500, 1_000, 10_000, 100_000)
EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
LEVELS = (0.01, LEVEL, 0.1)


def bias(results: Results) -> pd.DataFrame:
    """The bias of every arm's sample mean, over all replicates."""
    rows = results.inference("bias")
    rows = rows[(rows["size"] == "all") & (rows["experiment"] != "corollary_1")]
    columns = ["experiment", "policy", "variant", "ladder", "K", "horizon", "epsilon", "arm", "mean", "bias", "se"]
    return rows[[*columns, "pulls", "replicates"]].reset_index(drop=True)


def average_bias(results: Results) -> pd.DataFrame:
    """The average |bias| over arms, the worst arm and the regret; a row per cell and size."""
    return results.inference("average_bias")


def rejections(results: Results) -> pd.DataFrame:
    """The z-test of Figure 6 in every reading, with ordinary least squares on the arm's own rows; see `linear`."""
    rows = results.inference("rejections")
    rows = rows[(rows["data"] != "") & (rows["estimator"] == "ols")]
    columns = ["data", "standard_error", "coordinate", "replicates", "rejection_rate", "se", "ks"]
    return rows[columns].reset_index(drop=True)


def linear(results: Results) -> pd.DataFrame:
    """Every linear policy: tests, selection bias and regret; a row per policy, epsilon, bonus and test."""
    tests = results.inference("rejections").drop(columns="data")
    tests = tests.rename(columns={"se": "rejection_se"})
    keys = ["policy", "epsilon", "bonus", "coordinate", "estimator"]
    errors = results.inference("selection")
    errors = errors[[*keys, "bias", "se", "pulls", "regret", "regret_se"]].rename(columns={"se": "bias_se"})
    return tests.merge(errors, on=keys, how="left", validate="many_to_one")


def max_information_table(results: Results) -> pd.DataFrame:
    """gamma(alpha) at its best beta; a row per epsilon, horizon and alpha."""
    rows = []
    for horizon in HORIZONS:
        for epsilon in sorted({*EPSILONS, horizon**-0.5}):
            for alpha in LEVELS:
                beta = max_information.best_beta(epsilon, horizon, alpha)
                x = max_information.max_information_nats(epsilon, horizon, beta)
                gamma = max_information.corrected_level(alpha, epsilon, horizon, beta)
                found = {"beta": float(beta), "x_nats": float(x), "gamma": float(gamma)}
                rows.append({"epsilon": epsilon, "horizon": horizon, "alpha": alpha} | found)
    return pd.DataFrame(rows)


def false_discovery(results: Results) -> pd.DataFrame:
    """False discovery of adaptively chosen tests at .05; `corrected` is empty where there is no privacy."""
    rows = results.inference("false_discovery")
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "naive", "naive_se", "corrected"]
    return rows[[*columns, "corrected_se"]]


def released_correction(results: Results) -> pd.DataFrame:
    """False discovery at .05 under the correction of the authors' program, beside the valid one."""
    rows = results.inference("false_discovery")
    rows = rows[rows["epsilon"].notna()]
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "naive", "corrected", "released"]
    return rows[[*columns, "released_se"]].reset_index(drop=True)


def power(results: Results) -> pd.DataFrame:
    """How often the better arm is found, before and after the correction; a row per mean, policy and epsilon."""
    columns = ["top", "bottom", "policy", "epsilon", "replicates", "selected", "naive", "naive_se", "corrected"]
    return results.inference("power")[[*columns, "corrected_se"]]


def regret(results: Results) -> pd.DataFrame:
    """Cumulative pseudo-regret along the way; a row per experiment, policy, variant and round."""
    parts = []
    for study, experiment in (("regret_1", "1"), ("regret_2", "2")):
        cells = results.cells(study)
        ladders = [ladder(*row) for row in cells[["top", "bottom", "K"]].itertuples(index=False)]
        parts.append(cells.assign(experiment=experiment, ladder=ladders, variant=cells["variant"].fillna("both")))
    rows = pd.concat(parts, ignore_index=True)
    columns = ["experiment", "policy", "variant", "ladder", "epsilon", "t"]
    values = {"regret_mean": "cumulative_regret", "regret_se": "se"}
    return rows[[*columns, *values, "replicates"]].rename(columns=values)


def privacy_audit(results: Results) -> pd.DataFrame:
    """What the last of 501 choices tells of one reward: exact log ratio and 95% Clopper-Pearson lower bound."""
    return results.inference("audit")


TABLES = {
    "average_bias": average_bias,
    "bias": bias,
    "false_discovery": false_discovery,
    "linear": linear,
    "max_information": max_information_table,
    "power": power,
    "privacy_audit": privacy_audit,
    "regret": regret,
    "rejections": rejections,
    "released_correction": released_correction,
}
