"""Parses as bytes, in the format that was asked for."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from headwise.errors import ConfigError
from headwise.files import standard
from headwise.render.svg import stack_svgs, to_svg
from headwise.render.terminal import draw
from headwise.treebank.conllu import Malformed, as_bytes
from headwise.treebank.records import to_json
from headwise.treebank.sentence import Parse, Sentence

OutputFormat = Literal["conllu", "conllx", "json", "tree", "svg"]
Annotated = tuple[Sentence | Malformed, Parse | None]
MAX_PICTURES = 1_000
"""Sentences in one SVG; nobody looks at more, and they are held in memory."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where trees are drawn: a terminal, or a file or pipe that somebody will look at."""

    is_terminal: bool
    width: int
    colour: bool
    encoding: str


def screen_of(output: str) -> Screen:
    """Look what is behind `-o OUTPUT`; `NO_COLOR` and simple terminals get no colour."""
    width = shutil.get_terminal_size().columns
    if output != "-":
        return Screen(False, width, False, "utf-8")
    stdout = standard(sys.stdout, "<stdout>")
    is_terminal = stdout.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(is_terminal, width, is_terminal and not plain, stdout.encoding)


def written(items: Iterable[Annotated], form: OutputFormat, screen: Screen) -> Iterator[bytes]:
    """Write each item; what is malformed passes as it is in CoNLL, and not at all elsewhere."""
    if form in ("conllu", "conllx"):
        yield from (as_bytes(item) for item, _ in items)
        return
    sentences = ((item, parse) for item, parse in items if isinstance(item, Sentence) and len(item))
    if form == "json":
        yield from ((to_json(*both) + "\n").encode() for both in sentences)
    elif form == "tree":
        yield from _trees(sentences, screen)
    else:
        yield _picture(sentences)


def _trees(sentences: Iterable[tuple[Sentence, Parse | None]], screen: Screen) -> Iterator[bytes]:
    """Draw trees with a blank line between them."""
    gap = ""
    for sentence, parse in sentences:
        drawing = draw(
            sentence, parse, width=screen.width, colour=screen.colour, encoding=screen.encoding
        )
        yield f"{gap}{drawing}\n".encode(screen.encoding, "replace")
        gap = "\n"


def _picture(sentences: Iterable[tuple[Sentence, Parse | None]]) -> bytes:
    """Draw all sentences below each other in one picture."""
    pictures: list[str] = []
    for both in sentences:
        if len(pictures) == MAX_PICTURES:
            raise ConfigError(
                f"--format svg: more than {MAX_PICTURES:,} sentences", "draw fewer at a time"
            )
        pictures.append(to_svg(*both))
    return (stack_svgs(pictures) + "\n").encode()
