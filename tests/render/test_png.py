import gzip
import struct
import sys
import zlib
from pathlib import Path

import pytest

import headwise
from headwise.render.png import SCALE, to_png
from headwise.render.svg import size_of_svg, to_svg

SENTENCE = headwise.sentence_from_words(
    [("Kids", "2", "nsubj"), ("love", "0", "root")], ["form", "head", "deprel"]
)


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def pixels_of(png: bytes) -> bytes:
    """Decompress the image data, in which every row has a filter byte first."""
    at, data = 8, b""
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return zlib.decompress(data)


def test_a_png_has_twice_the_size_and_shows_the_words() -> None:
    svg = to_svg(SENTENCE)
    width, height = size_of_svg(svg)
    png = to_png(svg)
    assert size_of(png) == (SCALE * width, SCALE * height)
    other = to_svg(headwise.sentence_from_words([("Kids",), ("live",)], ["form"]))
    assert pixels_of(png) != pixels_of(to_png(other))
    assert len(set(pixels_of(png))) > 10  # not empty: text has many shades


def test_a_large_picture_is_drawn_smaller_or_refused() -> None:
    svg = to_svg(SENTENCE)
    width, height = size_of_svg(svg)
    assert size_of(to_png(svg, max_pixels=width * height)) == (width, height)
    with pytest.raises(headwise.ConfigError, match=r"would have .* pixels\nhint: draw"):
        to_png(svg, max_pixels=width * height - 1)


def test_a_picture_is_saved_by_the_ending_of_its_name(tmp_path: Path) -> None:
    picture = headwise.show(SENTENCE)
    picture.save(tmp_path / "tree.png")
    picture.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.png").read_bytes() == picture.to_png()
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == picture.svg + "\n"


def test_a_picture_has_no_other_formats(tmp_path: Path) -> None:
    picture = headwise.show(SENTENCE)
    for name, what in (
        ("x.jpg", ".jpg is not written"),
        ("x.html", ".html is not written"),
        ("xx", "the name has no ending"),
    ):
        with pytest.raises(headwise.ConfigError, match=f"{what}\nhint: use .svg or .png"):
            picture.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    picture.save(tmp_path / "tree.SVG.gz")
    picture.save(tmp_path / "tree.png.gz")
    svg, png = (
        gzip.decompress((tmp_path / f"tree.{end}.gz").read_bytes()) for end in ("SVG", "png")
    )
    assert svg.decode() == picture.svg + "\n"
    assert png == picture.to_png()


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(headwise.ConfigError, match=r"needs resvg_py, .*\nhint: pip"):
        to_png(to_svg(SENTENCE))
