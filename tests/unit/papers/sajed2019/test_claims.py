"""Every measure of Sajed & Sheffet 2019 on a table of a few rows, worked by hand."""

import numpy as np
import pytest
from scipy.stats import binom, t

from privarms.inference.proportions import clopper_pearson
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019 import claims

from .tables_by_hand import results, rows, verdict

DP_UCB = {"policy": "dp_ucb", "ratio_se": 0.1, "replicates": 30, "epsilon": 0.25, "spacing": np.nan}


def test_the_smallest_ratio_of_a_width():
    ratios = rows(
        DP_UCB,
        {"width": "log3", "K": 5, "ratio": 9.0},
        {"width": "log3", "K": 3, "ratio": 6.0},
        {"width": "chan", "K": 3, "ratio": 1.5, "spacing": "convex"},
        {"policy": "another", "width": "log3", "K": 3, "ratio": 0.5},
    )
    found = claims.smallest_ratio(results(ratios=ratios), "log3")
    assert (found.value, found.se, found.replicates) == (6.0, 0.1, 30)
    # Student's quantile with 29 degrees of freedom, for two settings together.
    assert found.low == pytest.approx(6.0 + 0.1 * t.ppf(0.0005 / 2, 29))
    found = claims.smallest_ratio(results(ratios=ratios))
    assert found.value == 1.5
    wild = claims.smallest_ratio(results(ratios=[*ratios, ratios[2] | {"ratio": 40.0, "ratio_se": 30.0}]))
    assert (wild.value, wild.low) == (1.5, 0.0), "no ratio of regrets is negative"


def second_half(*cells, runs=4000):
    shared = {"policy": "dp_ucb", "replicates": runs, "width": "chan", "early": 7}
    return results(second_half=rows(shared, *cells, {"policy": "ucb1", "growing": 0}, {"width": "log3", "growing": 0}))


def test_the_fraction_of_runs_that_grow():
    found = claims.growing_fraction(second_half({"growing": 4000}, {"growing": 3999}), "dp_ucb", "chan")
    assert (found.value, found.replicates) == (3999 / 4000, 4000)
    assert (found.low, found.high) == tuple(clopper_pearson(3999, 4000, 0.9995))


def test_a_fraction_that_was_never_missed_is_not_certain():
    found = claims.growing_fraction(second_half({"growing": 20}, runs=20), "dp_ucb", "chan")
    assert found.value == 1
    assert verdict(found, at_least=0.99) == "inconclusive"


def test_the_probability_that_a_curve_grows():
    cells = rows(
        {"policy": "dp_ucb", "replicates": 4000},
        {"half": 10.0, "end": 12.0, "growing": 4000},
        {"half": 20.0, "end": 30.0, "growing": 1000},
    )
    found = claims.growing_curves(results(second_half=cells), "dp_ucb", 30)
    assert found.value == pytest.approx(1 - (1 - 1000 / 4000) ** 30)
    low, high = clopper_pearson(1000, 4000, 0.9995)
    assert found.interval == pytest.approx((1 - (1 - low) ** 30, 1 - (1 - high) ** 30))


def test_the_fraction_of_runs_that_are_not_flat():
    cells = rows({"policy": "dp_se", "replicates": 4000, "early": 7}, {"growing": 0}, {"growing": 2000})
    cells = [c | {"settled": 2000 + c["growing"]} for c in cells]
    found = claims.late_fraction(results(second_half=cells), "dp_se")
    assert (found.value, found.replicates) == (0.5, 4000)
    unsettled = claims.unsettled_fraction(results(second_half=cells), "dp_se")
    assert unsettled.value == 0.5
    assert verdict(unsettled, at_most=0.01) == "differs"


def test_the_effect_of_epsilon():
    shared = {"policy": "dp_ucb", "replicates": 30, "regret_se": 0.0, "regret_se_dp_se": 0.1}
    ratios = rows(
        shared,
        {"width": "chan", "epsilon": 1.0, "regret_mean": 10.0, "regret_mean_dp_se": 10.0},
        {"width": "chan", "epsilon": 0.1, "regret_mean": 100.0, "regret_mean_dp_se": 20.0},
        {"width": "log3", "epsilon": 0.1, "regret_mean": 7.0, "regret_mean_dp_se": 20.0},
    )
    found = claims.epsilon_effect(results(ratios=ratios), "chan")
    # 100 / 10 over 20 / 10; the errors of DP-SE's regrets are 1/100 and 1/200 of them.
    assert found.value == pytest.approx(5.0)
    assert found.se == pytest.approx(5.0 * np.hypot(0.01, 0.005))


def test_how_regret_grows_with_the_horizon():
    shared = {"policy": "dp_ucb", "replicates": 30, "first": 1e6, "last": 1e9, "least": 1.9, "exponent_se": 0.01}
    growth = rows(shared, {"width": "chan", "exponent": 2.4}, {"width": "log3", "exponent": 3.0})
    growth += rows(shared, {"policy": "dp_se", "width": None, "exponent": 0.9})
    found = claims.growth_exponent(results(growth=growth), "dp_ucb", "chan")
    assert (found.value, found.se, found.replicates) == (2.4, 0.01, 30)
    assert claims.growth_exponent(results(growth=growth), "dp_se").value == 0.9


def test_an_exponent_of_runs_that_all_agree_is_not_certain():
    row = {"policy": "dp_se", "replicates": 1000, "first": 1e2, "last": 1e4, "least": 0.8, "exponent_se": 0.0}
    found = claims.growth_exponent(results(growth=rows(row | {"width": None}, {"exponent": 0.95})), "dp_se")
    half = 5 * (1 - 0.0005 ** (1 / 1000)) / np.log(2)
    assert found.interval == pytest.approx((0.95 - half, 0.95 + half))
    assert verdict(found, at_most=1) == "inconclusive"


def test_the_noise_of_the_tree():
    noise = rows(
        {},
        {"horizon": 10**10, "variance_ratio": 1.5, "deviation_ratio": 3.2},
        {"horizon": 10**4, "variance_ratio": 1.0, "deviation_ratio": 2.0},
    )
    found = claims.noise_variance_spread(results(noise_per_step=noise))
    assert (found.value, found.se) == (1.5, 0)
    found = claims.noise_over_logarithm(results(noise_per_step=noise))
    assert found.value == pytest.approx(1.6)


STOPPING = {"policy": "dp_exponential_nas", "replicates": 1000, "stopping_time_se": 1.0, "alpha": 0.5, "mu": 0.5}
STOPPING |= {"epsilon": 1.0, "beta": 0.05}


def test_the_largest_failure_rate():
    stopping = rows(STOPPING, {"failure_mean": 0.0}, {"failure_mean": 0.003}, {"policy": "dp_nas", "failure_mean": 1.0})
    found = claims.largest_failure_rate(results(stopping=stopping), "dp_exponential_nas")
    assert found.value == 0.003
    # As many failures or fewer have probability .00025 at the upper end: two settings, two ends.
    assert binom.cdf(round(1000 * 0.003), 1000, found.high) == pytest.approx(0.00025)
    same = claims.largest_failure_rate_of_noise(results(noise_alone=stopping, stopping=[]), "dp_exponential_nas")
    assert same == found


def test_the_fraction_that_does_not_halt_by_the_upper_bound():
    stopping = rows(
        STOPPING | {"t_upper": 2000.0},
        {"by_upper": 1.0, "longest": 100},
        {"by_upper": 0.99, "longest": 400, "mu": 0.96},
        {"by_upper": np.nan, "t_upper": np.nan, "longest": 400},
        {"policy": "dp_nas", "by_upper": 0.1, "longest": 4000},
    )
    found = claims.late_share(results(large_mean=stopping), "large_mean")
    assert (found.value, found.replicates) == (pytest.approx(1 - 0.99), 1000)


def test_the_fraction_up_to_the_lower_bound():
    stopping = rows(
        STOPPING | {"t_lower": 10.0, "stopping_time_mean": 50.0},
        {"by_lower": 0.0},
        {"by_lower": 0.25, "stopping_time_mean": 20.0},
        {"policy": "dp_nas", "by_lower": 1.0},
    )
    found = claims.early_share(results(stopping=stopping), "dp_exponential_nas")
    assert (found.value, found.replicates) == (0.25, 1000)


def test_the_upper_quartile_over_what_the_proof_allows():
    stopping = rows(
        STOPPING | {"t_proof": 10.0},
        {"upper_quartile": 90.0, "quartile_low": 80.0, "quartile_high": 95.0},
        {"upper_quartile": 15.0, "quartile_low": 14.0, "quartile_high": 17.0, "mu": 0.1},
        {"policy": "dp_nas", "upper_quartile": 1.0, "quartile_low": 1.0, "quartile_high": 1.0},
    )
    found = claims.quartile_over_proof(results(stopping=stopping), "dp_exponential_nas", "stopping")
    assert found.value == 1.5
    assert found.interval == (1.4, 1.7)


def test_the_spread_around_the_order():
    stopping = rows(
        STOPPING | {"order": 10.0},
        {"stopping_time_mean": 100.0},
        {"stopping_time_mean": 800.0},
        {"policy": "dp_nas", "stopping_time_mean": 1.0},
    )
    found = claims.optimality_spread(results(stopping=stopping))
    assert found.value == pytest.approx(800.0 / 100)
    assert found.se == pytest.approx(800.0 / 100 * np.hypot(1 / 100, 1 / 800.0))
    # Four numbers together, an error of 1 each.
    half = -t.ppf(0.0005 / 4, 999)
    assert found.interval == pytest.approx(((800.0 - half) / (100 + half), (800.0 + half) / (100 - half)))


def test_what_asking_at_powers_of_two_costs():
    stopping = rows(
        STOPPING,
        {"stopping_time_mean": 90.0, "mu": 0.1},
        {"stopping_time_mean": 150.0},
        {"policy": "dp_nas", "stopping_time_mean": 100.0},
        {"policy": "dp_nas", "stopping_time_mean": 100.0, "mu": 0.1},
    )
    found = claims.doubling_cost(results(stopping=stopping))
    assert found.value == pytest.approx(150.0 / 100)


def test_where_fact_2_1_is_nearest_to_failing():
    fact = rows({"a": 2.0, "b": 0.01, "x": 3.0}, {"half": "first", "ratio": 1.5}, {"half": "second", "ratio": 0.9})
    fact += rows({"a": 1.05, "b": 0.05, "x": 2.8}, {"half": "first", "ratio": 1.1})
    found = claims.fact_2_1(results(fact_2_1=fact), "first")
    assert (found.value, found.se) == (1.1, 0)
    second = claims.fact_2_1(results(fact_2_1=fact), "second")
    assert second.value == 0.9
    assert verdict(second, at_most=1) == "reproduced"


def audit(full, half, lower=-np.inf):
    shared = {"claimed": 0.5, "trials": 700}

    def counted(loss):
        return {"loss": loss, "loss_low": loss - 0.05, "loss_high": loss + 0.05}

    return results(
        audit=rows(
            shared,
            {"noise": 1.0, "exact": 0.5 * full} | counted(0.4),
            {"noise": 1.0, "exact": 0.25} | counted(0.5 * full - 0.01),
            {"noise": 0.5, "exact": 0.5 * half} | counted(0.5 * half),
            {"noise": 0.5, "exact": 0.9} | counted(0.9),
            {"noise": 0.25, "exact": 9.0} | counted(lower),
        )
    )


def test_the_largest_exact_privacy_loss():
    found = claims.audit_exact(audit(1.1, 1.5), "audit")
    assert found.value == pytest.approx(1.1)
    assert found.se == 0


def test_the_largest_loss_at_full_noise():
    found = claims.audit_loss(audit(0.9, 1.5), "audit", 1.0, "largest")
    assert found.value == pytest.approx(0.88)
    assert found.interval == pytest.approx((0.78, 0.98))
    assert found.replicates == 700


def test_the_smallest_loss_at_half_the_noise():
    found = claims.audit_loss(audit(1.0, 1.5), "audit", 0.5, "smallest")
    assert found.value == pytest.approx(1.5)


def test_a_loss_without_an_event_shows_nothing():
    found = claims.audit_loss(audit(1.0, 1.5), "audit", 0.25, "largest")
    assert np.isnan(found.value)
    assert verdict(found, at_most=1) == "unverifiable"


def test_the_pulls_above_the_ceiling():
    shared = {"horizon": 1000, "mean": 30.0, "order": 10.0, "largest": 40, "ceiling": 80, "replicates": 10_000}
    pulls = rows(
        shared,
        {"cell": "c0", "beta": 1 / 1000, "any_above": 0.0},
        {"cell": "c1", "beta": 1 / 1000, "any_above": 0.01, "mean": 20.0, "largest": 60},
        {"cell": "c1", "beta": 1 / 1000, "any_above": 0.01, "mean": 20.0, "largest": 60},
        {"cell": "c2", "beta": 0.05, "any_above": 0.02},
        {"cell": "c3", "beta": 0.05, "any_above": 0.03},
    )
    found = claims.pulls_above_ceiling(results(pulls=pulls), at_horizon=True, pooled=True)
    # 100 of the runs of two cells, whatever the number of their arms.
    assert (found.value, found.replicates) == (0.005, 20_000)
    assert found.interval == tuple(clopper_pearson(100, 20_000, 0.999))
    found = claims.pulls_above_ceiling(results(pulls=pulls), at_horizon=False, pooled=False)
    assert found.value == 0.03


def test_the_regret_over_its_ceiling():
    scaling = rows(
        {"policy": "dp_se", "ratio_se": 0.01, "replicates": 50, "epsilon": 0.25},
        {"K": 5, "ratio": 0.5, "order_ratio": 2.0},
        {"K": 2, "ratio": 0.9, "order_ratio": 3.0},
        {"K": 2, "ratio": np.nan, "order_ratio": 9.0},
        {"policy": "epoch_se", "K": 9, "ratio": 7.0, "order_ratio": 9.0},
    )
    found = claims.regret_over_ceiling(results(scaling=scaling))
    assert (found.value, found.se, found.replicates) == (0.9, 0.01, 50)


def test_runs_of_one_and_the_same_regret_may_yet_differ():
    one = {"policy": "dp_se", "ratio_se": 0.0, "replicates": 100, "epsilon": 0.25, "K": 2, "order_ratio": 9.0}
    found = claims.regret_over_ceiling(results(scaling=rows(one, {"ratio": 0.999})))
    others = 1 - 0.0005 ** (1 / 100)
    assert found.interval == pytest.approx((0.999 * (1 - others), 0.999 * (1 + 5 * others)))


def test_how_rarely_another_regret_than_the_first_epochs_comes_up():
    # Summing leaves of runs that all agree a standard error that is not quite 0.
    one = {"K": 5, "epsilon": 0.1, "horizon": 10**6, "gap": 0.5, "ceiling_ratio_se": 1e-18, "replicates": 5000}
    one |= {"ceiling_ratio": 0.9995, "regret_mean": 2000.0, "first_epoch": 2000.0, "otherwise": 1e-6}
    found = claims.minimax_over_ceiling(results(minimax=[one]))
    assert found.high == pytest.approx(0.9995 * (1 + 1e-6 * 0.5 * 10**6 / 2000))
    # It says nothing about runs of another regret.
    found = claims.minimax_over_ceiling(results(minimax=[one | {"regret_mean": 2001.0}]))
    assert verdict(found, at_most=1) == "inconclusive"


def test_no_epoch_is_more_than_five_times_as_long_as_the_one_before():
    growth = [
        bounds.epoch_growth(K, K, epoch, epsilon, beta)
        for K in (2, 20)
        for epoch in range(1, 20)
        for epsilon in (1e-3, 0.25, 10)
        for beta in (1e-4, 2e-8)
    ]
    assert max(growth) < claims.ANOTHER_EPOCH


def test_the_constant_of_the_worst_gap():
    shared = {"K": 5, "epsilon": 0.1, "horizon": 1_000_000, "ratio_se": 0.1, "ceiling_ratio_se": 0.1, "replicates": 20}
    minimax = rows(
        shared,
        {"gap": 0.5, "ratio": 1.0, "ceiling_ratio": 3.0},
        {"gap": 0.125, "ratio": 3.0, "ceiling_ratio": 0.1},
    )
    found = claims.minimax_constant(results(minimax=minimax))
    assert (found.value, found.se, found.replicates) == (3.0, 0.1, 20)
    found = claims.minimax_over_ceiling(results(minimax=minimax))
    assert found.value == 3.0


def test_the_smallest_growth_of_an_epoch():
    growth = rows(
        {"left": 2, "epoch": 3, "beta": 0.01},
        {"arms": 50, "epsilon": 0.001, "growth": 2.0},
        {"arms": 5, "epsilon": 0.25, "growth": 2.5},
        {"arms": 5, "epsilon": 10.0, "growth": 2.2},
    )
    found = claims.smallest_epoch_growth(results(epoch_growth=growth))
    assert (found.value, found.se, found.replicates) == (2.0, 0, None)
