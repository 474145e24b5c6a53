"""The tables: each function takes the results and returns the frame that is written.

Where a study holds cells that the columns do not tell apart (another K, a setting of a policy of one's own), the
columns that do stand behind the others.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from privarms.inference import max_information
from privarms.papers.neel2018._settings import BOTH, EXPERIMENTS, LEVEL, ladders, together, told_apart
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

HORIZONS = (100, 500, 1_000, 10_000, 100_000)
EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
LEVELS = (0.01, LEVEL, 0.1)
# Whose data the z-test of Figure 6 is about: the paper's text, the authors' program.
LINEAR_DATA = {"oful": "as_printed", "linear_ucb_as_released": "as_released"}


def _written(frame: pd.DataFrame, columns: list[str], measured: Iterable[str]) -> pd.DataFrame:
    """The columns of a table, with what else tells its rows apart, and how many runs are missing if any are.

    measured: what is no setting of a cell
    """
    keys = [c for c in frame if c not in (*measured, "missing", "replicates")]
    found = told_apart(frame, columns, keys)
    if "missing" in frame and frame["missing"].any():
        found["missing"] = frame["missing"].to_numpy()
    return found


def bias(results: Results) -> pd.DataFrame:
    """The bias of every arm's sample mean, over all replicates in which the arm was pulled."""
    rows = together(results, "bias", ("experiment_1", "experiment_2", "epsilon_sweep"))
    rows = rows[rows["size"] == "all"].fillna({"variant": BOTH})
    columns = ["experiment", "policy", "variant", "ladder", "K", "horizon", "epsilon", "arm", "mean", "bias", "se"]
    return _written(rows, [*columns, "pulls", "replicates"], ("mean", "bias", "se", "pulls", "bound", "size"))


def average_bias(results: Results) -> pd.DataFrame:
    """The average |bias| over arms, the worst arm and the regret; a row per cell and size."""
    return together(results, "average_bias", EXPERIMENTS).fillna({"variant": BOTH}).drop(columns="mean_of_arms")


def rejections(results: Results) -> pd.DataFrame:
    """The z-test of Figure 6 in every reading, with ordinary least squares on the arm's own rows; see `linear`."""
    rows = results.inference("rejections")
    rows = rows.assign(data=rows["policy"].map(LINEAR_DATA))
    rows = rows[rows["data"].notna() & (rows["estimator"] == "ols")]
    columns = ["data", "standard_error", "coordinate", "replicates", "rejection_rate", "se", "ks"]
    return _written(rows, columns, ("rejection_rate", "se", "ks", "ks_p"))


def linear(results: Results) -> pd.DataFrame:
    """Every linear policy: tests, selection bias and regret; a row per cell and test."""
    measured = ("bias", "se", "standard_error", "pulls", "regret", "regret_se", "replicates", "missing")
    errors = results.inference("selection")
    keys = [c for c in errors if c not in measured]
    errors = errors[[*keys, "bias", "se", "pulls", "regret", "regret_se"]].rename(columns={"se": "bias_se"})
    tests = results.inference("rejections").rename(columns={"se": "rejection_se"})
    rows = tests.merge(errors, on=keys, how="left", validate="many_to_one")
    named = ["policy", "epsilon", "bonus", "standard_error", "coordinate", "estimator", "replicates"]
    found = ["rejection_rate", "rejection_se", "ks", "ks_p", "bias", "bias_se", "pulls", "regret", "regret_se"]
    return _written(rows, [c for c in named if c in rows] + found, found)


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


SELECTED = (
    *("selected", "degenerate", "tests", "level", "naive", "naive_se"),
    *("corrected", "corrected_se", "printed", "printed_se", "printed_at_1", "printed_at_1_se"),
    *("released", "released_se"),
)


def false_discovery(results: Results) -> pd.DataFrame:
    """False discovery of adaptively chosen tests at .05; `corrected` is empty where there is no privacy.

    degenerate: the share of tests of an arm whose mean is 0 or 1, which test nothing; the rates are among the others
    """
    rows = results.inference("false_discovery")
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "naive", "naive_se", "corrected"]
    return _written(rows, [*columns, "corrected_se", "degenerate"], SELECTED)


def released_correction(results: Results) -> pd.DataFrame:
    """False discovery at .05 under the correction of the authors' program, beside the valid one."""
    rows = results.inference("false_discovery")
    rows = rows[rows["epsilon"].notna()]
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "naive", "corrected", "released"]
    return _written(rows, [*columns, "released_se", "degenerate"], SELECTED)


def power(results: Results) -> pd.DataFrame:
    """How often the better arm is found, before and after the correction; a row per mean, policy and epsilon."""
    columns = ["top", "bottom", "policy", "epsilon", "replicates", "selected", "naive", "naive_se", "corrected"]
    return _written(results.inference("power"), [*columns, "corrected_se"], SELECTED)


def regret(results: Results) -> pd.DataFrame:
    """Cumulative pseudo-regret along the way; a row per experiment, policy, variant and round."""
    parts = []
    for study, experiment in (("regret_1", "1"), ("regret_2", "2")):
        cells = results.cells(study)
        parts.append(cells.assign(experiment=experiment, ladder=ladders(cells)))
    rows = pd.concat(parts, ignore_index=True).fillna({"variant": BOTH})
    columns = ["experiment", "policy", "variant", "ladder", "epsilon", "t"]
    values = {"regret_mean": "cumulative_regret", "regret_se": "se"}
    measured = [c for c in rows if c.startswith("regret_")]
    # The ladder says it: its environment's parameters tell no more.
    found = _written(rows, [*columns, *values, "replicates"], [*measured, "cell", "data", "top", "bottom", "spacing"])
    return found.rename(columns=values)


def published_settings(results: Results) -> pd.DataFrame:
    """Experiments 1 and 2 in the settings of the program's public revisions, beside what is published; a row per cell.

    delta: of the index; empty where it is that of the round, 1 / (1 + t ln^2 t)
    """
    rows = results.inference("published_settings")
    private = rows["policy"].str.startswith("private")
    rows = rows.assign(worst=rows["worst"].abs(), published_average=np.nan, published_worst=np.nan)
    for experiment in ("1", "2"):
        for which, policy in ((private, "private"), (~private, "ucb")):
            here = which & (rows["experiment"] == experiment)
            rows.loc[here, "published_average"] = results.published(f"experiment_{experiment}_{policy}_bias")
    rows.loc[~private & (rows["experiment"] == "1"), "published_worst"] = results.published("experiment_1_worst_bias")
    columns = ["experiment", "law", "delta", "ladder", "policy", "variant", "replicates", "runs", "expected"]
    columns += ["expected_se", "spread", "published_average", "worst", "worst_se", "published_worst"]
    return _written(rows, columns, [*columns[6:], "worst_arm"])


def privacy_audit(results: Results) -> pd.DataFrame:
    """What the last of 501 choices tells of one reward: exact log ratio and 95% Clopper-Pearson lower bound."""
    return results.inference("audit")


TABLES = functions_of(__name__) | {"max_information": max_information_table}
