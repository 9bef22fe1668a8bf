"""The second network: it learns, and its graph does what it does."""

from itertools import islice

import numpy as np
import pytest
import torch

from headwise import Sentence
from headwise.learn.segment.data import gold_sentences
from headwise.learn.segment.ends import EndNetwork, learn_lists, make_finder
from headwise.learn.segment.train import (
    SegmentReport,
    evaluate_segmenter,
    export_segmenter,
    train_segmenter,
)
from headwise.settings.training import SegmentConfig
from headwise.text.ends import N_FEATURES
from headwise.text.segmenter import (
    ENDS_GRAPH,
    SEGMENTER_GRAPH,
    SEGMENTER_SETTINGS,
    Segmenter,
    read_tokens,
)
from headwise.text.symbols import read_symbols

CPU = torch.device("cpu")
SMALL = SegmentConfig(
    channels=16, layers=3, epochs=2, steps=40, rate=0.01, batch_size=4, window=256, min_count=1,
    end_epochs=5, end_channels=16, end_layers=3, end_size=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def reports(ewt_sentences: list[Sentence]) -> list[SegmentReport]:
    return list(train_segmenter(ewt_sentences, ewt_sentences[:60], SMALL, 1, CPU))


def test_it_learns_after_the_first_network(reports: list[SegmentReport]) -> None:
    lines = [report.line() for report in reports]
    assert [line.rpartition("  loss")[0] for line in lines[1:3] + lines[-1:]] == [
        "words in text 2/2", "sentence ends 1/5", "sentence ends 5/5",
    ]  # fmt: skip
    first, last = reports[2], reports[-1]
    assert last.loss < first.loss / 2
    assert last.best_dev == last.dev
    assert last.dev.words == reports[1].best_dev.words
    assert last.dev.sentences > reports[1].best_dev.sentences


def test_same_seed_same_networks(
    reports: list[SegmentReport], ewt_sentences: list[Sentence]
) -> None:
    again = train_segmenter(ewt_sentences, ewt_sentences[:60], SMALL, 1, CPU)
    losses = [report.loss for report in islice(again, 4)]
    assert losses == [report.loss for report in reports[:4]]


def test_the_files_do_what_the_networks_do(
    reports: list[SegmentReport], ewt_sentences: list[Sentence]
) -> None:
    best = reports[-1].best
    assert best.lists is not None
    assert best.end_network is not None
    files = export_segmenter(best)
    graph, settings, ends = (files[n] for n in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS, ENDS_GRAPH))
    segmenter = Segmenter(graph, settings, ends=ends)
    assert segmenter._finder is not None
    maker = best.lists.maker()
    random = np.random.default_rng(1)
    features = random.integers(0, 3, (300, N_FEATURES)).astype(np.int32)
    given = random.normal(size=300 - 2 * maker.reach).astype(np.float32)
    expected = make_finder(best.end_network, maker).network(features, given)
    assert expected.shape == given.shape
    np.testing.assert_allclose(segmenter._finder.network(features, given), expected, atol=1e-4)
    assert evaluate_segmenter(best, gold_sentences(ewt_sentences[:60])) == reports[-1].dev


def test_the_second_network_can_overrule_the_first(reports: list[SegmentReport]) -> None:
    best = reports[-1].best
    assert best.lists is not None
    labelled = list(best.scanner().label(read_symbols("Hello there. How are you?")))
    for bias, n_sentences in ((-99.0, 1), (99.0, 7)):
        network = EndNetwork(SMALL, best.lists)
        with torch.no_grad():
            network.last.bias.fill_(bias)
        finder = make_finder(network, best.lists.maker())
        (part,) = finder.find(labelled)
        assert np.count_nonzero(part.labels & 4) == n_sentences


def test_reach_is_how_far_the_network_sees() -> None:
    torch.manual_seed(1)
    sentences = gold_sentences(list(read_tokens(f"a b c {'-' * 65}\n" * 3)))
    lists = learn_lists(sentences, SMALL)
    assert lists.reach == 7
    assert lists.words == ("a", "b", "c")
    assert lists.shapes == ("x", "--")
    network = EndNetwork(SMALL, lists).eval()
    features = torch.ones(41, N_FEATURES, dtype=torch.int32)
    scores = network(features)
    features[20, 0] = 2
    changed = (network(features) != scores).nonzero().flatten() + lists.reach
    assert (int(changed.min()), int(changed.max())) == (13, 27)
