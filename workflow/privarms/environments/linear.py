"""K arms with linear expected rewards on contexts of d dimensions, and normal noise.

Section 5.2 of Neel & Roth (2018): arm i has coefficients theta_i, each round has a new context x_i for every arm, and
the reward of arm i is N(theta_i'x_i, 1). All these vectors have length 1.
"""

from collections.abc import Callable
from math import sqrt
from typing import Literal, NamedTuple

from numba import njit

from privarms.ranges import at_least, of_choices

STREAMED_AS = {"dimensions": "d", "variant": "law"}


class Environment(NamedTuple):
    """Coefficients are drawn once per replicate, contexts and noise once per round.

    draw_coefficients(environment, coefficients, rng), draw_contexts(environment, contexts, rng): fill float64[K, d]
    pull(environment, coefficients, contexts, arm, rng) -> reward
    as_released: selects the distribution of the vectors, see `configure`
    """

    draw_coefficients: Callable
    draw_contexts: Callable
    pull: Callable
    n_arms: int
    dimensions: int
    as_released: bool


@of_choices
def configure(K: int, dimensions: int, variant: Literal["as_printed", "as_released"]) -> Environment:
    """Return K >= 2 arms and contexts of d = dimensions >= 2 coordinates.

    as_printed: contexts are uniform on the unit sphere; so are coefficients, given that the first one is 0
    as_released: both are uniform in the cube [-1, 1]^d, divided by their length; no coordinate is set to 0
    """
    at_least(2, K=K, dimensions=dimensions)
    return Environment(draw_coefficients, draw_contexts, pull, int(K), int(dimensions), variant == "as_released")


@njit
def draw_coefficients(environment, coefficients, rng):
    """Fill `coefficients` with the true theta of every arm."""
    first = 0 if environment.as_released else 1
    coefficients[:, :first] = 0.0
    _draw_directions(environment.as_released, coefficients, first, rng)


@njit(error_model="numpy")
def draw_contexts(environment, contexts, rng):
    """Fill `contexts` with the x of every arm in one round."""
    _draw_directions(environment.as_released, contexts, 0, rng)


@njit
def pull(environment, coefficients, contexts, arm, rng):
    return expected_reward(coefficients, contexts, arm) + rng.standard_normal()


@njit(error_model="numpy", forceinline=True)
def expected_reward(coefficients, contexts, arm):
    total = 0.0
    for k in range(contexts.shape[1]):
        total += coefficients[arm, k] * contexts[arm, k]
    return total


@njit(error_model="numpy", forceinline=True)
def _draw_directions(from_cube, vectors, first, rng):
    """Fill every row from its coordinate `first` on with a vector of length 1."""
    rows, d = vectors.shape
    for row in range(rows):
        for k in range(first, d):
            vectors[row, k] = 2 * rng.random() - 1 if from_cube else rng.standard_normal()
    for row in range(rows):
        squares = 0.0
        for k in range(first, d):
            squares += vectors[row, k] ** 2
        length = sqrt(squares)
        for k in range(first, d):
            vectors[row, k] /= length
