from pathlib import Path

import pytest

pytest.importorskip("ufal.udpipe")

from bench.paper.plan import Plan
from bench.paper.treebank import main as treebank
from bench.paper.treebank import read_part
from bench.paper.udpipe import main
from headwise import DataError, read_sentences
from headwise.evaluate.scores import score

OPTIONS = "iterations=1;hidden_layer=10;structured_interval=0;use_gold_tags=1"


@pytest.mark.parametrize("transitions", ["projective", "swap"])
def test_udpipe_trains_and_parses(
    plan_path: Path, plan: Plan, data: Path, tmp_path: Path, transitions: str
) -> None:
    treebank(str(plan_path), str(data), "english", str(tmp_path))
    train, dev, model = (str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "model"))
    main("train", train, dev, model, f"transition_system={transitions};{OPTIONS}")
    parsed = tmp_path / "parsed.conllu"
    main("predict", model, str(tmp_path / "test.input.conllu"), str(parsed))
    found = score(read_part(plan.datasets["english"], data, "test"), read_sentences(parsed))
    assert found.tree_rate == found.single_root_rate == 100
    assert found.uas > 10


def test_errors_of_udpipe_are_reported(plan_path: Path, data: Path, tmp_path: Path) -> None:
    treebank(str(plan_path), str(data), "english", str(tmp_path))
    train, dev, model = (str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "model"))
    with pytest.raises(DataError, match="cannot train"):
        main("train", train, dev, model, "iterations=many")
    Path(model).write_bytes(b"no model")
    with pytest.raises(DataError, match="not a model"):
        main("predict", model, dev, str(tmp_path / "parsed.conllu"))
    Path(dev).write_text("1\tone\n\n")
    with pytest.raises(DataError, match="cannot read"):
        main("train", train, dev, model, OPTIONS)
    assert not (tmp_path / "parsed.conllu").exists()
