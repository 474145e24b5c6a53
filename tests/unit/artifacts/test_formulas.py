"""Formulas in figures: made once for all formats, and the same."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from privarms.artifacts import formulas

FORMULA = r"$\mathdefault{10^{-2}} \leq \varepsilon$"


@pytest.fixture(autouse=True)
def as_matplotlib_does(monkeypatch):
    """Nothing is kept, whatever was drawn before, and nothing stays as `keep` leaves it."""
    monkeypatch.setattr(MathTextParser, "_parse_cached", formulas._parse)
    formulas._kept.cache_clear()


def glyphs(made):
    return [(font.fname, *rest) for font, *rest in made.glyphs], made.rects


def test_parsers_of_one_kind_share_what_they_make():
    one, other = MathTextParser("path"), MathTextParser("path")
    small, large = FontProperties(size=7.0), FontProperties(size=9.0)
    plain = one.parse(FORMULA, 72, small)
    assert one.parse(FORMULA, 72, small) is not plain
    formulas.keep()
    made = one.parse(FORMULA, 72, small)
    assert other.parse(FORMULA, 72, FontProperties(size=7.0)) is made
    assert made[:3] == plain[:3]
    assert glyphs(made) == glyphs(plain)
    # Nothing else is taken for it.
    assert np.asarray(MathTextParser("agg").parse(FORMULA, 72, small).image).any()
    assert other.parse(FORMULA, 72, large).width > made.width
    assert other.parse(FORMULA, 144, small).width > made.width
    assert other.parse(FORMULA[:-1] + "1$", 72, small).width > made.width


def drawn():
    renderer = RendererAgg(80, 40, 72)
    for x in (5, 40):
        renderer.draw_mathtext(renderer.new_gc(), x, 30, FORMULA, FontProperties(size=7.0), 0)
    return np.array(renderer.buffer_rgba())


def test_what_is_kept_is_drawn_as_before_each_time():
    plain = drawn()
    formulas.keep()
    first, second = drawn(), drawn()
    assert np.array_equal(first, plain)
    assert np.array_equal(second, plain)
    assert len(np.unique(plain)) > 2
