"""Small parsers that overfit 40 real sentences, trained once for all tests and worker processes."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

# Triton's kernels run on a CPU, one block after the other; it asks for this when it is imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from made_encoders import write_bert
from quick_exporter import make_quick

from headwise import Sentence, read_sentences
from headwise.settings.model import ModelConfig
from headwise.settings.parsing import DecodeConfig
from headwise.settings.recipe import Recipe
from headwise.settings.training import DataConfig, LabelConfig, SegmentConfig, TrainConfig

TESTS = Path(__file__).parent
FIXTURES = TESTS / "fixtures"

# Every test below these paths is slow; a single slow test elsewhere carries the mark itself.
SLOW_PATHS = ("bench/", "faults/", "learn/fit/test_distributed", "network/kernels/", "serve/page/")

# Whether a property holds does not depend on how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).as_posix().startswith(SLOW_PATHS):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _state_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what the command line remembers out of the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_exports() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if "torch" in sys.modules:  # imported by a test that was collected
            make_quick(patch)
        yield


@pytest.fixture(scope="session")
def ewt_sentences() -> list[Sentence]:
    return list(read_sentences(FIXTURES / "ewt-dev-100.conllu"))


MakeOnce = Callable[[str, Callable[[Path], object]], Path]
TrainOnce = Callable[[str, Recipe], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Make a file or a folder in the first worker process that asks; the others wait for it.

    Whatever is made this way is shared: a test that changes it works on a copy.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    shared.mkdir(exist_ok=True)

    def make(name: str, write: Callable[[Path], object]) -> Path:
        path = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                draft = shared / f"draft-{name}"
                write(draft)
                draft.rename(path)
        return path

    return make


@pytest.fixture(scope="session")
def tiny_treebank(make_once: MakeOnce, ewt_sentences: list[Sentence]) -> Path:
    short = [sentence for sentence in ewt_sentences if len(sentence) <= 25][:40]
    text = "".join(sentence.conllu for sentence in short)
    return make_once("tiny.conllu", lambda path: path.write_text(text, encoding="utf-8"))


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
def train_once(make_once: MakeOnce) -> TrainOnce:
    """Train by a recipe to the end; the model is in `train_once(name, recipe) / "model"`."""

    def train(recipe: Recipe, folder: Path) -> None:
        import torch

        from headwise.learn.compute import Compute
        from headwise.learn.recipe import train_parser

        list(train_parser(recipe, folder, Compute(torch.device("cpu")), {"data": "tiny"}))

    return lambda name, recipe: make_once(name, lambda folder: train(recipe, folder))


@pytest.fixture(scope="session")
def tiny_run(train_once: TrainOnce, tiny_recipe: Recipe) -> Path:
    return train_once("run", tiny_recipe)


@pytest.fixture(scope="session")
def some_vectors(make_once: MakeOnce, tiny_treebank: Path) -> Path:
    """Vectors of 6 numbers: two words that the treebank lacks, then its own in lower case."""
    own = {
        word.form.lower() for sentence in read_sentences(tiny_treebank) for word in sentence.words
    }
    words = ["zyxwv", "vwxyz", *sorted(own)]
    rows = np.random.default_rng(1).normal(size=(len(words), 6)).round(3).tolist()
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, rows, strict=True)]
    text = "\n".join(lines) + "\n"
    return make_once("some-vectors.txt", lambda path: path.write_text(text, encoding="utf-8"))


@pytest.fixture(scope="session")
def full_recipe(tiny_treebank: Path, some_vectors: Path) -> Recipe:
    """Everything that the paper does not have: no tags in; tags, labels and words of text out."""
    return Recipe(
        data=DataConfig(train=str(tiny_treebank), dev=str(tiny_treebank), punctuation="none"),
        model=ModelConfig(
            stacks="interleaved",
            word_size=16,
            hidden_size=32,
            layers=1,
            label_size=32,
            selector_size=20,
            tag_column="none",
            predicted_tags=["upos", "xpos"],
            pieces=500,
            piece_size=16,
            vectors=str(some_vectors),
            vector_words=50,
            vector_size=6,
            min_count=1,
        ),
        train=TrainConfig(
            adam_epochs=25,
            adam_rate=0.03,
            schedule="cosine",
            average=0.9,
            sgd_epochs=0,
            patience=25,
            batch_size=4,
            dropout=0.05,
            recurrent_dropout=0.0,
            locked=True,
            input_dropout=0.05,
            word_dropout=0.05,
            tag_weight=1.0,
        ),
        label=LabelConfig(joint=True, epochs=0, input_dropout=0.0, hidden_dropout=0.1),
        segment=SegmentConfig(
            embedding_size=8, channels=12, layers=3, epochs=2, steps=40, rate=0.02, min_count=1
        ),
        decode=DecodeConfig(single_root=True),
    )


@pytest.fixture(scope="session")
def two_treebanks(make_once: MakeOnce, tiny_treebank: Path) -> tuple[Path, Path]:
    """The tiny treebank as two folders: 25 sentences in the first, 15 in the second."""
    sentences = list(read_sentences(tiny_treebank))
    parts = {"first": sentences[:25], "second": sentences[25:]}

    def write(root: Path) -> None:
        for name, part in parts.items():
            (root / name).mkdir(parents=True)
            text = "".join(sentence.conllu for sentence in part)
            for role in ("train", "dev"):
                (root / name / f"{role}.conllu").write_text(text, encoding="utf-8")

    root = make_once("treebanks", write)
    return root / "first", root / "second"


@pytest.fixture(scope="session")
def marked_recipe(two_treebanks: tuple[Path, Path], full_recipe: Recipe) -> Recipe:
    """Two treebanks with a mark each; features and a tag are read, another tag is predicted."""
    paths = tuple(map(str, two_treebanks))
    return msgspec.structs.replace(
        full_recipe,
        data=msgspec.structs.replace(full_recipe.data, train=paths, dev=paths),
        model=msgspec.structs.replace(
            full_recipe.model,
            marks=("xpos", "feats", "treebank"),
            mark_size=12,
            predicted_tags=["upos"],
            vector_words=0,
            vectors="",
        ),
        train=msgspec.structs.replace(full_recipe.train, seed=5),
        segment=None,
    )


@pytest.fixture(scope="session")
def marked_run(train_once: TrainOnce, marked_recipe: Recipe) -> Path:
    return train_once("marked", marked_recipe)


@pytest.fixture(scope="session")
def columns_recipe(full_recipe: Recipe) -> Recipe:
    """Every column is filled in, from letters and from what the lexicon knows."""
    changes = {
        "predicted_tags": ["upos", "xpos", "feats", "lemma"],
        "column_size": 24,
        **{"pieces": 0, "letters": 12, "letter_size": 8, "letters_size": 16, "prior_size": 8},
        **{"vectors": "", "vector_words": 0},
    }
    model = msgspec.structs.replace(full_recipe.model, **changes)
    train = msgspec.structs.replace(full_recipe.train, adam_epochs=10)
    return msgspec.structs.replace(full_recipe, model=model, train=train)


@pytest.fixture(scope="session")
def columns_run(train_once: TrainOnce, columns_recipe: Recipe) -> Path:
    """A model that fills in every column and finds words in text."""
    return train_once("columns", columns_recipe)


@pytest.fixture(scope="session")
def full_run(train_once: TrainOnce, full_recipe: Recipe) -> Path:
    return train_once("full", full_recipe)


@pytest.fixture(scope="session")
def some_encoder(make_once: MakeOnce) -> Path:
    """A very small BERT as a Hugging Face folder; its windows are short."""
    return make_once("bert", write_bert)


@pytest.fixture(scope="session")
def encoder_recipe(full_recipe: Recipe, some_encoder: Path) -> Recipe:
    """`full_recipe` with a transformer in place of pre-trained vectors and of a segmenter."""
    changes = {"encoder": str(some_encoder), "vectors": "", "vector_words": 0}
    return msgspec.structs.replace(
        full_recipe,
        model=msgspec.structs.replace(full_recipe.model, **changes),
        train=msgspec.structs.replace(full_recipe.train, encoder_rate=0.003),
        segment=None,
    )


@pytest.fixture(scope="session")
def encoder_run(train_once: TrainOnce, encoder_recipe: Recipe) -> Path:
    return train_once("encoder", encoder_recipe)
