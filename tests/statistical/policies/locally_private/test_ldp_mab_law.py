"""The locally private bandit: fast against plain, user by user, in law; as released against the authors' own means."""

import numpy as np
import pytest
from scipy.stats import chi2

from privarms.environments import exponential, symmetric
from privarms.fast_paths.locally_private import ldp_mab as fast_path
from privarms.policies.locally_private import ldp_mab
from privarms.protocols.locally_private import new_record, removals, run

from ...two_sample import same_law

pytestmark = pytest.mark.statistical


def sample(simulate, params, environment, replicates, seed):
    """What each replicate leaves behind: float64[replicates, ...]; by the reference implementation if simulate is None.

    The shares at the test point are compared decision by decision, in the unit tests.
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
    # Noise that matters, two sources with budgets of their own, bins with and without users.
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
        {"deviation": "band"},
        id="symmetric", marks=pytest.mark.long,
    ),
    pytest.param(
        EXPONENTIAL(3, "as_printed", gamma=2.0),
        {"K": 3, "horizon": 120, "epsilon": 20.0, "variant": "as_printed", "M": 1, "n_aux": 100,
         "epsilon_aux": 30.0, "c": 0.3},
        {"deviation": "band"},
        id="as_printed",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("environment", "settings", "wrong"), CASES)
def test_fast_is_plain_in_law(environment, settings, wrong):
    params = ldp_mab.configure(**settings)
    plain = sample(None, params, environment, 150, 1)
    # Arms go, and not the same ones each time.
    assert plain[:, -3:].sum(axis=1).mean() > 0.5
    assert plain[:, -1].std() > 0
    assert same_law(pairs(plain, sample(fast_path.simulate, params, environment, 3000, 2)))
    other = ldp_mab.configure(**{**settings, **wrong})
    assert not same_law(pairs(plain, sample(fast_path.simulate, other, environment, 3000, 2)))


# Means and standard errors of the regret in the logs that the authors released (30 runs, 50 in 9a): figure, epsilon,
# budgets of the sources, gamma, kappa, n, n_aux, M, mean, standard error.
LOGS = [
    ("7a", 1, "1024", 0.0, 1.0, 10000, 0, 2, 3878.807, 38.667),
    ("7a", 1, "1024", 0.0, 1.0, 20000, 0, 2, 7236.274, 142.741),
    ("7a", 1, "1024", 0.0, 1.0, 40000, 0, 2, 12345.134, 269.221),
    ("7a", 2, "1024", 0.0, 1.0, 10000, 0, 2, 3333.424, 62.722),
    ("7a", 2, "1024", 0.0, 1.0, 20000, 0, 2, 5007.899, 141.981),
    ("7a", 2, "1024", 0.0, 1.0, 40000, 0, 2, 8282.897, 265.594),
    ("7a", 4, "1024", 0.0, 1.0, 10000, 0, 2, 2387.611, 57.227),
    ("7a", 4, "1024", 0.0, 1.0, 20000, 0, 2, 3129.774, 87.315),
    ("7a", 4, "1024", 0.0, 1.0, 40000, 0, 2, 4654.648, 153.654),
    ("7a", 8, "1024", 0.0, 1.0, 10000, 0, 2, 1675.394, 28.677),
    ("7a", 8, "1024", 0.0, 1.0, 20000, 0, 2, 2121.099, 43.629),
    ("7a", 8, "1024", 0.0, 1.0, 40000, 0, 2, 2918.213, 49.29),
    ("7a", 1024, "1024", 0.0, 1.0, 10000, 0, 2, 1420.039, 12.095),
    ("7a", 1024, "1024", 0.0, 1.0, 20000, 0, 2, 1661.279, 16.932),
    ("7a", 1024, "1024", 0.0, 1.0, 40000, 0, 2, 1897.479, 20.423),
    ("7b", 1, "8", 0.0, 1.0, 10000, 5000, 1, 1194.004, 56.486),
    ("7b", 1, "8", 0.0, 1.0, 20000, 5000, 1, 2370.841, 125.437),
    ("7b", 2, "8", 0.0, 1.0, 10000, 5000, 1, 1088.572, 49.014),
    ("7b", 2, "8", 0.0, 1.0, 20000, 5000, 1, 2047.356, 102.047),
    ("7b", 4, "8", 0.0, 1.0, 10000, 5000, 1, 897.452, 37.532),
    ("7b", 4, "8", 0.0, 1.0, 20000, 5000, 1, 1606.84, 68.267),
    ("7b", 8, "8", 0.0, 1.0, 10000, 5000, 1, 691.645, 21.782),
    ("7b", 8, "8", 0.0, 1.0, 20000, 5000, 1, 1145.204, 38.312),
    ("7b", 1024, "8", 0.0, 1.0, 10000, 5000, 1, 603.866, 12.178),
    ("7b", 1024, "8", 0.0, 1.0, 20000, 5000, 1, 861.799, 17.732),
    ("9a", 2, "8", 0.2, 0.0, 40000, 10000, 2, 4903.461, 131.508),
    ("9a", 2, "8", 0.2, 0.4, 40000, 10000, 2, 2240.57, 63.971),
    ("9b", 2, "8", 0.4, 1.0, 40000, 10000, 2, 1874.793, 53.747),
    ("9b", 2, "8", 2.0, 1.0, 40000, 10000, 2, 2501.561, 113.123),
    ("9c", 1, "8 2", 0.0, 1.0, 10000, 10000, 2, 969.626, 34.063),
    ("9c", 1, "8 2", 0.0, 1.0, 10000, 20000, 2, 581.583, 17.099),
    ("9c", 2, "8 2", 0.0, 1.0, 10000, 10000, 2, 949.674, 31.667),
    ("9c", 2, "8 2", 0.0, 1.0, 10000, 20000, 2, 577.315, 16.789),
    ("9c", 4, "8 2", 0.0, 1.0, 10000, 10000, 2, 875.228, 25.34),
    ("9c", 4, "8 2", 0.0, 1.0, 10000, 20000, 2, 565.072, 15.474),
    ("9c", 8, "8 2", 0.0, 1.0, 10000, 10000, 2, 721.32, 14.351),
    ("9c", 8, "8 2", 0.0, 1.0, 10000, 20000, 2, 544.453, 14.645),
    ("9c", 1, "2 8", 0.0, 1.0, 10000, 10000, 2, 903.551, 40.681),
    ("9c", 1, "2 8", 0.0, 1.0, 10000, 20000, 2, 616.99, 24.538),
    ("9c", 2, "2 8", 0.0, 1.0, 10000, 10000, 2, 874.025, 39.121),
    ("9c", 2, "2 8", 0.0, 1.0, 10000, 20000, 2, 612.091, 25.116),
    ("9c", 4, "2 8", 0.0, 1.0, 10000, 10000, 2, 801.906, 32.517),
    ("9c", 4, "2 8", 0.0, 1.0, 10000, 20000, 2, 600.967, 25.126),
    ("9c", 8, "2 8", 0.0, 1.0, 10000, 10000, 2, 693.432, 20.265),
    ("9c", 8, "2 8", 0.0, 1.0, 10000, 20000, 2, 572.897, 24.884),
]
BATCH = {"7a": 100, "7b": 100, "9a": 100, "9b": 100, "9c": 500}
# The logs of 7a come from an older version of the program.
OLDER = {"deviation": "logarithm offset"}
REPLICATES = 40


def z_scores(logs, of_7a):
    """Our mean less theirs in standard errors, a row each."""
    found = []
    for row, (figure, epsilon, epsilon_aux, gamma, kappa, n, n_aux, M, mean, se) in enumerate(logs):
        extra = of_7a if figure == "7a" else {}
        params = ldp_mab.configure(
            3, n, float(epsilon), "as_released", M, n_aux, epsilon_aux, batch=BATCH[figure], **extra
        )
        environment = EXPONENTIAL(3, "as_released", gamma=gamma, kappa=kappa)
        regret = sample(fast_path.simulate, params, environment, REPLICATES, [3, row])[:, 1]
        found.append((regret.mean() - mean) / np.hypot(regret.std(ddof=1) / np.sqrt(REPLICATES), se))
    return np.array(found)


def test_as_released_agrees_with_the_logs():
    z = z_scores(LOGS, OLDER)
    m = len(z)
    # z has 60 degrees of freedom or so, and a standard deviation of 1.02. Two sides of 4.2 and one of 1e-5: the chance
    # of a false alarm is below 1e-4.
    assert abs(z.mean()) < 4.2 * 1.02 / np.sqrt(m)
    assert z.std(ddof=1) < 1.02 * np.sqrt(chi2.isf(1e-5, m - 1) / (m - 1))
    assert abs(z).max() < 5.5


def test_the_later_constants_do_not_agree_with_the_logs_of_7a():
    z = z_scores([row for row in LOGS if row[0] == "7a" and row[1] == 1024], {})
    assert (z > 4).all()
