"""What a kernel draws for a release in a ball: the generator's own numbers."""

import numpy as np

from privarms.mechanisms import l2_ball


def test_the_normals_are_those_of_the_generator():
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    # Enough for the tails, where the generator goes another way.
    numbers, vector = np.zeros(20_000), np.linspace(-1, 2, 20_000)
    squares, products, squared = l2_ball._draw_normals(numbers, vector, ours)
    assert squares == np.cumsum(numbers**2)[-1]
    assert products == np.cumsum(numbers * vector)[-1]
    assert squared == np.cumsum(vector**2)[-1]
    assert numbers.tolist() == theirs.standard_normal(len(numbers)).tolist()
    assert ours.bit_generator.state == theirs.bit_generator.state
