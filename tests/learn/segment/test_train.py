"""Training a segmenter: it learns, the same each time, and its files do what it does."""

import msgspec
import numpy as np
import pytest
import torch

from headwise import Sentence
from headwise.errors import DataError
from headwise.learn.segment.data import IGNORED, gold_sentences
from headwise.learn.segment.train import (
    SegmentNetwork,
    SegmentReport,
    evaluate_segmenter,
    export_segmenter,
    segment_loss,
    train_segmenter,
)
from headwise.settings.training import SegmentConfig
from headwise.text.assemble import assemble
from headwise.text.scan import make_alphabet
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS, Segmenter, read_tokens
from headwise.text.symbols import read_symbols, to_codes

CPU = torch.device("cpu")
SMALL = SegmentConfig(
    channels=24, layers=4, epochs=6, steps=60, rate=0.01, batch_size=4, window=256, min_count=1
)


@pytest.fixture(scope="module")
def reports(ewt_sentences: list[Sentence]) -> list[SegmentReport]:
    return list(train_segmenter(ewt_sentences, ewt_sentences[:40], SMALL, 1, CPU))


def test_training_learns(reports: list[SegmentReport]) -> None:
    assert [report.epoch for report in reports] == [1, 2, 3, 4, 5, 6]
    assert reports[-1].n_epochs == 6
    assert reports[-1].loss < reports[0].loss / 3
    best = reports[-1].best_dev
    assert min(best.tokens, best.words) > 98
    assert best.sentences > 85
    merits = [2 * report.dev.words + report.dev.sentences for report in reports]
    assert 2 * best.words + best.sentences == max(merits)


def test_same_seed_same_segmenter(
    reports: list[SegmentReport], ewt_sentences: list[Sentence]
) -> None:
    training = train_segmenter(ewt_sentences, ewt_sentences[:40], SMALL, 1, CPU)
    first = next(training)
    torch.rand(7)  # other draws in between change nothing
    second = next(training)
    assert [first.loss, second.loss] == [report.loss for report in reports[:2]]
    assert [first.dev, second.dev] == [report.dev for report in reports[:2]]


def test_files_do_what_the_network_does(
    reports: list[SegmentReport], ewt_sentences: list[Sentence]
) -> None:
    best = reports[-1].best
    files = export_segmenter(best)
    assert sum(map(len, files.values())) < 1_000_000
    segmenter = Segmenter(files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS])
    scanner = best.scanner()
    ids = best.alphabet.ids(to_codes("Don't go there. It's John's, I think!" * 9))
    scores = segmenter._scanner.network(ids)
    np.testing.assert_allclose(scores, scanner.network(ids), atol=1e-4)
    assert evaluate_segmenter(best, gold_sentences(ewt_sentences[:40])) == reports[-1].best_dev
    n_same = 0
    for gold in ewt_sentences[:40]:
        words = [word.form for found in segmenter.segment(gold.text) for word in found.words]
        n_same += words == [word.form for word in gold.words]
    assert n_same >= 30


def test_several_networks_are_averaged(ewt_sentences: list[Sentence]) -> None:
    config = msgspec.structs.replace(SMALL, networks=2, epochs=1)
    first, both = train_segmenter(ewt_sentences, ewt_sentences[:40], config, 1, CPU)
    assert [(one.epoch, one.n_epochs) for one in (first, both)] == [(1, 2), (2, 2)]
    ids = both.best.alphabet.ids(to_codes("Don't go there. It's John's, I think!" * 9))
    one, mean = (report.best.scanner().network(ids) for report in (first, both))
    other = 2 * mean - one
    assert np.abs(other - one).max() > 0.1
    files = export_segmenter(both.best)
    segmenter = Segmenter(files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS])
    np.testing.assert_allclose(segmenter._scanner.network(ids), mean, atol=1e-4)


def test_a_treebank_without_words_is_refused(ewt_sentences: list[Sentence]) -> None:
    with pytest.raises(DataError, match="<dev>: no sentence with words"):
        next(train_segmenter(ewt_sentences, [], SMALL, 1, CPU))


def test_a_treebank_with_a_space_before_every_mark_is_shown_both_ways() -> None:
    spaced = list(read_tokens("Kids love candy .\nSo do I !\n" * 10))
    config = msgspec.structs.replace(SMALL, epochs=1)
    (report,) = train_segmenter(spaced, spaced, config, 1, CPU)
    for text in ("Kids love candy.", "Kids love candy ."):
        labelled = report.best.scanner().label(read_symbols(text))
        (sentence,) = assemble(labelled, report.best.expansions)
        assert [word.form for word in sentence.words] == ["Kids", "love", "candy", "."]


def test_loss_leaves_out_what_is_ignored() -> None:
    scores = torch.randn(2, 4, 5)
    targets = torch.full((2, 4, 3), IGNORED)
    assert segment_loss(scores, targets) == 0
    targets[0, 1] = torch.tensor([2, 1, 0])
    one = scores[0, 1]
    expected = (
        -one[:3].log_softmax(0)[2]
        - 0.5 * one[3].sigmoid().log()
        - 0.3 * (1 - one[4].sigmoid()).log()
    )
    torch.testing.assert_close(segment_loss(scores, targets), expected)


def test_reach_is_how_far_the_network_sees() -> None:
    torch.manual_seed(1)
    alphabet = make_alphabet("ab")
    network = SegmentNetwork(SegmentConfig(channels=8, layers=3), alphabet).eval()
    assert network.reach == 2 + 1 + 2 + 4
    ids = torch.randint(1, alphabet.size, (1, 61))
    scores = network(ids)[0]
    for position in (0, 30, 60):
        other = ids.clone()
        other[0, position] = alphabet.size - int(ids[0, position])
        is_changed = (network(other)[0] != scores).any(dim=1).nonzero().flatten() + network.reach
        assert (is_changed - position).abs().max() == network.reach
