"""A model folder is read whole and strictly, and written completely or not at all."""

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from made_models import change_entry, change_manifest, copy_model, replace_file

from headwise.errors import ModelError
from headwise.model.bundle import (
    FORMAT_VERSION,
    MANIFEST,
    Description,
    load_bundle,
    slim,
    write_bundle,
)


@pytest.fixture
def model(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of a trained model that a test may damage."""
    return copy_model(tiny_run / "model", tmp_path / "model")


def refused(model: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load_bundle(model)
    assert str(model) in str(caught.value)
    return caught.value


def test_whole_folder_loads(model: Path) -> None:
    bundle = load_bundle(model)
    assert bundle.manifest.provenance == {"data": "tiny"}
    assert bundle.manifest.scores["dev_uas"] > 90
    assert set(bundle.manifest.files) == {p.name for p in model.iterdir()} - {MANIFEST}
    assert "nsubj" in bundle.vocab.labels.strings


@pytest.mark.parametrize("name", ["vocab.json", "select.json", "weights.safetensors"])
def test_damaged_missing_or_cut_files_are_refused(model: Path, name: str) -> None:
    path = model / name
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "checksum" in str(refused(model))
    path.write_bytes(data[:-1])
    assert "bytes, but model.json says" in str(refused(model))
    path.unlink()
    assert "No such file" in str(refused(model))


@pytest.mark.parametrize(
    ("version", "hint"),
    [
        (FORMAT_VERSION + 1, "it was written by headwise 9.1.0: install that or later"),
        *((older, "headwise 0.1.0 reads older formats") for older in (1, 0, -1)),
    ],
)
def test_other_formats_name_the_release_that_reads_them(
    version: int, hint: str, model: Path
) -> None:
    change_manifest(model, format_version=version, headwise_version="9.1.0", something="new")
    error = refused(model)
    assert f"format {version}; " in error.what
    assert error.hint == hint


def test_each_file_is_read_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_bytes = 0

    def count(data: bytes) -> object:
        nonlocal n_bytes
        n_bytes += len(data)
        return hashlib.new("sha256", data)

    monkeypatch.setattr("headwise.model.bundle.hashlib.sha256", count)
    bundle = load_bundle(model)
    for name in bundle.manifest.files:
        bundle.read(name)
    assert n_bytes == sum(entry.size for entry in bundle.manifest.files.values())


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device"])
@pytest.mark.parametrize("name", ["vocab.json", MANIFEST])
def test_only_regular_files_are_read(kind: str, name: str, model: Path) -> None:
    path = model / name
    moved = path.rename(model.parent / "elsewhere")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(moved if kind == "link" else Path("/dev/zero"))
    assert refused(model).hint


@pytest.mark.parametrize("size", [-1, 2**40])
def test_an_impossible_size_is_refused(size: int, model: Path) -> None:
    change_entry(model, "vocab.json", {"size": size, "sha256": "0"})
    assert f"says {size} bytes" in str(refused(model))


@pytest.mark.parametrize("label", ["a\tb", "a\nb", ""])
def test_labels_that_would_break_conllu_are_refused(label: str, model: Path) -> None:
    vocab = json.loads((model / "vocab.json").read_text())
    vocab["labels"][0] = label
    replace_file(model, "vocab.json", vocab)
    assert "cannot be written as a label" in str(refused(model))


def test_manifest_is_read_strictly(model: Path) -> None:
    original = (model / MANIFEST).read_text()
    change_manifest(model, surprise=1)
    assert "surprise" in str(refused(model))
    (model / MANIFEST).write_text(original[:-20])
    assert refused(model).hint
    (model / MANIFEST).write_text('{"x":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert refused(model).hint
    (model / MANIFEST).write_text(" " * (2**20 + 1))
    assert "larger than 1 MiB" in str(refused(model))
    (model / MANIFEST).unlink()
    assert "No such file" in str(refused(model))


@pytest.mark.parametrize("name", ["../vocab.json", "/etc/passwd", "evil.py", "a/b.onnx", "..onnx"])
def test_files_outside_the_folder_are_refused(model: Path, name: str) -> None:
    change_entry(model, name, {"size": 1, "sha256": "0"})
    assert "cannot be a file of a model" in str(refused(model))


def test_folder_without_vocabulary_is_refused(model: Path) -> None:
    change_entry(model, "vocab.json", None)
    assert "this model has no vocab.json" in str(refused(model))


SEGMENTER = {"segment.onnx", "segment.json"}
SLIM = {
    "tiny_run": {"inputs.int8.onnx", "select.json"},
    "full_run": {"inputs.int8.onnx", "columns.int8.onnx", "select.json", *SEGMENTER},
    "columns_run": {
        "inputs.int8.onnx",
        "columns.int8.onnx",
        "select.json",
        "lexicon.json.xz",
        *SEGMENTER,
    },
    "encoder_run": {
        "select.onnx",
        "tokenizer.json",
        "encoder.json",
        "subwords.int8.onnx",
        "encoder.int8.onnx",
    },
}


@pytest.mark.parametrize(("run", "others"), SLIM.items(), ids=SLIM)
def test_slim_keeps_what_parsing_needs(
    run: str, others: set[str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    slim(request.getfixturevalue(run) / "model", tmp_path / "slim", "int8")
    bundle = load_bundle(tmp_path / "slim")
    graphs = {"represent.int8.onnx", "label.int8.onnx"}
    assert set(bundle.manifest.files) == {"vocab.json"} | graphs | others
    with pytest.raises(ModelError, match=r"this model has no represent.float32.onnx"):
        bundle.read("represent.float32.onnx")


@pytest.mark.parametrize("name", ["tokenizer.json", "encoder.json"])
def test_a_transformer_without_its_files_is_refused(
    name: str, encoder_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = copy_model(encoder_run / "model", tmp_path / "model")
    with monkeypatch.context() as patched:
        patched.setattr("headwise.model.bundle.MAX_TOKENIZER_BYTES", 100)
        assert "larger than" in str(refused(model))
    change_entry(model, name, None)
    assert f"this model has no {name}" in str(refused(model))


def description(model: Path) -> Description:
    manifest = load_bundle(model).manifest
    return Description(manifest.model, manifest.decode, {}, {})


def test_writing_replaces_a_folder_whole_and_leaves_nothing_else(model: Path) -> None:
    vocab = (model / "vocab.json").read_bytes()
    write_bundle(model, description(model), {"vocab.json": vocab})
    assert sorted(p.name for p in model.iterdir()) == [MANIFEST, "vocab.json"]
    assert [p.name for p in model.parent.iterdir()] == ["model"]
    assert stat.S_IMODE(model.stat().st_mode) == 0o755
    load_bundle(model)


def test_failed_writing_leaves_the_old_folder(model: Path) -> None:
    before = {p.name: p.read_bytes() for p in model.iterdir()}
    with pytest.raises(ModelError, match="nothing was written"):
        write_bundle(model, description(model), {"no/such/folder.json": b""})
    assert {p.name: p.read_bytes() for p in model.iterdir()} == before
    assert [p.name for p in model.parent.iterdir()] == ["model"]


def test_writing_where_no_folder_can_be_says_so(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"Not a directory|File exists"):
        write_bundle(tmp_path / "file" / "model", description(model), {})
