"""Check the shared dimensionality reduction: fitted rows, exactness, and constant features."""

import numpy as np
import pytest

from privarms.data import reduction
from privarms.data.features import Features
from privarms.data.reduction import reduce


def of_numbers(matrix):
    matrix = np.asarray(matrix, float)
    names = [f"f{j}" for j in range(matrix.shape[1])]
    return Features(matrix, names, np.zeros((len(matrix), 0), np.int16), [], [])


def test_the_reduction_is_what_it_says():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((500, 6)) @ rng.standard_normal((6, 6)) + 5
    source_of = rng.integers(0, 3, 500)
    for method, fitted in (("pca_auxiliary", source_of > 0), ("pca_all", np.ones(500, bool))):
        contexts, account = reduce(of_numbers(features), source_of, method)
        # Computed with singular values, up to the sign of each component.
        scaled = (features - features[fitted].mean(0)) / features[fitted].std(0)
        _, sizes, directions = np.linalg.svd(scaled[fitted], full_matrices=False)
        scores = scaled @ directions[:3].T
        for j in range(3):
            loading = directions[j][np.abs(directions[j]).argmax()]
            score = scores[:, j] * np.sign(loading)
            low, high = score[fitted].min(), score[fitted].max()
            np.testing.assert_allclose(contexts[:, j], ((score - low) / (high - low)).clip(0, 1), atol=1e-9)
        np.testing.assert_allclose(account["explained_variance"], sizes[:3] ** 2 / (sizes**2).sum(), atol=1e-6)
        assert account["fitted_rows"] == fitted.sum()


def test_the_default_reduction_looks_at_no_target_user():
    rng = np.random.default_rng(1)
    features, source_of = rng.standard_normal((200, 5)), np.repeat([0, 1], 100)
    moved = features.copy()
    moved[0] += 100
    # All users except one keep their contexts, bit by bit. With the alternative reduction they do not.
    assert np.array_equal(
        reduce(of_numbers(features), source_of, "pca_auxiliary")[0][1:],
        reduce(of_numbers(moved), source_of, "pca_auxiliary")[0][1:],
    )
    assert not np.allclose(
        reduce(of_numbers(features), source_of, "pca_all")[0][1:],
        reduce(of_numbers(moved), source_of, "pca_all")[0][1:],
    )


@pytest.fixture
def mixed():
    """Return two numbers and two categories of 3 and 2 levels; a fifth of the rows lack the second."""
    rng = np.random.default_rng(3)
    codes = np.column_stack((rng.integers(0, 3, 100), rng.integers(0, 2, 100))).astype(np.int16)
    codes[::5, 1] = -1
    return Features(rng.standard_normal((100, 2)), ["a", "b"], codes, ["c", "d"], [["x", "y", "z"], ["u", "v"]])


@pytest.mark.parametrize("method", reduction.REDUCTIONS)
def test_the_size_of_a_chunk_changes_nothing_but_rounding(mixed, method, monkeypatch):
    source_of = np.arange(100) % 3
    whole, account = reduce(mixed, source_of, method)
    monkeypatch.setattr("privarms.data.features.CHUNK", 7)
    parts, account_of_parts = reduce(mixed, source_of, method)
    np.testing.assert_allclose(parts, whole, atol=1e-12)
    assert account_of_parts == account
    # The result equals that of the full matrix of numbers.
    np.testing.assert_allclose(reduce(of_numbers(mixed.dense(slice(None))), source_of, method)[0], whole, atol=1e-12)


def test_a_level_that_no_fitted_row_has_is_left_out(mixed):
    source_of = np.repeat([0, 1], [60, 40])
    codes = mixed.codes.copy()
    codes[60:, 0] %= 2  # no auxiliary row has z
    with_z = mixed._replace(codes=codes)
    unseen = codes[:60, 0] == 2
    assert unseen.sum() > 5
    contexts = reduce(with_z, source_of, "pca_auxiliary")[0]
    # A row with this level has the same features as a row without a level of this column.
    without = codes.copy()
    without[:60, 0][unseen] = -1
    elsewhere = reduce(mixed._replace(codes=without), source_of, "pca_auxiliary")[0]
    np.testing.assert_allclose(elsewhere, contexts, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_fewer_than_three_features_give_as_many_dimensions(columns):
    rng = np.random.default_rng(columns)
    features = rng.standard_normal((50, columns))
    contexts, account = reduce(of_numbers(features), np.ones(50, int), "pca_all")
    assert contexts.shape == (50, min(columns, 3))
    assert len(account["explained_variance"]) == min(columns, 3)
    assert contexts.min(axis=0).tolist() == [0] * min(columns, 3)
    assert contexts.max(axis=0).tolist() == [1] * min(columns, 3)


def test_a_direction_without_variance_is_constant():
    line = np.linspace(-1, 1, 40)
    contexts, account = reduce(of_numbers(np.column_stack((line, 2 * line, 5 - line))), np.ones(40, int), "pca_all")
    assert account["explained_variance"] == [1, 0, 0]
    np.testing.assert_allclose(contexts[:, 0], (line + 1) / 2, atol=1e-12)
    assert (contexts[:, 1:] == 0).all()
