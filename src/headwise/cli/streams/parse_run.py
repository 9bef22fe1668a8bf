"""The work of `headwise parse`: inputs with their parsers in, outputs on the disk."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import click

from headwise.cli.streams.inputs import ParseInput, document_ids
from headwise.cli.streams.output import OutputFormat, Screen, Target, written
from headwise.cli.streams.share import parse_in_processes
from headwise.cli.streams.tally import Reading, Tally
from headwise.files import open_file, open_target
from headwise.runtime.parser import Annotated, Parser
from headwise.settings.choices import Input, PredictedColumn
from headwise.text.read import read_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.sentence import Sentence

_PROMPT = "> "


@dataclass(frozen=True, slots=True)
class Job:
    """An input, what it is read from, and the parser for it.

    At a prompt, lines are asked for, and `on_line` gets each before it is parsed.
    """

    source: ParseInput
    opened: str | BinaryIO
    parser: Parser
    is_prompt: bool = False
    on_line: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class ParseRun:
    """How inputs are read, shared out and written."""

    form: Input
    out_form: OutputFormat
    screen: Screen
    columns: tuple[PredictedColumn, ...]
    threads: int
    processes: int
    on_error: OnError

    def write(
        self, targets: Sequence[Target], jobs: Mapping[ParseInput, Job], show_progress: bool
    ) -> Tally:
        """Write every output, one after the other; return what was counted."""
        reading = Reading(jobs)
        tally = Tally(show_progress, self.out_form, reading)
        for target in targets:
            target.make_room()
            with open_target(target.path) as stream:
                for data in self._pieces([jobs[one] for one in target.sources], reading, tally):
                    stream.write(data)
                    if self.screen.is_terminal:
                        stream.flush()
        tally.end()
        return tally

    def _pieces(self, jobs: Sequence[Job], reading: Reading, tally: Tally) -> Iterator[bytes]:
        """Parse the inputs of one output; if several, their sentences have the names of files."""
        names = document_ids([job.source for job in jobs]) if len(jobs) > 1 else [""]
        named = list(zip(jobs, names, strict=True))
        if self.processes > 1:
            return chain.from_iterable(
                self._parse_in_processes(job, name, reading, tally) for job, name in named
            )
        items = chain.from_iterable(self._parse(job, name, reading) for job, name in named)
        return written(tally.count(items), self.out_form, self.screen, self.columns)

    def _parse(self, job: Job, document: str, reading: Reading) -> Iterator[Annotated]:
        if job.is_prompt:
            return ask_and_parse(job, self.form, self.threads)
        read = read_job(job, self.form, self.on_error, reading, document)
        return job.parser.annotate(read, self.threads, self.on_error)

    def _parse_in_processes(
        self, job: Job, document: str, reading: Reading, tally: Tally
    ) -> Iterator[bytes]:
        with follow(job.opened, reading) as opened:
            for part in parse_in_processes(
                job.parser,
                opened,
                self.form,
                self.out_form,
                self.processes,
                self.on_error,
                document,
                reading.count,
            ):
                yield part.data
                tally.add(part.counts)


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
    """Return whether sentences are typed and drawn one by one; say so, or how to end the input."""
    is_stdin = any(source.is_file and source.content == "-" for source in sources)
    if not is_stdin or sys.stdin is None or not sys.stdin.isatty():
        return False
    is_prompt = draws_here and len(sources) == 1
    if not quiet:
        what = "Type a sentence and press Enter" if is_prompt else "Type or paste the input"
        click.echo(f"{what}; end with Ctrl-D.", err=True)
    return is_prompt


def ask_and_parse(job: Job, form: Input, threads: int) -> Iterator[Annotated]:
    """Parse each line that is typed as soon as it is there."""
    with suppress(ImportError):  # not on every system
        import readline  # noqa: F401 (with it, lines can be edited and recalled)
    while True:
        try:
            line = input(_PROMPT)
        except EOFError:
            click.echo()
            return
        job.on_line(line)
        yield from job.parser.annotate(_read_typed(line, form, job.parser), threads)


def _read_typed(text: str, form: Input, parser: Parser) -> Iterator[Sentence]:
    return read_text(text, "text" if form == "auto" else form, parser.segmenter)
