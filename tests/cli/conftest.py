"""Models that lack something, made of those that have it."""

import hashlib
import shutil
from pathlib import Path

import msgspec
import pytest

from headwise.model.bundle import MANIFEST, MODELS_FOLDER, FileEntry, Manifest
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS

EN = MODELS_FOLDER / "en"


def change_files(folder: Path, **changes: FileEntry | None) -> None:
    """Change what the manifest lists; None takes a file away. Dots in names are written `__`."""
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    named = {name.replace("__", "."): entry for name, entry in changes.items()}
    files = {name: entry for name, entry in (manifest.files | named).items() if entry}
    changed = msgspec.structs.replace(manifest, files=files)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(changed))


@pytest.fixture(scope="session")
def without_segmenter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model that needs no tags and knows only words that were cut already."""
    folder = tmp_path_factory.mktemp("models") / "words"
    shutil.copytree(EN, folder)
    change_files(folder, segment__onnx=None, segment__json=None)
    return folder


@pytest.fixture(scope="session")
def reads_tags(tmp_path_factory: pytest.TempPathFactory, tiny_run: Path) -> Path:
    """Make a model that finds words and reads XPOS, which no text has."""
    folder = tmp_path_factory.mktemp("models") / "tags"
    shutil.copytree(tiny_run / "model", folder)
    for name in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS):
        data = (EN / name).read_bytes()
        (folder / name).write_bytes(data)
        entry = FileEntry(len(data), hashlib.sha256(data).hexdigest())
        change_files(folder, **{name.replace(".", "__"): entry})
    return folder
