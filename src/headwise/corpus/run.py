"""Make a corpus from its inputs to its manifest; what is finished is not done again.

    OUTPUT/shard-*.conllu.xz      the parses, in the order of the input
    OUTPUT/_plan.json             CorpusPlan: what to do
    OUTPUT/_manifest.json         CorpusManifest: written last; a corpus that has it is complete
    OUTPUT/_quarantine.jsonl      Quarantined: documents that could not be parsed, and why
    OUTPUT/_lock                  locked while a run is working here

Spark, pandas, DuckDB and Arrow do not read files whose names start with `_`.
"""

import fcntl
import os
import re
import socket
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from headwise.corpus.documents import check_first_line
from headwise.corpus.engine import Engine, run_units
from headwise.corpus.parsing import check_model
from headwise.corpus.plan import (
    PLAN_FILE,
    CorpusJob,
    CorpusPlan,
    InputFormat,
    make_plan,
    save_plan,
)
from headwise.corpus.shards import check_compression
from headwise.corpus.units import (
    ATTEMPTS_FOLDER,
    ShardRecord,
    UnitResult,
    explain_error,
    record_path,
)
from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.files import make_folder, whole_file
from headwise.model.bundle import load_bundle
from headwise.model.find import find_model

MANIFEST_FILE = "_manifest.json"
QUARANTINE_FILE = "_quarantine.jsonl"
LOCK_FILE = "_lock"
_TEMPORARY = re.compile(r"\.(shard-\d+|\d+|_plan|_manifest|_quarantine)\.")
"""The names of our files while they are written."""


class Totals(msgspec.Struct, frozen=True):
    """Counts of a whole corpus."""

    n_shards: int = 0
    n_documents: int = 0
    n_sentences: int = 0
    n_words: int = 0
    n_quarantined: int = 0


class CorpusManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`_manifest.json`: what made a corpus, and what is in it."""

    headwise_version: str
    job: CorpusJob
    shards: tuple[ShardRecord, ...]
    totals: Totals


def plan_corpus(
    inputs: Sequence[str], input_format: InputFormat | None, job: CorpusJob
) -> CorpusPlan:
    """Find the inputs, and refuse what cannot be done before anything is."""
    check_compression(job.format, job.compression)
    plan = make_plan(inputs, input_format, job)
    has_text = any(source.format != "conllu" for source in plan.sources)
    check_model(load_bundle(find_model(job.model)), has_text)
    first = next((source for source in plan.sources if source.format == "jsonl"), None)
    if first is not None:
        check_first_line(first.path, job)
    return plan


def run_plan(plan: CorpusPlan, output: Path, engine: Engine | None = None) -> Generator[UnitResult]:
    """Do what is left of a plan; the manifest is written at the end."""
    try:
        _check_folder(output)
        make_folder(output)
        with _lock(output) as is_locked:
            # Without a lock there may be another run, and its temporary files are in use.
            if is_locked:
                _remove_temporary_files(output)
            save_plan(plan, output)
            for result in run_units(plan.units(), plan.job, output, engine or Engine()):
                if result.error is not None:
                    raise HeadwiseError(result.error, result.hint)
                yield result
            if is_locked:
                _remove_temporary_files(output)
            _write_manifest(plan, output)
    except (HeadwiseError, OSError) as error:
        explained = explain_error(error, output)
        if explained is error:
            raise
        raise explained from error


def read_manifest(output: Path) -> CorpusManifest:
    """Read the manifest of a complete corpus."""
    path = output / MANIFEST_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=CorpusManifest)
    except OSError as error:
        hint = "check that the corpus is complete"
        raise DataError(error.strerror or "", str(path), hint=hint) from error


def _check_folder(output: Path) -> None:
    """Refuse a folder with files that are not ours."""
    if not output.is_dir() or (output / PLAN_FILE).exists():
        return
    for path in output.iterdir():
        if path.name != LOCK_FILE and not _TEMPORARY.match(path.name):
            what = f"{output}: the folder has files but no {PLAN_FILE}"
            raise ConfigError(what, "choose a new or an empty folder")


@contextmanager
def _lock(output: Path) -> Iterator[bool]:
    """Let one run at a time work here; the lock dies with its process.

    Gives False on a file system without locks: two runs there do the same work twice, without harm.
    """
    with (output / LOCK_FILE).open("a+") as file:
        is_locked = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown process"
            what = f"{output}: another run is working in this folder ({holder})"
            raise ConfigError(what, "wait until it ends, or stop it") from None
        except OSError:
            is_locked = False
        else:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
        try:
            yield is_locked
        finally:
            if is_locked:
                file.truncate(0)


def _remove_temporary_files(output: Path) -> None:
    """Remove files that were being written when a worker or an earlier run was killed."""
    for folder in (output, record_path(output, 0).parent):
        if folder.is_dir():
            for entry in os.scandir(folder):
                if _TEMPORARY.match(entry.name):
                    os.unlink(entry.path)


def _write_manifest(plan: CorpusPlan, output: Path) -> None:
    """Write manifest and quarantine from the records, one at a time, in order."""
    totals: Counter[str] = Counter()
    head = msgspec.json.encode({"headwise_version": plan.headwise_version, "job": plan.job})
    manifest_path, quarantine_path = output / MANIFEST_FILE, output / QUARANTINE_FILE
    with whole_file(manifest_path) as manifest, whole_file(quarantine_path) as quarantine:
        manifest.write(head[:-1] + b',"shards":[')
        for unit in plan.units():
            path = record_path(output, unit.index)
            record = msgspec.json.decode(path.read_bytes(), type=ShardRecord)
            entry = msgspec.structs.replace(record, quarantined=())
            manifest.write(b",\n" * (totals["n_shards"] > 0) + msgspec.json.encode(entry))
            quarantine.writelines(msgspec.json.encode(q) + b"\n" for q in record.quarantined)
            totals["n_shards"] += 1
            for name in ("n_documents", "n_sentences", "n_words", "n_quarantined"):
                totals[name] += getattr(record, name)
        manifest.write(b'],\n"totals":' + msgspec.json.encode(Totals(**totals)) + b"}\n")
    attempts = output / ATTEMPTS_FOLDER
    if attempts.is_dir() and not any(attempts.iterdir()):
        attempts.rmdir()
