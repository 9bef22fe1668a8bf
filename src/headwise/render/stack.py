"""Several pictures of `render.svg` below each other, as one."""

import re
from collections.abc import Sequence

GAP = 16
"""Pixels between two pictures."""
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_GROUND = '<rect class="ground" width="100%" height="100%"/>'
"""One for all, since pictures differ in width; their own style colours it."""


def stack(pictures: Sequence[str]) -> str:
    """Put pictures below each other; a single one stays as it is."""
    if len(pictures) == 1:
        return pictures[0]
    placed, top, width = [], 0, 0
    for picture in pictures:
        found = _SIZE.search(picture)
        assert found is not None
        placed.append(picture.replace("<svg ", f'<svg y="{top}" ', 1))
        top += int(found[2]) + GAP
        width = max(width, int(found[1]))
    height = max(top - GAP, 0)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" class="headwise" {size}>'
    return f"{start}{_GROUND}{''.join(placed)}</svg>"
