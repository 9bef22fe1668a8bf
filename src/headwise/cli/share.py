"""`headwise parse --processes`: the parent cuts the input into chunks, the others parse them.

    parent -> child   Chunk: sentences as they stand in CoNLL-U or CoNLL-X
    child -> parent   Done: the same in the format of the output, and their counts

The parent only looks for blank lines; in text it finds the sentences, and the children make trees.
"""

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec

from headwise.cli.output import Counts, OutputFormat, Screen, counts_of, written
from headwise.errors import ConfigError, HeadwiseError
from headwise.grouping import shares
from headwise.runtime.parser import Annotated, Parser
from headwise.runtime.workers import Failure, FileLock, as_utf8, map_in_processes, require_fork
from headwise.settings.choices import Format, Input
from headwise.text.read import Opened, open_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import OnError, blocks, read_stream

_FORMATS = ("conllu", "conllx", "json")
"""Formats in which the output of a sentence does not depend on the one before."""
_SMALLEST, _LARGEST = 64, 512
"""Sentences in a chunk: many, so that most have some of similar length; few at the start and at the
end, so that no process waits long for its first chunk, or for the last of another."""
_CHUNK_BYTES = 2**20
"""A chunk ends at this size even with few sentences: long ones go alone."""
_AHEAD_BYTES = 2**26
"""Bytes that are read ahead for many processes together, at most."""


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Some sentences, and the number of their first line."""

    first_line: int
    data: bytes


class Done(msgspec.Struct, frozen=True, array_like=True):
    """The output of a chunk, up to its end or to the first sentence that cannot be read."""

    data: bytes
    counts: Counts
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """How sentences are parsed and written."""

    parser: Parser
    on_error: OnError
    out_form: OutputFormat
    screen: Screen


def check_processes(n_threads: int, out_form: OutputFormat, device: str) -> None:
    """Refuse what only one process can do."""
    require_fork()
    if n_threads > 1:
        raise ConfigError("--threads and --processes: one of them", "processes do more")
    if out_form not in _FORMATS:
        hint = "--format conllu or json, or -o FILE"
        raise ConfigError(f"--processes: not with --format {out_form}", hint)
    if device != "cpu":
        raise ConfigError(f"--processes: not with --device {device}", "one process fills a GPU")


def parse_in_processes(job: Job, source: str, form: Input, n_processes: int) -> Iterator[Done]:
    """Parse a file or stdin (-) in several processes, chunk by chunk, in order."""
    with (
        open_any(source, form, why_no_text(job.parser.vocab.reads)) as opened,
        closing(FileLock()) as lock,
    ):
        settings = msgspec.structs.replace(
            job.parser.settings,
            processes=n_processes,
            first_window=job.parser.settings.look_ahead,  # a chunk is written as a whole
        )
        shared = replace(job, parser=job.parser.with_settings(settings, lock))
        conll: Format = "conllx" if opened.form == "conllx" else "conllu"  # text is CoNLL-U by then

        def work(item: bytes) -> bytes:
            return _do(shared, opened.name, conll, item)

        for answer in map_in_processes(work, _chunks(opened, job.parser, n_processes), n_processes):
            done = msgspec.msgpack.decode(answer, type=Done)
            yield done
            if done.failure is not None:
                raise HeadwiseError(done.failure.what, done.failure.hint)


def _chunks(opened: Opened, parser: Parser, n_processes: int) -> Iterator[bytes]:
    """Cut the input into chunks, each a share of what is known to be left."""
    for group in shares(
        _blocks(opened, parser),
        lambda block: len(block[1]),
        n_processes,
        min_items=_SMALLEST,
        max_items=_LARGEST,
        max_size=_CHUNK_BYTES,
        max_ahead=_AHEAD_BYTES,
    ):
        data = b"".join(data for _, data in group)
        yield msgspec.msgpack.encode(Chunk(group[0][0], data))


def _blocks(opened: Opened, parser: Parser) -> Iterator[tuple[int, bytes]]:
    """Find sentences as bytes, each with the number of its first line."""
    if opened.form in ("conllu", "conllx"):
        for first_line, lines in blocks(opened.stream, opened.name):
            yield first_line, b"".join(lines)
    else:
        for sentence in read_text(opened.text(), opened.form, parser.segmenter, opened.name):
            yield 1, sentence.data


def _do(job: Job, name: str, form: Format, item: bytes) -> bytes:
    """Parse a chunk and write it, in a child."""
    chunk = msgspec.msgpack.decode(item, type=Chunk)
    stream = io.BytesIO(chunk.data)
    read = read_stream(stream, name, form, job.on_error, chunk.first_line)
    items: list[Annotated] = []
    failure = None
    try:
        items.extend(job.parser.annotate(read, on_error=job.on_error))
    except HeadwiseError as error:
        failure = Failure.of(error)
    data = b"".join(written(items, job.out_form, job.screen))
    counts = counts_of(items)
    sent = msgspec.structs.replace(counts, refused=list(map(as_utf8, counts.refused)))
    return msgspec.msgpack.encode(Done(data, sent, failure))
