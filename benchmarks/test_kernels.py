"""Measure the times of simulation kernels and of two estimators, in nanoseconds per round: `make bench`.

A benchmark simulates one block of replicates, as a job of a study does. A round is a patient, user or sample in
protocols that count these. Each table compares this run with the saved run.
"""

import numpy as np
import pyarrow as pa
import pytest

from privarms.execution import run
from privarms.execution.cell import Piece
from privarms.files import parquet
from privarms.inference import propensity
from privarms.planning.cells import expand
from privarms.planning.studies import Study

SEED = 1
USERS = 40_000
# environment -> its protocol and parameters
ENVIRONMENTS = {
    "bernoulli": ("bandit", {"K": 5, "top": 0.75, "bottom": 0.25}),
    "two_point": ("stopping", {"mu": 0.5}),
    "features_bernoulli": ("experiment", {}),
    "linear": ("linear", {"K": 5, "dimensions": 5}),
    "exponential": ("locally_private", {"K": 3, "dimensions": 2}),
    "classification": ("contextual", {"dataset": "uniform"}),
}
LONG, MEDIUM, SHORT = 50_000_000, 100_000, 500
PRINTED, RELEASED = {"variant": "as_printed"}, {"variant": "as_released"}
# policy, environment, horizon (None: the policy stops), replicates, parameters
CASES = [
    ("ucb1", "bernoulli", LONG, 10, {}),
    *(("dp_ucb", "bernoulli", LONG, 10, {"epsilon": 0.25, "width": w}) for w in ("log2.5", "log3", "chan", "exact")),
    ("dp_se", "bernoulli", 10_000, 10_000, {"epsilon": 0.25}),
    ("epoch_se", "bernoulli", 10_000, 10_000, {}),
    ("successive_elimination", "bernoulli", 10_000, 1_000, {}),
    ("ucb", "bernoulli", SHORT, 1_000, {"K": 20}),
    ("ucb", "bernoulli", MEDIUM, 20, {}),
    *(("private_ucb", "bernoulli", SHORT, 1_000, {"K": 20, "epsilon": 0.05} | v) for v in (PRINTED, RELEASED)),
    *(("private_ucb", "bernoulli", MEDIUM, 20, {"epsilon": 400.0} | v) for v in (PRINTED, RELEASED)),
    ("dp_nas", "two_point", None, 10_000, {"epsilon": 0.5, "alpha": 0.5, "beta": 0.05}),
    ("dp_exponential_nas", "two_point", None, 10_000, {"epsilon": 0.5, "alpha": 0.5, "beta": 0.05}),
    *(("conse_se", "features_bernoulli", 10_000, 1_000, {"M": M, "alpha": 0.5}) for M in (1, 10)),
    *(("dp_conse", "features_bernoulli", 10_000, 1_000, {"M": M, "alpha": 0.5, "epsilon": 1.0}) for M in (1, 10)),
    ("conse_exp3e", "features_bernoulli", MEDIUM, 20, {"M": 1, "alpha": 0.5}),
    ("oful", "linear", SHORT, 200, PRINTED),
    ("linear_ucb_as_released", "linear", SHORT, 200, RELEASED),
    ("private_linear_ucb", "linear", SHORT, 200, {"epsilon": 10.0} | PRINTED),
    *(("ldp_mab", "exponential", 80_000, 5, {"epsilon": e} | RELEASED) for e in (1.0, 8.0, 1024.0)),
    *(("ldp_mab", "exponential", 10_000, 5, {"epsilon": 2.0, "c": c} | PRINTED) for c in (2.0, 64.0)),
    *((policy, "exponential", 10_000, 5, {"epsilon": 1.0} | RELEASED) for policy in ("ldp_linear", "ldp_nn")),
    ("absse", "classification", USERS, 5, {}),
]


def _name(case) -> str:
    policy, _, horizon, _, parameters = case
    sizes = {"T": horizon} if horizon else {}
    return " ".join([policy, *(f"{key}={value}" for key, value in {**sizes, **parameters}.items())])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return users with uniform contexts in 3 dimensions; the first coordinate decides which of two arms is better."""
    contexts = np.random.default_rng(SEED).random((USERS, 3))
    columns = {f"x{j}": contexts[:, j - 1] for j in (1, 2, 3)}
    columns |= {"label": (contexts[:, 0] > 0.5).astype(np.int64), "source": np.zeros(USERS, np.int64)}
    file = tmp_path_factory.mktemp("prepared") / "uniform.parquet"
    parquet.write(file, [pa.table(columns)], {"facts": {"K": 2, "dimensions": 3, "sources": 0}})
    return {"uniform": file}


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_kernel(case, benchmark, prepared):
    policy, environment, horizon, replicates, parameters = case
    protocol, surroundings = ENVIRONMENTS[environment]
    study = {
        "protocol": protocol,
        "environment": {"name": environment},
        "policies": [{"policy": policy}],
        "grid": surroundings | parameters | ({"horizon": horizon} if horizon else {}),
        "replicates": replicates,
        "block": replicates,
    }
    (cell,) = expand("benchmarks", "benchmarks", "kernels", Study.model_validate(study))

    def simulate():
        return pa.concat_tables(run.run_blocks(Piece(cell, 0, 1), SEED, prepared))

    table = benchmark.pedantic(simulate, rounds=5, warmup_rounds=1)
    rounds = horizon * replicates if horizon else sum(table["stopping_time"].to_pylist())
    benchmark.extra_info["rounds"] = rounds
    assert set(table["replicate"].to_pylist()) == set(range(replicates))


@pytest.mark.parametrize("estimate", [propensity.mean_difference, propensity.cross_fitted], ids=lambda f: f.__name__)
def test_estimator(estimate, benchmark):
    """Use data as in section 5 of Li et al. 2024: 50 replications of 20,000 rounds."""
    rng = np.random.default_rng(SEED)
    arms, rewards = rng.integers(0, 2, (50, 20_000)), rng.standard_normal((50, 20_000))
    benchmark.extra_info["rounds"] = arms.size
    benchmark.pedantic(estimate, args=(arms, rewards), rounds=5, warmup_rounds=1)
