"""Check the audit of DP-NAS: sample sequences, counted event, and exact loss."""

import numpy as np

from privarms.audits.events import neighbouring_samples
from privarms.audits.events.neighbouring_samples import Inputs, threshold
from privarms.policies.stopping import dp_nas

SETTING = {"epsilon": 1.0, "alpha": 0.9, "beta": 0.5}


def test_the_two_streams_differ_in_the_first_sample_alone():
    zero, one = (neighbouring_samples.configure(**SETTING, neighbour=n) for n in (0, 1))
    assert (zero.samples != one.samples).nonzero()[0].tolist() == [0]
    assert (zero.samples[0], one.samples[0]) == (-1, 1)
    assert set(zero.samples) == {-1, 1}


def test_the_sums_turn_and_end_where_they_should():
    params, samples = dp_nas.configure(**SETTING), neighbouring_samples.configure(**SETTING, neighbour=0).samples
    sums = np.cumsum(samples)
    margins = (np.abs(sums) - [threshold(params, t, t) for t in range(1, len(sums) + 1)]) / params.sigma_2
    turn = sums.argmin()
    # The first sums that are at most 2 and 3 scales below the threshold.
    assert margins[turn] >= -2 > margins[turn - 1]
    assert margins[-1] >= -3 > margins[-2]
    assert sums[-1] > 0


def test_the_probability_of_one_query_by_hand():
    # One sample per side, so far below the threshold that only the noise decides: by simulation.
    params = dp_nas.configure(epsilon=100.0, alpha=0.9, beta=0.9)
    inputs = Inputs(np.array([-1.0, 1.0, 1.0]), 0, 1.0)
    rng = np.random.default_rng(2)
    n = 400_000
    b, a1, a2, a3 = (rng.laplace(scale=s, size=n) for s in (params.sigma_1, *[params.sigma_2] * 3))
    margins = [abs(s) - threshold(params, t, t) for t, s in ((1, -1.0), (2, 0.0), (3, 1.0))]
    goes_on = (a1 + b > margins[0]) & (a2 + b > margins[1])
    event = goes_on & (a3 + b <= margins[2]) & (rng.laplace(scale=params.sigma_3, size=n) >= 2)
    exact = neighbouring_samples.probability(params, inputs)
    assert abs(event.mean() - exact) < 4.5 * np.sqrt(exact / n) + 1e-12
