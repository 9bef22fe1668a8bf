"""One unit of work: parse its documents into its shard, and record the result.

    OUTPUT/shard-00000042.conllu.xz   the shard
    OUTPUT/_records/00000042.json     ShardRecord: counts, checksum, quarantined documents
    OUTPUT/_attempts/00000042         a byte for each start of a unit that is not finished yet

The shard is written before its record, both under a temporary name that is then changed. So if
there is a record there is a shard, and if the checksum still matches, the unit is done. A unit can
be handed out any number of times, even at once: the result is the same bytes.

A unit that was started `MAX_ATTEMPTS` times and never finished may have a document that kills its
worker. It is then done in a process of its own (`isolated_worker`).
"""

import errno
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from headwise.corpus.documents import Rejected, SourceDocument, read_documents
from headwise.corpus.parsing import BadDocumentError, parse_documents
from headwise.corpus.plan import CorpusJob, Unit
from headwise.corpus.shards import ShardEntry, shard_name, write_shard
from headwise.errors import DataError, HeadwiseError
from headwise.files import whole_file
from headwise.runtime.parser import Parser

RECORDS_FOLDER = "_records"
ATTEMPTS_FOLDER = "_attempts"
MAX_ATTEMPTS = 2
CONTINUES_HINT = "the same command continues where it stopped"
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class ShardRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a unit; in the manifest, without the quarantined documents."""

    shard: str
    size: int
    sha256: str
    n_documents: int
    n_sentences: int
    n_words: int
    n_quarantined: int
    quarantined: tuple[Rejected, ...] = ()


class UnitResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker returns: the record of a unit, new or from an earlier run, or an error."""

    unit: int
    n_bytes: int = 0
    record: ShardRecord | None = None
    is_new: bool = True
    error: str | None = None
    hint: str | None = None


def document_key(item: SourceDocument | Rejected) -> str:
    """Identify a document by its place in the input."""
    return f"{item.source}:{item.position}"


def record_path(output: Path, index: int) -> Path:
    """Give the path of the record of a unit."""
    return output / RECORDS_FOLDER / f"{index:08}.json"


def find_record(output: Path, unit: Unit) -> ShardRecord | None:
    """Find the record of a finished unit, if its shard is unchanged."""
    path = record_path(output, unit.index)
    try:
        record = msgspec.json.decode(path.read_bytes(), type=ShardRecord)
        with (output / Path(record.shard).name).open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return record if sha256 == record.sha256 else None


def process_unit(
    unit: Unit, output: Path, make_record: Callable[[Unit, bool], ShardRecord]
) -> UnitResult:
    """Do a unit unless it is done already.

    `make_record` writes the shard, isolated from this process if earlier attempts did not finish.
    """
    try:
        record = find_record(output, unit)
        if record is not None:
            return UnitResult(unit=unit.index, n_bytes=unit.n_bytes, record=record, is_new=False)
        n_attempts = begin_attempt(output, unit.index)
        record = make_record(unit, n_attempts >= MAX_ATTEMPTS)
        path = record_path(output, unit.index)
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as stream:
            stream.write(msgspec.json.encode(record) + b"\n")
        _attempts_path(output, unit.index).unlink(missing_ok=True)
        return UnitResult(unit=unit.index, n_bytes=unit.n_bytes, record=record)
    except (HeadwiseError, OSError) as error:
        # A worker that can report an error did not die of the unit.
        with suppress(OSError):
            _attempts_path(output, unit.index).unlink(missing_ok=True)
        explained = explain_error(error, output)
        return UnitResult(unit=unit.index, error=explained.what, hint=explained.hint)


def explain_error(error: HeadwiseError | OSError, output: Path) -> HeadwiseError:
    """Turn an error of a unit into a message with what to do next."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _DISK_FULL:
        hint = f"free some space; {CONTINUES_HINT}"
        return DataError(cause.strerror or "disk full", str(output), hint=hint)
    if isinstance(error, OSError):
        return DataError(error.strerror or str(error), str(error.filename or output))
    return error


def _attempts_path(output: Path, index: int) -> Path:
    return output / ATTEMPTS_FOLDER / f"{index:08}"


def begin_attempt(output: Path, index: int) -> int:
    """Note the start of a unit; give the number of starts before."""
    path = _attempts_path(output, index)
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as stream:
        n_before = stream.tell()
        stream.write(b".")
    return n_before


def make_shard(
    parser: Parser,
    unit: Unit,
    job: CorpusJob,
    output: Path,
    skip: Mapping[str, str] | None = None,
    on_document: Callable[[str], None] | None = None,
) -> ShardRecord:
    """Parse the documents of a unit into its shard.

    `skip` maps the keys of documents to leave out to the reason why. With `on_document` the
    documents are parsed one by one, and it is called with the key of each before.
    """
    reasons = dict(skip or {})
    counts: Counter[str] = Counter()
    quarantined: list[Rejected] = []

    def entries() -> Iterator[ShardEntry]:
        documents = _skip_documents(read_documents(unit, job), reasons, on_document)
        for item in parse_documents(parser, documents, n_together=1 if on_document else 1024):
            if isinstance(item, Rejected):
                quarantined.append(item)
                continue
            counts["documents"] += 1
            for number, (sentence, parse) in enumerate(item.sentences, 1):
                counts["sentences"] += bool(len(sentence))
                counts["words"] += len(sentence)
                yield item.document, number, sentence, parse

    name = shard_name(unit.index, job.format, job.compression)
    while True:
        try:
            size, sha256 = write_shard(
                output / name, job.format, job.compression, entries(), job.probabilities
            )
            break
        except BadDocumentError as error:  # start again without it
            reasons[document_key(error.document)] = error.error
            counts.clear()
            quarantined.clear()
    return ShardRecord(
        shard=name,
        size=size,
        sha256=sha256,
        n_documents=counts["documents"],
        n_sentences=counts["sentences"],
        n_words=counts["words"],
        n_quarantined=len(quarantined),
        quarantined=tuple(quarantined),
    )


def _skip_documents(
    documents: Iterable[SourceDocument | Rejected],
    skip: Mapping[str, str],
    on_document: Callable[[str], None] | None,
) -> Iterator[SourceDocument | Rejected]:
    for item in documents:
        key = document_key(item)
        if key in skip:
            yield Rejected(item.id, item.source, item.position, skip[key])
            continue
        if on_document is not None:
            on_document(key)
        yield item
