"""Check verdicts: the position of a measured interval relative to the accepted region."""

import math

import numpy as np
import pytest
from scipy import stats

from privarms.claims.verdict import Measured, region
from privarms.errors import PrivarmsError

NAN, INF = math.nan, math.inf
# Normal and Student's quantiles at .9995.
Z, T_9 = 3.290526731491894, 4.780912585931142


@pytest.mark.parametrize(
    ("measured", "low", "high"),
    [
        (Measured(5.0), 5.0, 5.0),
        (Measured(5.0, 0.1), 5 - 0.1 * Z, 5 + 0.1 * Z),
        (Measured(5.0, 0.1, 10), 5 - 0.1 * T_9, 5 + 0.1 * T_9),
        (Measured(5.0, NAN, 10), -INF, INF),
        (Measured(5.0, 0.1, 1), -INF, INF),
        (Measured(NAN, 0.1, 10), -INF, INF),
        (Measured(5.0, 0.1, 10, low=4.0, high=5.5), 4.0, 5.5),
    ],
)
def test_the_interval_is_students_where_no_other_is_known(measured, low, high):
    assert measured.interval == pytest.approx((low, high), rel=1e-9)


def test_a_fraction_has_the_interval_of_clopper_and_pearson_and_never_no_width():
    actual = Measured.fraction(0, 1000)
    # (1 - p)^1000 = .0005
    assert actual.interval == pytest.approx((0.0, 1 - 0.0005 ** (1 / 1000)), rel=1e-9)
    low, high = Measured.fraction(30, 100).interval
    assert stats.binom.sf(29, 100, low) == pytest.approx(0.0005, rel=1e-6)
    assert stats.binom.cdf(30, 100, high) == pytest.approx(0.0005, rel=1e-6)
    assert region({"at_most": 1}, 1, Measured(0.0)).decide(Measured.fraction(0, 0)) == "unverifiable"
    assert Measured.fraction(0, 1000, together=5).high == pytest.approx(1 - 0.0001 ** (1 / 1000), rel=1e-9)


def test_the_largest_of_several_rests_on_intervals_that_hold_together():
    parts = [Measured(1.0, 0.3), Measured(1.2, 0.1), Measured(0.1, 0.1, low=0.0, high=0.2)]
    wide = -stats.norm.ppf(0.0005 / 3)
    actual = Measured.largest(parts)
    assert (actual.value, actual.se) == (1.2, 0.1)
    assert actual.interval == pytest.approx((1.2 - 0.1 * wide, 1.0 + 0.3 * wide))
    least = Measured.smallest(parts)
    assert (least.value, *least.interval) == (0.1, *(pytest.approx(e) for e in (1.0 - 0.3 * wide, 0.2)))


@pytest.mark.parametrize(
    ("tolerance", "low", "high"),
    [
        ({"at_least": 5}, 5, INF),
        ({"at_most": 5}, -INF, 5),
        ({"at_least": 4, "at_most": 5}, 4, 5),
        ({"absolute": 0.5}, 9.5, 10.5),
        ({"equals": 7, "absolute": 0}, 7, 7),
        ({"factor": 2}, 5, 20),
        # Ours: 400 runs with standard error .1; theirs: 100 runs, twice that.
        ({"absolute": 0.5, "published_replicates": 100}, 9.5 - 0.2 * Z, 10.5 + 0.2 * Z),
    ],
)
def test_what_a_tolerance_allows(tolerance, low, high):
    actual = region(tolerance, 10, Measured(10.0, 0.1, 400))
    assert (actual.low, actual.high) == pytest.approx((low, high), rel=1e-9)


def test_the_ends_of_a_factor_are_in_order_below_0_too():
    actual = region({"factor": 2}, -10, Measured(0.0))
    assert (actual.low, actual.high) == (-20, -5)


@pytest.mark.parametrize(
    ("tolerance", "measured", "expected"),
    [
        ({"at_least": 5}, Measured(5.4, 0.1), "reproduced"),
        ({"at_least": 5}, Measured(5.3, 0.1), "inconclusive"),
        ({"at_least": 5}, Measured(4.7, 0.1), "inconclusive"),
        ({"at_least": 5}, Measured(4.6, 0.1), "differs"),
        ({"at_least": 5}, Measured(5.0), "reproduced"),
        ({"at_least": 5}, Measured(4.999), "differs"),
        ({"absolute": 0.5}, Measured(10.1, 0.1), "reproduced"),
        ({"absolute": 0.5}, Measured(10.1, 1.0), "inconclusive"),
        ({"absolute": 0.0}, Measured(10.1, 0.1), "inconclusive"),
        ({"absolute": 0.0}, Measured(10.4, 0.1), "differs"),
        ({"at_most": 0.05}, Measured.fraction(0, 100), "inconclusive"),
        ({"at_most": 0.05}, Measured.fraction(0, 200), "reproduced"),
        ({"at_most": 5}, Measured(1.0, NAN, 5), "inconclusive"),
        ({"at_most": 5}, Measured(NAN), "unverifiable"),
    ],
)
def test_a_verdict_may_be_that_the_evidence_is_not_enough(tolerance, measured, expected):
    assert region(tolerance, 10, measured).decide(measured) == expected


@pytest.mark.parametrize("value", [-30.0, -4.0, 2.0, 9.0, 9.45, 9.7, 10.0, 10.4, 11.0, 40.0])
@pytest.mark.parametrize("tolerance", [{"at_least": 10}, {"at_most": 10}, {"absolute": 0.5}, {"absolute": 0.01}])
def test_the_margin_says_what_the_verdict_is(value, tolerance):
    measured = Measured(value, 0.1)
    allowed = region(tolerance, 10, measured)
    margin, decided = allowed.margin(measured), allowed.decide(measured)
    assert decided == ("reproduced" if margin >= 1 else "differs" if margin < -1 else "inconclusive")


def test_a_bound_has_no_slack():
    with pytest.raises(PrivarmsError, match="allows no absolute"):
        region({"at_least": 5, "absolute": 1}, 5, Measured(5.0))


def test_replicates_that_all_agree_decide_nothing_unless_it_is_known_what_others_may_be():
    # A rounding error of zero is not a standard error.
    for agreeing in (Measured(3.0, 0.0, 40), Measured(3.0, 1e-17, 40)):
        assert region({"at_most": 4}, "", agreeing).decide(agreeing) == "inconclusive"
    assert region({"at_most": 4}, "", Measured(3.0)).decide(Measured(3.0)) == "reproduced"
    # (1 - p)^40 = .0005
    others = 1 - 0.0005 ** (1 / 40)
    assert Measured.agreed(3.0, 40, 0.0, 7.0).interval == pytest.approx((3 - 3 * others, 3 + 4 * others))


def test_the_interval_of_a_ratio_holds_where_its_denominator_is_known_badly():
    """Check that about 20 of 20,000 intervals miss; over 45 or under 4 misses have a probability below 1e-4.

    With an error to first order more than 100 would miss."""
    rng, true = np.random.default_rng(7), 4.0
    tops, bottoms = rng.normal(true, 0.2, 20_000), rng.normal(1.0, 0.17, 20_000)
    missed = first_order = 0
    for top, bottom in zip(tops, bottoms, strict=True):
        ratio = Measured.ratio(Measured(top, 0.2, 10**9), Measured(bottom, 0.17, 10**9))
        low, high = ratio.interval
        missed += not low <= true <= high
        first_order += abs(ratio.value - true) > Z * ratio.se
    assert 4 <= missed <= 45
    assert first_order > 100


def test_the_ends_of_ratios():
    exact = Measured.ratio(Measured(3.0), Measured(2.0))
    assert (exact.interval, exact.replicates) == ((1.5, 1.5), None)
    # The interval is infinite if the denominator may be 0, or if all runs agree and their range is unknown.
    assert Measured.ratio(Measured(3.0, 0.1, 50), Measured(1.0, 0.3, 50)).interval == (-INF, INF)
    assert Measured.ratio(Measured(3.0, 0.1, 50), Measured(1.0, 0.0, 50)).interval == (-INF, INF)
    parts = Measured.agreed(3.0, 50, 0.0, 6.0), Measured.agreed(2.0, 50, 0.0, 4.0)
    (a, b), (c, d) = (part.interval for part in parts)
    assert Measured.ratio(*parts).interval == pytest.approx((a / d, b / c))


def test_a_published_ratio_scatters_as_its_own_runs_do():
    # Ours: 1 and .25 of 400 and 1,600 runs; theirs 100 runs, .2 and .04: a ratio below 6 is a - 6 b below 0.
    ratio = Measured.ratio(Measured(1.0, 0.1, 400), Measured(0.25, 0.01, 1600))
    actual = region({"absolute": 0.5, "published_replicates": 100}, 6.0, ratio)
    assert actual.high - 6 == pytest.approx(0.5 + Z * math.hypot(0.2, 6 * 0.04) / 0.25)


def test_published_runs_scatter_by_the_deviation_of_one_run_not_by_a_smaller_standard_error():
    # A control variate made the standard error .01; 100 runs without it scatter by 2/10, of the largest part too.
    controlled = Measured(10.0, 0.01, 400, sd=2.0)
    for measured in (controlled, Measured.largest([controlled, Measured(9.0, 0.01, 400, sd=3.0)])):
        actual = region({"absolute": 0.5, "published_replicates": 100}, 10.0, measured)
        assert actual.high == pytest.approx(10.5 + 0.2 * Z)
    ratio = Measured.ratio(controlled, Measured(5.0, 0.01, 400, sd=1.0))
    actual = region({"absolute": 0.0, "published_replicates": 100}, 2.0, ratio)
    assert actual.high == pytest.approx(2.0 + Z * math.hypot(0.2, 2 * 0.1) / 5)


def test_of_an_extreme_nothing_is_known_if_a_part_is_not():
    parts = [Measured(1.0, 0.1, 10), Measured(math.nan, math.nan, 0, "no counts")]
    for some in (parts, parts[::-1]):
        assert region({"at_most": 9}, "", parts[0]).decide(Measured.largest(some)) == "unverifiable"


def test_runs_that_all_agree_leave_no_allowance_for_the_runs_of_the_paper():
    # 0 of a million events; a paper with 1,000 runs sees one event with probability up to .7%, so .001 is possible.
    none = Measured.fraction(0, 1_000_000)
    assert region({"published_replicates": 1000}, 0.001, none).decide(none) == "inconclusive"


def test_an_unknown_end_of_one_part_is_no_end_of_the_largest():
    known = Measured(1.0, 0.1, 50, low=0.5, high=1.5)
    for parts in (
        [known, Measured(0.9, 0.1, 50, low=0.8, high=math.nan)],
        [Measured(0.9, low=0.8, high=math.nan), known],
    ):
        assert Measured.largest(parts).interval == (0.8, math.inf)
