"""A small plan, and the results of a finished bench."""

from pathlib import Path

import pytest

from bench.accuracy.measure import PartScores, Scores
from bench.accuracy.plan import Plan, read_plan
from bench.experiment.plan import key_of, select_runs
from bench.experiment.results import Result, write_json

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


def made_part(uas: float) -> PartScores:
    return PartScores(n_words=300, uas=uas, las=uas - 2)


@pytest.fixture
def out(tmp_path: Path, plan: Plan) -> Path:
    """Results of every run except those of the row `wordy`, as JSON files."""
    for number, run in enumerate(select_runs(plan)):
        if run.names == ("wordy",):
            continue
        uas = 80 + number / 2
        names = ["dev", "test", *plan.row(run).tests]
        scores = Scores(
            torch={name: made_part(uas) for name in names},
            int8={name: made_part(uas - 0.25) for name in names},
            machine="a machine",
            n_bytes=3_000_000,
        )
        result = Result(
            row=run.names[0],
            seed=run.seed,
            key=key_of(plan, run),
            commands={"train": f"train {run}"},
            seconds={"train": 61.0, "measure": 4.0},
            side_by_side=8,
            scores=scores,
        )
        write_json(run.path(tmp_path, ".json"), result)
    return tmp_path
