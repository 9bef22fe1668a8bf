r"""Paragraphs of the formats that the packages hold text in.

Each reader takes the text of a file and yields its paragraphs as plain text. Code, tables and
markup are left out here; what else is not prose goes in `select`.
"""

import csv
import html
import io
import re
import struct
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser

_PROSE = "p li dd blockquote"
_OTHER_BLOCKS = "ul ol dl div section h1 h2 h3 h4 h5 h6"
_NO_PROSE = "pre table script style head nav title screen programlisting"
_PROSE_TAGS = frozenset(_PROSE.split())
_SKIPPED_TAGS = frozenset(_NO_PROSE.split())
_BLOCK_TAGS = _PROSE_TAGS | _SKIPPED_TAGS | frozenset(_OTHER_BLOCKS.split())
_POD_LONG_CODE = re.compile(r"[A-Z]<<+ (.*?) >>+")
_POD_CODE = re.compile(r"[A-Z]<([^<>|]*)(\|[^<>]*)?>")
_QUOTED = re.compile(r'_ *"((?:[^"]|"")*)"')
_BACKQUOTED = re.compile(r"`([^`]*)`")
_BRACED = re.compile(r"[{}]")
_CATEGORY = re.compile(r"^<[^>]*> *")
_R_STRING, _R_STRING_UTF8 = bytes.fromhex("00040009"), bytes.fromhex("00008009")
"""The types of a string in what R serialises: ASCII and UTF-8."""
INDENT = "   "


def read_snippets(text: str) -> Iterator[str]:
    """Read lines of number, sentiment and text; `12_3` is the third line of review 12."""
    review = ""
    parts: list[str] = []
    for line in text.splitlines():
        number, _, snippet = line.split("\t", 2)
        if parts and (number.partition("_")[0] != review or "_" not in number):
            yield " ".join(parts)
            parts = []
        review = number.partition("_")[0]
        parts.append(html.unescape(snippet))
    yield " ".join(parts)


def read_table(text: str) -> Iterator[str]:
    """Read the column `text` of a table."""
    csv.field_size_limit(2**24)
    for row in csv.DictReader(io.StringIO(text)):
        # Some closing quotation marks are followed by a stray question mark.
        yield row["text"].replace('"?', '" ')


def read_indented(text: str) -> Iterator[str]:
    """Read indented paragraphs; single lines are headings."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if len(lines) > 1 and all(line.startswith(INDENT) for line in lines):
            yield " ".join(line.strip() for line in lines)


def read_dictionary(text: str) -> Iterator[str]:
    """Read the indented paragraphs of a dictionary, without its marks for links and subjects."""
    for paragraph in read_indented(text):
        yield _CATEGORY.sub("", _BRACED.sub("", paragraph))


def read_fortunes(text: str) -> Iterator[str]:
    """Read quotations, without who said them; verse and dialogue keep their line ends."""
    for quotation in text.split("\n%\n"):
        lines = [line for line in quotation.splitlines() if not line.startswith(("\t", "  "))]
        yield "\n".join(lines)


def read_pod(text: str) -> Iterator[str]:
    """Read the paragraphs of Perl's documentation that are neither code nor commands."""
    for paragraph in text.split("\n\n"):
        if paragraph[:1] not in ("=", " ", "\t", "\n", ""):
            yield _without_pod_codes(paragraph)


def _without_pod_codes(text: str) -> str:
    """Replace codes by their text, the innermost first: `B<one I<two>>` is `one two`."""
    text, n_found = _POD_LONG_CODE.sub(r"\1", text), 1
    while n_found:
        text, n_found = _POD_CODE.subn(r"\1", text)
    return text


def read_wesnoth(text: str) -> Iterator[str]:
    """Read the translatable strings of a scenario, most of which are dialogue."""
    for match in _QUOTED.finditer(text):
        yield from match[1].replace('""', '"').split("\n\n")


def read_endless_sky(text: str) -> Iterator[str]:
    """Read the strings in back quotes: dialogue, descriptions and news."""
    for match in _BACKQUOTED.finditer(text):
        yield match[1]


def read_html(text: str) -> Iterator[str]:
    """Read the paragraphs and list items of a page, or of another format with such tags."""
    reader = _HtmlReader()
    reader.feed(text)
    reader.close()
    yield from reader.paragraphs


class _HtmlReader(HTMLParser):
    """Collects the text of prose tags outside of code and tables."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._parts: list[str] = []
        self._n_skipped = 0
        self._in_prose = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED_TAGS:
            self._n_skipped += 1
        if tag in _BLOCK_TAGS:
            self._end_paragraph()
            self._in_prose = tag in _PROSE_TAGS or ("class", "para") in attrs
        elif tag == "br":
            self._parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED_TAGS:
            self._n_skipped = max(0, self._n_skipped - 1)
        if tag in _BLOCK_TAGS:
            self._end_paragraph()
            self._in_prose = False

    def handle_data(self, data: str) -> None:
        if self._in_prose and not self._n_skipped:
            self._parts.append(data)

    def close(self) -> None:
        super().close()
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        if text := " ".join("".join(self._parts).split()):
            self.paragraphs.append(text)
        self._parts = []


def read_r_novels(data: bytes) -> Iterator[str]:
    """Read R's database of novels, each a compressed vector of lines, blank between paragraphs.

    A string is a number with its type and encoding, its length and its bytes, all big-endian.
    """
    while data:
        unpack = zlib.decompressobj()
        values = unpack.decompress(data[4:])  # after the length
        data = unpack.unused_data
        lines: list[str] = []
        position = values.find(_R_STRING)
        while values[position : position + 4] in (_R_STRING, _R_STRING_UTF8):
            (length,) = struct.unpack_from(">i", values, position + 4)
            lines.append(values[position + 8 : position + 8 + length].decode())
            position += 8 + length
        yield from "\n".join(lines).split("\n\n")
