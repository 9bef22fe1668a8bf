"""`headwise parse --processes`: who reads cuts the input into chunks, others parse and write them.

    parent -> child   Chunk: sentences as they stand in CoNLL-U or CoNLL-X
    child -> parent   Done: the same in the format of the output, and the counts of it

The parent only looks for blank lines; in text it finds the sentences, and their trees are made
elsewhere.
"""

import io
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import msgspec

from headwise.cli.output import OutputFormat, Screen, written
from headwise.cli.tally import Counts, counts_of
from headwise.errors import ConfigError, HeadwiseError
from headwise.runtime.grouping import AHEAD, until_error
from headwise.runtime.parser import CHUNK, Parser
from headwise.runtime.workers import Failure, Turn, as_utf8, map_in_processes, require_fork
from headwise.settings.choices import Format
from headwise.text.read import Opened
from headwise.text.segmenter import read_text
from headwise.treebank.conllu import OnError, as_bytes, blocks, read_stream

FORMATS = ("conllu", "conllx", "json")
"""Those in which what comes after a sentence does not depend on what came before it."""
SMALLEST, LARGEST = CHUNK // 2, AHEAD * CHUNK
"""Sentences in a chunk: many, of which most find some of their length; few at the start and at the
end, so that no process waits long for the first or for the others."""
CHUNK_BYTES = 2**20
"""A chunk ends at this size, though it has few sentences: long ones go alone."""
AHEAD_BYTES = 2**26
"""What is read ahead for many processes together, at the most."""
SHARES = 2
"""Chunks for each process that what is read ahead is cut into."""
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
    chunks = map(msgspec.msgpack.encode, _chunks(_blocks(opened, job.parser), n_processes))
    with closing(Turn()) as turn:

        def work(item: bytes) -> bytes:
            job.parser.share_budget(n_processes, turn)  # that of the child, not of the parent
            return _do(job, opened.name, form, item)

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
    errors: list[Exception] = []
    window = list(until_error(job.parser.checked(read, job.on_error), errors))
    items = job.parser.annotate_window(window)
    data = b"".join(written(items, job.out_form, job.screen))
    counts = counts_of(items)
    sent = msgspec.structs.replace(counts, refused=list(map(as_utf8, counts.refused)))
    return msgspec.msgpack.encode(Done(data, sent, _failure_of(errors)))


def _failure_of(errors: Sequence[Exception]) -> Failure | None:
    """Put an error of ours into words; any other is raised here and now."""
    for error in errors:
        if not isinstance(error, HeadwiseError):
            raise error
        return Failure.of(error)
    return None


def _blocks(opened: Opened, parser: Parser) -> Iterator[Block]:
    if opened.form in ("conllu", "conllx"):
        for first_line, lines in blocks(opened.stream, opened.name):
            yield first_line, b"".join(lines)
    else:
        for sentence in read_text(opened.text(), opened.form, parser.segmenter, opened.name):
            yield 1, as_bytes(sentence)


def _chunks(found: Iterable[Block], n_processes: int) -> Iterator[Chunk]:
    """Cut into chunks, each a share of what is left, as far as that is known.

    So all end at about the same time. What cannot be read is an error at its place in the order.
    """
    errors: list[Exception] = []
    source = until_error(found, errors)
    n_shares = SHARES * n_processes
    ahead: deque[Block] = deque()
    most = SMALLEST
    for _ in range(n_processes):  # what each begins with
        if size := _read_ahead(ahead, source, SMALLEST, CHUNK_BYTES):
            yield _take(ahead, size)
    most_bytes = min(n_shares * CHUNK_BYTES, AHEAD_BYTES)
    while size := _read_ahead(ahead, source, n_shares * most, most_bytes):
        yield _take(ahead, min(size // n_shares, CHUNK_BYTES))
        most = min(2 * most, LARGEST)
    if errors:
        raise errors[0]


def _read_ahead(ahead: deque[Block], source: Iterator[Block], most: int, most_bytes: int) -> int:
    """Fill up to so many sentences or bytes; count the bytes there are."""
    size = sum(len(data) for _, data in ahead)
    while len(ahead) < most and size < most_bytes and (block := next(source, None)):
        ahead.append(block)
        size += len(block[1])
    return size


def _take(ahead: deque[Block], n_bytes: int) -> Chunk:
    """Take a chunk of so many bytes; more, if these are less than a few sentences."""
    first_line, data = ahead.popleft()
    parts, size = [data], len(data)
    while ahead and len(parts) < LARGEST:
        _, data = ahead[0]
        wanted = n_bytes if len(parts) >= SMALLEST else CHUNK_BYTES
        if size + len(data) > wanted:
            break
        ahead.popleft()
        parts.append(data)
        size += len(data)
    return Chunk(first_line, b"".join(parts))
