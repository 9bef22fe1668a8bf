"""A model folder: `model.json`, `vocab.json`, ONNX graphs, `weights.safetensors`; no code in it.

`model.json` lists every other file with its size and SHA-256, and loading checks them all: a
folder is whole or it is refused. Which graphs are there depends on how it was written; the
weights are needed on a GPU only. Writing goes to a temporary folder beside the target, which is
renamed when it is complete.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from headwise.errors import ModelError
from headwise.settings.decoding import DecodeConfig
from headwise.settings.model import ModelConfig
from headwise.version import VERSION
from headwise.vocabulary.subwords import MAX_TOKENIZER_BYTES, SETTINGS, TOKENIZER, read_subwords
from headwise.vocabulary.vocab import Vocab, vocab_from_json

FORMAT_VERSION = 2
"""2 has `inputs` apart; 1 has not, and is read as well."""
DEFAULT_MODEL = "en"
MANIFEST = "model.json"
VOCAB = "vocab.json"
WEIGHTS = "weights.safetensors"
SELECT = "select.onnx"
PAIRS = "select.json"
INPUTS = "inputs.{}.onnx"
FILE_NAME = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*\.(json|onnx|safetensors)")
MAX_MANIFEST_BYTES = 2**20
MAX_FILE_BYTES = 2**32
DAMAGED = "the folder is damaged or was changed by hand; fetch or export it again"
MODELS_FOLDER = Path(__file__).parent.parent / "models"


class FileEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `model.json` knows of a file."""

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
    files: dict[str, FileEntry]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A model folder that was checked: every file in the manifest is there and unchanged."""

    path: Path
    manifest: Manifest
    vocab: Vocab

    def read(self, name: str) -> bytes:
        """Read a file of the folder, if the manifest has it."""
        if name not in self.manifest.files:
            held = ", ".join(sorted(self.manifest.files))
            raise ModelError(f"{self.path}: this model has no {name}", f"it has {held}")
        return _read_checked(self.path, name, self.manifest.files[name])


def find_model(name_or_path: str) -> Path:
    """Find a model by path, by the folder of its training run, or by the name of one inside."""
    path = Path(name_or_path)
    for folder in (path, path / "model"):
        if (folder / MANIFEST).is_file():
            return folder
    models = named_models()
    if name_or_path in models:
        return models[name_or_path]
    known = ", ".join(sorted(models)) or "none"
    raise ModelError(
        f"{name_or_path}: no model folder (no {MANIFEST} there)",
        f"give a folder written by headwise train; models known by name here: {known} (names are "
        "also looked up in models/ of the folder that you are in, as of headwise's repository)",
    )


def named_models() -> dict[str, Path]:
    """Find the models that have a name: in `models/` of this folder, or inside the package."""
    return {
        path.parent.name: path.parent
        for folder in (Path("models"), MODELS_FOLDER)
        for path in sorted(folder.glob(f"*/{MANIFEST}"))
    }


def load_bundle(path: Path) -> Bundle:
    """Open a model folder and check all that is in it."""
    manifest = _read_manifest(path)
    for name, entry in manifest.files.items():
        if not FILE_NAME.fullmatch(name):
            raise ModelError(f"{path / MANIFEST}: '{name}' is not a file of a model", DAMAGED)
        if name != VOCAB:
            _read_checked(path, name, entry)
    if VOCAB not in manifest.files:
        raise ModelError(f"{path / MANIFEST}: {VOCAB} is missing", DAMAGED)
    data = _read_checked(path, VOCAB, manifest.files[VOCAB])
    bundle = Bundle(path, manifest, vocab_from_json(data, str(path / VOCAB)))
    return _with_subwords(bundle) if manifest.model.encoder else bundle


def _with_subwords(bundle: Bundle) -> Bundle:
    """Add what a transformer reads; its tokenizer is opened when it is used."""
    for name in (TOKENIZER, SETTINGS):
        entry = bundle.manifest.files.get(name)
        if entry is not None and entry.size > MAX_TOKENIZER_BYTES:
            most = f"{MAX_TOKENIZER_BYTES >> 20} MiB"
            raise ModelError(f"{bundle.path / name}: larger than {most}", DAMAGED)
    subwords = read_subwords(bundle.read, str(bundle.path))
    return replace(bundle, vocab=replace(bundle.vocab, subwords=subwords))


class _Version(msgspec.Struct):
    format_version: int
    headwise_version: str = "a newer one"


def _read_manifest(path: Path) -> Manifest:
    file_path = path / MANIFEST
    try:
        with file_path.open("rb") as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except OSError as error:
        raise ModelError(f"{file_path}: {error.strerror}") from error
    if len(data) > MAX_MANIFEST_BYTES:
        raise ModelError(f"{file_path}: larger than {MAX_MANIFEST_BYTES >> 20} MiB", DAMAGED)
    try:
        written_by = msgspec.json.decode(data, type=_Version)
        if written_by.format_version > FORMAT_VERSION:
            raise ModelError(
                f"{path}: format {written_by.format_version}, and this is headwise {VERSION}, "
                f"which reads up to {FORMAT_VERSION}",
                f"it was written by headwise {written_by.headwise_version}: install that or later",
            )
        return msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelError(f"{file_path}: {error}", DAMAGED) from error


def _read_checked(path: Path, name: str, entry: FileEntry) -> bytes:
    file_path = path / name
    try:
        size = file_path.stat().st_size
        if size != entry.size or size > MAX_FILE_BYTES:
            raise ModelError(f"{file_path}: {size} bytes where {entry.size} are due", DAMAGED)
        data = file_path.read_bytes()
    except OSError as error:
        raise ModelError(f"{file_path}: {error.strerror}", DAMAGED) from error
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise ModelError(f"{file_path}: its checksum is not the one in {MANIFEST}", DAMAGED)
    return data


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a model besides its files."""

    model: ModelConfig
    decode: DecodeConfig
    provenance: Mapping[str, str]
    scores: Mapping[str, float]


def write_bundle(path: Path, description: Description, files: Mapping[str, bytes]) -> None:
    """Write a model folder whole, or not at all; one that is there already is replaced."""
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        headwise_version=VERSION,
        model=description.model,
        decode=description.decode,
        provenance=dict(description.provenance),
        scores=dict(description.scores),
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
        temporary.chmod(0o755)  # mkdtemp makes it private; a model is for all to read
        _put_in_place(temporary, path)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}", "nothing was written") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _put_in_place(temporary: Path, path: Path) -> None:
    if not path.exists():
        os.rename(temporary, path)
        return
    aside = temporary.with_name(f"{temporary.name}.old")
    os.rename(path, aside)
    os.rename(temporary, path)
    shutil.rmtree(aside)


def slim(source: Path, target: Path, precision: str) -> None:
    """Copy a model with one precision and without the weights: what is needed to parse on a CPU."""
    bundle = load_bundle(source)
    graphs = ("represent", "label", "inputs", "encoder")
    kept = [VOCAB, *(f"{graph}.{precision}.onnx" for graph in graphs)]
    also = ("segment.", "select.", TOKENIZER, SETTINGS)
    kept += [name for name in bundle.manifest.files if name.startswith(also)]
    manifest = bundle.manifest
    description = Description(manifest.model, manifest.decode, manifest.provenance, manifest.scores)
    held = [name for name in kept if name in manifest.files]
    write_bundle(target, description, {name: bundle.read(name) for name in held})
