"""Check the sums of a locally private server, as the kernel computes them, against exact event probabilities."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits.events import neighbouring_users
from privarms.policies.locally_private import ldp_mab

pytestmark = pytest.mark.statistical

# Level of all comparisons together. Each is an exact binomial test of the count of events.
FALSE_ALARM = 1e-5
TRIALS = 200_000
K = 3
VARIANTS = ("as_printed", "as_released")


def audited(variant, differ, event, user, epsilon, batch):
    params = ldp_mab.configure(K, 10_000, epsilon, variant, M=0, batch=batch)
    return params, neighbouring_users.configure(K, differ, event, user, batch)


def count(variant, differ, event, user, epsilon, batch, seed, trials=TRIALS):
    params, inputs = audited(variant, differ, event, user, epsilon, batch)
    return neighbouring_users.AUDIT.count(ldp_mab, params, inputs, None, trials, np.random.default_rng([11, seed]))


# One user; three users with noise drawn one by one; a hundred users with noise drawn at once.
CASES = [*product(VARIANTS, ("context", "arm"), ("quadrant",), (0, 1), (0.5, 4.0), (1, 3, 100))]


def agrees(case, seed, **expected_of):
    names = ("variant", "differ", "event", "user", "epsilon", "batch")
    setting = dict(zip(names, case, strict=True)) | expected_of
    expected = neighbouring_users.probability(*audited(**setting))
    events = count(*case, seed)
    if expected in (0, 1):
        return events == expected * TRIALS
    return binomtest(events, TRIALS, expected).pvalue > FALSE_ALARM / len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_quadrant_comes_as_often_as_the_closed_form_says(case):
    assert agrees(case, CASES.index(case))


@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (("as_printed", "context", "quadrant", 0, 4.0, 3), {"epsilon": 4.4}),
        (("as_released", "arm", "quadrant", 0, 4.0, 3), {"epsilon": 3.6}),
        (("as_printed", "arm", "quadrant", 0, 4.0, 3), {"batch": 2}),
        (("as_printed", "context", "quadrant", 1, 4.0, 1), {"user": 0}),
        (("as_released", "context", "quadrant", 0, 4.0, 3), {"variant": "as_printed"}),
        (("as_released", "context", "quadrant", 1, 4.0, 1), {"variant": "as_printed"}),
    ],
)
def test_a_wrong_distribution_is_detected(case, wrong):
    assert agrees(case, 99)
    assert not agrees(case, 99, **wrong)


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_the_second_bin_is_untouched_always_or_never(batch, epsilon):
    for variant, differ, user in product(VARIANTS, ("context", "arm"), (0, 1)):
        expected = neighbouring_users.probability(*audited(variant, differ, "untouched", user, epsilon, batch))
        actual = count(variant, differ, "untouched", user, epsilon, batch, 5, trials=20_000)
        assert actual == 20_000 * expected, (variant, differ, user)
