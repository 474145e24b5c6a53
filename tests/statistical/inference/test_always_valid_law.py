"""Always-valid tests keep their level where a sampler stops when it likes; a fixed-sample test does not.

Of R runs under the null as many may reject as a binomial of R and alpha exceeds with probability 1e-5.
"""

import numpy as np
import pytest
from scipy.stats import binom

from privarms.inference.always_valid import confidence_sequence, log_e_value
from privarms.inference.fixed_pulls import log_p_value

RUNS, LONGEST, ALPHA = 4_000, 300, 0.05
MOST = binom.isf(1e-5, RUNS, ALPHA)


@pytest.fixture(scope="module", params=[0.2, 0.5])
def walks(request):
    """The null, and how many of n rewards are 1, int64[RUNS, LONGEST], for n = 1, ..., LONGEST."""
    rng = np.random.default_rng([20261122, int(10 * request.param)])
    return request.param, np.cumsum(rng.random((RUNS, LONGEST)) < request.param, axis=1)


def test_however_it_stops_an_e_value_rejects_with_its_level_at_most(walks):
    null, sums = walks
    counts = np.arange(1, LONGEST + 1)
    ever = (log_e_value(sums, counts, null) >= np.log(1 / ALPHA)).any(axis=1)
    assert ever.sum() <= MOST
    # And not by far: it is no test that never rejects.
    assert ever.sum() > RUNS * ALPHA / 20
    naive = (log_p_value(sums, counts, null) <= np.log(ALPHA)).any(axis=1)
    assert naive.sum() > 2 * MOST


def test_a_confidence_sequence_holds_the_mean_at_all_counts_at_once(walks):
    null, sums = walks
    low, high = confidence_sequence(sums, np.arange(1, LONGEST + 1), ALPHA)
    ever = ((null < low) | (null > high)).any(axis=1)
    assert ever.sum() <= MOST
    assert ever.sum() > RUNS * ALPHA / 20
