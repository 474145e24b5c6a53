"""The audits of the mechanisms: counts agree with the exact probabilities, and half the noise is caught."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits import released_counts, released_length, released_node, released_number, released_vector
from privarms.audits.reduction import epsilon_lower_bound
from privarms.studies import library

pytestmark = pytest.mark.statistical

TRIALS = 100_000
AUDITS = [
    (released_number, {"epsilon": 1.0}),
    (released_length, {"epsilon": 1.0}),
    (released_vector, {"epsilon": 1.0, "dimensions": 5, "radius": 2.0}),
    (released_counts, {"epsilon": 1.0, "horizon": 7}),
    (released_node, {"epsilon": 1.0}),
]


@pytest.mark.parametrize(("audit", "parameters"), AUDITS)
def test_counts_agree_and_half_the_noise_is_caught_and_all_of_it_is_not(audit, parameters):
    mechanism = library.load("policies", audit.SUBJECT)
    params, claimed = mechanism.configure(**parameters), audit.claimed_loss(1.0)
    for noise, caught in ((1.0, False), (0.5, True)):
        inputs = [audit.configure(neighbour=n, noise=noise) for n in (0, 1)]
        rngs = [np.random.default_rng(31 + n) for n in (0, 1)]
        events = [
            audit.count_events(mechanism, params, one, None, TRIALS, rng) for one, rng in zip(inputs, rngs, strict=True)
        ]
        for seen, one in zip(events, inputs, strict=True):
            # Twenty tests at this level: a false alarm in fewer than one run of 10,000.
            assert binomtest(seen, TRIALS, audit.event_probability(params, one)).pvalue > 4e-6
        # It is no idle one: all that is claimed is used up, and no more.
        assert audit.log_ratio(params, inputs[0]) == pytest.approx(claimed / noise)
        bound = epsilon_lower_bound(events[0], TRIALS, events[1], TRIALS, 0.9999)
        assert (bound > claimed) == caught
