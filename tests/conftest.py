"""A parser that was really trained, once for all tests: small, on 60 real sentences, to overfit."""

from pathlib import Path

import pytest

from headwise import Sentence, read_sentences
from headwise.config import DataConfig, LabelConfig, ModelConfig, Recipe, TrainConfig

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def ewt_sentences() -> list[Sentence]:
    return list(read_sentences(FIXTURES / "ewt-dev-100.conllu"))


@pytest.fixture(scope="session")
def tiny_treebank(tmp_path_factory: pytest.TempPathFactory, ewt_sentences: list[Sentence]) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "tiny.conllu"
    short = [sentence for sentence in ewt_sentences if len(sentence) <= 25][:40]
    path.write_text("".join(sentence.text for sentence in short), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_recipe(tiny_treebank: Path) -> Recipe:
    return Recipe(
        data=DataConfig(train=str(tiny_treebank), dev=str(tiny_treebank)),
        model=ModelConfig(word_size=24, tag_size=12, hidden_size=32, label_size=48, min_count=1),
        train=TrainConfig(
            adam_epochs=40,
            adam_rate=0.01,
            sgd_epochs=2,
            patience=40,
            batch_size=4,
            dropout=0.1,
            recurrent_dropout=0.1,
        ),
        label=LabelConfig(epochs=30, rate=0.05, batch_size=32, hidden_dropout=0.1),
    )


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, tiny_recipe: Recipe) -> Path:
    """Train to the end; the model is in `tiny_run / "model"`."""
    import torch

    from headwise.learn.loop import Device
    from headwise.learn.recipe import run

    folder = tmp_path_factory.mktemp("run")
    list(run(tiny_recipe, folder, Device(torch.device("cpu")), {"data": "tiny"}))
    return folder
