"""The audits of the first choice: counts agree with the exact probabilities, and half the noise is caught."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits import (
    first_choice_adap_klucb,
    first_choice_adap_ucb,
    first_choice_dp_imed,
    first_choice_dp_klucb,
)
from privarms.audits.reduction import epsilon_lower_bound
from privarms.studies import library

pytestmark = pytest.mark.statistical

TRIALS = 100_000
AUDITS = [
    (first_choice_adap_ucb, 20, {}),
    (first_choice_adap_klucb, 2, {}),
    (first_choice_dp_klucb, 20, {"ratio": 256}),
    (first_choice_dp_imed, 20, {"ratio": 256}),
]


def counted(audit, K, **parameters):
    """Events with either neighbour, the params and both inputs."""
    policy = library.load("policies", audit.SUBJECT)
    params, inputs = policy.configure(K=K, **parameters), [audit.configure(K, n) for n in (0, 1)]
    rngs = [np.random.default_rng(11 + n) for n in (0, 1)]
    events = [audit.count_events(policy, params, i, None, TRIALS, rng) for i, rng in zip(inputs, rngs, strict=True)]
    return events, params, inputs


@pytest.mark.parametrize(("audit", "K", "own"), AUDITS)
def test_counts_agree_with_the_exact_probabilities(audit, K, own):
    # Twelve tests at this level: a false alarm in fewer than one run of 10,000.
    for epsilon in (0.5, 1.0):
        events, params, inputs = counted(audit, K, epsilon=epsilon, **own)
        for seen, one in zip(events, inputs, strict=True):
            assert binomtest(seen, TRIALS, audit.event_probability(params, one)).pvalue > 5e-6
        # And it is no idle one: all of the budget is used, and no more.
        assert 0.9 * epsilon < audit.log_ratio(params, inputs[0]) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("audit", "K", "own"), AUDITS)
def test_half_the_noise_is_caught_and_all_of_it_is_not(audit, K, own):
    for noise, caught in ((1.0, False), (0.5, True)):
        events, _, inputs = counted(audit, K, epsilon=1.0, noise=noise, **own)
        likelier = audit.likelier(inputs[0])
        bound = epsilon_lower_bound(events[1 - likelier], TRIALS, events[likelier], TRIALS, 0.9999)
        assert (bound > 1.0) == caught
