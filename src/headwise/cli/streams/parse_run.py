"""The work of `headwise parse`: inputs with their parsers in, outputs on the disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from headwise.cli.streams.inputs import ParseInput, document_ids
from headwise.cli.streams.output import OutputFormat, Screen, written
from headwise.cli.streams.reading import Job, Reading, ask_and_parse, follow, read_job
from headwise.cli.streams.share import parse_in_processes
from headwise.cli.streams.tally import Tally
from headwise.cli.streams.targets import Target
from headwise.files import open_target
from headwise.runtime.parser import Annotated
from headwise.settings.choices import Input, PredictedColumn
from headwise.treebank.conllu import OnError


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
            return ask_and_parse(job.parser, self.form, self.threads)
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
