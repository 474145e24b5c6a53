"""The power of an audit, against the bound itself on every pair of counts."""

import numpy as np
import pytest
from scipy.stats import binom

from privarms.audits.power import power, trials_for
from privarms.inference.proportions import clopper_pearson


def by_hand(unlikely, likely, claimed, trials, confidence):
    """The probability of all pairs of counts whose bound is above the claim."""
    counts = np.arange(trials + 1)
    low, high = np.array([clopper_pearson(int(n), trials, confidence) for n in counts]).T
    caught = low[None, :] > np.exp(claimed) * high[:, None]
    return binom.pmf(counts, trials, unlikely) @ caught @ binom.pmf(counts, trials, likely)


@pytest.mark.parametrize(("unlikely", "likely", "claimed"), [(0.02, 0.5, 1.0), (0.1, 0.5, 0.5), (0.0, 0.5, 1.9)])
def test_it_is_the_probability_of_the_counts_that_catch(unlikely, likely, claimed):
    found = power(unlikely, likely, claimed, 60, 0.95)
    assert found == pytest.approx(by_hand(unlikely, likely, claimed, 60, 0.95), abs=1e-6)
    assert 0.05 < found < 0.999


def test_as_many_trials_as_are_said_have_the_power_and_fewer_do_not():
    law = (0.5 * np.exp(-1), 0.5, 0.5)
    needed = trials_for(*law, 0.9999)
    assert power(*law, needed, 0.9999) >= 0.8
    assert power(*law, int(needed * 0.85), 0.9999) < 0.8


def test_a_loss_that_is_not_above_the_claim_is_never_caught():
    assert trials_for(0.25, 0.5, np.log(2), 0.95) is None
    assert power(0.25, 0.5, np.log(2), 10**6, 0.99999) < 1e-5
    assert trials_for(0.0, 0.0, 1.0, 0.95) is None
