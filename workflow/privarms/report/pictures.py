"""Pictures inside the page: few colours and no loss, so that a report of all figures is small enough to mail."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

PNG_DOTS_PER_INCH = 200
# Figures are drawn for print with 8-point letters; on a screen they are read from further away.
SCREEN_ENLARGEMENT = 1.4
# Lines and letters with smoothed edges need no more; lossless WebP of them is a quarter of the PNG.
COLOURS = 48


def embedded(files: Mapping[str, Path | str]) -> dict:
    """Return a figure as a data URI, and the size at which to show it, in CSS pixels (96 per inch)."""
    with Image.open(files["png"]) as image:
        drawn = image.convert("RGB")
    # By median cuts, the default, a colour of few dots would be mixed with others: orange would be brown.
    few = drawn.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    webp = io.BytesIO()
    few.convert("RGB").save(webp, format="WEBP", method=2, lossless=True, quality=60)
    width, height = (round(length / PNG_DOTS_PER_INCH * 96 * SCREEN_ENLARGEMENT) for length in drawn.size)
    uri = f"data:image/webp;base64,{base64.b64encode(webp.getvalue()).decode('ascii')}"
    return {"uri": uri, "width": width, "height": height, "wide": width > 600}
