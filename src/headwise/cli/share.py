"""`headwise parse --processes`: who reads cuts the input into chunks, others parse and write them.

    parent -> child   Chunk: sentences as they stand in CoNLL-U or CoNLL-X
    child -> parent   Done: the same in the format of the output, and the counts of it

The parent only looks for blank lines; in text it finds the sentences, and their trees are made
elsewhere.
"""

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec

from headwise.cli.output import OutputFormat, Screen, written
from headwise.cli.tally import Counts, counts_of
from headwise.errors import ConfigError, HeadwiseError
from headwise.grouping import shares
from headwise.runtime.parser import Annotated, Parser
from headwise.runtime.workers import Failure, FileLock, as_utf8, map_in_processes, require_fork
from headwise.settings.choices import Format
from headwise.text.read import Opened
from headwise.text.segmenter import read_text
from headwise.treebank.conllu import OnError, as_bytes, blocks, read_stream

FORMATS = ("conllu", "conllx", "json")
"""Those in which what comes after a sentence does not depend on what came before it."""
SMALLEST, LARGEST = 64, 512
"""Sentences in a chunk: many, of which most find some of their length; few at the start and at the
end, so that no process waits long for the first or for the others."""
CHUNK_BYTES = 2**20
"""A chunk ends at this size, though it has few sentences: long ones go alone."""
AHEAD_BYTES = 2**26
"""What is read ahead for many processes together, at the most."""
Block = tuple[int, bytes]
"""The number of its first line, and a sentence."""


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Some sentences, and the number of the first line of them."""

    first_line: int
    data: bytes


class Done(msgspec.Struct, frozen=True, array_like=True):
    """What has become of a chunk, up to its end or to what could not be read."""

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


def check_processes(n_processes: int, n_threads: int, out_form: OutputFormat, device: str) -> None:
    """Refuse what only one process can do."""
    if n_processes == 1:
        return
    require_fork()
    if n_threads > 1:
        raise ConfigError("--threads and --processes: one of them", "processes do more")
    if out_form not in FORMATS:
        hint = "--format conllu or json, or -o FILE"
        raise ConfigError(f"--processes: not with --format {out_form}", hint)
    if device != "cpu":
        raise ConfigError(f"--processes: not with --device {device}", "one process fills a GPU")


def parse_in_processes(job: Job, opened: Opened, n_processes: int) -> Iterator[Done]:
    """Parse what was opened in so many processes, chunk by chunk, in order."""
    form: Format = "conllx" if opened.form == "conllx" else "conllu"  # as text is by then
    groups = shares(
        _blocks(opened, job.parser),
        lambda block: len(block[1]),
        n_processes,
        min_items=SMALLEST,
        max_items=LARGEST,
        max_size=CHUNK_BYTES,
        max_ahead=AHEAD_BYTES,
    )
    chunks = (
        msgspec.msgpack.encode(Chunk(group[0][0], b"".join(data for _, data in group)))
        for group in groups
    )
    with closing(FileLock()) as lock:
        settings = msgspec.structs.replace(job.parser.settings, processes=n_processes)
        shared = replace(job, parser=job.parser.with_settings(settings, lock))

        def work(item: bytes) -> bytes:
            return _do(shared, opened.name, form, item)

        for answer in map_in_processes(work, chunks, n_processes):
            done = msgspec.msgpack.decode(answer, type=Done)
            yield done
            if done.failure is not None:
                raise HeadwiseError(done.failure.what, done.failure.hint)


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


def _blocks(opened: Opened, parser: Parser) -> Iterator[Block]:
    if opened.form in ("conllu", "conllx"):
        for first_line, lines in blocks(opened.stream, opened.name):
            yield first_line, b"".join(lines)
    else:
        for sentence in read_text(opened.text(), opened.form, parser.segmenter, opened.name):
            yield 1, as_bytes(sentence)
