"""Check for every audit that event counts fit its formula, and that it detects half but not full noise."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from privarms.audits.events import neighbouring_streams
from privarms.audits.reduction import configured, epsilon_lower_bound
from privarms.policies.bandit import dp_se
from privarms.registry.modules import EnvironmentModule, PolicyModule

pytestmark = pytest.mark.statistical

# Level of one binomial test. With fewer than 100 tests, fewer than one run in 10,000 gives a false alarm.
FALSE_ALARM = 1e-6
HORIZON = 50_000_000
SAMPLES = {"alpha": 0.9, "beta": 0.5}
USERS = {"K": 2, "horizon": 100, "dimensions": 4}
REWARDS = {"K": 6, "horizon": 8, "epsilon": 0.5}
# audit, subject, parameters of both except noise (epsilon: 1 by default), trials
# The power against half the noise is 99.9%, except for first_reward, which would need millions of trials.
AUDITS = [
    ("released_number", "laplace", {}, 20_000),
    ("released_length", "lap_plus", {}, 20_000),
    ("released_vector", "l2_ball", {"dimensions": 5, "radius": 2.0}, 20_000),
    ("released_counts", "tree", {"horizon": 7}, 20_000),
    ("first_choice", "adap_ucb", {"K": 20}, 20_000),
    ("first_choice_adap_klucb", "adap_klucb", {"K": 2}, 200_000),
    ("first_choice", "dp_klucb", {"K": 20, "ratio": 256}, 10_000),
    ("first_choice", "dp_imed", {"K": 20, "ratio": 256}, 10_000),
    ("first_reward", "dp_ucb", {**REWARDS, "width": "exact"}, 300_000),
    ("first_reward", "private_ucb_noise_only", {**REWARDS, "variant": "as_printed"}, 100_000),
    ("neighbouring_streams", "dp_se", {"K": 20, "horizon": HORIZON}, 100_000),
    ("neighbouring_samples", "dp_nas", SAMPLES, 40_000),
    ("samples_at_doublings", "dp_exponential_nas", SAMPLES, 60_000),
    ("rewards_of_contexts", "private_linear_ucb", {"K": 2, "dimensions": 1, "horizon": 7}, 20_000),
    ("private_gradients", "ldp_linear", USERS, 10_000),
    ("private_gradients", "ldp_nn", USERS, 10_000),
]


def setting(audit, subject, parameters, noise):
    """Return the module of the audit, the subject's parameters and both inputs."""
    module = EnvironmentModule(audit).module
    rows = pd.DataFrame([{"epsilon": 1.0, **parameters, "noise": noise}])
    return module, *configured(subject, module.AUDIT, rows)


# Exact loss divided by the claim, with full and with half of the noise (default: 1 and 2).
SHARES = {
    **dict.fromkeys(("adap_ucb", "dp_klucb", "dp_imed"), (0.995, 1.866)),
    **{"dp_ucb": (0.598, 1.174), "private_ucb_noise_only": (0.559, 1.078)},
    **{"dp_nas": (0.873, 1.615), "dp_exponential_nas": (0.809, 1.609)},
}


def count(module, subject, params, inputs, parameters, trials, seed):
    policy, rng = PolicyModule(subject).module, np.random.default_rng(seed)
    return module.AUDIT.count(policy, params, inputs, parameters.get("horizon"), trials, rng)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_counts_agree_with_the_formula_and_half_the_noise_is_caught_and_all_of_it_is_not(case):
    audit, subject, parameters, trials = case
    for noise, share in zip((1.0, 0.5), SHARES.get(subject, (1, 2)), strict=True):
        module, params, pair = setting(audit, subject, parameters, noise)
        events = [count(module, subject, params, pair[n], parameters, trials, [57, n]) for n in (0, 1)]
        exact = [module.AUDIT.probability(params, inputs) for inputs in pair]
        for seen, probability in zip(events, exact, strict=True):
            assert binomtest(seen, trials, probability).pvalue > FALSE_ALARM
        likelier, claimed = module.AUDIT.likelier, module.AUDIT.claimed(parameters.get("epsilon", 1.0))
        loss = module.AUDIT.loss(params, pair)
        assert loss == pytest.approx(np.log(exact[likelier] / exact[1 - likelier]))
        assert loss == pytest.approx(share * claimed, rel=1e-3)
        bound = epsilon_lower_bound(events[1 - likelier], trials, events[likelier], trials, 0.9999)
        assert (bound > claimed) == (noise < 1 and audit != "first_reward")


# Counts with the right scale must not fit a formula with a wrong scale.
@pytest.mark.parametrize(
    ("subject", "factor", "scales"),
    [("dp_ucb", 0.7, ("node_scale",)), ("dp_se", 0.8, ("noise",)), ("dp_nas", 0.7, ("sigma_1", "sigma_2", "sigma_3"))],
)
def test_a_wrong_scale_is_detected(subject, factor, scales):
    audit, _, parameters, trials = next(case for case in AUDITS if case[1] == subject)
    module, params, (_, inputs) = setting(audit, subject, parameters, 1.0)
    events = count(module, subject, params, inputs, parameters, trials, 99)
    for scale in scales:
        wrong = params._replace(**{scale: factor * getattr(params, scale)})
        assert binomtest(events, trials, module.AUDIT.probability(wrong, inputs)).pvalue < FALSE_ALARM


# Few arms, equal sums and a low margin, so other arms than the leader may be highest.
@pytest.mark.parametrize(
    ("K", "epsilon", "sums", "eliminated"),
    [(3, 1e-4, [10, 10, 10], 1), (3, 1e-4, [2e4, 0, 0], 2), (5, 1e-3, [0, 2e3, 2e3, 2e3, 2e3], 2)],
)
def test_eliminations_by_other_arms_than_the_leader(K, epsilon, sums, eliminated):
    params = dp_se.configure(K=K, horizon=HORIZON, epsilon=epsilon, beta=0.99)
    inputs = neighbouring_streams.Inputs(np.array(sums, float), eliminated, 0)
    events = neighbouring_streams.AUDIT.count(dp_se, params, inputs, HORIZON, 300_000, np.random.default_rng(3))
    assert binomtest(events, 300_000, neighbouring_streams.probability(params, inputs)).pvalue > FALSE_ALARM
    wrong = params._replace(noise=0.9 * params.noise)
    assert binomtest(events, 300_000, neighbouring_streams.probability(wrong, inputs)).pvalue < FALSE_ALARM
