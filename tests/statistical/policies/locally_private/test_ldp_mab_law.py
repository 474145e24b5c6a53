"""Check the locally private bandit: distributions of the fast path, and means of the authors' released runs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from privarms.environments import exponential, symmetric
from privarms.fast_paths.locally_private import ldp_mab as fast_path
from privarms.policies.locally_private import ldp_mab
from privarms.protocols.locally_private import new_record, removals, run
from tests import PAPERS

from ...two_sample import same_law

pytestmark = pytest.mark.statistical


def sample(simulate, params, environment, replicates, seed):
    """Return the records of each replicate, float64[replicates, ...]; simulate = None: reference implementation.

    The unit tests compare the shares at the test point decision by decision.
    """
    n = int(params.users[0])
    rng, record, rows = np.random.default_rng(seed), new_record(2, params.n_arms), []
    for _ in range(replicates):
        end = run(ldp_mab, params, environment, np.array([n // 3, n]), rng, record, simulate)
        if simulate is None:
            sources, arms = (np.array([removal[i] for removal in end.removals]) for i in (0, 4))
        else:
            sources, _, _, arms = removals(end).T
        first = [np.sum((arms == 0) & (sources > 0)), np.sum((arms == 0) & (sources == 0)), np.sum(arms > 0)]
        rows.append([*record.regret, *record.rewards, *record.pulls, *first])
    return np.array(rows, float)


def pairs(one, other):
    return [("continuous", one[:, column], other[:, column]) for column in range(one.shape[1])]


EXPONENTIAL, SYMMETRIC = exponential.configure, symmetric.configure
CASES = [
    # Noise affects the decisions, two sources have different budgets, and some bins have no users.
    pytest.param(
        EXPONENTIAL(3, "as_released", gamma=0.5, kappa=0.5),
        {"K": 3, "horizon": 200, "epsilon": 8.0, "variant": "as_released", "batch": 20, "M": 2, "n_aux": 200,
         "epsilon_aux": "10 30", "c": 0.2},
        {"deviation": "noise"},
        id="two_sources", marks=pytest.mark.long,
    ),
    pytest.param(
        SYMMETRIC("as_released"),
        {"K": 2, "horizon": 400, "epsilon": 20.0, "variant": "as_released", "batch": 20, "M": 0, "c": 0.2},
        {"deviation": "width floor"},
        id="symmetric", marks=pytest.mark.long,
    ),
    pytest.param(
        EXPONENTIAL(3, "as_printed", gamma=2.0),
        {"K": 3, "horizon": 120, "epsilon": 20.0, "variant": "as_printed", "M": 1, "n_aux": 100,
         "epsilon_aux": 30.0, "c": 0.3},
        {"deviation": "width floor"},
        id="as_printed",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("environment", "settings", "wrong"), CASES)
def test_fast_is_plain_in_law(environment, settings, wrong):
    params = ldp_mab.configure(**settings)
    plain = sample(None, params, environment, 150, 1)
    # Arms are eliminated, and not the same arms in each run.
    assert plain[:, -3:].sum(axis=1).mean() > 0.5
    assert plain[:, -1].std() > 0
    assert same_law(pairs(plain, sample(fast_path.simulate, params, environment, 3000, 2)))
    other = ldp_mab.configure(**{**settings, **wrong})
    assert not same_law(pairs(plain, sample(fast_path.simulate, other, environment, 3000, 2)))


# Means and standard errors of the regret in the authors' released logs (30 runs, 50 in 9a), only of short runs.
LOGS = pd.read_csv(PAPERS / "ma2025/published/logs.csv", dtype={"epsilon_aux": str, "order": str}).query(
    "figure == 'fig7a' and n <= 40_000 or figure == 'fig7b' and n <= 20_000"
    " or figure == 'fig9a' and epsilon_aux == '8' and n_aux == 10_000 and kappa in (0, 0.4)"
    " or figure == 'fig9b' and epsilon_aux == '8' and n_aux == 10_000 and gamma in (0.4, 2)"
    " or figure == 'fig9c' and n == 10_000 and n_aux in (10_000, 20_000)"
)
# The logs of 7a were made by an older version of the program.
OLDER = {"deviation": "logarithm offset"}
REPLICATES = 40


def z_scores(logs, of_7a):
    """Return our mean minus theirs in standard errors, one number per row."""
    differences = []
    for row, log in enumerate(logs.itertuples()):
        budgets = "8 2" if log.order == "high_first(8,2)" else log.epsilon_aux.replace("|", " ")
        params = ldp_mab.configure(
            *(3, log.n, float(log.epsilon), "as_released", log.M, log.n_aux, budgets),
            batch=500 if log.figure == "fig9c" else 100,
            **(of_7a if log.figure == "fig7a" else {}),
        )
        environment = EXPONENTIAL(3, "as_released", gamma=log.gamma, kappa=log.kappa)
        regret = sample(fast_path.simulate, params, environment, REPLICATES, [3, row])[:, 1]
        error = np.hypot(regret.std(ddof=1) / np.sqrt(REPLICATES), log.se_regret)
        differences.append((regret.mean() - log.mean_regret) / error)
    return np.array(differences)


def test_as_released_agrees_with_the_logs():
    z = z_scores(LOGS, OLDER)
    m = len(z)
    assert m == 45
    # z has about 60 degrees of freedom and a standard deviation of 1.02. With a two-sided limit of 4.2 and a one-sided
    # level of 1e-5 the probability of a false alarm is below 1e-4.
    assert abs(z.mean()) < 4.2 * 1.02 / np.sqrt(m)
    assert z.std(ddof=1) < 1.02 * np.sqrt(chi2.isf(1e-5, m - 1) / (m - 1))
    assert abs(z).max() < 5.5


def test_the_later_constants_do_not_agree_with_the_logs_of_7a():
    z = z_scores(LOGS[(LOGS["figure"] == "fig7a") & (LOGS["epsilon"] == 1024)], {})
    assert (z > 4).all()
