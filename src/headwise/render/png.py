"""An SVG picture as PNG, for slides and word processors that take no SVG.

The fonts of the system are used, as in a browser: a script that no font there has appears as boxes.
Nothing is read but these fonts, since our pictures refer to no other file.
"""

from importlib.util import find_spec

from headwise.errors import ConfigError, install
from headwise.render.svg import size_of_svg

SCALE = 2
"""Pixels of the PNG for one of the SVG, so that it is sharp on today's screens and in print."""
MAX_PIXELS = 2**26
"""Of the PNG; it takes four bytes of memory for each."""


def require_png() -> None:
    """Raise an error if the library that draws PNG is missing."""
    if find_spec("resvg_py") is None:
        raise ConfigError("PNG needs resvg_py, which is not installed", install("png"))


def to_png(svg: str, max_pixels: int = MAX_PIXELS) -> bytes:
    """Draw an SVG picture of ours as PNG, in its light colours.

    A picture that would have more than `max_pixels` is drawn smaller or, if it would still be too
    large, refused.
    """
    require_png()
    from resvg_py import svg_to_bytes

    width, height = size_of_svg(svg)
    scale = SCALE if width * height * SCALE**2 <= max_pixels else 1
    if width * height * scale**2 > max_pixels:
        what = f"PNG: the picture would have {width:,} x {height:,} pixels"
        raise ConfigError(what, "draw fewer or shorter sentences, or use SVG or HTML")
    return bytes(svg_to_bytes(svg_string=svg, zoom=scale))
