"""Temperatures are fitted to what dev has, and to nothing else."""

from dataclasses import replace

import pytest
import torch

from headwise.learn.calibrate import Calibration
from headwise.learn.data.treebanks import make_examples
from headwise.learn.fit.reports import CalibrationReport
from headwise.learn.scorer import TorchScorer
from headwise.network.network import Network, initialise
from headwise.settings.model import ModelConfig
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.vocab import Vocab, build_vocab

NAMES = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel"]
ROWS = [
    ("Kids", "kid", "NOUN", "NNS", "Number=Plur", "2", "nsubj"),
    ("love", "love", "VERB", "VBP", "_", "0", "root"),
    ("candy", "candy", "NOUN", "NN", "Number=Sing", "2", "obj"),
]
DEV = sentence_from_words(ROWS, NAMES)
TRAIN = sentence_from_words(ROWS * 2, NAMES)
PREDICTED = ("upos", "xpos", "feats", "lemma")


def without(columns: tuple[str, ...]) -> Sentence:
    words = [word._replace(**dict.fromkeys(columns, "_")) for word in DEV.words]
    return DEV.with_words(words)


def calibrated(*sentences: Sentence) -> tuple[dict[str, CalibrationReport], Network]:
    vocab, network = made_network()
    dev = make_examples(sentences, vocab)
    scorer = TorchScorer(network, vocab, torch.device("cpu"), with_tag_scores=True)
    reports = Calibration(scorer, network, dev, sentences).run(DecodeConfig())
    return {report.column: report for report in reports}, network


def made_network() -> tuple[Vocab, Network]:
    vocab = build_vocab([TRAIN], "none", 1, 0, PREDICTED)
    vocab = replace(vocab, lexicon=build_lexicon(TRAIN.words))
    config = ModelConfig(tag_column="none", predicted_tags=PREDICTED, layers=1, hidden_size=8)
    network = Network(config, vocab)
    initialise(network, 0.5, seed=1)
    return vocab, network.eval()


def test_a_column_that_dev_leaves_blank_keeps_its_scores() -> None:
    reports, network = calibrated(without(PREDICTED))
    _, untouched = made_network()
    for column in PREDICTED:
        report = reports[column]
        assert (report.temperature, report.error_before, report.error) == (1.0, 0.0, 0.0)
        for one, other in zip(
            network.tag.last[column].parameters(),
            untouched.tag.last[column].parameters(),
            strict=True,
        ):
            assert torch.equal(one, other)


@pytest.mark.parametrize("column", PREDICTED)
def test_blanks_of_dev_count_as_neither_right_nor_wrong(column: str) -> None:
    alone, _ = calibrated(DEV)
    blanks = without(("upos", "feats") if column in ("upos", "feats") else (column,))
    together, _ = calibrated(DEV, blanks)
    assert together[column].temperature == pytest.approx(alone[column].temperature)
    assert together[column].error == pytest.approx(alone[column].error)
