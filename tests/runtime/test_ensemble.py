"""An ensemble predicts the mean of what its members predict, matched by strings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headwise
from headwise import Sentence
from headwise.arrays import FloatArray, IntArray
from headwise.errors import ConfigError
from headwise.runtime.ensemble import TINY, EnsembleScorer, ensemble_vocab, mean_log, positions
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.vocabulary.features import Features
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.vocab import EMPTY_INDEX, Index, Vocab

LABELS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)


@pytest.fixture(scope="module")
def runs(tiny_run: Path, full_run: Path, marked_run: Path) -> list[Path]:
    return [full_run, tiny_run, marked_run]


@pytest.fixture(scope="module")
def members(runs: list[Path]) -> list[Parser]:
    return [headwise.load(run, precision="float32") for run in runs]


@pytest.fixture(scope="module")
def ensemble(runs: list[Path]) -> Parser:
    return headwise.load(runs, precision="float32")


def test_heads_are_the_mean_of_the_members(
    ensemble: Parser, members: list[Parser], ewt_sentences: list[Sentence]
) -> None:
    sentences = ewt_sentences[:20]
    joined = ensemble.scorer.select(sentences)
    apart = [member.scorer.select(sentences) for member in members]
    for one, *own in zip(joined, *apart, strict=True):
        mean = np.mean([np.exp(selection.head_log_probs) for selection in own], axis=0)
        np.testing.assert_allclose(np.exp(one.head_log_probs), mean, atol=1e-5)
        assert one.head_log_probs.dtype == np.float32


def test_labels_are_the_mean_by_string(
    ensemble: Parser, members: list[Parser], ewt_sentences: list[Sentence]
) -> None:
    sentences = ewt_sentences[:10]
    joined = ensemble.scorer.select(sentences)
    heads = [one.head_log_probs.argmax(1).astype(np.int32) for one in joined]
    found = ensemble.scorer.label(joined, heads)
    apart = [m.scorer.label(m.scorer.select(sentences), heads) for m in members]
    names = ensemble.vocab.labels.strings
    for one, *own in zip(found, *apart, strict=True):
        np.testing.assert_allclose(np.exp(one).sum(1), 1, rtol=1e-4)
        for label in ("nsubj", "punct"):
            columns = [
                np.exp(log_probs[:, member.vocab.labels.strings.index(label)])
                for member, log_probs in zip(members, own, strict=True)
            ]
            mean = np.mean(columns, axis=0)
            np.testing.assert_allclose(np.exp(one[:, names.index(label)]), mean, atol=1e-5)


def test_tags_are_the_mean_of_those_that_predict_them(
    ensemble: Parser, members: list[Parser], ewt_sentences: list[Sentence]
) -> None:
    sentences = ewt_sentences[:10]
    assert list(ensemble.vocab.predicted) == ["upos", "xpos"]
    full, _, marked = (member.scorer.select(sentences) for member in members)
    nouns = [m.vocab.predicted["upos"].strings.index("NOUN") for m in (ensemble, *members[::2])]
    for one, first, third in zip(ensemble.scorer.select(sentences), full, marked, strict=True):
        probs = [np.exp(s.tag_log_probs[0]) for s in (one, first, third)]
        mean = (probs[1][:, nouns[1]] + probs[2][:, nouns[2]]) / 2
        np.testing.assert_allclose(probs[0][:, nouns[0]], mean, atol=1e-5)
        assert one.tags[0].tolist() == one.tag_log_probs[0].argmax(1).tolist()
        np.testing.assert_array_equal(one.tags[1], first.tags[1])


def test_torch_and_onnx_parse_the_same(
    ensemble: Parser, runs: list[Path], ewt_sentences: list[Sentence]
) -> None:
    torch_parses = headwise.load(runs, device="cpu:0").parse(ewt_sentences)
    pairs = zip(torch_parses, ensemble.parse(ewt_sentences), strict=True)
    same = [
        (one.heads, one.labels, one.upos, one.xpos)
        == (other.heads, other.labels, other.upos, other.xpos)
        for one, other in pairs
    ]
    assert sum(same) >= 99


@dataclass(frozen=True, slots=True)
class MadeScorer:
    """Gives one sentence of one word the same distributions each time."""

    vocab: Vocab
    scores: tuple[FloatArray, ...]

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        heads = np.log(np.array([[1, TINY], [1, TINY]], np.float32))
        log_probs = tuple(np.log(np.maximum(scores, TINY)) for scores in self.scores)
        tags = tuple(scores.argmax(-1).astype(np.int32) for scores in self.scores)
        return [Selection(heads, None, tags, log_probs) for _ in sentences]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        return [np.zeros((1, 1), np.float32) for _ in selections]

    def in_treebank(self, name: str) -> "MadeScorer":
        return self


def made_scorer(features: Features | None, rules: list[str], *scores: object) -> MadeScorer:
    """Give the scores of a word; those of ROOT are the same."""
    vocab = Vocab(
        EMPTY_INDEX,
        EMPTY_INDEX,
        Index(["root"]),
        "none",
        features=features,
        rules=Index(rules) if rules else None,
    )
    return MadeScorer(vocab, tuple(np.array([one, one], np.float32) for one in scores))


def test_features_are_the_mean_by_name_and_unknown_ones_are_absent() -> None:
    one = made_scorer(
        Features({"Case": ("Nom", "Acc"), "Mood": ("Ind",)}, {"NOUN": frozenset(["Case"])}),
        ["lower||"],
        [[0.2, 0.3, 0.5], [0.4, 0.6, 0.0]],
        [1.0],
    )
    other = made_scorer(
        Features({"abbr": ("Yes",), "Case": ("Acc", "Dat")}, {"NOUN": frozenset(["abbr"])}),
        [],
        [[0.1, 0.9, 0.0], [0.0, 0.2, 0.8]],
    )
    without = made_scorer(None, ["keep||", "lower||"], [0.75, 0.25])
    ensemble = EnsembleScorer([one, other, without])
    features = ensemble.vocab.features
    assert features is not None
    assert features.values == {"abbr": ("Yes",), "Case": ("Nom", "Acc", "Dat"), "Mood": ("Ind",)}
    assert features.allowed == {"NOUN": {"abbr", "Case"}}
    assert ensemble.vocab.outputs == {"feats": (3, 4), "lemma": (2,)}
    (selection,) = ensemble.select([headwise.sentence_from_words([("x",)], ["form"])])
    feats, rules = (np.exp(scores[1]) for scores in selection.tag_log_probs)
    expected = [[0.55, 0.45, 0, 0], [0.1, 0.15, 0.35, 0.4], [0.7, 0.3, 0, 0]]
    np.testing.assert_allclose(feats, expected, atol=1e-6)
    assert selection.tags[0][1].tolist() == [0, 3, 0]
    assert ensemble.vocab.rules is not None
    assert ensemble.vocab.rules.strings == ("lower||", "keep||")
    np.testing.assert_allclose(rules, [0.625, 0.375], atol=1e-6)


def test_an_ensemble_has_the_lexicon_of_the_first_member_that_has_one() -> None:
    words = headwise.sentence_from_words([("is", "AUX", "be")], ["form", "upos", "lemma"]).words
    first, second, third = (made_scorer(None, ["lower||"], [1.0]).vocab for _ in range(3))
    with_lexicon = [replace(v, lexicon=build_lexicon(words)) for v in (second, third)]
    assert ensemble_vocab([first, *with_lexicon]).lexicon is with_lexicon[0].lexicon
    assert ensemble_vocab([first]).lexicon is None


def test_an_ensemble_of_one_kind_parses_as_its_member(
    columns_run: Path, ewt_sentences: list[Sentence]
) -> None:
    sentences = ewt_sentences[:10]
    alone = headwise.load(columns_run).parse(sentences)
    twice = headwise.load([columns_run, columns_run]).parse(sentences)
    for one, other in zip(alone, twice, strict=True):
        assert (one.heads, one.labels, one.upos, one.xpos) == (
            other.heads, other.labels, other.upos, other.xpos
        )  # fmt: skip
        assert (one.feats, one.lemmas) == (other.feats, other.lemmas)
        for column, probs in one.column_probs.items():
            np.testing.assert_allclose(other.column_probs[column], probs, atol=1e-4)


def test_a_single_model_is_not_an_ensemble(full_run: Path) -> None:
    assert not isinstance(headwise.load([full_run]).scorer, EnsembleScorer)
    with pytest.raises(ConfigError, match="no model is given"):
        headwise.load([])


def test_an_ensemble_reads_the_columns_of_all_members(ensemble: Parser) -> None:
    assert set(ensemble.vocab.reads) == {"xpos", "feats"}


@settings(derandomize=True, database=None)
@given(st.lists(LABELS, min_size=1, max_size=4), st.integers(0, 99))
def test_a_mean_of_distributions_is_a_distribution(known: list[list[str]], seed: int) -> None:
    vocabs = [Vocab(EMPTY_INDEX, EMPTY_INDEX, Index(labels), "none") for labels in known]
    whole = ensemble_vocab(vocabs).labels
    rng = np.random.default_rng(seed)
    probs = [rng.dirichlet(np.ones(len(own)), 3).astype(np.float32) for own in known]
    where = [positions(vocab.labels, whole) for vocab in vocabs]
    mean = np.exp(mean_log(probs, where, len(whole.strings)))
    np.testing.assert_allclose(mean.sum(1), 1, rtol=1e-5)
    for number, label in enumerate(whole.strings):
        own = [
            p[:, k.index(label)] if label in k else 0.0 for p, k in zip(probs, known, strict=True)
        ]
        np.testing.assert_allclose(mean[:, number], sum(own) / len(known), atol=1e-6)
