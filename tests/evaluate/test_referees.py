"""Agreement with two other evaluators: those of Universal Dependencies and of UDPipe.

The official scorer of Universal Dependencies compares labels up to the first `:`, and calls 0 what
we leave blank, a share of nothing. To have its word on labels in full, it is given copies in which
labels are spelled without a colon; a copy has other relations, so only LAS is compared then. The
`Evaluator` of UDPipe scores only what its own parser makes of the gold tokens and tags, so a small
parser is trained here, in a fraction of a second.
"""

import io
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_texts import annotate_anew, cut_anew, paired_texts, read
from udtools import udeval
from ufal import udpipe

from headwise.evaluate.metrics import WORD_METRICS
from headwise.evaluate.raw import METRICS, Metric, RawScores, score_raw
from headwise.evaluate.scores import Scores, score

FIXTURES = Path(__file__).parents[1] / "fixtures"
EWT = (FIXTURES / "ewt-dev-100.conllu").read_text(encoding="utf-8")
COPTIC = (FIXTURES / "coptic-20.conllu").read_text(encoding="utf-8")


def score_texts(gold: str, predicted: str, universal_labels: bool = True) -> RawScores:
    return score_raw(read("gold", gold), read("predicted", predicted), universal_labels)


def figures(metric: Metric) -> list[float]:
    shares = (metric.precision, metric.recall, metric.f1, metric.aligned_accuracy)
    return [share or 0.0 for share in shares]


def official_figures(gold: str, predicted: str) -> dict[str, list[float]]:
    treebanks = [udeval.load_conllu(io.StringIO(text), "text", {}) for text in (gold, predicted)]
    found = {}
    for name, metric in udeval.evaluate(*treebanks).items():
        shares = (metric.precision, metric.recall, metric.f1, metric.aligned_accuracy)
        found[name] = [100 * (share or 0.0) for share in shares]
    return found


def require_agreement(gold: str, predicted: str) -> RawScores:
    scores = score_texts(gold, predicted)
    official = official_figures(gold, predicted)
    for field, name in METRICS.items():
        ours = figures(getattr(scores, field))
        assert ours == official[name], name
    return scores


def first_sentences(text: str, n_sentences: int) -> str:
    return "\n\n".join(text.split("\n\n")[:n_sentences]) + "\n\n"


@pytest.mark.parametrize("text", [EWT, COPTIC], ids=["ewt", "coptic"])
@pytest.mark.parametrize(("seed", "share"), [(1, 0.05), (2, 0.1), (3, 0.3), (4, 0.5)])
def test_udtools_agrees_on_real_text_cut_anew(text: str, seed: int, share: float) -> None:
    predicted = cut_anew(read("gold", text), random.Random(seed), share)
    scores = require_agreement(text, predicted)
    assert 0 < scores.mlas.n_right < scores.las.n_right < scores.words.n_right
    assert scores.words.n_right < scores.words.n_gold
    assert scores.sentences.n_right < scores.sentences.n_gold


@settings(max_examples=300, deadline=None)
@given(paired_texts())
def test_udtools_agrees_on_whatever_overlaps(texts: tuple[str, str]) -> None:
    require_agreement(*texts)


DAMAGE = st.tuples(
    st.sampled_from([first_sentences(EWT, 12), first_sentences(COPTIC, 4)]),
    st.integers(0, 2**32),
    st.floats(0, 1),
)
"""Real text, and the seed and the share of the damage to it."""


@settings(max_examples=60, deadline=None)
@given(DAMAGE)
def test_udtools_agrees_on_damaged_text_cut_anew(damage: tuple[str, int, float]) -> None:
    text, seed, share = damage
    require_agreement(text, cut_anew(read("gold", text), random.Random(seed), share))


def require_agreement_on_words(gold: str, predicted: str) -> Scores:
    """Compare with udtools what we say of files with the same words."""
    require_agreement(gold, predicted)
    scores = score(read("gold", gold), read("out", predicted), universal_labels=True)
    official = official_figures(gold, predicted)
    for field, name in WORD_METRICS.items():
        assert (getattr(scores, field) or 0.0) == official[name][2], name
    return scores


@pytest.mark.parametrize("text", [EWT, COPTIC], ids=["ewt", "coptic"])
@pytest.mark.parametrize(("seed", "share"), [(1, 0.01), (2, 0.1), (3, 0.5)])
def test_udtools_agrees_on_the_same_words(text: str, seed: int, share: float) -> None:
    predicted = annotate_anew(read("gold", text), random.Random(seed), share)
    scores = require_agreement_on_words(text, predicted)
    assert all(0 < (getattr(scores, field) or 0.0) < 100 for field in WORD_METRICS)


@settings(max_examples=60, deadline=None)
@given(DAMAGE)
def test_udtools_agrees_on_damaged_words(damage: tuple[str, int, float]) -> None:
    text, seed, share = damage
    require_agreement_on_words(text, annotate_anew(read("gold", text), random.Random(seed), share))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_udtools_agrees_on_full_labels(seed: int) -> None:
    predicted = cut_anew(read("gold", EWT), random.Random(seed), 0.1)
    texts = EWT, change_labels(predicted, "nmod:poss", "nmod")
    scores, universal = score_texts(*texts, universal_labels=False), score_texts(*texts)
    copies = [change_labels(text, ":", "~") for text in texts]
    assert figures(scores.las) == official_figures(*copies)["LAS"]
    assert scores.las.n_right < universal.las.n_right
    assert scores.clas.n_right < universal.clas.n_right
    assert scores.clas.n_gold == universal.clas.n_gold


def change_labels(text: str, old: str, new: str) -> str:
    lines = []
    for line in text.split("\n"):
        columns = line.split("\t")
        if len(columns) == 10:
            columns[7] = columns[7].replace(old, new)
        lines.append("\t".join(columns))
    return "\n".join(lines)


def udpipe_sentences() -> list[udpipe.Sentence]:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(EWT)
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
    predicted = "".join(parsed)

    none, default = udpipe.Evaluator.NONE, udpipe.Evaluator.DEFAULT
    report = udpipe.Evaluator(model, none, none, default).evaluate(EWT)
    found = re.search(r"forms: (\d+), UAS: ([\d.]+)%, LAS: ([\d.]+)%", report)
    assert found is not None

    full, universal = (
        score(read("gold", EWT), read("out", predicted), universal_labels=universal_labels)
        for universal_labels in (False, True)
    )
    assert universal.n_words == int(found[1])
    assert universal.uas == pytest.approx(float(found[2]), abs=0.01)
    assert universal.las == pytest.approx(float(found[3]), abs=0.01)
    assert universal.las > full.las + 0.02
    official = official_figures(EWT, predicted)
    assert [official[name][2] for name in ("Words", "UAS", "LAS")] == pytest.approx(
        [100.0, universal.uas, universal.las], abs=0.01
    )
