"""`headwise parse --processes`: the parent cuts the input into chunks, the others parse them.

    parent -> child   sentences in CoNLL-U or CoNLL-X, and the number of their first line
    child -> parent   Done: the same in the format of the output, and their counts

The parent only looks for blank lines; in text it finds the sentences, and the children make trees.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import BinaryIO

import msgspec

from headwise.cli.streams.output import OutputFormat, written
from headwise.cli.streams.tally import Counts, counts_of
from headwise.errors import ConfigError, HeadwiseError
from headwise.grouping import shares
from headwise.runtime.parser import Annotated, Parser
from headwise.runtime.workers import Failure, FileLock, map_in_processes, require_fork
from headwise.settings.choices import Format, Input
from headwise.text.read import Opened, mark_document, open_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import OnError, blocks, read_stream

_FORMATS = ("conllu", "conllx", "json")
"""Formats in which the output of a sentence does not depend on the one before."""
_SMALLEST, _LARGEST = 64, 512
"""Sentences in a chunk: many, so that most have some of similar length; few at the start and at the
end, so that no process waits long for its first chunk, or for the last of another."""
_CHUNK_BYTES = 2**20
"""A chunk ends at this size even with few sentences, if they are long."""
_AHEAD_BYTES = 2**26
"""Bytes that are read ahead for many processes together, at most."""
_Block = tuple[int, bytes]
"""The number of the first line of a sentence, and its bytes."""


class Done(msgspec.Struct, frozen=True, array_like=True):
    """The output of a chunk, up to its end or to the first sentence that cannot be read."""

    data: bytes
    counts: Counts
    failure: Failure | None = None


def check_processes(n_threads: int, out_form: OutputFormat, device: str) -> None:
    """Raise an error for what only one process can do."""
    require_fork()
    if n_threads > 1:
        raise ConfigError(
            "--threads and --processes cannot be combined", "use --processes alone: it is faster"
        )
    if out_form not in _FORMATS:
        hint = "--format conllu or json, or -o FILE"
        raise ConfigError(f"--processes cannot be combined with --format {out_form}", hint)
    if device != "cpu":
        raise ConfigError(
            f"--processes cannot be combined with --device {device}", "one process keeps a GPU busy"
        )


def parse_in_processes(
    parser: Parser,
    source: str | BinaryIO,
    form: Input,
    out_form: OutputFormat,
    n_processes: int,
    on_error: OnError = "raise",
    document: str = "",
    on_read: Callable[[Iterable[_Block]], Iterable[_Block]] = iter,
) -> Iterator[Done]:
    """Parse a file, stdin (-) or a stream in several processes, chunk by chunk, in order.

    `document` is as in `read_any`; what is read passes through `on_read`.
    """
    with (
        open_any(source, form, why_no_text(parser.vocab.reads)) as opened,
        closing(FileLock()) as lock,
    ):
        settings = msgspec.structs.replace(
            parser.settings,
            processes=n_processes,
            first_window=parser.settings.look_ahead,  # a chunk is written as a whole
        )
        shared = parser.with_settings(settings, lock)
        conll: Format = "conllx" if opened.form == "conllx" else "conllu"  # text is CoNLL-U by then
        work = partial(_parse_chunk, shared, opened.name, conll, out_form, on_error)
        read = on_read(_blocks(opened, parser, document))
        for answer in map_in_processes(work, _chunks(read, n_processes), n_processes):
            done = msgspec.msgpack.decode(answer, type=Done)
            yield done
            if done.failure is not None:
                raise HeadwiseError(done.failure.what, done.failure.hint)


def _chunks(read: Iterable[_Block], n_processes: int) -> Iterator[bytes]:
    """Cut the input into chunks, each a share of what is known to be left."""
    for group in shares(
        read,
        lambda block: len(block[1]),
        n_processes,
        min_items=_SMALLEST,
        max_items=_LARGEST,
        max_size=_CHUNK_BYTES,
        max_ahead=_AHEAD_BYTES,
    ):
        data = b"".join(data for _, data in group)
        yield msgspec.msgpack.encode((group[0][0], data))


def _blocks(opened: Opened, parser: Parser, document: str) -> Iterator[_Block]:
    """Find sentences as bytes, each with the number of its first line."""
    if opened.form in ("conllu", "conllx"):
        for first_line, lines in blocks(opened.stream, opened.name):
            yield first_line, b"".join(lines)
    else:
        sentences = read_text(opened.text(), opened.form, parser.segmenter, opened.name)
        for sentence in mark_document(sentences, document):
            yield 1, sentence.data


def _parse_chunk(
    parser: Parser, name: str, form: Format, out_form: OutputFormat, on_error: OnError, item: bytes
) -> bytes:
    """Parse a chunk and write it, in a child."""
    first_line, data = msgspec.msgpack.decode(item, type=tuple[int, bytes])
    read = read_stream(io.BytesIO(data), name, form, on_error, first_line)
    items: list[Annotated] = []
    failure = None
    try:
        items.extend(parser.annotate(read, on_error=on_error))
    except HeadwiseError as error:
        failure = Failure(error.what, error.hint)
    output = b"".join(written(items, out_form))
    return msgspec.msgpack.encode(Done(output, counts_of(items), failure))
