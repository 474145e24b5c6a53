"""Check the power of an audit against the bound on every pair of counts."""

import numpy as np
import pytest
from scipy.stats import binom

from privarms.audits.power import power
from privarms.inference.proportions import clopper_pearson


def by_hand(unlikely, likely, claimed, trials, confidence):
    """Return the probability of all pairs of counts whose bound is above the claim."""
    counts = np.arange(trials + 1)
    low, high = np.array([clopper_pearson(int(n), trials, confidence) for n in counts]).T
    caught = low[None, :] > np.exp(claimed) * high[:, None]
    return binom.pmf(counts, trials, unlikely) @ caught @ binom.pmf(counts, trials, likely)


@pytest.mark.parametrize(("unlikely", "likely", "claimed"), [(0.02, 0.5, 1.0), (0.1, 0.5, 0.5), (0.0, 0.5, 1.9)])
def test_it_is_the_probability_of_the_counts_that_catch(unlikely, likely, claimed):
    actual = power(unlikely, likely, claimed, 60, 0.95)
    assert actual == pytest.approx(by_hand(unlikely, likely, claimed, 60, 0.95), abs=1e-6)
    assert 0.05 < actual < 0.999


def test_a_loss_that_is_not_above_the_claim_is_never_caught():
    assert power(0.25, 0.5, np.log(2), 10**6, 0.99999) < 1e-5
