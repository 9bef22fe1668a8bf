"""A model folder: `model.json`, `vocab.json`, ONNX graphs, `weights.safetensors`; no code in it.

`model.json` lists every other file with its size and SHA-256, and loading checks them all: a folder
that is incomplete or changed is refused. Nothing outside the folder is read: links and special
files are refused too. Which graphs it has depends on the model; the weights are needed on a GPU
only. Writing goes to a temporary folder beside the target, which is renamed when it is complete.
"""

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from headwise.errors import ModelError
from headwise.settings.about import About
from headwise.settings.model import ModelConfig
from headwise.settings.parsing import DecodeConfig
from headwise.version import VERSION
from headwise.vocabulary.lexicon import unpack_lexicon
from headwise.vocabulary.subwords import MAX_TOKENIZER_BYTES, SETTINGS, TOKENIZER, read_subwords
from headwise.vocabulary.vocab import EMPTY_INDEX, Vocab, vocab_from_json

FORMAT_VERSION = 2
LAST_WITH_FORMAT_1 = "0.1.0"
MANIFEST = "model.json"
VOCAB = "vocab.json"
LEXICON = "lexicon.json.xz"
WEIGHTS = "weights.safetensors"
SELECT = "select.onnx"
PAIR_WEIGHTS = "select.json"
INPUTS = "inputs.{}.onnx"
COLUMNS = "columns.{}.onnx"
_FILE_NAME = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*\.(json|json\.xz|onnx|safetensors)")
_MAX_MANIFEST_BYTES = 2**20
_MAX_FILE_BYTES = 2**32
DAMAGED = "the folder is damaged or was changed by hand; fetch or export it again"
NOTHING_SAID = About()
NO_VOCAB = Vocab(EMPTY_INDEX, EMPTY_INDEX, EMPTY_INDEX, "none")


class FileEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The size and checksum of a file."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`model.json`: what the model is, where it comes from and what belongs to it."""

    format_version: int
    headwise_version: str
    model: ModelConfig
    decode: DecodeConfig
    provenance: dict[str, str] = {}
    """Data, command, seed, machine: whatever a reader needs to make it again."""
    scores: dict[str, float] = {}
    """What training measured on dev."""
    about: About = NOTHING_SAID
    """Language, licence and data, once the model is packaged."""
    files: dict[str, FileEntry]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A model folder whose files were all read and checked, each once.

    A parser does not hold on to it, so the memory is free again once the graphs are open.
    """

    path: Path
    manifest: Manifest
    contents: Mapping[str, bytes] = field(repr=False)
    vocab: Vocab = NO_VOCAB

    @property
    def can_learn(self) -> bool:
        """Whether training can start from it: it has weights, or graphs to read them back from."""
        return WEIGHTS in self.contents or INPUTS.format("int8") in self.contents

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, if the manifest lists it."""
        if name not in self.contents:
            names = ", ".join(sorted(self.contents))
            raise ModelError(f"{self.path}: this model has no {name}", f"it has {names}")
        return self.contents[name]


def load_bundle(path: Path) -> Bundle:
    """Open a model folder, and read and check all files in it."""
    manifest = open_manifest(path)
    contents: dict[str, bytes] = {}
    for name, entry in manifest.files.items():
        if not _FILE_NAME.fullmatch(name):
            raise ModelError(f"{path / MANIFEST}: '{name}' cannot be a file of a model", DAMAGED)
        if name in (TOKENIZER, SETTINGS) and entry.size > MAX_TOKENIZER_BYTES:
            limit = f"{MAX_TOKENIZER_BYTES >> 20} MiB"
            raise ModelError(f"{path / name}: larger than {limit}", DAMAGED)
        contents[name] = _read_checked(path / name, entry)
    bundle = Bundle(path, manifest, contents)
    vocab = vocab_from_json(bundle.read(VOCAB), str(path / VOCAB))
    if LEXICON in contents:
        lexicon = unpack_lexicon(bundle.read(LEXICON), str(path / LEXICON))
        vocab = replace(vocab, lexicon=lexicon)
    if manifest.model.encoder:  # its tokenizer is opened when it is used
        vocab = replace(vocab, subwords=read_subwords(bundle.read, str(path)))
    return replace(bundle, vocab=vocab)


class _Version(msgspec.Struct):
    format_version: int
    headwise_version: str = "a newer one"


def open_manifest(path: Path) -> Manifest:
    """Read `model.json`, without the files that it lists."""
    file_path = path / MANIFEST
    data = _read_regular(file_path, _MAX_MANIFEST_BYTES)
    if len(data) > _MAX_MANIFEST_BYTES:
        raise ModelError(f"{file_path}: larger than {_MAX_MANIFEST_BYTES >> 20} MiB", DAMAGED)
    try:
        written_by = msgspec.json.decode(data, type=_Version)
        if written_by.format_version != FORMAT_VERSION:
            is_newer = written_by.format_version > FORMAT_VERSION
            raise ModelError(
                f"{path}: format {written_by.format_version}; headwise {VERSION} reads format "
                f"{FORMAT_VERSION}",
                f"it was written by headwise {written_by.headwise_version}: install that or later"
                if is_newer
                else f"headwise {LAST_WITH_FORMAT_1} reads older formats",
            )
        return msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{file_path}: {error}", DAMAGED) from error


def _read_checked(path: Path, entry: FileEntry) -> bytes:
    if not 0 <= entry.size <= _MAX_FILE_BYTES:
        raise ModelError(f"{path}: {MANIFEST} says {entry.size} bytes", DAMAGED)
    data = _read_regular(path, entry.size)
    if len(data) != entry.size:
        size = f"more than {entry.size}" if len(data) > entry.size else f"{len(data)}"
        raise ModelError(f"{path}: {size} bytes, but {MANIFEST} says {entry.size}", DAMAGED)
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise ModelError(f"{path}: its checksum differs from the one in {MANIFEST}", DAMAGED)
    return data


def _read_regular(path: Path, n_bytes: int) -> bytes:
    """Read up to one byte more than `n_bytes`; no link is followed, and no pipe waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ModelError(f"{path}: not a regular file", DAMAGED)
            return stream.read(n_bytes + 1)
    except OSError as error:
        what = "a link, not a file" if error.errno == errno.ELOOP else error.strerror
        raise ModelError(f"{path}: {what}", DAMAGED) from error


@dataclass(frozen=True, slots=True)
class Description:
    """The part of `model.json` that does not follow from the files."""

    model: ModelConfig
    decode: DecodeConfig
    provenance: Mapping[str, str]
    scores: Mapping[str, float]
    about: About = NOTHING_SAID


def write_bundle(
    path: Path, description: Description | Manifest, files: Mapping[str, bytes]
) -> None:
    """Write a model folder completely or not at all; an existing one is replaced."""
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        headwise_version=VERSION,
        model=description.model,
        decode=description.decode,
        provenance=dict(description.provenance),
        scores=dict(description.scores),
        about=description.about,
        files={
            name: FileEntry(len(data), hashlib.sha256(data).hexdigest())
            for name, data in sorted(files.items())
        },
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    try:
        for name, data in files.items():
            (temporary / name).write_bytes(data)
        readable = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        (temporary / MANIFEST).write_bytes(readable + b"\n")
        temporary.chmod(0o755)  # mkdtemp makes it private; a model is for everyone
        aside = temporary.with_name(f"{temporary.name}.old")
        if path.exists():
            os.rename(path, aside)
        os.rename(temporary, path)
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}", "nothing was written") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def needed_on_cpu(bundle: Bundle, precision: str) -> dict[str, bytes]:
    """Give the files that parsing on a CPU needs: one precision, and no weights."""
    graphs = ("represent", "label", "inputs", "columns", "subwords", "encoder")
    kept = [VOCAB, LEXICON, *(f"{graph}.{precision}.onnx" for graph in graphs)]
    return {
        name: data
        for name, data in bundle.contents.items()
        if name in kept or name.startswith(("segment.", "select.", TOKENIZER, SETTINGS))
    }


def slim(source: Path, target: Path, precision: str) -> None:
    """Copy a model with one precision and without the weights."""
    bundle = load_bundle(source)
    write_bundle(target, bundle.manifest, needed_on_cpu(bundle, precision))
