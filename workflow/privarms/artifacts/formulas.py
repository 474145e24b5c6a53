"""What matplotlib makes of a formula is kept for all formats of a figure.

Numbers on logarithmic axes are formulas too, so that a figure has dozens, of 2.6 ms each. matplotlib keeps the last 50,
but for each renderer apart, of which every format has its own.
"""

from functools import cache

from matplotlib.mathtext import MathTextParser

_parse = MathTextParser._parse_cached.__wrapped__
_PARSERS = {"vector": MathTextParser("path"), "raster": MathTextParser("agg")}


# Under all that a formula depends on but the style, which is one for all figures.
@cache
def _kept(kind: str, *given):
    return _parse(_PARSERS[kind], *given)


def keep() -> None:
    """From now on keep every formula that this process meets."""
    MathTextParser._parse_cached = lambda self, *given: _kept(self._output_type, *given)
