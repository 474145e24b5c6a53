"""Check the simulated audit of DP-ConSE's releases against its exact event probabilities."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits.events import neighbouring_experiments, whole_experiments
from privarms.policies.experiment import dp_conse, dp_conse_total

pytestmark = pytest.mark.statistical

AUDITED = [
    (release, M, epsilon, policy)
    for release in (*neighbouring_experiments.RELEASES, "experiment")
    for M, epsilon in ((1, 1.0), (2, 0.5), (3, 2.0), (10, 0.5))
    for policy in (dp_conse, dp_conse_total)
]
TRIALS = 200_000


@pytest.mark.parametrize(("release", "M", "epsilon", "policy"), AUDITED)
def test_the_audit_s_events_happen_as_often_as_they_should(release, M, epsilon, policy):
    params = policy.configure(M, 20_000, 0.0, epsilon)
    whole = release == "experiment"
    audit = whole_experiments if whole else neighbouring_experiments
    runs = [audit.configure(**({} if whole else {"release": release}), neighbour=run) for run in (0, 1)]
    counts = [
        audit.AUDIT.count(policy, params, inputs, None, TRIALS, np.random.default_rng([10, run]))
        for run, inputs in enumerate(runs)
    ]
    expected = [audit.probability(params, inputs) for inputs in runs]
    for run in (0, 1):
        assert binomtest(int(counts[run]), TRIALS, expected[run]).pvalue > 1e-5 / len(AUDITED) / 2
    # If the event is not too rare, the other run's probability must not fit.
    if expected[0] > 0.01:
        assert binomtest(int(counts[1]), TRIALS, expected[0]).pvalue < 1e-20
