"""The treebank answers what a strategy asks, within its budget; a killed bench resumes."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

import headwise
from bench.active import (
    STRATEGIES,
    add_sentences,
    choose,
    draw,
    main,
    n_answered,
    report,
    with_answers,
    with_guesses,
)
from headwise import Sentence
from headwise.runtime.suggest import questions_about


@pytest.fixture(scope="module")
def gold(tiny_treebank: Path) -> list[Sentence]:
    return list(headwise.read_sentences(tiny_treebank))


def test_only_answers_are_annotated(gold: list[Sentence]) -> None:
    known = add_sentences(gold, [set() for _ in gold], [3, 1], len(gold[3]) + 1)
    assert n_answered(known) == len(gold[3]) + len(gold[1])
    partial = with_answers(gold, known)
    assert partial[3].words == gold[3].words
    assert {word.head for word in partial[0].words} == {"_"}
    assert [word.upos for word in partial[0].words] == [word.upos for word in gold[0].words]


@pytest.mark.parametrize("strategy", STRATEGIES[:-1])
def test_a_strategy_keeps_to_its_budget(
    strategy: str, gold: list[Sentence], tiny_run: Path
) -> None:
    parser = headwise.load(tiny_run)
    before = add_sentences(gold, [set() for _ in gold], [0, 1], 10_000)
    n_words = n_answered(before) + 60
    rng = np.random.default_rng(1)
    after = choose(strategy, parser, gold, before, n_words, 3, rng)
    assert all(old <= new for old, new in zip(before, after, strict=True))
    longest = max(map(len, gold))
    assert n_words <= n_answered(after) < n_words + longest
    if strategy.endswith("-words"):
        assert n_answered(after) == n_words
    else:
        assert all(len(new) in (0, len(one)) for new, one in zip(after, gold, strict=True))


def test_guesses_fill_only_what_the_parser_is_sure_of(gold: list[Sentence], tiny_run: Path) -> None:
    parser = headwise.load(tiny_run)
    known = [{1, 2} for _ in gold]
    answers = with_answers(gold, known)
    probs = [{q.position: q.probability for q in one} for one in questions_about(parser, answers)]
    sure = float(np.median([prob for one in probs for prob in one.values()]))
    filled = list(with_guesses(parser, answers, sure))
    for before, after, one in zip(answers, filled, probs, strict=True):
        for i, (blank, word) in enumerate(zip(before.words, after.words, strict=True), 1):
            assert (word == blank) == (i in (1, 2) or one[i] < sure)
            assert (word.head == "_") == (i not in (1, 2) and one[i] < sure)
    assert list(with_guesses(parser, answers, 1.1)) == answers


def test_the_table_compares_with_the_whole() -> None:
    def row(share: float, las: float) -> dict[str, float]:
        return {"share": share, "uas": las + 2, "las": las}

    table = report(
        {
            "uncertain-words": {1: [row(0.1, 70), row(0.3, 79)], 2: [row(0.1, 72), row(0.3, 79)]},
            "whole": {1: [row(1.0, 80)]},
        }
    )
    assert "| 10.0% | 73.00 ± 1.41 | 71.00 ± 1.41 | 88.75% |" in table
    assert "| 30.0% | 81.00 | 79.00 | 98.75% |" in table


def test_the_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [{"share": 0.1, "uas": 72.0, "las": 70.0}, {"share": 0.3, "uas": 82.0, "las": 79.0}]
    draw({"uncertain-words": {1: rows}, "whole": {1: rows[1:]}}, tmp_path)
    assert "uncertain words" in (tmp_path / "active.svg").read_text()
    assert (tmp_path / "active.png").stat().st_size > 1000


def test_chains_run_to_the_end_and_resume(
    tiny_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("train", "dev"):
        data = lzma.compress(tiny_treebank.read_bytes())
        (tmp_path / f"{part}.conllu.xz").write_bytes(data)
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        "[model]\nword_size = 8\ntag_size = 4\nhidden_size = 8\nlabel_size = 8\n"
        "[train]\nadam_epochs = 1\nsgd_epochs = 0\n[label]\nepochs = 1\n"
    )
    out = tmp_path / "out"
    arguments = ["--data", tmp_path, "--out", out, "--config", recipe, "--start", 5]
    arguments += ["--shares", 0.3, "--steps", 2, "--seeds", 1, "--device", "cpu"]
    arguments += ["--strategies", "redecoded-words", "whole"]
    monkeypatch.setattr("sys.argv", ["bench.active", *map(str, arguments)])
    main()
    (rounds,) = [json.loads((out / "chains" / "redecoded-words-1" / "chain.json").read_text())]
    assert [round(one["share"], 1) for one in rounds] == [pytest.approx(0.1, abs=0.11), 0.3]
    written = (out / "report.md").read_text()
    assert "| redecoded-words | 1 |" in written
    assert "| whole | 1 | 100.0% |" in written
    scores = out / "redecoded-words-1-1" / "scores.json"
    scores.write_text('{"share": 0.3, "uas": 1.0, "las": 2.0}')
    (out / "chains" / "redecoded-words-1" / "chain.json").unlink()
    main()
    assert "2.00" in (out / "report.md").read_text()
