"""Check that pictures with few colours keep the colours of curves apart."""

import base64
import io

import numpy as np
import pytest
from PIL import Image, ImageColor

from privarms.plots import style
from privarms.report import pictures

WIDTH, HEIGHT = 1400, 500
GRID = "#EBEBEB"
CURVES = np.array([ImageColor.getrgb(colour) for colour in style.COLOURS])


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """Draw a curve of each colour, with a band, next to a large map of thousands of other colours."""
    figure, axes = style.subplots(1, 2, width=WIDTH / 200, height=HEIGHT / 200)
    x = np.linspace(0, 1, 50)
    for place, colour in enumerate(style.COLOURS):
        axes[0].plot(x, x + place, color=colour, linewidth=0.9, label=str(place))
        axes[0].fill_between(x, x + place - 0.4, x + place + 0.4, color=colour, alpha=0.2, linewidth=0)
    axes[0].grid(color=GRID)
    axes[0].legend()
    axes[1].imshow(np.random.default_rng(0).random((60, 60, 3)) * 0.4 + np.array([0.6, 0.4, 0.1]))
    path = tmp_path_factory.mktemp("figures") / "curves.png"
    figure.savefig(path, dpi=200)
    return path


def colours(image: Image.Image) -> np.ndarray:
    """Return the colours of an image: int64[n, 3]."""
    return np.array([colour for _, colour in image.convert("RGB").getcolors(WIDTH * HEIGHT)], np.int64)


def embedded(path) -> Image.Image:
    uri = pictures.embedded({"png": path})["uri"]
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


def test_every_colour_of_a_curve_is_in_the_embedded_picture(picture):
    with Image.open(picture) as original:
        assert {*map(tuple, CURVES)} <= {*map(tuple, colours(original))}
    found = colours(embedded(picture))
    assert len(found) <= 256
    for colour in CURVES:
        assert (found == colour).all(axis=1).any(), colour


def test_pixels_of_curves_keep_their_colour(picture):
    with Image.open(picture) as original:
        before = np.asarray(original.convert("RGB"), np.int64)
    after = np.asarray(embedded(picture).convert("RGB"), np.int64)
    for colour in [*CURVES, *map(ImageColor.getrgb, (GRID, "white", "black"))]:
        drawn = (before == colour).all(axis=-1)
        assert drawn.any()
        assert (after[drawn] == colour).all(), colour


def test_the_picture_is_much_smaller(picture):
    few = io.BytesIO()
    embedded(picture).save(few, format="PNG")
    assert len(few.getvalue()) < 0.7 * picture.stat().st_size
