"""Every audit: its events happen as often as its formula says, and half the noise is caught while all of it is not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from privarms.audits import neighbouring_streams
from privarms.audits.reduction import configured, epsilon_lower_bound
from privarms.policies.bandit import dp_se
from privarms.studies import library

pytestmark = pytest.mark.statistical

# Of one binomial test. There are fewer than 100: a false alarm in fewer than one run of 10,000.
FALSE_ALARM = 1e-6
HORIZON = 50_000_000
SAMPLES = {"alpha": 0.9, "beta": 0.5}
USERS = {"K": 2, "horizon": 100, "dimensions": 4}
# audit, subject, parameters of both except noise (epsilon: 1 by default), trials
AUDITS = [
    ("released_number", "laplace", {}, 100_000),
    ("released_length", "lap_plus", {}, 100_000),
    ("released_vector", "l2_ball", {"dimensions": 5, "radius": 2.0}, 100_000),
    ("released_counts", "tree", {"horizon": 7}, 100_000),
    ("released_node", "tree_guard", {}, 100_000),
    ("first_choice_adap_ucb", "adap_ucb", {"K": 20}, 100_000),
    ("first_choice_adap_klucb", "adap_klucb", {"K": 2}, 100_000),
    ("first_choice_dp_klucb", "dp_klucb", {"K": 20, "ratio": 256}, 100_000),
    ("first_choice_dp_imed", "dp_imed", {"K": 20, "ratio": 256}, 100_000),
    ("first_reward", "dp_ucb", {"K": 6, "horizon": 8, "width": "exact", "epsilon": 0.5}, 2_000_000),
    (
        "first_reward",
        "private_ucb_noise_only",
        {"K": 6, "horizon": 8, "variant": "as_printed", "epsilon": 0.5},
        2_000_000,
    ),
    ("neighbouring_streams", "dp_se", {"K": 20, "horizon": HORIZON}, 300_000),
    ("neighbouring_samples", "dp_nas", SAMPLES, 60_000),
    ("samples_at_doublings", "dp_exponential_nas", SAMPLES, 60_000),
    ("rewards_of_contexts", "private_linear_ucb", {"K": 2, "dimensions": 1, "horizon": 7}, 40_000),
    ("private_gradients", "ldp_linear", USERS, 20_000),
    ("private_gradients", "ldp_nn", USERS, 20_000),
]


def setting(audit, subject, parameters, noise):
    """Return the module of the audit, the subject's parameters and both inputs."""
    module = library.load("environments", audit)
    rows = pd.DataFrame([{"epsilon": 1.0, **parameters, "noise": noise}])
    return module, *configured(subject, module, rows)


def counted(audit, subject, parameters, trials, noise):
    """Return the events with either neighbour, their probabilities, the exact loss and the claimed one."""
    module, params, pair = setting(audit, subject, parameters, noise)
    policy, horizon = library.load("policies", subject), parameters.get("horizon")
    events = [
        module.AUDIT.count(policy, params, inputs, horizon, trials, np.random.default_rng([57, n]))
        for n, inputs in enumerate(pair)
    ]
    exact = [module.AUDIT.probability(params, inputs) for inputs in pair]
    return (
        events,
        exact,
        module.AUDIT.log_ratio(params, pair),
        module.AUDIT.claimed(parameters.get("epsilon", 1.0)),
        module.AUDIT.likelier,
    )


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_counts_agree_with_the_formula_and_half_the_noise_is_caught_and_all_of_it_is_not(case):
    trials = case[-1]
    for noise, caught in ((1.0, False), (0.5, True)):
        events, exact, loss, claimed, likelier = counted(*case, noise)
        for seen, probability in zip(events, exact, strict=True):
            assert binomtest(seen, trials, probability).pvalue > FALSE_ALARM
        assert loss == pytest.approx(np.log(exact[likelier] / exact[1 - likelier]))
        # The event shows much of the claim, and no more.
        assert (loss > claimed * (1 + 1e-9)) == caught
        assert loss > 0.5 * claimed
        bound = epsilon_lower_bound(events[1 - likelier], trials, events[likelier], trials, 0.9999)
        # The event of DP-UCB is too rare for so many trials to show half the noise; its formula does.
        assert (bound > claimed) == (caught and case[1] != "dp_ucb")


# A formula with a wrong scale must not agree with the counts of the right one.
@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (AUDITS[9], lambda params: params._replace(node_scale=0.9 * params.node_scale)),
        (AUDITS[11], lambda params: params._replace(noise=0.9 * params.noise)),
        *[
            (AUDITS[12], lambda p, s=s: p._replace(**{s: 0.7 * getattr(p, s)}))
            for s in ("sigma_1", "sigma_2", "sigma_3")
        ],
    ],
)
def test_a_wrong_scale_is_detected(case, wrong):
    audit, subject, parameters, trials = case
    module, params, (_, inputs) = setting(audit, subject, parameters, 1.0)
    policy, rng = library.load("policies", subject), np.random.default_rng(99)
    events = module.AUDIT.count(policy, params, inputs, parameters.get("horizon"), trials, rng)
    assert binomtest(events, trials, module.AUDIT.probability(wrong(params), inputs)).pvalue < FALSE_ALARM


# Few arms, equal sums and a low margin, where arms other than the leader are highest.
@pytest.mark.parametrize(
    ("K", "epsilon", "sums", "eliminated"),
    [(3, 1e-4, [10, 10, 10], 1), (3, 1e-4, [2e4, 0, 0], 2), (5, 1e-3, [0, 2e3, 2e3, 2e3, 2e3], 2)],
)
def test_eliminations_by_other_arms_than_the_leader(K, epsilon, sums, eliminated):
    params = dp_se.configure(K=K, horizon=HORIZON, epsilon=epsilon, beta=0.99)
    inputs = neighbouring_streams.Inputs(np.array(sums, float), eliminated, 0)
    events = neighbouring_streams.count(dp_se, params, inputs, HORIZON, 300_000, np.random.default_rng(3))
    assert binomtest(events, 300_000, neighbouring_streams.probability(params, inputs)).pvalue > FALSE_ALARM
    wrong = params._replace(noise=0.9 * params.noise)
    assert binomtest(events, 300_000, neighbouring_streams.probability(wrong, inputs)).pvalue < FALSE_ALARM
