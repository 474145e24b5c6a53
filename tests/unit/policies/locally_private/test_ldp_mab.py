"""Check LDPMAB's parameters and reference implementation: constants, estimates, decisions, bad input."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from privarms.policies.locally_private import _ldp_mab_parameters, ldp_mab
from privarms.policies.locally_private.ldp_mab import Bin


def test_constants_of_figure_7a_by_hand():
    # n = 10,000, M = 2 empty sources: log2 n = 13.29, w = 169. log2(2 n 3) = 15.87: half of it is 7.94, a third 5.29.
    released = ldp_mab.configure(3, 10_000, 1.0, "as_released")
    assert (released.rules.warm_up, released.depth, released.batch) == (169, 5, 100)
    assert released.rules.scale == pytest.approx(math.sqrt(2 * 13.2877), rel=1e-5)
    assert ldp_mab.configure(3, 10_000, 1024.0, "as_released").depth == 7
    # With n = 11,000 half of log2(2 n 3) is 8.005; without the factor 2 it would be 7.5.
    assert ldp_mab.configure(3, 11_000, 1024.0, "as_released").depth == 8
    # The released program's numbers: half-width of one radius, side of a bin, and 0.0001 against divisions by 0.
    assert (released.rules.width, released.rules.tau) == (1, 1)
    assert (released.rules.offset, released.rules.denominator) == (0.0001, 0.0001)
    # Without sources log2(2 n) = 14.29, a third of it 4.76.
    assert ldp_mab.configure(3, 10_000, 1.0, "as_released", M=0).depth == 4
    # n* = n eps^2 = 2500 with eps = 1/2: floor(11.29)^2.
    assert ldp_mab.configure(3, 10_000, 0.5, "as_released").rules.warm_up == 121
    printed = ldp_mab.configure(3, 10_000, 1.0, "as_printed", c=64.0)
    assert printed.rules.warm_up == pytest.approx(9.2103**2, rel=1e-4)
    assert printed.rules.scale == pytest.approx(8 * math.sqrt(9.2103), rel=1e-5)
    assert printed.rules.tau == pytest.approx(2.8284, rel=1e-4)
    assert (printed.batch, printed.depth) == (1, _ldp_mab_parameters.PRINTED_DEPTH)
    assert (printed.rules.offset, printed.rules.denominator, printed.rules.width) == (0, 0, 2)


def test_sources_have_their_own_budgets_in_their_order():
    params = ldp_mab.configure(3, 1000, 1.0, "as_released", M=2, n_aux=500, epsilon_aux="2 8")
    assert params.epsilons.tolist() == [1, 2, 8]
    assert params.users.tolist() == [1000, 500, 500]
    assert ldp_mab.configure(3, 1000, 1.0, "as_released", M=3, epsilon_aux=4).epsilons.tolist() == [1, 4, 4, 4]


def test_switches_make_one_variant_the_other():
    printed, released = (ldp_mab.configure(3, 10_000, 2.0, variant) for variant in ("as_printed", "as_released"))
    for one, other in ((printed, "as_released"), (released, "as_printed")):
        switched = ldp_mab.configure(3, 10_000, 2.0, other, deviation=" ".join(ldp_mab.DEVIATIONS))
        for name in one._fields:
            assert np.array_equal(getattr(one, name), getattr(switched, name)), name


def configure(variant="as_printed", deviation=""):
    """Return Params of two arms and one auxiliary source; budgets 1/2 (target) and 2 (source), c = 2."""
    return ldp_mab.configure(2, 10_000, 0.5, variant, M=1, n_aux=10_000, epsilon_aux=2.0, deviation=deviation)


def root(t, U, V):
    """Return the root bin after t users of each source; U, V: by source and arm."""
    B = Bin(0, (0.0, 0.0), (1.0, 1.0), range(2), 2, 2)
    B.t[:], B.U[:], B.V[:] = t, U, V
    return B


def test_estimate_and_radius_by_hand():
    # C_n = 2 ln 10,000 = 18.42. The target: lambda = 0.25 * 100 / 1000 = 0.025; variance (1000 / 0.25) v 100 = 4000.
    # The radius divides by lambda * 100 = 2.5; lambda is a factor of its root too and cancels.
    B = root([1000, 0], [[100, -40], [0, 0]], [[30, 10], [0, 0]])
    params = configure()
    assert ldp_mab.weight(params, B, 0, 0) == pytest.approx(0.025)
    assert ldp_mab.weight(params, B, 1, 0) == 0
    assert ldp_mab.estimate(params, B, 0) == pytest.approx(0.3)
    assert ldp_mab.radius(params, B, 0) == pytest.approx(math.sqrt(18.4207 * 4000) / 100, rel=1e-5)
    # Negative count: its absolute value is the weight. As released the weight is negative and the estimate is clipped.
    assert ldp_mab.weight(params, B, 0, 1) == pytest.approx(0.01)
    assert ldp_mab.estimate(params, B, 1) == pytest.approx(-0.25)
    assert ldp_mab.weight(configure(deviation="sign"), B, 0, 1) == pytest.approx(-0.01)
    assert ldp_mab.estimate(configure(deviation="clip"), B, 1) == 0
    assert ldp_mab.radius(params, root([0, 0], np.zeros((2, 2)), np.zeros((2, 2))), 0) == math.inf


def test_sources_are_weighted_by_hand():
    # The source's 1000 users: lambda = 4 * 300 / 1000, cut off at 1; variance (1000 / 4) v 300 = 300.
    B = root([1000, 1000], [[100, 1], [300, 1]], [[30, 0], [240, 0]])
    params = configure()
    assert ldp_mab.weight(params, B, 1, 0) == 1
    assert ldp_mab.estimate(params, B, 0) == pytest.approx((0.025 * 30 + 240) / (0.025 * 100 + 300))
    variance = 0.025**2 * 4000 + 300
    assert ldp_mab.radius(params, B, 0) == pytest.approx(math.sqrt(18.4207 * variance) / 302.5, rel=1e-5)


def test_a_source_weighs_from_the_warm_up_on():
    params = configure()
    params = params._replace(rules=params.rules._replace(warm_up=85.0))
    B = root([85, 84], np.ones((2, 2)), np.ones((2, 2)))
    assert ldp_mab.weight(params, B, 0, 0) > 0
    assert ldp_mab.weight(params, B, 1, 0) == 0
    later = params._replace(rules=params.rules._replace(at_warm_up=False))
    assert ldp_mab.weight(later, B, 0, 0) == 0


def test_arms_are_eliminated_and_bins_are_fine_by_hand():
    B = root([0, 0], np.zeros((2, 2)), np.zeros((2, 2)))
    B.f, B.r = {0: 0.9, 1: 0.1}, {0: 0.1, 1: 0.25}
    # Two radii: 0.7 > 0.6; at least the side of 1 as released: -0.1 < 1.1.
    assert ldp_mab.eliminated(configure(), B) == [1]
    assert ldp_mab.eliminated(configure(deviation="floor"), B) == []
    B.r = {0: 0.2, 1: 0.25}
    assert ldp_mab.eliminated(configure(), B) == []
    # tau_0 = 2 sqrt(2) as printed, for some arm; 1 as released, for all arms.
    B.r = {0: 2.7, 1: 3.0}
    assert ldp_mab.is_fine(configure(), B, [0, 1])
    assert not ldp_mab.is_fine(configure(deviation="arms"), B, [0, 1])
    assert not ldp_mab.is_fine(configure(), B, [1])
    assert not ldp_mab.is_fine(configure(deviation="threshold"), B, [0, 1])


def test_chances_are_uniform_or_those_of_the_released_program():
    released, printed = configure("as_released"), configure()
    B = Bin(1, (0.0, 0.0), (0.5, 1.0), range(2), 2, 2)
    assert ldp_mab.chances(released, B) == [0.5, 0.5]
    B.f = {0: 0.9, 1: 0.4}
    odds = math.exp(0.5 * math.log(1.2) / 0.5001)
    assert ldp_mab.chances(released, B)[0] == pytest.approx(odds / (1 + odds))
    assert ldp_mab.chances(printed, B) == [0.5, 0.5]
    B.f = {0: 0.4, 1: 0.409}
    assert ldp_mab.chances(released, B) == [0.5, 0.5]
    B.arms = [1]
    assert ldp_mab.chances(released, B) == [0, 1]


@pytest.mark.parametrize(("variant", "everywhere"), [("as_printed", True), ("as_released", False)])
def test_messages_have_the_user_and_noise_of_every_bin_or_of_the_user_s_alone(variant, everywhere):
    params = configure(variant)
    state = ldp_mab.init(params, None)
    state.bins = ldp_mab.max_edge(state.bins[0], SimpleNamespace(random=lambda: 0.0))
    assert [B.upper for B in state.bins] == [(0.5, 1.0), (1.0, 1.0)]
    rng = SimpleNamespace(laplace=lambda loc, scale: scale / 100)
    # Lap(4 / epsilon), epsilon = 1/2.
    ldp_mab.learn(params, state, 0, 0, np.array([0.7, 0.1]), 1, 1.0, rng)
    first, second = state.bins
    assert first.U[0].tolist() == [0.08 * everywhere] * 2
    assert second.U[0] == pytest.approx([0.08, 1.08])
    assert second.V[0] == pytest.approx([0.08, 1.08])
    assert [B.t.tolist() for B in state.bins] == [[1, 0], [1, 0]]
