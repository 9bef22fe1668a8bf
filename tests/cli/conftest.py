"""Models that lack something, made of those that have it."""

from pathlib import Path

import pytest
from made_models import change_entry, copy_model, replace_file

from headwise.model.find import MODELS_FOLDER
from headwise.text.segmenter import SEGMENTER_FILES

EN = MODELS_FOLDER / "en"


@pytest.fixture(scope="session")
def without_segmenter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model that reads no tags and cannot find words in text."""
    model = copy_model(EN, tmp_path_factory.mktemp("models") / "words")
    for name in SEGMENTER_FILES:
        if (EN / name).exists():
            change_entry(model, name, None)
    return model


@pytest.fixture(scope="session")
def reads_tags(tmp_path_factory: pytest.TempPathFactory, tiny_run: Path) -> Path:
    """Make a model that finds words and reads XPOS, which no text has."""
    model = copy_model(tiny_run / "model", tmp_path_factory.mktemp("models") / "tags")
    for name in SEGMENTER_FILES:
        if (EN / name).exists():
            replace_file(model, name, (EN / name).read_bytes())
    return model
