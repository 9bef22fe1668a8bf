from pathlib import Path

from bench.paper.measure import processor_name, score_part
from bench.paper.plan import Plan
from bench.paper.treebank import read_part


def test_gold_trees_score_100(plan: Plan, data: Path) -> None:
    dataset = plan.datasets["english"]
    gold = read_part(dataset, data, "dev")
    scores = score_part(gold, gold, dataset)
    assert (scores.uas, scores.las, scores.uem, scores.tree_rate) == (100, 100, 100, 100)
    assert scores.all_words == (100, 100)
    assert scores.n_words < sum(map(len, gold))
    assert sum(one.n_sentences for one in scores.bins) == len(gold)
    lengths = [one.last_length for one in scores.bins]
    assert lengths == sorted(lengths)


def test_the_processor_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n")
    assert processor_name(path) == "Some CPU @ 2 GHz"
    assert processor_name(tmp_path / "none")
