"""The audits of policies with exact probabilities: counts agree with them, and half the noise is caught."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits import (
    first_reward,
    neighbouring_users,
    private_gradients,
    rewards_of_contexts,
    samples_at_doublings,
)
from privarms.audits.reduction import epsilon_lower_bound
from privarms.studies import library

pytestmark = pytest.mark.statistical

USERS = {"K": 2, "horizon": 100, "dimensions": 4}
# audit, policy, what the policy and the audit are told besides the neighbour and the noise, horizon, trials
AUDITS = [
    (
        samples_at_doublings,
        "dp_exponential_nas",
        {"alpha": 0.9, "beta": 0.5},
        {"alpha": 0.9, "beta": 0.5},
        None,
        60_000,
    ),
    (private_gradients, "ldp_linear", USERS, {"K": 2, "dimensions": 4}, 100, 20_000),
    (private_gradients, "ldp_nn", USERS, {"K": 2, "dimensions": 4}, 100, 20_000),
    (
        rewards_of_contexts,
        "private_linear_ucb",
        {"K": 2, "dimensions": 1, "horizon": 7},
        {"K": 2, "dimensions": 1},
        7,
        40_000,
    ),
]


def counted(audit, policy, told, asked, horizon, trials, noise, epsilon=1.0):
    """Events with either neighbour, and their exact probabilities."""
    module = library.load("policies", policy)
    params = module.configure(
        **told, epsilon=epsilon, **({"noise": noise} if "noise" in library.arguments("policies", policy) else {})
    )
    takes = library.arguments("environments", audit.__name__.rpartition(".")[2])
    own = asked | {k: v for k, v in (("epsilon", epsilon), ("noise", noise)) if k in takes}
    inputs = [audit.configure(**own, neighbour=n) for n in (0, 1)]
    rngs = [np.random.default_rng(57 + n) for n in (0, 1)]
    events = [audit.count_events(module, params, i, horizon, trials, rng) for i, rng in zip(inputs, rngs, strict=True)]
    return events, [audit.event_probability(params, one) for one in inputs]


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case[1])
def test_counts_agree_and_half_the_noise_is_caught_and_all_of_it_is_not(case):
    for noise, caught in ((1.0, False), (0.5, True)):
        events, exact = counted(*case, noise)
        for seen, probability in zip(events, exact, strict=True):
            # Sixteen tests at this level, and four below: a false alarm in fewer than one run of 10,000. A round of
            # `rewards_of_contexts` that is left out moves its probability by less than 1e-4 of itself.
            assert binomtest(seen, case[-1], probability).pvalue > 4e-6
        bound = epsilon_lower_bound(events[0], case[-1], events[1], case[-1], 0.9999)
        assert (bound > 1.0) == caught


def test_the_ablation_of_private_ucb_shows_two_levels_of_three():
    told = {"K": 6, "horizon": 8, "variant": "as_printed"}
    for noise in (1.0, 0.5):
        events, exact = counted(first_reward, "private_ucb_noise_only", told, {"K": 6}, 8, 100_000, noise, epsilon=0.5)
        assert all(binomtest(e, 100_000, p).pvalue > 4e-6 for e, p in zip(events, exact, strict=True))
        assert (np.log(exact[1] / exact[0]) > 0.5) == (noise < 1)


def test_half_the_noise_of_a_message_is_caught():
    told, asked = {"K": 2, "horizon": 10_000, "variant": "as_printed"}, {"K": 2, "differ": "arm", "event": "quadrant"}
    events, exact = counted(neighbouring_users, "ldp_mab", told, asked, 10_000, 20_000, 0.5)
    assert all(binomtest(e, 20_000, p).pvalue > 4e-6 for e, p in zip(events, exact, strict=True))
    assert np.log(exact[1] / exact[0]) == pytest.approx(2.0)
