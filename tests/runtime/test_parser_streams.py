"""Streams: read as far as is needed, parsed in windows, in order, up to what cannot be done."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

import headwise
from headwise import DataError, Malformed, ModelError, Sentence
from headwise.arrays import FloatArray, IntArray
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Scorer, Selection


@pytest.fixture(scope="module")
def parser(tiny_run: Path) -> Parser:
    return headwise.load(tiny_run)


def with_chunks(parser: Parser, size: int) -> Parser:
    return parser.with_settings(replace(parser.settings, chunk_size=size))


def parsed(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    return [s for s, _ in parser.annotate(sentences) if isinstance(s, Sentence)]


def test_stream_is_lazy_and_an_early_stop_is_clean(
    parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    n_read = 0

    def endless() -> object:
        nonlocal n_read
        while True:
            n_read += 1
            yield ewt_sentences[n_read % 5]

    stream = parser.annotate(endless(), threads=2)  # type: ignore[arg-type]
    for n_given in range(1, 1500):
        next(stream)
        assert n_read - n_given <= 8 * parser.settings.chunk_size
    assert n_read - n_given >= parser.settings.chunk_size
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_came_before_an_error_is_parsed(
    threads: int, parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    blank = headwise.sentence_from_words([("Kids",)], ["form"])
    longer = headwise.sentence_from_words([("Kids",)] * 9, ["form"])
    small = with_chunks(parser, 8)
    stream = small.annotate([*ewt_sentences[:30], blank, longer], threads)
    found = [item for item, _ in islice(stream, 30)]
    with pytest.raises(DataError, match="XPOS") as refused:
        next(stream)
    assert found == parsed(parser, ewt_sentences[:30])
    with pytest.raises(DataError) as first:
        parser.parse([blank])
    assert str(refused.value) == str(first.value)


class Failing:
    """A scorer that cannot do sentences of so many words."""

    def __init__(self, scorer: Scorer, n_words: int) -> None:
        self.scorer, self.n_words, self.vocab = scorer, n_words, scorer.vocab

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        if any(len(sentence) == self.n_words for sentence in sentences):
            raise ModelError("cannot")
        return self.scorer.select(sentences)

    def in_treebank(self, name: str) -> Scorer:
        raise NotImplementedError

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        return self.scorer.label(selections, heads)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(
    threads: int, parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    longest = max(ewt_sentences, key=len)
    others = [sentence for sentence in ewt_sentences if len(sentence) < len(longest)]
    settings = replace(parser.settings, chunk_size=8)
    failing = Parser(Failing(parser.scorer, len(longest)), None, settings)
    stream = failing.annotate([*others[:24], *[longest] * 30, *others], threads)
    assert [item for item, _ in islice(stream, 24)] == parsed(parser, others[:24])
    with pytest.raises(ModelError, match="cannot"):
        list(stream)


@pytest.mark.parametrize("threads", [1, 3])
def test_windows_and_chunks_change_nothing(
    threads: int, parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    bad = Malformed(b"what?\n\n", DataError("no", "x", 1))
    items = [*ewt_sentences[:70], bad, *ewt_sentences[70:]]
    small = with_chunks(parser, 5)
    wanted = list(parser.annotate(items))
    assert list(small.annotate(items, threads)) == wanted
    assert [item for item, _ in wanted][70] == bad
