"""Agreement with two other evaluators on real trees: those of UDPipe and of Universal Dependencies.

Both compare labels up to the first `:` and score every word. The `Evaluator` of UDPipe scores only
what its own parser makes of the gold tokens and tags, so a small parser is trained here, in a
fraction of a second. `test_raw_referee` compares `score_raw` with the official scorer in depth, and
`test_raw` compares `score` with `score_raw`.
"""

import re
from pathlib import Path

import pytest
from udtools import udeval
from ufal import udpipe

from headwise.evaluate.scores import Scores, score
from headwise.treebank.conllu import read_sentences

GOLD_PATH = Path(__file__).parents[1] / "fixtures" / "ewt-dev-100.conllu"


def udtools_scores(gold_path: Path, predicted_path: Path) -> tuple[float, float]:
    treebanks = []
    for path in (gold_path, predicted_path):
        with path.open(encoding="utf-8") as file:
            treebanks.append(udeval.load_conllu(file, str(path), {}))
    found = udeval.evaluate(*treebanks)
    assert found["Words"].f1 == 1.0
    return 100 * found["UAS"].f1, 100 * found["LAS"].f1


def scores_of(predicted_path: Path, universal_labels: bool) -> Scores:
    gold, predicted = read_sentences(GOLD_PATH), read_sentences(predicted_path)
    return score(gold, predicted, universal_labels=universal_labels)


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


def test_udpipe_and_udtools_agree(tmp_path: Path) -> None:
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
