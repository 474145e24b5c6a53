"""Variates of numbers drawn ahead: numpy's to the bit, in the layers, near their edges and in the tail."""

import numba
import numpy as np
import pytest
from numba import njit
from numba.np.random import _constants as numpy_s

from privarms import ziggurat
from privarms.ahead import ahead, settle

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

LAWS = {
    "exponential": (lambda x: np.exp(-x), 2.0**53, numpy_s.ke_double, numpy_s.we_double, numpy_s.fe_double),
    "normal": (lambda x: np.exp(-0.5 * x * x), 2.0**52, numpy_s.ki_double, numpy_s.wi_double, numpy_s.fi_double),
}


@njit
def exponentials(rng, found):
    drawing = ahead(rng)
    for i in range(len(found)):
        found[i] = drawing.standard_exponential()
    settle(drawing)


@njit
def normals(rng, found):
    drawing = ahead(rng)
    for i in range(len(found)):
        found[i] = drawing.standard_normal()
    settle(drawing)


@pytest.mark.parametrize(("draw", "name"), [(exponentials, "standard_exponential"), (normals, "standard_normal")])
def test_millions_are_numpy_s(draw, name):
    # Of 3 million some 60,000 exponential and 30,000 normal ones lie near an edge; more than 700 are of the tail.
    found, expected = np.zeros(3_000_000), np.zeros(3_000_000)
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    draw(rng, found)
    getattr(other, name)(out=expected)
    assert found.tobytes() == expected.tobytes()
    assert rng.bit_generator.state == other.bit_generator.state
    assert (abs(found) > (numpy_s.ziggurat_exp_r if draw is exponentials else numpy_s.ziggurat_nor_r)).sum() > 500


@pytest.mark.parametrize("law", LAWS)
def test_the_bend_of_the_density_is_within_what_a_layer_says(law):
    density, largest, inside, widths, heights = LAWS[law]
    rows = ziggurat.near_edges(*LAWS[law])
    assert not rows[0].any()
    v = np.random.default_rng(5).random(5_000)
    for layer in range(1, len(widths)):
        inner, per_width, least, most, height, fall = rows[layer, :6]
        assert inner == inside[layer] * widths[layer]
        assert 1 / per_width == pytest.approx(largest * widths[layer] - inner, rel=1e-12)
        assert (height, fall) == (heights[layer], heights[layer - 1] - heights[layer])
        bend = (density(inner + v / per_width) - height) / fall - (1 - v)
        assert least < bend.min()
        assert bend.max() < most
        # Else it would decide little.
        assert most - least < 0.3
    assert (rows[1:, 3] - rows[1:, 2]).mean() < 0.005
