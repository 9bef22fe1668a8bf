"""A small plan: two seeds, an ensemble of them, a student, two treebanks, missing vectors."""

from pathlib import Path

import pytest

from bench.accuracy.plan import Plan, read_plan

SMALL = """set = [
    "model.vector_words=0", "model.word_size=8", "model.hidden_size=8", "model.layers=1",
    "model.selector_size=8", "model.label_size=8", "model.pieces=50", "model.piece_size=8",
    "train.adam_epochs=1",
]"""
PLAN = """
seeds = [1, 2]

[treebanks.english]
title = "English"
folder = "ud/English"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"
peers = "english"

[treebanks.more]
title = "More"
folder = "ud/More"
train = "train.conllu"
test = "test.conllu"

[rows.small]
title = "Small"
treebank = "english"
recipe = "configs/best-lstm.toml"
SMALL
goal = [50.0, 40.0]

[rows.both]
title = "Both"
treebank = "english"
also = ["more"]
reads = "words, the treebank"
recipe = "configs/best-lstm.toml"
set = ["model.vector_words=0", 'model.marks=["treebank"]']
tests = ["more"]

[rows.joined]
title = "Ensemble"
treebank = "english"
ensemble = ["small"]
tests = ["more"]

[rows.taught]
title = "Taught"
treebank = "english"
recipe = "configs/best-distilled.toml"
SMALL
teachers = ["small"]
text = ["more"]
seeds = [7]

[rows.wordy]
title = "With vectors"
treebank = "english"
recipe = "configs/best-lstm.toml"
paths = { "model.vectors" = "vectors/none" }
seeds = [1]
""".replace("SMALL", SMALL)


@pytest.fixture(scope="session")
def plan_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def plan(plan_path: Path) -> Plan:
    return read_plan(plan_path)
