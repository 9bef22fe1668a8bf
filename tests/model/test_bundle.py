import hashlib
import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from headwise.errors import ModelError
from headwise.model.bundle import (
    FORMAT_VERSION,
    MANIFEST,
    MODELS_FOLDER,
    Description,
    find_model,
    load_bundle,
    named_models,
    slim,
    write_bundle,
)


@pytest.fixture
def model(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of a trained model that a test may damage."""
    return Path(shutil.copytree(tiny_run / "model", tmp_path / "model"))


def change_manifest(model: Path, **changes: object) -> None:
    manifest = json.loads((model / MANIFEST).read_text())
    (model / MANIFEST).write_text(json.dumps({**manifest, **changes}))


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
    assert "bytes where" in str(refused(model))
    path.unlink()
    assert "No such file" in str(refused(model))


def test_newer_format_names_the_release_that_reads_it(model: Path) -> None:
    change_manifest(
        model, format_version=FORMAT_VERSION + 1, headwise_version="9.1.0", something="new"
    )
    error = refused(model)
    assert error.hint is not None
    assert "headwise 9.1.0" in error.hint


@pytest.mark.parametrize("version", [1, 0, -1])
def test_older_formats_name_the_release_that_reads_them(model: Path, version: int) -> None:
    change_manifest(model, format_version=version)
    error = refused(model)
    assert f"format {version}; " in error.what
    assert error.hint == "headwise 0.1.0 reads older formats"


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


def test_a_size_that_cannot_be_is_refused(model: Path) -> None:
    files = json.loads((model / MANIFEST).read_text())["files"]
    for size in (-1, 2**40):
        files["vocab.json"]["size"] = size
        change_manifest(model, files=files)
        assert "vocab.json" in str(refused(model))


def test_deeply_nested_json_is_refused(model: Path) -> None:
    (model / MANIFEST).write_text('{"x":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert refused(model).hint


@pytest.mark.parametrize("label", ["a\tb", "a\nb", ""])
def test_labels_that_would_break_conllu_are_refused(label: str, model: Path) -> None:
    vocab = json.loads((model / "vocab.json").read_text())
    vocab["labels"][0] = label
    data = json.dumps(vocab).encode()
    (model / "vocab.json").write_bytes(data)
    files = json.loads((model / MANIFEST).read_text())["files"]
    files["vocab.json"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(model, files=files)
    assert "cannot be written as a label" in str(refused(model))


def test_a_folder_here_does_not_replace_a_model_of_the_package(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "en")
    monkeypatch.chdir(tmp_path)
    assert find_model("en").parent == MODELS_FOLDER
    assert find_model("./en") == Path("en")


def test_manifest_is_read_strictly(model: Path) -> None:
    original = (model / MANIFEST).read_text()
    change_manifest(model, surprise=1)
    assert "surprise" in str(refused(model))
    (model / MANIFEST).write_text(original[:-20])
    assert refused(model).hint
    (model / MANIFEST).write_text(" " * (2**20 + 1))
    assert "larger than 1 MiB" in str(refused(model))
    (model / MANIFEST).unlink()
    assert "No such file" in str(refused(model))


@pytest.mark.parametrize("name", ["../vocab.json", "/etc/passwd", "evil.py", "a/b.onnx", "..onnx"])
def test_files_outside_the_folder_are_refused(model: Path, name: str) -> None:
    files = json.loads((model / MANIFEST).read_text())["files"]
    change_manifest(model, files={**files, name: {"size": 1, "sha256": "0"}})
    assert "is not a file of a model" in str(refused(model))


def test_folder_without_vocabulary_is_refused(model: Path) -> None:
    files = json.loads((model / MANIFEST).read_text())["files"]
    del files["vocab.json"]
    change_manifest(model, files=files)
    assert "this model has no vocab.json" in str(refused(model))


def test_models_are_found_by_path_run_folder_and_name(tiny_run: Path, tmp_path: Path) -> None:
    assert find_model(str(tiny_run / "model")) == tiny_run / "model"
    assert find_model(str(tiny_run)) == tiny_run / "model"
    with pytest.raises(ModelError, match="not a model folder"):
        find_model(str(tmp_path))


def test_slim_keeps_what_parsing_needs(model: Path, tmp_path: Path) -> None:
    slim(model, tmp_path / "slim", "int8")
    files = set(load_bundle(tmp_path / "slim").manifest.files)
    graphs = {f"{graph}.int8.onnx" for graph in ("inputs", "represent", "label")}
    assert files == {"vocab.json", "select.json"} | graphs
    with pytest.raises(ModelError, match=r"this model has no represent.float32.onnx"):
        load_bundle(tmp_path / "slim").read("represent.float32.onnx")


def test_slim_keeps_the_segmenter(full_run: Path, tmp_path: Path) -> None:
    slim(full_run / "model", tmp_path / "slim", "float32")
    files = set(load_bundle(tmp_path / "slim").manifest.files)
    assert {"segment.onnx", "segment.json", "represent.float32.onnx"} < files
    assert len(files) == 7


def test_slim_keeps_what_a_transformer_needs(encoder_run: Path, tmp_path: Path) -> None:
    slim(encoder_run / "model", tmp_path / "slim", "int8")
    files = set(load_bundle(tmp_path / "slim").manifest.files)
    also = {"tokenizer.json", "encoder.json", "encoder.int8.onnx"}
    assert files == {"vocab.json", "select.onnx", "represent.int8.onnx", "label.int8.onnx"} | also


@pytest.mark.parametrize("name", ["tokenizer.json", "encoder.json"])
def test_a_transformer_without_its_files_is_refused(
    name: str, encoder_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Path(shutil.copytree(encoder_run / "model", tmp_path / "model"))
    with monkeypatch.context() as patched:
        patched.setattr("headwise.model.bundle.MAX_TOKENIZER_BYTES", 100)
        assert "larger than" in str(refused(model))
    files = json.loads((model / MANIFEST).read_text())["files"]
    del files[name]
    change_manifest(model, files=files)
    assert f"this model has no {name}" in str(refused(model))


def test_models_of_this_folder_have_a_name(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "nothing").mkdir(parents=True)
    shutil.copytree(model, tmp_path / "models" / "mine")
    assert "nothing" not in named_models()
    assert find_model("mine") == named_models()["mine"] == Path("models") / "mine"
    assert find_model("en").parent == MODELS_FOLDER
    with pytest.raises(ModelError, match="known by name: en, mine"):
        find_model("yours")


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
