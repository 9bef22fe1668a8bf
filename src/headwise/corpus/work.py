"""One unit of work: its documents parsed into its shard, and a record of it.

    OUTPUT/shard-00000042.conllu.xz   the shard
    OUTPUT/_records/00000042.json     Record: counts, checksum, quarantined documents
    OUTPUT/_attempts/00000042         a byte for each time it was begun, while it is not done

The shard comes first and the record after, each under a temporary name that is then changed; so
where there is a record there is a shard, and where its checksum still holds nothing is to be done.
A unit can be given out any number of times, at once even: the same bytes come out.

A unit that was begun `MAX_DEATHS` times and never ended may hold a document that kills who parses
it; it is then done in a process of its own (`alone`).
"""

import errno
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from headwise.corpus.annotate import PoisonedError, annotate
from headwise.corpus.documents import Document, Refused, read_documents
from headwise.corpus.plan import Job, Unit
from headwise.corpus.shards import Sealed, open_shard, shard_name
from headwise.errors import DataError, HeadwiseError
from headwise.files import whole_file
from headwise.runtime.parser import Parser

RECORDS = "_records"
ATTEMPTS = "_attempts"
MAX_DEATHS = 2
MORE_ROOM = "make room and run the same command again: it goes on where it stopped"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Quarantined(msgspec.Struct, frozen=True):
    """A document that could not be parsed: a line of `_quarantine.jsonl`."""

    document: str
    source: str
    position: int
    error: str


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a unit; in the manifest, without the documents that are quarantined."""

    shard: str
    size: int
    sha256: str
    n_documents: int
    n_sentences: int
    n_words: int
    n_quarantined: int
    quarantined: tuple[Quarantined, ...] = ()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker answers: the record of a unit, new or found, or what stands in its way."""

    unit: int
    n_bytes: int = 0
    record: Record | None = None
    is_new: bool = True
    error: str | None = None
    hint: str | None = None


Skip = Mapping[str, str]
"""Documents not to parse, by `key_of`, and why."""


def key_of(item: Document | Refused) -> str:
    """Name a place in the input, of which there is one only."""
    return f"{item.source}:{item.position}"


def record_path(output: Path, index: int) -> Path:
    """Say where the record of a unit is."""
    return output / RECORDS / f"{index:08}.json"


def find_record(output: Path, unit: Unit) -> Record | None:
    """Find the record of a unit that was done before, if its shard is as it was written."""
    path = record_path(output, unit.index)
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
        with (output / Path(record.shard).name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return record if digest == record.sha256 else None


def do_unit(unit: Unit, output: Path, make: Callable[[Unit, bool], Record]) -> Outcome:
    """Do what is not done yet; `make` writes the shard, with care if that has killed before."""
    try:
        record = find_record(output, unit)
        if record is not None:
            return Outcome(unit=unit.index, n_bytes=unit.n_bytes, record=record, is_new=False)
        n_before = begin_attempt(output, unit.index)
        record = make(unit, n_before >= MAX_DEATHS)
        path = record_path(output, unit.index)
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as stream:
            stream.write(msgspec.json.encode(record) + b"\n")
        _attempts_path(output, unit.index).unlink(missing_ok=True)
        return Outcome(unit=unit.index, n_bytes=unit.n_bytes, record=record)
    except (HeadwiseError, OSError) as error:
        # Whoever can say what went wrong did not die of it.
        with suppress(OSError):
            _attempts_path(output, unit.index).unlink(missing_ok=True)
        told = explain(error, output)
        return Outcome(unit=unit.index, error=told.what, hint=told.hint)


def explain(error: HeadwiseError | OSError, output: Path) -> HeadwiseError:
    """Say what stands in the way of a unit and what to do about it."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _FULL:
        return DataError(cause.strerror or "full", str(output), hint=MORE_ROOM)
    if isinstance(error, OSError):
        return DataError(error.strerror or str(error), str(error.filename or output))
    return error


def _attempts_path(output: Path, index: int) -> Path:
    return output / ATTEMPTS / f"{index:08}"


def begin_attempt(output: Path, index: int) -> int:
    """Note that a unit is begun; give how often that was so before."""
    path = _attempts_path(output, index)
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as stream:
        n_before = stream.tell()
        stream.write(b".")
    return n_before


def make_shard(
    parser: Parser,
    unit: Unit,
    job: Job,
    output: Path,
    skip: Skip,
    begins: Callable[[str], None] | None = None,
) -> Record:
    """Parse the documents of a unit into its shard.

    With `begins` they are parsed one by one, and it is told the key of each before.
    """
    while True:
        try:
            return _make_once(parser, unit, job, output, skip, begins)
        except PoisonedError as poisoned:
            skip = {**skip, key_of(poisoned.document): poisoned.error}


def _make_once(
    parser: Parser,
    unit: Unit,
    job: Job,
    output: Path,
    skip: Skip,
    begins: Callable[[str], None] | None,
) -> Record:
    name, sealed = shard_name(unit.index, job.format, job.compression), Sealed()
    n_documents, n_sentences, n_words = 0, 0, 0
    quarantined: list[Quarantined] = []
    documents = _checked(read_documents(unit, job), skip, begins)
    with open_shard(output / name, job.format, job.compression, sealed) as shard:
        for item in annotate(parser, documents, one_by_one=begins is not None):
            if isinstance(item, Refused):
                quarantined.append(Quarantined(item.id, item.source, item.position, item.error))
                continue
            n_documents += 1
            for number, (sentence, parse) in enumerate(item.sentences, 1):
                shard.add(item.document, number, sentence, parse)
                n_sentences += bool(len(sentence))
                n_words += len(sentence)
    return Record(
        shard=name,
        size=sealed.size,
        sha256=sealed.sha256,
        n_documents=n_documents,
        n_sentences=n_sentences,
        n_words=n_words,
        n_quarantined=len(quarantined),
        quarantined=tuple(quarantined),
    )


def _checked(
    documents: Iterator[Document | Refused], skip: Skip, begins: Callable[[str], None] | None
) -> Iterator[Document | Refused]:
    """Refuse what is to be skipped, and say what comes next."""
    for item in documents:
        key = key_of(item)
        if key in skip:
            yield Refused(item.id, item.source, item.position, skip[key])
            continue
        if begins is not None:
            begins(key)
        yield item
