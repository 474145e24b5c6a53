"""Worked examples of what policies and mechanisms are made of: lengths, radii, scales and single choices."""

import math
from collections.abc import Iterator

import numpy as np

from privarms.artifacts.byhand._examples import ARITHMETIC, EXAMPLES, OUTCOMES, Example, lap_plus_law, of
from privarms.jit.cache import compiled
from privarms.mechanisms import l2_ball, lap_plus, laplace
from privarms.policies.contextual import absse
from privarms.policies.experiment import _trial, conse_exp3e, conse_se, dp_conse
from privarms.policies.linear import linear_ucb_as_released, oful, private_linear_ucb
from privarms.policies.locally_private import ldp_linear, ldp_mab, ldp_nn
from privarms.policies.stopping import dp_nas

SAME_DRAWS = "the same draws by numpy"

__all__ = ["EXAMPLES"]


@of
def lap_plus_() -> Iterator[Example]:
    law = list(lap_plus_law(5, 0.5).values())
    yield Example("pmf", lap_plus.pmf(np.arange(9), 5, 0.5), law[:9], OUTCOMES)
    yield Example("survival", lap_plus.survival(3, 5, 0.5), math.fsum(law[3:]), OUTCOMES)
    yield Example("sums", lap_plus.sums(0.5, 5)[1], 1.0, OUTCOMES)
    by_numpy, ours = np.random.default_rng(7), np.random.default_rng(7)
    steps = [np.floor(2 * by_numpy.standard_exponential(2) / 0.5) for _ in range(5)]
    # At 40 nothing is cut off.
    drawn = [compiled(lap_plus.lap_plus)(40.0, 0.5, ours) for _ in range(5)]
    yield Example("lap_plus", drawn, [40 + a - b for a, b in steps], SAME_DRAWS)


@of
def l2_ball_() -> Iterator[Example]:
    """What is released is unbiased: its norm undoes what the wrong half takes away, and what lies beside the axis."""
    # On a line one of two points; in the plane half a circle of radius 1, with the mean 2 / pi.
    norm = 3 * (math.exp(0.8) + 1) / (math.exp(0.8) - 1)
    yield Example("configure", l2_ball.configure(1, 3.0, 0.8).norm, norm, ARITHMETIC)
    yield Example("configure", l2_ball.configure(2, 3.0, 0.8).norm, norm * math.pi / 2, "an integral")


@of
def laplace_() -> Iterator[Example]:
    by_numpy, ours = np.random.default_rng(7), np.random.default_rng(7)
    first, second = by_numpy.standard_exponential(2)
    yield Example("laplace", compiled(laplace.laplace)(1.5, ours), 1.5 * (first - second), SAME_DRAWS)
    first, second = by_numpy.standard_gamma(9.0), by_numpy.standard_gamma(9.0)
    yield Example("laplace_sum", compiled(laplace.laplace_sum)(1.5, 9, ours), 1.5 * (first - second), SAME_DRAWS)


@of
def dp_conse_() -> Iterator[Example]:
    n, epsilon = 10_000, 0.01
    params = dp_conse.configure(2, n, 0.5, epsilon)
    R = max(32 * math.log(16 * n * 4) * 16, 8 * math.log(8 * n * 4) * 4 / epsilon) + 1
    yield Example("epoch_length", compiled(dp_conse.epoch_length)(params, 2), R, ARITHMETIC)
    ample = dp_conse.configure(2, n, 0.5, 5.0)
    yield Example(
        "epoch_length", compiled(dp_conse.epoch_length)(ample, 3), 32 * math.log(16 * n * 9) * 64 + 1, ARITHMETIC
    )
    yield Example("mean_scale", compiled(dp_conse.mean_scale)(params, 2), 2 / (epsilon * R), ARITHMETIC)
    margin = 2 * math.sqrt(math.log(16 * n * 4) / (2 * R)) + 2 * 2 * math.log(8 * n * 4) / (R * epsilon)
    yield Example("elimination_margin", compiled(dp_conse.elimination_margin)(params, 2), margin, ARITHMETIC)
    margin = compiled(dp_conse.elimination_margin)(conse_se.configure(2, n, 0.5), 1)
    rng = np.random.default_rng(1)
    gone = [
        compiled(dp_conse.eliminated_arm)(0.0, margin, np.array([500, 500]), np.array(sums), rng)
        for sums in ([450.0, 50.0], [50.0, 450.0], [250.0, 250.0])
    ]
    yield Example("eliminated_arm", gone, [1, 0, -1], "seen")


@of
def conse_se_() -> Iterator[Example]:
    design, counts = conse_se.configure(2, 10_000, 0.25).design, np.array([1_600, 2_500])
    yield Example("T_min", compiled(_trial.T_min)(design, counts), 1_600**0.75, ARITHMETIC)


@of
def trial_() -> Iterator[Example]:
    params = dp_conse.configure(2, 10_000, 0.25, 0.5)
    first, second = np.random.default_rng(7).standard_exponential(2)
    pulls, sums = np.array([40, 60]), np.array([10.0, 45.0])
    released = compiled(dp_conse.release)(params, 100, pulls, sums, np.random.default_rng(7))
    expected = 45 / 60 - 10 / 40 + 2 / (0.5 * 100) * (first - second)
    yield Example("release", released, expected, SAME_DRAWS)
    small = conse_se.configure(2, 10_000, 1.0).design
    yield Example("T_min", compiled(_trial.T_min)(small, np.array([5, 9])), math.log(10_000), ARITHMETIC)
    yield Example("T_min", compiled(_trial.T_min)(params.design, np.array([4_096, 9_000])), 4_096**0.75, ARITHMETIC)
    private = dp_conse.configure(2, 10_000, 1.0, 0.5).design
    yield Example("T_min", compiled(_trial.T_min)(private, np.array([5, 9])), math.log(10_000) / 0.5, ARITHMETIC)


@of
def conse_exp3e_() -> Iterator[Example]:
    C = 4 * (math.exp(2) + 2) ** 2 * math.log(2 * 2 * 1_000**2) ** 2
    yield Example("configure", conse_exp3e.configure(1, 1_000, 0.5).C, C, ARITHMETIC)


@of
def dp_nas_() -> Iterator[Example]:
    params = dp_nas.configure(0.5, 0.2, 0.1, R=2.0)
    scales = (params.sigma_1, params.sigma_2, params.sigma_3)
    yield Example("configure", scales, (12 * 2 / 0.5, 12 * 2 / 0.5, 4 * 2 / 0.5), ARITHMETIC)
    h = 2 * math.sqrt(2 / 50 * math.log(16 * 3**2 / 0.1))
    yield Example("confidence_radius", compiled(dp_nas.confidence_radius)(params, 3, 50), h, ARITHMETIC)
    c = 48 * math.log(40) + 48 * math.log(8 * 9 / 0.1) + 16 / 0.2 * math.log(40)
    yield Example("noise_margin", compiled(dp_nas.noise_margin)(params, 3), c, ARITHMETIC)


@of
def absse_() -> Iterator[Example]:
    yield Example("GAMMA", absse.GAMMA, 2.0, "Perchet & Rigollet 2013")


@of
def oful_() -> Iterator[Example]:
    # .5 + 6 sqrt(.01) = 1.1 against 0 + 6 sqrt(.04) = 1.2; without a root .56 against .24.
    yield Example("choose", _chosen(oful), 1, ARITHMETIC)


@of
def linear_ucb_as_released_() -> Iterator[Example]:
    yield Example("choose", _chosen(linear_ucb_as_released), 0, ARITHMETIC)


def _chosen(policy) -> int:
    """Which of two arms, in one dimension, of predictions .5 and 0, x'V^-1 x = .01 and .04, and the radius 6."""
    params = policy.configure(2, 1)
    state = compiled(policy.init)(params)
    state.pulls[:] = 10
    state.theta_hat[:, 0] = (0.5, 0.0)
    state.inverse[:, 0, 0] = (0.01, 0.04)
    state.radius[:] = 6.0
    return compiled(policy.choose)(params, state, np.ones((2, 1)), 30, np.random.default_rng(1))


@of
def private_linear_ucb_() -> Iterator[Example]:
    # A reward is in floor(log2 500) + 1 = 9 nodes of d = 3 coordinates, which change by 2 clip sqrt(3) together.
    scale = 2 * 4 * math.sqrt(3) * 9 / 0.5
    found = private_linear_ucb.configure(2, 3, 500, 0.5)
    yield Example("configure", found.node_scale, scale, ARITHMETIC)
    width = scale * math.sqrt(8 * math.log(40)) * math.sqrt(9)
    yield Example("configure", found.private_width, width, ARITHMETIC)


@of
def ldp_mab_() -> Iterator[Example]:
    printed = ldp_mab.configure(3, 5_000, 0.5, "as_printed", M=0, c=64.0)
    yield Example("configure", printed.scale, math.sqrt(64 * math.log(5_000)), ARITHMETIC)
    yield Example("configure", printed.tau, 2 * math.sqrt(2), ARITHMETIC)
    released = ldp_mab.configure(3, 5_000, 0.5, "as_released", M=0)
    yield Example("configure", released.scale, math.sqrt(2 * math.log2(5_000 * 0.5**2)), ARITHMETIC)


@of
def ldp_linear_() -> Iterator[Example]:
    params = ldp_linear.configure(2, 1_000, 0.8, 3)
    yield Example("configure", (params.rate, params.batch), (0.01, 100), "the released program")
    yield Example("configure", params.truths[0], math.exp(0.8) / (1 + math.exp(0.8)), ARITHMETIC)


@of
def ldp_nn_() -> Iterator[Example]:
    params = ldp_nn.configure(2, 1_000, 0.8, 3)
    yield Example("configure", params.truths[0], math.exp(0.8) / (1 + math.exp(0.8)), ARITHMETIC)
    yield Example("configure", (params.rate, params.width), (0.01, 6), "the released program")
