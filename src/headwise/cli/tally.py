"""What has passed so far, and how fast: the progress and the summary of `headwise parse`."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator

import click
import msgspec

from headwise.cli.output import Annotated
from headwise.cli.terminal import ProgressLine
from headwise.errors import plural
from headwise.treebank.conllu import Malformed


class Counts(msgspec.Struct, frozen=True):
    """Of some sentences: by which decoder they came about, their words, and why some did not."""

    ways: dict[str, int]
    n_words: int
    refused: list[str]


def counts_of(items: Iterable[Annotated]) -> Counts:
    """Count some sentences; those without words do not count."""
    ways: dict[str, int] = {}
    n_words = 0
    refused = []
    for item, parse in items:
        if isinstance(item, Malformed):
            refused.append(str(item.error))
        elif parse is not None and len(item):
            ways[parse.how] = ways.get(parse.how, 0) + 1
            n_words += len(item)
    return Counts(ways, n_words, refused)


class Tally:
    """Adds up counts, and shows them while work goes on."""

    def __init__(self, show_progress: bool, passes_refused: bool = True) -> None:
        """Start the clock; only CoNLL can pass through what was refused."""
        self._fate = "passed through unparsed" if passes_refused else "left out"
        self._progress = ProgressLine()
        self._show_progress = show_progress
        self._ways: Counter[str] = Counter()
        self._n_words, self._started = 0, time.monotonic()

    def count(self, items: Iterable[Annotated]) -> Iterator[Annotated]:
        """Let items through, and count them."""
        for item in items:
            self.add(counts_of([item]))
            yield item

    def add(self, counts: Counts) -> None:
        """Add what was counted, and report what was refused."""
        self._ways.update(counts.ways)
        self._n_words += counts.n_words
        for error in counts.refused:
            self._progress.clear()
            click.echo(f"headwise: {self._fate}: {error}", err=True)
            self._ways["unparsed"] += 1
        if self._show_progress:
            self._progress.show(self._speed())

    def end(self) -> None:
        """Take the progress away."""
        self._progress.clear()

    def summarise(self) -> None:
        """Say how it went, on stderr."""
        by_count = sorted(self._ways.items(), key=lambda pair: (-pair[1], pair[0]))
        how = ", ".join(f"{count:,} {way}" for way, count in by_count)
        click.echo(f"{self._speed()}{'; ' if how else ''}{how}", err=True)

    def _speed(self) -> str:
        rate = self._n_words / max(time.monotonic() - self._started, 1e-9)
        counts = f"{plural(self._ways.total(), 'sentence')}, {plural(self._n_words, 'word')}"
        return f"{counts}, {rate:,.0f} words/s"
