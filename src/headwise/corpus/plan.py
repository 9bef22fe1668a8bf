"""What is to be done, before anything is: inputs, options, model, and the cut into units of work.

    inputs -> find_files -> Source (file, form, where it can be cut)
           -> Slice (a range of one file) -> Unit (slices of about `unit_bytes`) -> shard

The cut depends on the inputs and on `unit_bytes` alone. Plain text, JSONL and CoNLL-U are cut at
any byte (see `cut`), Parquet between its row groups; what is packed is read from its start, once,
and so is a text that is one document. Small files share a unit. A plan is saved with the output;
one that differs from it is refused, so that no corpus is made of two halves that do not fit.
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

from headwise.corpus.places import Found, find_files, is_packed, open_random
from headwise.errors import ConfigError, DataError
from headwise.files import make_folder, whole_file
from headwise.model.bundle import MODELS_FOLDER, Bundle
from headwise.settings.choices import Precision
from headwise.settings.decoding import DecodeConfig
from headwise.version import VERSION

Form = Literal["text", "jsonl", "parquet", "conllu"]
Split = Literal["paragraph", "line", "file"]
ShardFormat = Literal["conllu", "parquet"]
Compression = Literal["xz", "zstd", "gzip", "snappy", "none"]

PLAN = "_plan.json"
UNIT_BYTES = 4 * 2**20
SMALLEST = 4096
"""What a file counts at least: to open one costs time, too."""
_FORMS: dict[str, Form] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conllu": "conllu",
}
_PACKED = (".gz", ".xz", ".zst", ".zstd")


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How to parse and write: all that a worker must know."""

    model: str
    """A folder, or the name of a model inside the package."""
    model_sha256: str
    precision: Precision = "int8"
    device: str = "cpu"
    decode: DecodeConfig
    keep_tags: bool = False
    split: Split = "paragraph"
    """What a document is in text: ended by a blank line, a line, or a whole file."""
    text_column: str = "text"
    id_column: str | None = None
    format: ShardFormat = "conllu"
    compression: Compression = "xz"
    unit_bytes: int = UNIT_BYTES


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A file of the input; `name` is its path below the folder that all have in common."""

    path: str
    name: str
    size: int
    modified: int
    form: Form
    can_be_cut: bool = False
    groups: tuple[int, ...] = ()
    """Row groups at which a new slice of a Parquet file begins, the first left out."""


class Slice(msgspec.Struct, frozen=True):
    """A range of a file: bytes, or row groups of Parquet; `end` is None where the file ends."""

    path: str
    name: str
    form: Form
    start: int = 0
    end: int | None = None


class Unit(msgspec.Struct, frozen=True):
    """A piece of work, and the shard of the same number."""

    index: int
    n_bytes: int
    slices: tuple[Slice, ...]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole of the work."""

    headwise_version: str = VERSION
    job: Job
    sources: tuple[Source, ...]

    @property
    def n_bytes(self) -> int:
        """Count the bytes of the input."""
        return sum(source.size for source in self.sources)

    def units(self) -> Iterator[Unit]:
        """Cut the work, in order; nothing is held."""
        index, n_bytes, n_counted, held = 0, 0, 0, list[Slice]()
        for piece, size in self._slices():
            counted = max(size, SMALLEST)
            if held and n_counted + counted > self.job.unit_bytes:
                yield Unit(index, n_bytes, tuple(held))
                index, n_bytes, n_counted, held = index + 1, 0, 0, []
            held.append(piece)
            n_bytes += size
            n_counted += counted
        if held:
            yield Unit(index, n_bytes, tuple(held))

    def _slices(self) -> Iterator[tuple[Slice, int]]:
        """Cut each file, where that can be done; give every slice with its size in bytes."""
        for source in self.sources:
            starts: Sequence[int] = [0, *source.groups]
            if source.can_be_cut:
                starts = range(0, source.size, self.job.unit_bytes)
            for start, end in zip(starts, [*starts[1:], None], strict=True):
                if source.can_be_cut:
                    size = (source.size if end is None else end) - start
                else:
                    size = source.size // len(starts)
                yield Slice(source.path, source.name, source.form, start, end), size


def make_plan(inputs: Sequence[str], form: Form | None, job: Job) -> Plan:
    """Find the inputs and see where they can be cut; `form` None goes by the names of the files."""
    found = find_files([_absolute(given) for given in inputs])
    common = _common_folder([file.path for file in found])
    sources = [_source(file, file.path[len(common) :], form, job) for file in found]
    return Plan(job=job, sources=tuple(sources))


def _absolute(given: str) -> str:
    """Make a path mean the same to every worker, wherever it runs."""
    return given if "://" in given else os.path.abspath(given)


def _common_folder(paths: Sequence[str]) -> str:
    folders = [posixpath.dirname(path) for path in paths]
    # Not commonpath, which makes `s3:/` of `s3://`.
    common = os.path.commonprefix([f"{folder}/" for folder in folders])  # noqa: RUF071
    return common[: common.rfind("/") + 1]


def form_of(name: str) -> Form:
    """Tell the form of a file by its name; what is not known otherwise is text."""
    stem, ending = posixpath.splitext(name.lower())
    if ending in _PACKED:
        ending = posixpath.splitext(stem)[1]
    return _FORMS.get(ending, "text")


def _source(file: Found, name: str, asked: Form | None, job: Job) -> Source:
    form = asked or form_of(name)
    is_large = file.size > job.unit_bytes
    is_one = form == "text" and job.split == "file"
    groups = _cut_groups(file, job.unit_bytes) if form == "parquet" and is_large else ()
    can_be_cut = form != "parquet" and is_large and not is_one and not is_packed(file.path)
    return Source(file.path, name, file.size, file.modified, form, can_be_cut, groups)


def _cut_groups(file: Found, unit_bytes: int) -> tuple[int, ...]:
    """Find the row groups at which a slice of `unit_bytes` is full."""
    with open_random(file.path) as stream:
        try:
            metadata = pq.ParquetFile(stream).metadata
        except pa.ArrowInvalid:
            return ()  # it will be quarantined when it is read
    starts, n_bytes = [], 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        size = sum(group.column(k).total_compressed_size for k in range(group.num_columns))
        if n_bytes and n_bytes + size > unit_bytes:
            starts.append(i)
            n_bytes = 0
        n_bytes += size
    return tuple(starts)


def fingerprint(bundle: Bundle) -> str:
    """Give a checksum of all files of a model."""
    files = {name: entry.sha256 for name, entry in bundle.manifest.files.items()}
    return hashlib.sha256(msgspec.json.encode(files, order="deterministic")).hexdigest()


def portable_name(path: Path) -> str:
    """Name a model so that workers find it: by its name if inside the package, by its folder."""
    folder = path.resolve()
    return folder.name if folder.parent == MODELS_FOLDER.resolve() else str(folder)


def save_plan(plan: Plan, output: Path) -> None:
    """Keep a plan with its output; where one is kept already, they must agree."""
    path = output / PLAN
    if path.exists():
        _compare(plan, _read(path), output)
        return
    if output.exists() and any(output.iterdir()):
        raise ConfigError(
            f"{output}: there are files, and no {PLAN} that says what they are",
            "give an empty folder, or a new one",
        )
    make_folder(output)
    with whole_file(path) as stream:
        stream.write(msgspec.json.encode(plan) + b"\n")


def _read(path: Path) -> Plan:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Plan)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataError(f"no plan of this release: {error}", str(path), hint=ANOTHER) from error


ANOTHER = "choose another --output, or remove this one to begin anew"


def _compare(plan: Plan, old: Plan, output: Path) -> None:
    changed = [f"headwise {old.headwise_version}"] * (plan.headwise_version != old.headwise_version)
    for name in Job.__struct_fields__:
        if name != "model" and getattr(plan.job, name) != getattr(old.job, name):
            changed.append(f"{name} = {getattr(old.job, name)!r}")
    if plan.sources != old.sources:
        was = {source.path: source for source in old.sources}
        now = {source.path: source for source in plan.sources}
        differing = sorted(path for path in was | now if was.get(path) != now.get(path))
        changed.append(f"other inputs (first: {differing[0]})")
    if changed:
        what = ", ".join(changed)
        raise ConfigError(f"{output}: it was begun with {what}", ANOTHER)
