"""Pictures with few colours, to keep a report with all figures, and the copies in docs/results, small."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image, ImageColor

from privarms.plots import style

PNG_DOTS_PER_INCH = 200
# Figures have 8-point letters for print. A screen is read from a larger distance, so they are enlarged.
SCREEN_ENLARGEMENT = 1.4
# As many as one byte per pixel can name. The PNG is then a third of the size.
MOST_COLOURS = 256
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
    """Return an RGB image with at most MOST_COLOURS colours, in which the colours of curves are unchanged.

    A pixel with a colour of `plots.style.COLOURS` keeps it up to 4 of 255. All others get the nearest colour.
    """
    # Quantising alone merges colours of few pixels with others, for example two curves of a figure with ten.
    others = image.quantize(MOST_COLOURS - len(KEPT), method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(level for colour in KEPT for level in colour), *others.getpalette()])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)
