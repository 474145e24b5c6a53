"""Check the theorems of Sajed & Sheffet 2019 as functions, against values worked by hand to 12 digits."""

import math

import pytest

from privarms.papers.sajed2019 import _bounds as bounds
from privarms.policies.stopping import dp_exponential_nas, dp_nas

SETTING = {"epsilon": 1.0, "alpha": 0.5, "beta": 0.05}


def test_theorem_3_3():
    # 2000 (ln(20 ln 4) (16 + 2) + 4 ln 20)
    assert bounds.halting_time(**SETTING, mu=0.5) == pytest.approx(143571.053395540, rel=1e-12)
    assert bounds.halting_time(**SETTING, mu=-1.0, R=2.0) == pytest.approx(143571.053395540, rel=1e-12)


def test_theorem_3_3_says_nothing_outside_its_hypotheses():
    for wrong in ({"beta": 0.1}, {"mu": 0.0}, {"alpha": 1.0}, {"epsilon": 0}):
        assert math.isnan(bounds.halting_time(**{**SETTING, "mu": 0.5, **wrong}))
    assert math.isnan(bounds.halting_time(epsilon=1, alpha=0.99, beta=0.05, mu=1.0))


def test_theorem_3_4():
    # ln 20 / (12 * 0.5 * 0.5)
    assert bounds.private_samples(**SETTING, mu=0.5) == pytest.approx(0.998577424517, rel=1e-11)
    assert bounds.private_samples(epsilon=0.5, alpha=0.5, beta=0.05, mu=-0.5, R=2) == pytest.approx(4 * 0.998577424517)
    assert math.isnan(bounds.private_samples(epsilon=1, alpha=0.5, beta=0.25, mu=0.5))


def test_corollary_3_6():
    # ln 20 (16 + 4)
    assert bounds.samples_order(**SETTING, mu=0.5) == pytest.approx(59.914645471060, rel=1e-12)


def test_lemma_4_2():
    # (ln 50000 + ln ln 10) (100 + 40)
    assert bounds.pulls_order(gap=0.1, K=5, epsilon=0.25, beta=1e-4) == pytest.approx(1631.533502151980, rel=1e-12)
    # As printed, ln ln 2 is negative. So is the whole expression for a gap above exp(-beta/K) = .9753.
    assert bounds.pulls_order(gap=0.5, K=5, epsilon=1, beta=0.1) == pytest.approx((math.log(50) - 0.366512920582) * 6)
    assert bounds.pulls_order(gap=0.975, K=2, epsilon=1, beta=0.05) > 0
    assert bounds.pulls_order(gap=0.976, K=2, epsilon=1, beta=0.05) < 0
    assert math.isnan(bounds.pulls_order(gap=1.0, K=2, epsilon=1, beta=0.05))


def test_the_ceiling_adds_the_epochs_until_the_gap_is_reached():
    # K = 4, beta = 0.1: R_1 = 739.345, R_2 = 3664.163; 2^-2 <= 0.3 < 2^-1.
    assert bounds.pulls_ceiling(gap=0.3, K=4, epsilon=1, beta=0.1) == 740 + 3665
    assert bounds.pulls_ceiling(gap=0.25, K=4, epsilon=1, beta=0.1) == 740 + 3665
    assert bounds.pulls_ceiling(gap=0.5, K=4, epsilon=1, beta=0.1) == 740
    assert bounds.pulls_ceiling(gap=1.0, K=4, epsilon=1, beta=0.1) == 740
    for gap in (0.0, 1.1):
        assert math.isnan(bounds.pulls_ceiling(gap=gap, K=4, epsilon=1, beta=0.1))


def test_theorems_4_3_and_4_4():
    # ln(5e7) (8 + 4 + 8/3 + 2) + 5 ln(5e7) / 0.25 and sqrt(5e7 5 ln(5e7)) + 5 ln(5e7) / 0.25
    gaps = [0, 0.125, 0.25, 0.375, 0.5]
    assert bounds.regret_order(gaps, 50_000_000, 0.25) == pytest.approx(650.009563991028, rel=1e-12)
    assert bounds.regret_order_any_gaps(5, 50_000_000, 0.25) == pytest.approx(66926.942778266669, rel=1e-12)


def test_epochs_grow_less_than_twofold_when_the_set_collapses_and_privacy_rules():
    # 2 ln(4 * 2 * 4 / beta) / ln(4 * 20 / beta) at beta = 1e-6, with epsilon so small that the + 1 is negligible.
    assert bounds.epoch_growth(20, 2, 1, epsilon=1e-9, beta=1e-6) == pytest.approx(1.899295083485, rel=1e-9)
    # (512 ln 1280 + 1) / (128 ln 320 + 1)
    assert bounds.epoch_growth(4, 4, 1, epsilon=10, beta=0.1) == pytest.approx(3664.163062739456 / 739.345087461504)


def test_all_epochs_over_the_last_one():
    # As above, R_1 = 739.345 and R_2 = 3664.163 for K = 4 and beta = 0.1.
    totals = bounds.total_over_last(1, 4, 2, beta=0.1)
    assert totals == pytest.approx({1: 1.0, 2: 1 + 739.345087461504 / 3664.163062739456})


def test_no_epoch_is_more_than_five_times_as_long_as_the_one_before():
    # The errors of identical runs use this bound.
    growth = [
        bounds.epoch_growth(K, K, epoch, epsilon, beta)
        for K in (2, 20)
        for epoch in range(1, 20)
        for epsilon in (1e-3, 0.25, 10)
        for beta in (1e-4, 2e-8)
    ]
    assert max(growth) < 5


def test_the_largest_number_that_the_proof_of_theorem_3_4_allows():
    # beta exp(6 epsilon n d) + beta is 3/4 there, d = 2 alpha mu / (2 R (1 + alpha)).
    n = bounds.private_samples_of_proof(0.5, 0.25, 0.05, 0.1, 2.0)
    distance = 0.25 * 0.1 / (2 * 1.25)
    assert 0.05 * math.exp(6 * 0.5 * n * distance) + 0.05 == pytest.approx(0.75)
    assert n > bounds.private_samples(0.5, 0.25, 0.05, 0.1, 2.0)
    assert math.isnan(bounds.private_samples_of_proof(0.5, 0.25, 0.25, 0.1))


def test_fact_2_1_and_its_counterexample():
    # ln(1.05 ln 2.8) = .078 over 2.8 / 17, though 2.8 is between e and 17 ln(1.05 ln 17) = 18.6.
    assert bounds.iterated_logarithm(1.05, 1 / 17, 2.8) == pytest.approx(0.4735, abs=1e-3)
    assert math.e < 2.8 < 17 * math.log(1.05 * math.log(17))


def test_t_U_of_theorem_3_3_may_lie_below_the_first_query_that_can_stop_the_rule():
    setting = {"epsilon": 100.0, "alpha": 0.96, "beta": 0.08}
    t_upper = bounds.halting_time(**setting, mu=0.96)
    assert 64 < t_upper < 128
    params = dp_exponential_nas.configure(**setting)
    # At t = 64 the mean would have to be above 1, even without noise.
    assert dp_nas.confidence_radius(params, 6, 64) * (1 + 1 / 0.96) > 1
    assert dp_nas.confidence_radius(params, 7, 128) * (1 + 1 / 0.96) < 0.96
