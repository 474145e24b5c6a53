"""Check least squares with known noise against statsmodels and numpy."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.regression.linear_model import OLS

from privarms.inference.regression import ols_from_moments, two_sided_p_value, z_score

X = np.array([[1, 0.5, -2], [1, 1.25, 0.25], [1, -0.75, 3], [1, 2, 1.5], [1, -1.5, -0.5], [1, 0.25, 2.25], [1, 3, -1]])
y = np.array([0.4, 1.7, -0.3, 2.2, -1.1, 0.9, 2.6])
UNITS = 100.0 ** np.arange(5)  # columns in very different units, so X'X without scaling looks singular


def replicates(shape=(4, 3), n=30, d=5, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((*shape, n, d)) * UNITS[:d], rng.standard_normal((*shape, n))


def moments(X, y):
    across = np.swapaxes(X, -1, -2)
    return across @ X, (across @ y[..., None])[..., 0]


@pytest.mark.parametrize("sigma", [1.0, 0.5])
@pytest.mark.parametrize("null", [0.0, 0.5])
def test_the_fit_and_its_tests_are_those_of_statsmodels(sigma, null):
    fit = ols_from_moments(*moments(X, y))
    theirs = OLS(y, X).fit(cov_type="fixed scale", cov_kwds={"scale": sigma**2}, use_t=False)
    assert fit.coefficients == pytest.approx(theirs.params, rel=1e-12)
    assert sigma**2 * fit.inverse_gram == pytest.approx(theirs.cov_params(), rel=1e-12)
    tests = theirs.t_test((np.eye(3), np.full(3, null)))
    z = z_score(fit.coefficients, null, sigma**2 * np.diag(fit.inverse_gram))
    assert np.stack([z, two_sided_p_value(z)]) == pytest.approx(np.stack([tests.tvalue, tests.pvalue]), rel=1e-11)


def test_replicates_are_fitted_one_by_one():
    rows, rewards = replicates()
    fit = ols_from_moments(*moments(rows, rewards))
    assert fit.coefficients.shape == (4, 3, 5)
    for i in np.ndindex(4, 3):
        scaled = rows[i] / UNITS
        expected = np.linalg.lstsq(scaled, rewards[i])[0] / UNITS
        inverse = np.linalg.inv(scaled.T @ scaled) / np.outer(UNITS, UNITS)
        assert fit.coefficients[i] == pytest.approx(expected, rel=1e-8, abs=0)
        assert fit.inverse_gram[i] == pytest.approx(inverse, rel=1e-8, abs=0)


def test_the_published_construction_divides_by_the_variance():
    assert z_score(0.3, 0.1, 0.04) == pytest.approx(1.0)
    assert z_score(0.3, 0.1, 0.04, "variance") == pytest.approx(5.0)
    estimates = np.array([0.3, -0.3])
    assert z_score(estimates, 0.1, 0.04) == pytest.approx([1.0, -2.0])


def test_two_sided_p_values():
    z = np.array([-1.959963984540054, 0.0, 1.959963984540054, -np.inf])
    assert two_sided_p_value(z) == pytest.approx([0.05, 1.0, 0.05, 0.0])
    assert two_sided_p_value(30.0) == pytest.approx(2 * norm.sf(30.0), rel=1e-12, abs=0)
    with pytest.raises(ValueError, match=r"^z: "):
        two_sided_p_value([0.0, np.nan])


def test_rank_deficient_designs_are_refused_by_replicate():
    rows, rewards = replicates()
    rows[2, 1, :, 4] = 1e8 * rows[2, 1, :, 0] + 1e5 * rows[2, 1, :, 1]
    with pytest.raises(ValueError, match=r"^gram: .*rank-deficient design in replicate \[2, 1\]"):
        ols_from_moments(*moments(rows, rewards))


def test_a_variance_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match=r"^variance: .*found -2\.0"):
        z_score(1.0, 0.0, [1.0, -2.0])


def test_a_single_rank_deficient_design_is_refused_without_a_replicate():
    with pytest.raises(ValueError, match=r"^gram: .*; found a rank-deficient design$"):
        ols_from_moments([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"^gram: expected square matrices"):
        ols_from_moments([[1.0, 1.0]], [1.0, 1.0])
    with pytest.raises(
        ValueError, match=r"^moments: expected the shape \(2,\), as gram without the last axis; found \(1,\)"
    ):
        ols_from_moments([[2.0, 1.0], [1.0, 2.0]], [1.0])
