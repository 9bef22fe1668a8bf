"""What to do, before anything is done: inputs, settings, model, and the division into units.

    inputs -> list_inputs -> Source (a file, its format, where it may be divided)
           -> Slice (a range of one file) -> Unit (slices of about `unit_bytes`) -> shard

The division depends only on the inputs and on `unit_bytes`. Uncompressed text, JSONL and CoNLL-U
are divided at any byte (see `splitting`), Parquet between its row groups. A compressed file and a
text file that is one document are read whole by one worker. Small files share a unit. The plan is
saved with the output, and a run with another plan is refused: no corpus mixes two.
"""

import hashlib
import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.storage import InputFile, is_compressed, list_inputs, open_random
from headwise.errors import ConfigError, DataError
from headwise.files import whole_file
from headwise.model.bundle import Bundle
from headwise.model.find import name_of
from headwise.settings.choices import Column, Precision
from headwise.settings.parsing import DecodeConfig
from headwise.version import VERSION

InputFormat = Literal["text", "jsonl", "parquet", "conllu"]
DocumentSplit = Literal["paragraph", "line", "file"]
ShardFormat = Literal["conllu", "parquet"]
Compression = Literal["xz", "zstd", "gzip", "snappy", "none"]

PLAN_FILE = "_plan.json"
_MIN_FILE_BYTES = 4096
"""A smaller file counts as this many bytes of a unit, because opening it takes time too."""
_FORMATS: dict[str, InputFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conllu": "conllu",
}
_COMPRESSED_SUFFIXES = (".gz", ".xz", ".zst", ".zstd")
_START_OVER = "choose another --output, or remove this folder to start over"


class CorpusJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How to parse and write: everything that a worker has to know."""

    model: str
    """A folder, or the name of a model inside the package."""
    model_sha256: str
    precision: Precision = "int8"
    device: str = "cpu"
    decode: DecodeConfig
    keep: tuple[Column, ...] = ()
    lemmas: str = ""
    """A file with lemmas that win over the model's."""
    lemmas_sha256: str = ""
    probabilities: bool = False
    """Write the probabilities of all values, in CoNLL-U into MISC; those of heads always are."""
    split: DocumentSplit = "paragraph"
    """What a document is in a text file: text between blank lines, a line, or the whole file."""
    text_column: str = "text"
    id_column: str | None = None
    format: ShardFormat = "conllu"
    compression: Compression = "xz"
    unit_bytes: int = 4 * 2**20


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A file of the input; `name` is its path below the common folder of all inputs."""

    path: str
    name: str
    size: int
    modified: int
    format: InputFormat
    is_divisible: bool = False
    """Whether it may be divided at any byte."""
    row_groups: tuple[int, ...] = ()
    """Row groups of a Parquet file at which a new slice starts, without the first."""


class Slice(msgspec.Struct, frozen=True):
    """A range of a file in bytes or Parquet row groups; `end` is None at the end of the file."""

    path: str
    name: str
    format: InputFormat
    start: int = 0
    end: int | None = None


class Unit(msgspec.Struct, frozen=True):
    """The work for one shard."""

    index: int
    n_bytes: int
    slices: tuple[Slice, ...]


class CorpusPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All the work of a corpus."""

    headwise_version: str = VERSION
    job: CorpusJob
    sources: tuple[Source, ...]

    @property
    def n_bytes(self) -> int:
        """Count the bytes of the input."""
        return sum(source.size for source in self.sources)

    def units(self) -> Iterator[Unit]:
        """Divide the work, in order, without holding the units in memory."""
        index, n_bytes, n_counted, slices = 0, 0, 0, list[Slice]()
        for piece, size in self._slices():
            counted = max(size, _MIN_FILE_BYTES)
            if slices and n_counted + counted > self.job.unit_bytes:
                yield Unit(index, n_bytes, tuple(slices))
                index, n_bytes, n_counted, slices = index + 1, 0, 0, []
            slices.append(piece)
            n_bytes += size
            n_counted += counted
        if slices:
            yield Unit(index, n_bytes, tuple(slices))

    def _slices(self) -> Iterator[tuple[Slice, int]]:
        """Divide each file where that is possible; give every slice with its size in bytes."""
        for source in self.sources:
            starts: Sequence[int] = [0, *source.row_groups]
            if source.is_divisible:
                starts = range(0, source.size, self.job.unit_bytes)
            for start, end in zip(starts, [*starts[1:], None], strict=True):
                if source.is_divisible:
                    size = (source.size if end is None else end) - start
                else:
                    size = source.size // len(starts)
                yield Slice(source.path, source.name, source.format, start, end), size


def make_plan(
    inputs: Sequence[str], input_format: InputFormat | None, job: CorpusJob
) -> CorpusPlan:
    """Find the inputs and where they may be divided; format None goes by the file names."""
    # Absolute, so that a path means the same to every worker, wherever it runs.
    files = list_inputs([path if "://" in path else os.path.abspath(path) for path in inputs])
    # Not commonpath, which turns `s3://` into `s3:/`.
    prefix = os.path.commonprefix([f"{posixpath.dirname(file.path)}/" for file in files])  # noqa: RUF071
    n_common = prefix.rfind("/") + 1
    sources = [_make_source(file, file.path[n_common:], input_format, job) for file in files]
    return CorpusPlan(job=job, sources=tuple(sources))


def guess_format(name: str) -> InputFormat:
    """Guess the format of a file from its name; text if the name does not say."""
    stem, suffix = posixpath.splitext(name.lower())
    if suffix in _COMPRESSED_SUFFIXES:
        suffix = posixpath.splitext(stem)[1]
    return _FORMATS.get(suffix, "text")


def _make_source(
    file: InputFile, name: str, input_format: InputFormat | None, job: CorpusJob
) -> Source:
    source_format = input_format or guess_format(name)
    row_groups: tuple[int, ...] = ()
    is_divisible = False
    if file.size > job.unit_bytes:
        if source_format == "parquet":
            row_groups = _divide_row_groups(file, job.unit_bytes)
        elif source_format != "text" or job.split != "file":
            is_divisible = not is_compressed(file.path)
    known = (file.path, name, file.size, file.modified, source_format)
    return Source(*known, is_divisible, row_groups)


def _divide_row_groups(file: InputFile, unit_bytes: int) -> tuple[int, ...]:
    """Find the row groups at which a slice of `unit_bytes` is full."""
    with open_random(file.path) as stream:
        try:
            metadata = pq.ParquetFile(stream).metadata
        except pa.ArrowInvalid:
            return ()  # it is quarantined when it is read
    starts, n_bytes = [], 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        size = sum(group.column(k).total_compressed_size for k in range(group.num_columns))
        if n_bytes and n_bytes + size > unit_bytes:
            starts.append(i)
            n_bytes = 0
        n_bytes += size
    return tuple(starts)


def model_fingerprint(bundle: Bundle) -> str:
    """Give a checksum of all files of a model."""
    files = {name: entry.sha256 for name, entry in bundle.manifest.files.items()}
    return hashlib.sha256(msgspec.json.encode(files, order="deterministic")).hexdigest()


def portable_model_name(path: Path) -> str:
    """Name a model so that workers find it: by name if it is installed, else by folder."""
    return name_of(path) or str(path.resolve())


def save_plan(plan: CorpusPlan, output: Path) -> None:
    """Save a plan in its output folder; if there is one already, they must agree."""
    path = output / PLAN_FILE
    if not path.exists():
        with whole_file(path) as stream:
            stream.write(msgspec.json.encode(plan) + b"\n")
        return
    try:
        old = msgspec.json.decode(path.read_bytes(), type=CorpusPlan)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = f"not a plan of this release: {error}"
        raise DataError(what, str(path), hint=_START_OVER) from error
    changed = [f"headwise {old.headwise_version}"] * (plan.headwise_version != old.headwise_version)
    for name in CorpusJob.__struct_fields__:
        if name not in ("model", "lemmas") and getattr(plan.job, name) != getattr(old.job, name):
            changed.append(f"{name} = {getattr(old.job, name)!r}")
    if plan.sources != old.sources:
        first = min(source.path for source in {*plan.sources} ^ {*old.sources})
        changed.append(f"other inputs (first difference: {first})")
    if changed:
        what = f"{output}: this corpus was started with {', '.join(changed)}"
        raise ConfigError(what, _START_OVER)
