"""Embedded pictures with few colours, to keep a report with all figures small enough to mail."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

PNG_DOTS_PER_INCH = 200
# Figures have 8-point letters for print. A screen is read from a larger distance, so they are enlarged.
SCREEN_ENLARGEMENT = 1.4
# Enough for lines and letters with smoothed edges. The PNG is then a third of the size.
COLOURS = 48


def embedded(files: Mapping[str, Path | str]) -> dict:
    """Return a figure as a data URI with its display size in CSS pixels (96 per inch)."""
    with Image.open(files["png"]) as image:
        drawn = image.convert("RGB")
    # Median cut, the default, merges colours of few pixels with others, so orange becomes brown.
    few = drawn.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    png = io.BytesIO()
    few.save(png, format="PNG")
    width, height = (round(length / PNG_DOTS_PER_INCH * 96 * SCREEN_ENLARGEMENT) for length in drawn.size)
    uri = f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
    return {"uri": uri, "width": width, "height": height, "wide": width > 600}
