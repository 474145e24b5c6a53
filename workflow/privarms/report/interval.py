"""What was measured against what is allowed, as a small drawing."""

import math

from markupsafe import Markup

from privarms.claims.verdict import Measured, Region

WIDTH, HEIGHT = 300, 44
# Beyond this ratio of the numbers that are drawn the axis is logarithmic.
WIDE = 50.0


def draw(allowed: Region, measured: Measured, published: float | None) -> Markup:
    """An SVG: the region in a band, the interval on a line, the value a dot, the published number a mark above.

    The numbers stand beside it, so that a screen reader says nothing of it.
    """
    low, high = measured.interval
    ends = [allowed.low, allowed.high, low, high, measured.value, published]
    finite = [x for x in ends if x is not None and math.isfinite(x)]
    if not finite:
        return Markup()
    place = _axis(finite)
    band = [0, 0] if math.isnan(allowed.low) else [place(allowed.low), place(allowed.high)]
    line = [place(low), place(high)] if math.isfinite(measured.value) else [0, 0]
    middle = HEIGHT - 14
    parts = []
    if not math.isnan(allowed.low):
        parts.append(f'<rect x="{band[0]}" y="12" width="{max(band[1] - band[0], 4)}" height="36"/>')
    parts.append(f'<path class="a" d="M0 {middle}H{WIDTH}"/>')
    if math.isfinite(measured.value):
        ticks = "".join(f"M{x} {middle - 6}v12" for x, end in zip(line, (low, high), strict=True) if math.isfinite(end))
        parts.append(f'<path d="M{line[0]} {middle}H{line[1]}{ticks}"/>')
        parts.append(f'<circle cx="{place(measured.value)}" cy="{middle}" r="6"/>')
    if published is not None and math.isfinite(published):
        parts.append(f'<path class="p" d="M{place(published)} 12l-7 -12h14z"/>')
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 6}" aria-hidden="true">{"".join(parts)}</svg>')


def _axis(finite: list[float]):
    """A function from values to places; ends of the drawing for what is infinite."""
    least, most = min(finite), max(finite)
    logarithmic = least > 0 and most > WIDE * least
    change = math.log if logarithmic else float
    start, stop = change(least), change(most)
    if stop == start:
        start, stop = start - (abs(start) or 1) / 2, stop + (abs(stop) or 1) / 2
    pad = 0.12 * (stop - start)
    start, stop = start - pad, stop + pad

    def place(x: float) -> int:
        if math.isinf(x) or (logarithmic and x <= 0):
            return WIDTH if x > 0 else 0
        return round((change(x) - start) / (stop - start) * WIDTH)

    return place
