from pathlib import Path

import msgspec
import pytest

from bench.paper.measure import main, measure_parsed, processor_name, score_part
from bench.paper.plan import Plan, read_plan
from bench.paper.scores import Scores
from bench.paper.treebank import read_part, write_plain
from headwise.model.bundle import find_model


def read_scores(folder: Path) -> Scores:
    return msgspec.json.decode((folder / "scores.json").read_bytes(), type=Scores)


def test_gold_trees_score_100(plan: Plan, data: Path) -> None:
    dataset = plan.datasets["english"]
    gold = read_part(dataset, data, "dev")
    found = score_part(gold, gold, dataset)
    assert (found.uas, found.las, found.uem, found.tree_rate) == (100, 100, 100, 100)
    assert found.all_words == (100, 100)
    assert found.n_words < sum(map(len, gold))
    assert sum(one.n_sentences for one in found.bins) == len(gold)
    assert [one.last_length for one in found.bins] == sorted(o.last_length for o in found.bins)


def test_trees_of_another_parser_are_scored(plan_path: Path, data: Path, tmp_path: Path) -> None:
    dataset = read_plan(plan_path).datasets["english"]
    for part in ("dev", "test"):
        write_plain(read_part(dataset, data, part), tmp_path / f"{part}.parsed.conllu")
    main(str(plan_path), str(data), "english", str(tmp_path), "1", "--parsed")
    found = read_scores(tmp_path)
    assert found == measure_parsed(dataset, data, tmp_path)
    assert found.greedy is None
    assert found.repaired.test.las == 100


def test_the_processor_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n")
    assert processor_name(path) == "Some CPU @ 2 GHz"
    path.write_text("")
    assert processor_name(path)
    assert processor_name(tmp_path / "none")


def test_a_model_is_measured_greedily_and_repaired(
    plan_path: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "model").symlink_to(find_model("en"))
    main(str(plan_path), str(data), "english", str(tmp_path), "2")
    found = read_scores(tmp_path)
    assert found.greedy is not None
    assert found.repaired.dev.tree_rate == pytest.approx(100)
    assert found.repaired.dev.projective_rate == pytest.approx(100)
    assert found.greedy.dev.tree_rate <= 100
    assert found.greedy.dev.uas > 70
