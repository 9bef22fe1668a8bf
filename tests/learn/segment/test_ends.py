"""The second network: it learns, and its graph does what it does."""

from itertools import islice

import numpy as np
import pytest
import torch

from headwise import Sentence
from headwise.learn.segment.data import encode_sentence, gold_sentences, gold_text
from headwise.learn.segment.ends import EndNetwork, _last_words, learn_lists, make_finder
from headwise.learn.segment.train import (
    SegmentReport,
    TrainedSegmenter,
    evaluate_segmenter,
    export_segmenter,
    train_segmenter,
)
from headwise.settings.training import SegmentConfig
from headwise.text.ends import N_FEATURES, RowMaker, number
from headwise.text.scan import EXPANDS
from headwise.text.segmenter import (
    ENDS_GRAPH,
    SEGMENTER_GRAPH,
    SEGMENTER_SETTINGS,
    Segmenter,
    read_tokens,
)
from headwise.text.symbols import read_symbols
from headwise.treebank.sentence import TokenRow, sentence_from_tokens

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
    assert_same_scores(best)
    assert evaluate_segmenter(best, gold_sentences(ewt_sentences[:60])) == reports[-1].dev


def assert_same_scores(best: TrainedSegmenter) -> None:
    """Compare the runtime's graph with the network."""
    assert best.lists is not None
    assert best.end_network is not None
    files = export_segmenter(best)
    graph, settings, ends = (files[n] for n in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS, ENDS_GRAPH))
    segmenter = Segmenter(graph, settings, ends=ends)
    assert segmenter._finder is not None
    maker = best.lists.maker()
    random = np.random.default_rng(1)
    features = random.integers(0, 3, (300, N_FEATURES)).astype(np.int32)
    shape = (300 - 2 * maker.reach, 1 + best.lists.splits)
    given = random.normal(size=shape).astype(np.float32)
    expected = make_finder(best.end_network, maker).network(features, given)
    assert expected.shape == given.shape
    np.testing.assert_allclose(segmenter._finder.network(features, given), expected, atol=1e-4)


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
    changed = (network(features) != scores).nonzero()[:, 0] + lists.reach
    assert (int(changed.min()), int(changed.max())) == (13, 27)


LETTERS = SegmentConfig(
    channels=8, layers=1, epochs=1, steps=1, batch_size=1, window=64, min_count=1, apostrophes=0.5,
    end_epochs=30, end_channels=16, end_layers=4, end_size=8, end_splits=3, rate=0.01,
)  # fmt: skip


def tokens(text: str) -> Sentence:
    """Read a sentence whose words inside a token are separated by `|`."""
    rows: list[TokenRow] = []
    for form in text.split():
        words = tuple((word, "_") for word in form.split("|"))
        rows.append((form.replace("|", ""), "_", words if len(words) > 1 else ()))
    return sentence_from_tokens(rows, [])


def test_it_learns_which_tokens_are_two_words() -> None:
    seen = [tokens(text) for text in ("it|s a dog .", "its dog is old", "it|s a cat .")] * 200
    *_, last = train_segmenter(seen, seen[:6], LETTERS, 1, CPU)
    assert last.best_dev.words == 100
    assert_same_scores(last.best)
    files = export_segmenter(last.best)
    graph, settings, ends = (files[n] for n in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS, ENDS_GRAPH))
    segmenter = Segmenter(graph, settings, ends=ends)
    text = "its a dog .\n\nits dog is old\n"
    for found in (segmenter.segment(text), segmenter.read_lines(text)):
        words = [word.form for sentence in found for word in sentence.words]
        assert words == ["it", "s", "a", "dog", ".", "its", "dog", "is", "old"]


def test_targets_are_the_lengths_of_last_words() -> None:
    (sentence,) = gold_sentences([tokens("it|s do|nt d|on|t can|dles its a|. x")])
    encoded = encode_sentence(sentence)
    codes, labels = gold_text([encoded], np.ones(1, np.bool_))
    labels[np.flatnonzero(codes == ord("x"))] |= EXPANDS
    rows = number([]), number([]), number([])
    made = RowMaker(*rows, 1).make(codes, labels)
    assert _last_words(labels, made, 3).tolist() == [1, 2, -1, -1, 0, -1, -1]
