"""Check linear bandits: distributions of draws, tests on non-adaptive data, and privacy noise."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta, kstest, norm

from privarms.environments import linear
from privarms.mechanisms.laplace import laplace_sum
from privarms.policies.bandit import uniform
from privarms.policies.linear import private_linear_ucb
from privarms.protocols import linear as protocol

from ...two_sample import FALSE_ALARM, same_law

pytestmark = pytest.mark.statistical

K, D, T = 5, 5, 500


def directions(law, draw, count, seed=1):
    """Return float64[count, K, D]: draws of `draw_coefficients` or `draw_contexts`."""
    environment, rng = linear.configure(K, D, law), np.random.default_rng(seed)
    samples = np.full((count, K, D), np.nan)
    for vectors in samples:
        getattr(environment, draw)(environment, vectors, rng)
    return samples


def uniform_on_sphere(vectors):
    """Return whether float64[n, d] are uniform on the unit sphere, by coordinates and fixed projections.

    (1 + u'x)/2 of such an x is Beta((d - 1)/2, (d - 1)/2) for |u| = 1. The diagonals distinguish it from a cube.
    """
    d = vectors.shape[1]
    axes = [*np.eye(d), np.ones(d), np.resize([1, -1], d), np.eye(d)[0] + np.eye(d)[1]]
    law = beta((d - 1) / 2, (d - 1) / 2)
    values = [kstest((1 + vectors @ (u / np.linalg.norm(u))) / 2, law.cdf).pvalue for u in axes]
    return min(values) > FALSE_ALARM / len(values)


@pytest.mark.parametrize("draw", ["draw_coefficients", "draw_contexts"])
def test_as_printed_vectors_are_uniform_on_the_sphere(draw):
    samples = directions("as_printed", draw, 4000)
    assert np.linalg.norm(samples, axis=2) == pytest.approx(1)
    # The vectors of different arms and draws are independent, so they form one sample.
    first = 1 if draw == "draw_coefficients" else 0
    assert (samples[..., :first] == 0).all()
    assert uniform_on_sphere(samples[..., first:].reshape(-1, D - first))
    between = (samples[:, 0] * samples[:, 1]).sum(axis=1)
    e = (D - first - 1) / 2
    assert kstest((1 + between) / 2, beta(e, e).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("draw", ["draw_coefficients", "draw_contexts"])
def test_as_released_vectors_are_normalised_from_the_cube(draw):
    samples = directions("as_released", draw, 4000).reshape(-1, D)
    assert np.linalg.norm(samples, axis=1) == pytest.approx(1)
    cube = np.random.default_rng(2).uniform(-1, 1, samples.shape)
    cube /= np.linalg.norm(cube, axis=1, keepdims=True)
    pairs = [("continuous", samples[:, k], cube[:, k]) for k in range(D)]
    pairs.append(("continuous", samples.sum(axis=1), cube.sum(axis=1)))
    pairs.append(("continuous", np.abs(samples).max(axis=1), np.abs(cube).max(axis=1)))
    assert same_law(pairs)
    assert not uniform_on_sphere(samples)


def simulate(policy, params, replicates, law="as_printed", seed=1):
    cell = SimpleNamespace(policy=policy.__name__, environment="linear", horizon=T)
    rngs = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    return protocol.run_block(policy, params, linear.configure(K, D, law), cell, replicates, *rngs)


@pytest.mark.parametrize("law", ["as_printed", "as_released"])
@pytest.mark.parametrize("coordinate", ["zero", "largest"])
def test_without_adaptivity_p_values_are_uniform(law, coordinate):
    samples = simulate(uniform, uniform.configure(K), 5000, law)
    rows = samples["coordinate"] == coordinate
    error, variance = (samples["estimate"] - samples["truth"])[rows], samples["variance"][rows]
    assert kstest(2 * norm.sf(np.abs(error / np.sqrt(variance))), "uniform").pvalue > FALSE_ALARM
    assert kstest(error / np.sqrt(variance), norm.cdf).pvalue > FALSE_ALARM
    # A variance instead of a standard error causes additional false discoveries.
    p = 2 * norm.sf(np.abs(error / variance))
    assert kstest(p, "uniform").pvalue < FALSE_ALARM
    assert (p < 0.05).mean() > 0.6


def released_noise(params, pulls, replicates, seed):
    """Return float64[replicates, D]: the noise in an arm's private sums after some pulls."""
    rng, samples = np.random.default_rng(seed), np.zeros((replicates, D))
    context = np.full(D, D**-0.5)
    for row in samples:
        state = private_linear_ucb.init(params)
        for t in range(1, pulls + 1):
            state = private_linear_ucb.learn(params, state, context, 1, 1.0, t, rng)
        row[:] = (state.private_sums - state.reward_sums)[1]
    return samples


@pytest.mark.parametrize(("pulls", "nodes"), [(8, 1), (7, 3)])
def test_every_coordinate_has_a_tree_of_its_own(pulls, nodes):
    replicates, epsilon, clip, levels = 2000, 2.0, 4.0, 9
    params = private_linear_ucb.configure(K, D, T, epsilon, clip=clip)
    samples = released_noise(params, pulls, replicates, 3)
    scale, rng = 2 * clip * np.sqrt(D) * levels / epsilon, np.random.default_rng(4)
    expected = np.array([laplace_sum(scale, nodes, rng) for _ in range(20_000)])
    pooled = samples.ravel()
    assert same_law([("continuous", pooled, expected)])
    assert not same_law([("continuous", 1.3 * pooled, expected)])
    correlation = np.corrcoef(samples.T)[np.triu_indices(D, 1)]
    # The correlation of independent coordinates has the standard error 1/sqrt(n). All ten are within five of these.
    assert np.abs(correlation).max() < 5 / np.sqrt(replicates)
