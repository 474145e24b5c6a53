"""Ties between equal indices, which the papers leave open, are broken at random; only ties need a random number."""

from numba import njit


@njit
def largest(values, rng):
    """Return the position of the largest value in float64[K]; equal values have equal probabilities."""
    place, equals = 0, 1
    for i in range(1, len(values)):
        if values[i] > values[place]:
            place, equals = i, 1
        elif values[i] == values[place]:
            equals += 1
            if rng.random() * equals < 1:
                place = i
    return place
