"""The choice among equal indices, of which the papers say nothing: at random, so that the order of the arms decides
nothing. A random number is drawn only where indices are equal."""

from numba import njit


@njit
def largest(values, rng):
    """The place of the largest value in float64[K]; each of equals with the same probability."""
    place, equals = 0, 1
    for i in range(1, len(values)):
        if values[i] > values[place]:
            place, equals = i, 1
        elif values[i] == values[place]:
            equals += 1
            if rng.random() * equals < 1:
                place = i
    return place


@njit
def smallest(values, rng):
    """The place of the smallest value in float64[K]; each of equals with the same probability."""
    return largest(-values, rng)
