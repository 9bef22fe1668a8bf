"""Read the inputs of `headwise parse`, and know how much of them was read."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

import click

from headwise.cli.streams.inputs import ParseInput
from headwise.files import open_file
from headwise.runtime.parser import Annotated, Parser
from headwise.settings.choices import Input
from headwise.text.read import read_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.sentence import Sentence

_T = TypeVar("_T")
_PROMPT = "> "


@dataclass(frozen=True, slots=True)
class Job:
    """An input, what it is read from, and the parser for it; at a prompt, lines are asked for."""

    source: ParseInput
    opened: str | BinaryIO
    parser: Parser
    is_prompt: bool = False


class Reading:
    """How much of the inputs was read, if all of them are files of known size.

    Sentences are read ahead of those that are done, so both are counted.
    """

    def __init__(self, sources: Iterable[ParseInput]) -> None:
        """Add up the sizes of the files, compressed if they are."""
        sizes = [_size(source) for source in sources]
        self._n_bytes = None if None in sizes else sum(filter(None, sizes))
        self._before, self._size, self._n_read = 0, 0, 0
        self._stream: BinaryIO | None = None

    def follow(self, stream: BinaryIO) -> None:
        """Start on the next file."""
        self._before += self._size
        self._size, self._stream = os.fstat(stream.fileno()).st_size, stream

    def count(self, items: Iterable[_T]) -> Iterator[_T]:
        """Pass on what is read, and count it."""
        for item in items:
            self._n_read += 1
            yield item

    def share_done(self, n_done: int) -> float | None:
        """Give the share of the bytes whose sentences are done; None if that is not known."""
        if not self._n_bytes or not self._n_read:
            return None
        share = self._position() / self._n_bytes * n_done / self._n_read
        return min(share, 1.0)

    def _position(self) -> int:
        if self._stream is None or self._stream.closed:
            return self._before + self._size
        return self._before + os.lseek(self._stream.fileno(), 0, os.SEEK_CUR)


def _size(source: ParseInput) -> int | None:
    with suppress(OSError):
        if source.is_file and source.content != "-":
            status = os.stat(source.content)
            return status.st_size if stat.S_ISREG(status.st_mode) else None
    return None


@contextmanager
def follow(opened: str | BinaryIO, reading: Reading) -> Iterator[str | BinaryIO]:
    """Open a file whose size is known, so that progress can follow it."""
    if not isinstance(opened, str) or not os.path.isfile(opened):
        yield opened
        return
    with open_file(opened) as stream:
        reading.follow(stream)
        yield stream


def read_job(
    job: Job, form: Input, on_error: OnError, reading: Reading, document: str
) -> Iterator[Sentence | Malformed]:
    """Read the sentences of an input; those of a text file belong to `document`, if it is given."""
    no_text = why_no_text(job.parser.vocab.reads) if job.parser.vocab.reads else None
    if job.source.is_file:
        with follow(job.opened, reading) as opened:
            read = read_any(opened, form, job.parser.segmenter, on_error, no_text, document)
            yield from reading.count(read)
        return
    if no_text is not None:
        raise no_text
    yield from _read_typed(job.source.content, form, job.parser)


def expect_typing(sources: Sequence[ParseInput], draws_here: bool, quiet: bool) -> bool:
    """Tell whether sentences are typed and drawn one by one; say so, or how to end the input."""
    is_stdin = any(source.is_file and source.content == "-" for source in sources)
    if not is_stdin or sys.stdin is None or not sys.stdin.isatty():
        return False
    is_prompt = draws_here and len(sources) == 1
    if not quiet:
        what = "Type a sentence and press Enter" if is_prompt else "Type or paste the input"
        click.echo(f"{what}; end with Ctrl-D.", err=True)
    return is_prompt


def ask_and_parse(parser: Parser, form: Input, threads: int) -> Iterator[Annotated]:
    """Parse each line that is typed as soon as it is there."""
    with suppress(ImportError):  # not on every system
        import readline  # noqa: F401 (with it, lines can be edited and recalled)
    while True:
        try:
            line = input(_PROMPT)
        except EOFError:
            click.echo()
            return
        yield from parser.annotate(_read_typed(line, form, parser), threads)


def _read_typed(text: str, form: Input, parser: Parser) -> Iterator[Sentence]:
    return read_text(text, "text" if form == "auto" else form, parser.segmenter)
