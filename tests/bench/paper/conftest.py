"""A small plan with one dataset that is in `data` and one that is not."""

from pathlib import Path

import pytest

from bench.paper.plan import Plan, read_plan

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
