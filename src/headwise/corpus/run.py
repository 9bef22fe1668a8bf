"""A corpus from its inputs to its manifest; what is done already is not done again.

    OUTPUT/shard-*.conllu.xz      the parses, in the order of the input
    OUTPUT/_plan.json             Plan: what was to be done
    OUTPUT/_manifest.json         Manifest: written last; a corpus that has it is complete
    OUTPUT/_quarantine.jsonl      Quarantined: documents that could not be parsed, and why

Names that begin with `_` are not data to Spark, pandas, DuckDB and Arrow.
"""

import fcntl
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from headwise.corpus.annotate import check_model
from headwise.corpus.documents import check_first_line
from headwise.corpus.engine import Engine, run_units
from headwise.corpus.plan import Form, Job, Plan, make_plan, save_plan
from headwise.corpus.shards import check_compression
from headwise.corpus.work import ATTEMPTS, Outcome, Record, explain, record_path
from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.files import whole_file
from headwise.model.bundle import find_model, load_bundle

MANIFEST = "_manifest.json"
QUARANTINE = "_quarantine.jsonl"
_HALF = re.compile(r"\.(shard-\d+|\d+|_plan|_manifest|_quarantine)\.")
"""Names that a file of ours has while it is written."""


class Totals(msgspec.Struct, frozen=True):
    """Counts of a whole corpus."""

    n_shards: int = 0
    n_documents: int = 0
    n_sentences: int = 0
    n_words: int = 0
    n_quarantined: int = 0

    def plus(self, record: Record) -> "Totals":
        """Add those of a shard."""
        return Totals(
            self.n_shards + 1,
            self.n_documents + record.n_documents,
            self.n_sentences + record.n_sentences,
            self.n_words + record.n_words,
            self.n_quarantined + record.n_quarantined,
        )


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`_manifest.json`: what made a corpus, and what is in it."""

    headwise_version: str
    job: Job
    shards: tuple[Record, ...]
    totals: Totals


def plan_corpus(inputs: Sequence[str], form: Form | None, job: Job) -> Plan:
    """Find the inputs, and refuse what cannot be done before anything is."""
    check_compression(job.format, job.compression)
    plan = make_plan(inputs, form, job)
    has_text = any(source.form != "conllu" for source in plan.sources)
    check_model(load_bundle(find_model(job.model)), has_text)
    first = next((source for source in plan.sources if source.form == "jsonl"), None)
    if first is not None:
        check_first_line(first.path, job)
    return plan


def run_plan(plan: Plan, output: Path, engine: Engine | None = None) -> Generator[Outcome]:
    """Do what a plan says, or what is left of it; the manifest is written at the end."""
    try:
        save_plan(plan, output)
        with _locked(output):
            _sweep(output)
            for outcome in run_units(plan.units(), plan.job, output, engine or Engine()):
                if outcome.error is not None:
                    raise HeadwiseError(outcome.error, outcome.hint)
                yield outcome
            _sweep(output)
            _finish(plan, output)
    except (HeadwiseError, OSError) as error:
        told = explain(error, output)
        if told is error:
            raise
        raise told from error


def read_manifest(output: Path) -> Manifest:
    """Read the manifest of a corpus that is complete."""
    path = output / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise DataError(error.strerror or "", str(path), hint="is the corpus complete?") from error


@contextmanager
def _locked(output: Path) -> Iterator[None]:
    """Let one run at a time work here; a run that was killed holds no lock."""
    folder = os.open(output, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        what = f"{output}: another run is at work here"
        raise ConfigError(what, "wait for it, or end it") from None
    except OSError:
        pass  # some shared file systems have no locks; two runs would only do the same work twice
    try:
        yield
    finally:
        os.close(folder)


def _sweep(output: Path) -> None:
    """Remove what was being written when somebody was killed."""
    for folder in (output, record_path(output, 0).parent):
        if folder.is_dir():
            for entry in os.scandir(folder):
                if _HALF.match(entry.name):
                    os.unlink(entry.path)


def _finish(plan: Plan, output: Path) -> None:
    """Write manifest and quarantine out of the records, one at a time, in order."""
    totals = Totals()
    head = msgspec.json.encode({"headwise_version": plan.headwise_version, "job": plan.job})
    with whole_file(output / MANIFEST) as manifest, whole_file(output / QUARANTINE) as quarantine:
        manifest.write(head[:-1] + b',"shards":[')
        for unit in plan.units():
            record = msgspec.json.decode(record_path(output, unit.index).read_bytes(), type=Record)
            entry = msgspec.structs.replace(record, quarantined=())
            manifest.write(b",\n" * (totals.n_shards > 0) + msgspec.json.encode(entry))
            quarantine.writelines(msgspec.json.encode(q) + b"\n" for q in record.quarantined)
            totals = totals.plus(record)
        manifest.write(b'],\n"totals":' + msgspec.json.encode(totals) + b"}\n")
    attempts = output / ATTEMPTS
    if attempts.is_dir() and not any(attempts.iterdir()):
        attempts.rmdir()
