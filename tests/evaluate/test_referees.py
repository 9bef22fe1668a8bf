"""Agreement with two evaluators that others wrote, on real trees.

`udtools` is the official scorer of Universal Dependencies: it reads two files, compares labels up
to the first `:`, scores every word, and insists on valid trees. To have its word on labels in full,
it is given copies in which labels are spelled without a colon. The `Evaluator` of UDPipe compares
labels up to the first `:` too, and scores only what its own parser makes of the gold tokens and
tags; so a small parser is trained here, in a fraction of a second.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from udtools import udeval
from ufal import udpipe

from headwise.evaluate.scores import Scores, score
from headwise.treebank.conllu import read_sentences, write_conllu
from headwise.treebank.sentence import Parse, Sentence

GOLD_PATH = Path(__file__).parents[1] / "fixtures" / "ewt-dev-100.conllu"
OTHER_LABELS = ("nsubj", "nsubj:pass", "obl", "obl:unmarked", "nmod:poss", "nmod", "conj", "punct")


def perturb(sentence: Sentence, rng: np.random.Generator) -> Sentence:
    """Move some words, with all that hangs on them, and change some labels; it stays a tree."""
    heads = [0, *sentence.gold_heads()]
    labels = [word.deprel for word in sentence.words]
    for word in range(1, len(heads)):
        new_head = int(rng.integers(1, len(heads)))
        if heads[word] != 0 and rng.random() < 0.25 and word not in path_to_root(new_head, heads):
            heads[word] = new_head
        if heads[word] != 0 and rng.random() < 0.25:
            labels[word - 1] = str(rng.choice(OTHER_LABELS))
    n_words = len(labels)
    return sentence.with_parse(Parse(tuple(heads[1:]), tuple(labels), (0.0,) * n_words, "greedy"))


def path_to_root(word: int, heads: list[int]) -> list[int]:
    path = []
    while word != 0:
        path.append(word)
        word = heads[word]
    return path


def udtools_scores(gold_path: Path, predicted_path: Path) -> tuple[float, float]:
    treebanks = []
    for path in (gold_path, predicted_path):
        with path.open(encoding="utf-8") as file:
            treebanks.append(udeval.load_conllu(file, str(path), {}))
    found = udeval.evaluate(*treebanks)
    assert found["Words"].f1 == 1.0
    return 100 * found["UAS"].f1, 100 * found["LAS"].f1


def write_without_colons(sentences: Iterable[Sentence], path: Path) -> Path:
    with path.open("wb") as stream:
        for sentence in sentences:
            labels = tuple(word.deprel.replace(":", "~") for word in sentence.words)
            parse = Parse(sentence.gold_heads(), labels, (0.0,) * len(labels), "greedy")
            write_conllu([sentence.with_parse(parse)], stream)
    return path


@pytest.fixture(params=[1, 2, 3])
def predicted_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    rng = np.random.default_rng(request.param)
    path = tmp_path / "predicted.conllu"
    with path.open("wb") as stream:
        write_conllu((perturb(sentence, rng) for sentence in read_sentences(GOLD_PATH)), stream)
    return path


def scores_of(predicted_path: Path, universal_labels: bool) -> Scores:
    gold, predicted = read_sentences(GOLD_PATH), read_sentences(predicted_path)
    return score(gold, predicted, universal_labels=universal_labels)


def test_udtools_agrees_on_universal_labels(predicted_path: Path) -> None:
    scores = scores_of(predicted_path, universal_labels=True)
    uas, las = udtools_scores(GOLD_PATH, predicted_path)
    assert 60.0 < las < uas < 90.0
    assert scores.tree_rate == scores.single_root_rate == 100.0
    assert scores.uas == pytest.approx(uas, abs=0.01)
    assert scores.las == pytest.approx(las, abs=0.01)


def test_udtools_agrees_on_full_labels(predicted_path: Path, tmp_path: Path) -> None:
    scores = scores_of(predicted_path, universal_labels=False)
    copies = [
        write_without_colons(read_sentences(path), tmp_path / f"copy-{path.name}")
        for path in (GOLD_PATH, predicted_path)
    ]
    assert udtools_scores(*copies) == pytest.approx((scores.uas, scores.las), abs=0.01)
    assert scores.las < scores_of(predicted_path, universal_labels=True).las - 0.02


def udpipe_sentences() -> list[udpipe.Sentence]:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(GOLD_PATH.read_text(encoding="utf-8"))
    sentences = [udpipe.Sentence()]
    while reader.nextSentence(sentences[-1]):
        sentences.append(udpipe.Sentence())
    return sentences[:-1]


def train_udpipe(model_path: Path) -> udpipe.Model:
    """Train a parser on half of the fixture, so that it is neither perfect nor useless."""
    sentences = udpipe.Sentences()
    for sentence in udpipe_sentences()[::2]:
        sentences.append(sentence)
    options = "iterations=3;hidden_layer=20;structured_interval=0"
    trained = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), "none", "none", options
    )
    model_path.write_bytes(trained)
    return udpipe.Model.load(str(model_path))


def test_udpipe_agrees_on_universal_labels(tmp_path: Path) -> None:
    model = train_udpipe(tmp_path / "small.udpipe")
    writer = udpipe.OutputFormat.newConlluOutputFormat()
    parsed = []
    for sentence in udpipe_sentences():
        assert model.parse(sentence, udpipe.Model.DEFAULT)
        parsed.append(writer.writeSentence(sentence))
    path = tmp_path / "parsed.conllu"
    path.write_text("".join(parsed), encoding="utf-8")

    none, default = udpipe.Evaluator.NONE, udpipe.Evaluator.DEFAULT
    evaluator = udpipe.Evaluator(model, none, none, default)
    report = evaluator.evaluate(GOLD_PATH.read_text(encoding="utf-8"))
    found = re.search(r"forms: (\d+), UAS: ([\d.]+)%, LAS: ([\d.]+)%", report)
    assert found is not None

    scores = scores_of(path, universal_labels=True)
    assert scores.n_words == int(found[1])
    assert scores.uas == pytest.approx(float(found[2]), abs=0.01)
    assert scores.las == pytest.approx(float(found[3]), abs=0.01)
    assert scores.las > scores_of(path, universal_labels=False).las + 0.02
    assert udtools_scores(GOLD_PATH, path) == pytest.approx((scores.uas, scores.las), abs=0.01)
