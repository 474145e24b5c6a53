"""Check least squares with known noise against numbers of statsmodels and numpy."""

import numpy as np
import pytest
from scipy.stats import norm

from privarms.inference.regression import ols_from_moments, two_sided_p_value, z_score

X = np.array([[1, 0.5, -2], [1, 1.25, 0.25], [1, -0.75, 3], [1, 2, 1.5], [1, -1.5, -0.5], [1, 0.25, 2.25], [1, 3, -1]])
y = np.array([0.4, 1.7, -0.3, 2.2, -1.1, 0.9, 2.6])

# statsmodels 0.15.0: OLS(y, X).fit(cov_type="fixed scale", cov_kwds={"scale": sigma**2}, use_t=False).t_test(...)
COEFFICIENTS = [0.2576092318823899, 0.8815000575553769, 0.11703145812435259]
VARIANCES = [0.1998857114666755, 0.07321043890085682, 0.053279834240515724]
Z_TESTS = {  # (sigma, null): z, p
    (1.0, 0.0): ([0.5761964092529341, 3.25788567257, 0.5070154383103119],
                 [0.5644824320015644, 0.0011224561775707005, 0.6121439862711813]),
    (1.0, 0.5): ([-0.5421571626330175, 1.4099642546151658, -1.6591347850406575],
                 [0.5877102426939131, 0.1585502379630611, 0.09708863522866108]),
    (0.5, 0.0): ([1.1523928185058683, 6.51577134514, 1.0140308766206239],
                 [0.24915969071063593, 7.231706546637537e-11, 0.31056801922866173]),
    (0.5, 0.5): ([-1.084314325266035, 2.8199285092303317, -3.318269570081315],
                 [0.27822545582893143, 0.004803434968866549, 0.0009057702301767343]),
}  # fmt: skip


UNITS = 100.0 ** np.arange(5)  # columns in very different units, so X'X without scaling looks singular


def replicates(shape=(4, 3), n=30, d=5, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((*shape, n, d)) * UNITS[:d], rng.standard_normal((*shape, n))


def moments(X, y):
    across = np.swapaxes(X, -1, -2)
    return across @ X, (across @ y[..., None])[..., 0]


def test_the_fit_and_its_tests_are_those_of_statsmodels():
    fit = ols_from_moments(*moments(X, y))
    assert fit.coefficients == pytest.approx(COEFFICIENTS, rel=1e-12)
    assert np.diag(fit.inverse_gram) == pytest.approx(VARIANCES, rel=1e-12)
    assert fit.inverse_gram[0, 1] == pytest.approx(-0.05704560030257688, rel=1e-12)
    for (sigma, null), expected in Z_TESTS.items():
        z = z_score(fit.coefficients, null, sigma**2 * np.diag(fit.inverse_gram))
        assert np.stack([z, two_sided_p_value(z)]) == pytest.approx(np.array(expected), rel=1e-11)


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
