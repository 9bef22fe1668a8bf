"""Heads are removed at random, and nothing else."""

from pathlib import Path

import pytest

from bench.partial import main, report, without_heads
from headwise import Sentence, read_sentences

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_a_share_of_the_heads_is_removed(ewt_sentences: list[Sentence]) -> None:
    partial = list(without_heads(ewt_sentences, 0.5, seed=1))
    words = [word for sentence in partial for word in sentence.words]
    removed = [word for word in words if word.head == "_"]
    assert 0.4 < len(removed) / len(words) < 0.6
    assert all(word.deprel == "_" and word.upos != "_" for word in removed)
    assert list(without_heads(ewt_sentences, 0.5, seed=2)) != partial
    assert list(without_heads(ewt_sentences, 0.0, seed=1)) == ewt_sentences


def test_the_table_says_how_far_a_part_is_behind() -> None:
    table = report({0.0: [(90.0, 88.0), (91.0, 89.0)], 0.5: [(89.0, 87.5)]})
    assert "| 0% | 2 | 90.50 ± 0.71 | 88.50 ± 0.71 |" in table
    assert "| 50% | 1 | 89.00 | 87.50 | -1.00 |" in table


def test_the_bench_trains_and_measures(
    tiny_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lzma

    for part in ("train", "dev"):
        data = lzma.compress(tiny_treebank.read_bytes())
        (tmp_path / f"{part}.conllu.xz").write_bytes(data)
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        "[model]\nword_size = 8\ntag_size = 4\nhidden_size = 8\nlabel_size = 8\n"
        "[train]\nadam_epochs = 1\nsgd_epochs = 0\n[label]\nepochs = 1\n"
    )
    arguments = ["--data", tmp_path, "--out", tmp_path / "out", "--config", recipe]
    arguments += ["--seeds", "1", "--device", "cpu"]
    monkeypatch.setattr("sys.argv", ["bench.partial", *map(str, arguments)])
    main()
    written = (tmp_path / "out" / "report.md").read_text()
    assert "| 0% | 1 |" in written
    assert "| 50% | 1 |" in written
    partial = tmp_path / "out" / "data" / "0.5-1" / "train.conllu.xz"
    assert any(word.head == "_" for s in read_sentences(partial) for word in s.words)
