"""The simulated audit of DP-NAS against its exact event probabilities."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits import neighbouring_samples
from privarms.policies.stopping import dp_nas

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-5
TRIALS = 60_000
CASES = [(epsilon, noise, neighbour) for epsilon in (1.0, 3.0) for noise in (1.0, 0.5) for neighbour in (0, 1)]


def audited(epsilon, noise, neighbour):
    setting = {"epsilon": epsilon, "alpha": 0.9, "beta": 0.5, "noise": noise}
    return dp_nas.configure(**setting), neighbouring_samples.configure(**setting, neighbour=neighbour)


def agrees(params, inputs, seed, expected=None):
    events = neighbouring_samples.count_events(dp_nas, params, inputs, None, TRIALS, np.random.default_rng(seed))
    probability = neighbouring_samples.event_probability(expected or params, inputs)
    return binomtest(events, TRIALS, probability).pvalue > FALSE_ALARM / len(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_event_happens_as_often_as_the_quadrature_says(case):
    assert agrees(*audited(*case), seed=[3, CASES.index(case)])


@pytest.mark.parametrize("scale", ["sigma_1", "sigma_2", "sigma_3"])
def test_a_wrong_scale_is_told_apart(scale):
    params, inputs = audited(1.0, 1.0, 1)
    wrong = params._replace(**{scale: 0.7 * getattr(params, scale)})
    assert not agrees(params, inputs, 99, wrong)
