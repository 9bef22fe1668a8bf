"""A small plan, and the results of a finished bench."""

from pathlib import Path

import pytest

from bench.experiment.plan import key_of
from bench.experiment.results import Result, write_json
from bench.paper.plan import Plan, read_plan
from bench.paper.scores import (
    Bin,
    Output,
    PartScores,
    Scores,
    Treebank,
    TreebankPart,
    treebank_path,
)

CHAIN = (
    "import sys; from pathlib import Path; from headwise import read_sentences, Parse\\n"
    "with Path(sys.argv[2]).open('w', encoding='utf-8') as out:\\n"
    "    for s in read_sentences(sys.argv[1]):\\n"
    "        n = len(s)\\n"
    "        parse = Parse(tuple(range(n)), ('dep',) * n, (0.0,) * n, 'greedy')\\n"
    "        out.write(s.with_parse(parse).conllu)"
)
"""Another parser: the head of every word is the word before it."""

PLAN = f"""
seeds = [1, 2]

[systems.dense-pei]
title = "DeNSe-Pei"
set = ["model.representation=pei"]

[systems.dense]
title = "DeNSe"

[systems.chain]
title = "Chain"
seeds = [1]
train = ["{{python}}", "-c", "import sys; open(sys.argv[1], 'w').close()", "{{model}}", "a=1;b=2"]
predict = ["{{python}}", "-c", "{CHAIN}", "{{input}}", "{{output}}"]

[datasets.english]
title = "English"
stands_for = "ptb"
folder = "ud/English"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"
recipe = "configs/paper-ewt.toml"
set = [
    "model.word_size=8", "model.tag_size=4", "model.hidden_size=8", "model.label_size=8",
    "train.adam_epochs=1", "train.sgd_epochs=0", "label.epochs=1",
]
overrides = {{ dense-pei = ["train.adam_rate=0.004"] }}
punctuation = "ptb"
decoder = "eisner"

[datasets.gothic]
title = "Gothic"
stands_for = "german"
folder = "ud/Gothic"
vectors = "vectors/gothic"
recipe = "configs/paper-ewt.toml"
punctuation = "conllx"
decoder = "mst"
"""


@pytest.fixture(scope="session")
def plan_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def plan(plan_path: Path) -> Plan:
    return read_plan(plan_path)


def made_part(uas: float, tree_rate: float = 100.0) -> PartScores:
    return PartScores(
        n_sentences=20,
        n_words=300,
        uas=uas,
        las=uas - 2,
        uem=uas / 2,
        lem=uas / 3,
        label_accuracy=uas - 1,
        tree_rate=tree_rate,
        projective_rate=tree_rate - 5,
        all_words=(uas - 1, uas - 3),
        bins=tuple(
            Bin(last_length=5 * (i + 1), n_sentences=2, uas=None if i == 0 else uas + 5 - i)
            for i in range(10)
        ),
    )


def made_output(uas: float, tree_rate: float = 100.0) -> Output:
    return Output(dev=made_part(uas, tree_rate), test=made_part(uas - 0.5, tree_rate))


@pytest.fixture
def out(tmp_path: Path, plan: Plan) -> Path:
    """Results of every run, as JSON files."""
    base = {"dense-pei": 80.0, "dense": 88.0, "chain": 84.0}
    for run in plan.runs():
        dataset, system = run.names
        uas = base[system] + run.seed / 4 - (10 if dataset == "gothic" else 0)
        is_external = plan.systems[system].is_external
        scores = Scores(
            greedy=None if is_external else made_output(uas - 0.25, 90.0),
            repaired=made_output(uas),
            machine="a machine",
            versions={"headwise": "1"},
        )
        result = Result(
            dataset=dataset,
            system=system,
            seed=run.seed,
            key=key_of(plan, run),
            commands={"train": f"train {run}"},
            seconds={"train": 61.0, "measure": 4.0},
            side_by_side=8,
            scores=scores,
        )
        write_json(run.path(tmp_path, ".json"), result)
    part = TreebankPart(n_sentences=1234, n_words=20000, projective=97.65, sha256="0" * 64)
    write_json(treebank_path(tmp_path, "english"), Treebank(train=part, dev=part, test=part))
    return tmp_path
