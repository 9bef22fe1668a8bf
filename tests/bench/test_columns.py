"""A model is measured beside itself without features and lemmas."""

import sys
from pathlib import Path

import pytest

import headwise
from bench.columns import main, without_features_and_lemmas
from headwise.model.bundle import load_bundle


def test_the_smaller_model_parses_the_same_trees_and_tags(
    columns_run: Path, ewt_sentences: list[headwise.Sentence], tmp_path: Path
) -> None:
    bundle = load_bundle(columns_run / "model")
    smaller = without_features_and_lemmas(bundle, tmp_path)
    whole, tags = (headwise.load(path).parse(ewt_sentences) for path in (columns_run, smaller))
    for one, other in zip(whole, tags, strict=True):
        assert (one.heads, one.labels, one.upos) == (other.heads, other.labels, other.upos)
        assert not other.feats
        assert not other.lemmas


def test_the_command_prints_speeds_and_the_time_of_a_new_word(
    columns_run: Path,
    tiny_treebank: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [str(columns_run), str(tiny_treebank), "--rounds", "1", "--clock", "cpu"]
    monkeypatch.setattr(sys, "argv", ["columns", *arguments])
    main()
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed[:3]] == [
        "all columns", "heads, labels and tags", "ratio"
    ]  # fmt: skip
    assert "new words" in printed[3]
