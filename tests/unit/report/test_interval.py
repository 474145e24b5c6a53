"""The drawing of an interval against what is allowed."""

import math
import re
from xml.etree import ElementTree

import pytest

from privarms.claims.verdict import Measured, Region
from privarms.report.interval import WIDTH, draw


def places(drawing):
    """The region's ends, the interval's, and the value's place, in the drawing."""
    root = ElementTree.fromstring(str(drawing))
    rect, circle = root.find("rect"), root.find("circle")
    line = next(p.get("d") for p in root.findall("path") if p.get("class") is None)
    start, stop = re.match(r"M(\d+) \d+H(\d+)", line).groups()
    left = int(rect.get("x"))
    return (left, left + int(rect.get("width"))), (int(start), int(stop)), int(circle.get("cx"))


@pytest.mark.parametrize("published", [None, 0.5])
@pytest.mark.parametrize(("low", "high"), [(0.3, 0.6), (0.8, 1.2), (1.4, 1.9), (-3.0, 5.0)])
def test_ends_stand_in_their_order(low, high, published):
    middle = (low + high) / 2
    region, line, value = places(draw(Region(0, 1), Measured(middle, 0.1, 9, low=low, high=high), published))
    assert line[0] < value < line[1]
    assert (line[0] >= region[0]) == (low >= 0)
    assert (line[1] <= region[1]) == (high <= 1)
    assert all(0 <= x <= WIDTH for x in (*region, *line))


def test_nothing_is_drawn_of_nothing():
    assert draw(Region(math.nan, math.nan), Measured(math.nan, math.nan), None) == ""
    assert "circle" not in draw(Region(0, 1), Measured(math.nan, math.nan), None)
