"""Formulas in figures: made once for all formats, and the same."""

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from privarms.artifacts import formulas

FORMULA = r"$\mathdefault{10^{-2}} \leq \varepsilon$"


def test_parsers_of_one_kind_share_what_they_make(monkeypatch):
    kept = MathTextParser._parse_cached
    monkeypatch.setattr(MathTextParser, "_parse_cached", kept)
    one, other, raster = MathTextParser("path"), MathTextParser("path"), MathTextParser("agg")
    small, large = FontProperties(size=7.0), FontProperties(size=9.0)
    plain = one.parse(FORMULA, 72, small)
    formulas.keep()
    made = one.parse(FORMULA, 72, small)
    assert other.parse(FORMULA, 72, FontProperties(size=7.0)) is made
    assert made[:3] == plain[:3]
    # Nothing else is taken for it.
    assert other.parse(FORMULA, 72, large).width > made.width
    assert other.parse(FORMULA, 144, small).width > made.width
    assert other.parse(FORMULA[:-1] + "1$", 72, small).width > made.width
    assert raster.parse(FORMULA, 72, small).image is not None


def test_what_is_kept_is_drawn_as_often_as_it_stands_there():
    formulas.keep()
    renderers = [RendererAgg(80, 40, 72) for _ in range(2)]
    pictures = []
    for renderer in renderers:
        for _ in range(2):
            renderer.draw_mathtext(renderer.new_gc(), 10, 30, FORMULA, FontProperties(size=7.0), 0)
        pictures.append(bytes(renderer.buffer_rgba()))
    assert pictures[0] == pictures[1]
    assert len(set(pictures[0])) > 2
