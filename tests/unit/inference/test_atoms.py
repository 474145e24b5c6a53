"""Check the atoms of a discrete distribution."""

import numpy as np
import pytest

from privarms.inference.atoms import atoms


def test_atoms_are_sorted_and_counted():
    actual = atoms([5.0, 1.0, 5.0, 2.0, 5.0])
    assert list(actual.columns) == ["value", "probability", "count"]
    assert actual["value"].tolist() == [1, 2, 5]
    assert actual["count"].tolist() == [1, 1, 3]
    assert actual["probability"].tolist() == [0.2, 0.2, 0.6]


def test_rounding_does_not_split_an_atom():
    whole = 100_000 * 0.1
    summed = np.cumsum(np.full(100_000, 0.1))[-1]
    assert whole != summed
    actual = atoms([summed, whole, 2 * whole, 0.0, 0.0])
    assert actual["count"].tolist() == [2, 2, 1]
    assert actual["value"].tolist() == [0.0, min(whole, summed), 2 * whole]


def test_values_further_apart_than_the_tolerance_are_two_atoms():
    assert len(atoms([1.0, 1.0 + 2e-9])) == 2
    assert len(atoms([1.0, 1.0 + 0.5e-9])) == 1
    assert len(atoms([-1.0, -1.0 - 0.5e-9, 1.0])) == 2
    # The tolerance is relative to the two neighbours, not to the largest value.
    assert len(atoms([-1e6, 1.0, 1.0 + 2e-9])) == 3


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf]])
def test_a_sample_without_values_or_with_one_that_is_not_finite_is_refused(values):
    with pytest.raises(ValueError, match=r"^values: "):
        atoms(values)
