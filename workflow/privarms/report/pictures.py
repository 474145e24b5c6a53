"""Pictures with few colours, to keep a report with all figures, and the copies in docs/results, small."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor
from scipy.spatial import KDTree

from privarms.plots import style

PNG_DOTS_PER_INCH = 200
# Figures have 8-point letters for print. A screen is read from a larger distance, so they are enlarged.
SCREEN_ENLARGEMENT = 1.4
# As many as one byte per pixel can name. The PNG is then a third of the size.
MOST_COLOURS = 256
# The most frequent colours stay as they are, for example those of grids and bands.
FREQUENT = 100
# A legend cannot be read if two of these become one.
KEPT = tuple(map(ImageColor.getrgb, (*style.COLOURS, style.QUIET, "black", "white")))


def embedded(files: Mapping[str, Path | str]) -> dict:
    """Return a figure as a data URI with its display size in CSS pixels (96 per inch)."""
    with Image.open(files["png"]) as image:
        drawn = image.convert("RGB")
    png = io.BytesIO()
    few_colours(drawn).save(png, format="PNG")
    width, height = (round(length / PNG_DOTS_PER_INCH * 96 * SCREEN_ENLARGEMENT) for length in drawn.size)
    uri = f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
    return {"uri": uri, "width": width, "height": height, "wide": width > 600}


def few_colours(image: Image.Image) -> Image.Image:
    """Return an RGB image with at most MOST_COLOURS colours.

    The colours of `plots.style.COLOURS`, black, white and the most frequent colours are unchanged. All others become
    the nearest remaining colour.
    """
    pixels = np.asarray(image, np.int64) @ (2**16, 2**8, 1)
    found, where, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    levels = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    frequent = levels[np.argsort(-counts, kind="stable")[:FREQUENT]]
    # Quantising alone merges colours of few pixels with others, for example two curves of a figure with ten. It also
    # tints large areas, such as a light grid.
    others = image.quantize(MOST_COLOURS - len(KEPT) - FREQUENT, method=Image.Quantize.MAXCOVERAGE)
    palette = np.array([*KEPT, *frequent, *np.reshape(others.getpalette() or [], (-1, 3))], np.uint8)[:MOST_COLOURS]
    # Pillow's own search for the nearest colour is off by up to 4 of 255, so white would become grey.
    nearest = np.asarray(KDTree(palette).query(levels)[1], np.uint8)
    few = Image.fromarray(nearest[where].reshape(pixels.shape), "P")
    few.putpalette(palette.ravel().tolist())
    return few
