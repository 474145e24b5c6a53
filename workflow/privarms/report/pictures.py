"""Pictures inside the page: few colours and no loss, so that a report of all figures is small enough to mail."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from privarms.errors import PrivarmsError

PNG_DOTS_PER_INCH = 200
# Figures are drawn for print with 8-point letters; on a screen they are read from further away.
SCREEN_ENLARGEMENT = 1.4
# Lines and letters with smoothed edges need no more; lossless WebP of them is a quarter of the PNG.
COLOURS = 48
WHITE = 255
# Beside a sentence, and on the front page: pixels of a screen with two to a CSS pixel.
THUMBNAIL, LARGE = (352, 208), (960, 1400)


def embedded(files: Mapping[str, Path | str]) -> dict:
    """A figure without its white as a data URI, and the size at which to show it, in CSS pixels (96 per inch)."""
    image = opened(Path(files["png"]))
    width, height = (round(length / PNG_DOTS_PER_INCH * 96 * SCREEN_ENLARGEMENT) for length in image.size)
    # By median cuts, the default, a colour of few dots would be mixed with others: orange would be brown.
    few = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    return {
        "uri": _uri(_without_paper(few), lossless=True, quality=60),
        "width": width,
        "height": height,
        "wide": width > 600,
    }


def _without_paper(image: Image.Image) -> Image.Image:
    """A figure of few colours with as much of white taken out of each as can be: over white it looks as before, and on
    a darker panel its paper and its grid are not brighter than the panel.
    """
    palette = image.getpalette("RGB")
    clear: list[int] = []
    for colour in zip(palette[::3], palette[1::3], palette[2::3], strict=True):
        opacity = WHITE - min(colour)
        clear += [round(WHITE - (WHITE - part) * WHITE / opacity) if opacity else WHITE for part in colour]
        clear.append(opacity)
    image.putpalette(clear, "RGBA")
    return image.convert("RGBA")


def thumbnail(files: Mapping[str, Path | str]) -> dict:
    """The upper part of a figure, small: where its first panels are."""
    image = opened(Path(files["png"]))
    wide, high = THUMBNAIL
    scale = max(wide / image.width, high / image.height)
    part = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)
    return _half(part.crop((0, 0, wide, high)))


def large(files: Mapping[str, Path | str]) -> dict:
    """A whole figure at the size of the front page."""
    image = opened(Path(files["png"]))
    image.thumbnail(LARGE, Image.Resampling.LANCZOS)
    return _half(image)


def opened(path: Path) -> Image.Image:
    """The picture in colours. Raises PrivarmsError for a file that is none."""
    try:
        with Image.open(path, formats=["PNG"]) as image:
            return image.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise PrivarmsError(f"{path}: not a PNG image; delete it and make the figure again.") from error


def _half(image: Image.Image) -> dict:
    return {"uri": _uri(image, quality=55), "width": image.width // 2, "height": image.height // 2}


def _uri(image: Image.Image, **options) -> str:
    held = io.BytesIO()
    image.save(held, format="WEBP", method=2, **options)
    return f"data:image/webp;base64,{base64.b64encode(held.getvalue()).decode('ascii')}"
