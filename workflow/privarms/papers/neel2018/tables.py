"""The tables: each function takes the results and returns the frame that is written."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference import max_information
from privarms.inference.rows import as_frame
from privarms.papers.neel2018 import _settings
from privarms.papers.neel2018._settings import BOTH, CORRECTION, FIGURE_5, FIGURE_6, LEVEL, THEOREM_1, together
from privarms.planning.labels import entries
from privarms.planning.results import Results
from privarms.registry.artifacts import table

HORIZONS = (100, 500, 1_000, 10_000, 100_000)
EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
LEVELS = (0.01, LEVEL, 0.1)
# The policies of Experiments 1 and 2 in the revisions of the program, and another interpretation of UCB.
REVISED = ("ucb", "ucb1", "private_ucb", "ucb_constant_delta", "private_ucb_constant_delta")
# The data of Figure 6's z-test: of the paper's text, of the authors' program.
LINEAR_DATA = {"oful": "as_printed", "linear_ucb_as_released": "as_released"}


def _written(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    # In a table without these columns the experiment or the ladder determines them.
    policy = entries(frame, [*columns, "K", "horizon", "epsilon", "top", "bottom"])
    return frame.assign(policy=policy)[columns].reset_index(drop=True)


@table(
    "Bias per arm",
    inference=["bias_experiment_1", "bias_experiment_2", "bias_epsilon_sweep"],
    card=THEOREM_1,
    tab="Arm by arm",
)
def bias(results: Results) -> pd.DataFrame:
    """Bias of every arm's sample mean over all replicates, with a control variate. Arm 0 is the best; `both`: the
    variants are equal."""
    rows = together(results, "bias", ("experiment_1", "experiment_2", "epsilon_sweep"))
    rows = rows[rows["size"] == "all"].fillna({"variant": BOTH})
    columns = ["experiment", "policy", "variant", "ladder", "K", "horizon", "epsilon", "arm", "mean", "bias", "se"]
    return _written(rows, [*columns, "pulls", "replicates"])


@table(
    "Average bias",
    inference=[f"average_bias_{study}" for study in _settings.EXPERIMENTS],
    card=THEOREM_1,
    tab="Averages",
)
def average_bias(results: Results) -> pd.DataFrame:
    """Average |bias| over arms, worst arm and regret, over all replicates and over the published number. `expected` is
    the expectation of the average over the published number of runs, `spread` its standard deviation.
    `average_if_unbiased` is the average from simulation noise only. `missing` counts means of arms that a run never
    pulled, which are left out."""
    rows = together(results, "average_bias", _settings.EXPERIMENTS).fillna({"variant": BOTH})
    columns = ["experiment", "policy", "variant", "ladder", "K", "horizon", "epsilon", "size", "replicates", "average"]
    columns += ["average_se", "expected", "expected_se", "spread", "average_if_unbiased", "worst_arm", "worst"]
    return _written(rows, [*columns, "worst_se", "last", "last_se", "regret", "regret_se", "missing"])


@table(
    "The z-test of Figure 6, all interpretations", inference=["rejections"], card=FIGURE_6, tab="All interpretations"
)
def rejections(results: Results) -> pd.DataFrame:
    """Share of p-values at or below .05, and Kolmogorov-Smirnov distance to uniform. Both data use ordinary least
    squares on the arm's own pulls. Figure 6 and its claim use the released program's own estimate; see the table
    linear."""
    rows = results.inference("rejections")
    rows = rows.assign(data=rows["policy"].map(LINEAR_DATA))
    rows = rows[rows["data"].notna() & (rows["estimator"] == "ols") & (rows["contexts"] != "own")]
    columns = ["data", "standard_error", "coordinate", "replicates", "rejection_rate", "se", "ks"]
    return _written(rows, columns)


@table("Linear bandits", inference=["rejections", "selection"], card=FIGURE_6, tab="All policies")
def linear(results: Results) -> pd.DataFrame:
    """All policies with tests and errors. Estimator `policy` is the released program's; private_linear_ucb is ours."""
    errors = results.inference("selection").drop(columns=["se", "replicates", "runs"])
    tests = results.inference("rejections").rename(columns={"se": "rejection_se"})
    rows = tests.merge(errors, how="left", validate="many_to_one")
    named = ["policy", "epsilon", "bonus", "standard_error", "coordinate", "estimator", "replicates"]
    output = ["rejection_rate", "rejection_se", "ks", "ks_p", "bias", "bias_se", "pulls", "regret", "regret_se"]
    return _written(rows, [c for c in named if c in rows] + output)


@table("The correction by epsilon, T and alpha", name="max_information", card=CORRECTION, tab="Levels")
@as_frame
def max_information_table(results: Results) -> Iterator[dict]:
    """Level gamma(alpha) of Theorem 3, with the beta that maximises it."""
    for horizon in HORIZONS:
        for epsilon in sorted({*EPSILONS, horizon**-0.5}):
            for alpha in LEVELS:
                beta = max_information.best_beta(epsilon, horizon, alpha)
                x = max_information.max_information_nats(epsilon, horizon, beta)
                gamma = max_information.corrected_level(alpha, epsilon, horizon, beta)
                output = {"beta": float(beta), "x_nats": float(x), "gamma": float(gamma)}
                yield {"epsilon": epsilon, "horizon": horizon, "alpha": alpha} | output


@table("False discovery of adaptively chosen tests", inference=["false_discovery"], card=CORRECTION, tab="All cells")
def false_discovery(results: Results) -> pd.DataFrame:
    """Share of tests that reject a true null at .05, among tests of an arm whose mean is not 1. `degenerate` is the
    share of the other tests, which cannot reject. `released` uses the correction of the authors' program, which
    compares p with alpha/(e x'); it is invalid if the share is above .05."""
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "naive", "naive_se", "corrected"]
    columns += ["corrected_se", "degenerate", "released", "released_se"]
    return _written(results.inference("false_discovery"), columns)


@table("Regret along the way", studies=["regret_1", "regret_2"], card=FIGURE_5, tab="Regret along the way")
def regret(results: Results) -> pd.DataFrame:
    """Mean cumulative pseudo-regret and its standard error."""
    cells = {experiment: results.cells(study) for study, experiment in (("regret_1", "1"), ("regret_2", "2"))}
    rows = pd.concat([own.assign(experiment=name) for name, own in cells.items()], ignore_index=True)
    ladders = [_settings.ladder(*row) for row in zip(rows["top"], rows["bottom"], rows["K"], strict=True)]
    rows = rows.assign(ladder=ladders).fillna({"variant": BOTH})
    rows = rows.rename(columns={"regret_mean": "cumulative_regret", "regret_se": "se"})
    columns = ["experiment", "policy", "variant", "ladder", "epsilon", "t", "cumulative_regret", "se", "replicates"]
    return _written(rows, columns)


@table(
    "Which setting gives the published numbers?",
    inference=["average_bias_published_settings", "average_bias_experiment_1", "average_bias_experiment_2"],
)
def published_settings(results: Results) -> pd.DataFrame:
    """Post hoc: Experiments 1 and 2 with the rewards, indices and ladders in the public history of the authors'
    program. `expected` is the expectation of the average |bias| over the published number of runs, `spread` its
    standard deviation. truncated_normal is a standard normal variable in [-mu, 1 - mu], moved to mean mu; `delta` is
    that of the index mean + sqrt(2 ln(1/delta)/n), empty for the last index."""
    rows = together(results, "average_bias", ("published_settings", "experiment_1", "experiment_2"))
    of_program = rows["policy"].isin(REVISED) & (rows["gamma"] != "without factor K")
    rows = rows[(rows["size"] == "all") & of_program].fillna({"law": "bernoulli"})
    runs = rows["experiment"].map(_settings.printed(results)["replicates"]).clip(upper=rows["replicates"]).astype(int)
    policies = np.where(rows["policy"].str.startswith("private"), "private", "ucb")
    averages = "experiment_" + rows["experiment"] + "_" + policies + "_bias"
    worst = averages.map({"experiment_1_ucb_bias": results.published("experiment_1_worst_bias")})
    averages = averages.map(results.published)
    rows = rows.assign(runs=runs, worst=rows["worst"].abs(), published_average=averages, published_worst=worst)
    columns = ["experiment", "law", "delta", "ladder", "policy", "variant", "replicates", "runs", "expected"]
    columns += ["expected_se", "spread", "published_average", "worst", "worst_se", "published_worst"]
    return _written(rows, columns)


@table("Are the choices private?", inference=["audit"])
def privacy_audit(results: Results) -> pd.DataFrame:
    """Privacy loss of an event on two streams that differ in one reward, K = 2, T = 501. The event is arm 1 in the last
    round, or (doublings) in rounds 3, 5, 9, 17 and 33. The loss is exact if it has a closed form, a 95% Clopper-Pearson
    lower bound, and a count with its 99.9% interval. `noise` multiplies the stated scale; with 0.1115 the tree's nodes
    do not share the budget."""
    rows = results.inference("audit")
    return rows.drop(columns=["cells", "runs", *(c for c in rows.columns if c.startswith("of_epsilon"))])
