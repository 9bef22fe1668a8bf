"""Counts of `headwise parse` on stderr: how far it is, how long it will take, and the totals."""

import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, TypeVar

import click
import msgspec

from headwise.cli.streams.inputs import ParseInput
from headwise.cli.streams.output import OutputFormat
from headwise.cli.terminal import ProgressLine, duration
from headwise.runtime.parser import Annotated
from headwise.treebank.conllu import Malformed
from headwise.treebank.sentence import BLANK, Sentence

_T = TypeVar("_T")
_FIRST_SHARE = 0.01
"""Below this share, the time left cannot be estimated."""


_PREDICTED = {"lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats"}
"""Attributes of a word, and those of a `Parse`, which are empty if nothing is predicted."""


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


class Counts(msgspec.Struct, frozen=True):
    """Counts of some sentences: by decoder, of words, and why some were refused."""

    decoders: dict[str, int]
    n_words: int
    refused: list[str]
    left: list[str] = []
    """Columns that the model does not predict, and that have values: those of the input."""


def counts_of(items: Sequence[Annotated]) -> Counts:
    """Count sentences; those without words are left out."""
    refused = [str(item.error) for item, _ in items if isinstance(item, Malformed)]
    parses = [parse for _, parse in items if parse is not None and parse.heads]
    n_words = sum(len(parse.heads) for parse in parses)
    return Counts(Counter(parse.how for parse in parses), n_words, refused, columns_left(items))


def columns_left(items: Sequence[Annotated]) -> list[str]:
    """List the columns that have values of the input because the model does not predict them."""
    parsed = [(item, parse) for item, parse in items if isinstance(item, Sentence) and parse]
    return [
        column
        for column, predicted in _PREDICTED.items()
        if any(
            not getattr(parse, predicted) and any(getattr(w, column) != BLANK for w in item.words)
            for item, parse in parsed
        )
    ]


class Tally:
    """Adds up counts, and shows them while the work goes on."""

    def __init__(self, show_progress: bool, form: OutputFormat, reading: Reading) -> None:
        """Start the clock."""
        shows = show_progress and sys.stderr is not None
        self._progress = ProgressLine(also_in_logs=True) if shows else None
        self._reading = reading
        passes = form in ("conllu", "conllx")
        self._fate = "passed through unparsed" if passes else "left out"
        self._decoders: Counter[str] = Counter()
        self._n_words, self._started = 0, time.monotonic()
        self._left: set[str] = set()

    def count(self, items: Iterable[Annotated]) -> Iterator[Annotated]:
        """Pass items on, and count each after it was used."""
        for item in items:
            yield item
            self.add(counts_of([item]))

    def add(self, counts: Counts) -> None:
        """Add counts, and report what was refused."""
        self._decoders.update(counts.decoders)
        self._n_words += counts.n_words
        self._left.update(counts.left)
        for error in counts.refused:
            self.end()
            click.echo(f"headwise: {self._fate}: {error}", err=True)
            self._decoders["unparsed"] += 1
        if self._progress:
            self._progress.show(self._time_left() + self._speed())

    def end(self) -> None:
        """Remove the progress line."""
        if self._progress:
            self._progress.clear()

    def summarise(self) -> None:
        """Print the totals on stderr."""
        by_count = sorted(self._decoders.items(), key=lambda pair: (-pair[1], pair[0]))
        how = ", ".join(f"{count:,} {decoder}" for decoder, count in by_count)
        click.echo(f"{self._speed()}{'; ' if how else ''}{how}", err=True)
        if self._left:
            columns = ", ".join(name.upper() for name in _PREDICTED if name in self._left)
            click.echo(f"left as in the input: {columns} (not predicted by the model)", err=True)

    def _time_left(self) -> str:
        share = self._reading.share_done(self._decoders.total())
        if share is None:
            return ""
        if share < _FIRST_SHARE:
            return "0%, "
        seconds = (time.monotonic() - self._started) * (1 - share) / share
        return f"{min(99, int(share * 100))}%, {duration(seconds)} left, "

    def _speed(self) -> str:
        n_sentences, n_words = self._decoders.total(), self._n_words
        rate = n_words / max(time.monotonic() - self._started, 1e-9)
        sentences = "sentence" if n_sentences == 1 else "sentences"
        words = "word" if n_words == 1 else "words"
        return f"{n_sentences:,} {sentences}, {n_words:,} {words}, {rate:,.0f} words/s"
