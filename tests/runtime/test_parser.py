"""Sentences and streams: parsed in order, up to what cannot be done, whatever is beside them."""

import io
import math
import re
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import headwise
from headwise import DataError, Malformed, ModelError, Parse, Sentence, Word
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.settings.parsing import DecodeConfig

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def parser(tiny_run: Path) -> Parser:
    return headwise.load(tiny_run)


def parsed(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    return [s for s, _ in parser.annotate(sentences) if isinstance(s, Sentence)]


def test_order_and_neighbours_change_nothing(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    forwards = parsed(parser, ewt_sentences)
    assert parsed(parser, ewt_sentences[::-1]) == forwards[::-1]
    assert parsed(parser, ewt_sentences[7:8]) == forwards[7:8]


@pytest.mark.parametrize(
    "name",
    ["coptic-20.conllu", "ewt-empty-nodes-6.conllu", "crlf.conllu", "no-final-newline.conllu"],
)
def test_parsing_fills_head_and_deprel_and_changes_nothing_else(name: str, parser: Parser) -> None:
    word_line = re.compile(rb"^([0-9]+\t(?:[^\t]+\t){3}[^\t]+\t[^\t]+\t)[^\t]+\t[^\t]+\t", re.M)
    blank = word_line.sub(rb"\1_\t_\t", (FIXTURES / name).read_bytes())
    items = headwise.read_conllu(io.BytesIO(blank))
    after = b"".join(s.data for s, _ in parser.annotate(items))
    assert word_line.sub(rb"\1_\t_\t", after) == blank
    filled = re.findall(rb"^[0-9]+\t(?:[^\t]+\t){5}([0-9]+)\t([a-z:]+)\t", after, re.M)
    assert len(filled) == len(word_line.findall(blank)) > 0


@pytest.mark.parametrize("decoder", ["mst", "eisner"])
def test_one_root_where_asked(decoder: str, tiny_run: Path, ewt_sentences: list[Sentence]) -> None:
    decode = DecodeConfig(decoder=decoder, single_root=True)  # type: ignore[arg-type]
    parses = headwise.load(tiny_run, decode=decode).parse(ewt_sentences)
    assert all(parse.heads.count(0) == 1 for parse in parses)
    assert {parse.how for parse in parses} > {"greedy"}


def test_each_arc_has_a_probability(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    for sentence, parse in zip(ewt_sentences, parser.parse(ewt_sentences), strict=True):
        assert len(parse.probabilities) == len(sentence)
        assert all(0 <= probability <= 1 for probability in parse.probabilities)
    rounded = Parse((2, 0), ("nsubj", "root"), (math.log(0.25), 1e-9), "greedy")
    assert rounded.probabilities == pytest.approx((0.25, 1.0))
    assert max(rounded.probabilities) <= 1


def test_blocks_without_words_pass_through(parser: Parser) -> None:
    empty = Sentence((), ("# only a comment\n", "\n"), ())
    ((sentence, parse),) = parser.annotate([empty])
    assert sentence == empty
    assert parse is not None
    assert parse.heads == ()


def test_missing_tags_are_an_error_or_passed_through(parser: Parser) -> None:
    blank = headwise.sentence_from_words([("Kids",), ("love",), ("candy",)], ["form"])
    with pytest.raises(DataError, match="reads the column XPOS"):
        list(parser.annotate([blank]))
    with pytest.raises(DataError, match="reads the column XPOS"):
        parser.parse([blank])
    ((item, parse),) = parser.annotate([blank], on_error="skip")
    assert isinstance(item, Malformed)
    assert item.data == blank.conllu.encode()
    assert parse is None


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_a_scorer_reads_as_another_treebank_does(
    device: str, marked_run: Path, ewt_sentences: list[Sentence]
) -> None:
    first = headwise.load(marked_run, device=device)
    second = headwise.load(marked_run, treebank="second", device=device)
    mixed = Parser(first.scorer.in_treebank("second"), None, first.settings)
    some = ewt_sentences[:30]
    wanted = [parse.head_log_probs for parse in second.parse(some)]
    found = [parse.head_log_probs for parse in mixed.parse(some)]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)
    assert found != [parse.head_log_probs for parse in first.parse(some)]
    assert first.scorer.in_treebank("third").vocab.treebank == "first"


@pytest.fixture(scope="module")
def tagger(full_run: Path) -> Parser:
    """A parser that reads no tags and predicts both columns."""
    return headwise.load(full_run)


def test_predicted_tags_fill_their_columns_and_change_nothing_else(
    tagger: Parser, ewt_sentences: list[Sentence]
) -> None:
    blank = [with_columns(s, upos="_", xpos="_", head="_", deprel="_") for s in ewt_sentences]
    results = list(tagger.annotate(blank))
    for before, (after, parse) in zip(blank, results, strict=True):
        assert isinstance(after, Sentence)
        assert parse is not None
        assert tuple(word.upos for word in after.words) == parse.upos
        assert tuple(word.xpos for word in after.words) == parse.xpos
        assert with_columns(after, upos="_", xpos="_", head="_", deprel="_") == before
    tags = {tag for _, parse in results if parse for tag in parse.upos}
    assert tags <= set(tagger.vocab.predicted["upos"].strings)
    assert len(tags) > 10


def with_columns(sentence: Sentence, **values: str) -> Sentence:
    words = tuple(word._replace(**values) for word in sentence.words)
    lines = list(sentence.lines)
    for row, word in zip(sentence.rows, words, strict=True):
        lines[row] = "\t".join(word) + "\n"
    return Sentence(words, tuple(lines), sentence.rows, sentence.source, sentence.first_line)


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_given_tags_are_kept_where_asked_and_blanks_are_filled(device: str, full_run: Path) -> None:
    rows = [("Kids", "X", "_"), ("love", "_", "ODD"), ("candy", "_", "_")]
    sentence = headwise.sentence_from_words(rows, ["form", "upos", "xpos"])
    (predicted,) = headwise.load(full_run, device=device).parse([sentence])
    (kept,) = headwise.load(full_run, keep_tags=True, device=device).parse([sentence])
    assert kept.upos == ("X", *predicted.upos[1:])
    assert kept.xpos == (predicted.xpos[0], "ODD", predicted.xpos[2])
    assert "_" not in kept.upos + kept.xpos
    assert kept.heads == predicted.heads
    written = sentence.with_parse(kept)
    assert [word.upos for word in written.words] == list(kept.upos)


@pytest.mark.parametrize("threads", [1, 2])
def test_raw_text_is_cut_and_parsed(threads: int, tagger: Parser) -> None:
    text = "Kids love candy. So do I, and every word selects its head!\n\nIt works.\n"
    results = list(tagger.annotate_text(text, threads))
    forms = [word.form for sentence, _ in results for word in sentence.words]
    assert "".join(forms) == "".join(text.split())
    assert len(results) > 1
    assert results == list(tagger.annotate_text(list(text), threads))
    for sentence, parse in results:
        assert [int(word.head) for word in sentence.words] == list(parse.heads)
        assert parse.heads.count(0) == 1
        assert len(parse.upos) == len(sentence)
    assert list(tagger.annotate_text("", threads)) == []


@pytest.mark.parametrize("sentences", [[["Kids", "love", "candy"]], ["Kids love candy."], [()]])
def test_what_is_no_sentence_is_refused(parser: Parser, sentences: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"headwise\.sentence_from_words makes them of words"):
        parser.parse(sentences)


def test_raw_text_needs_a_segmenter(parser: Parser) -> None:
    assert parser.segmenter is None
    with pytest.raises(ModelError, match=r"cannot find words in raw text(.|\n)*hint: "):
        list(parser.annotate_text("Kids love candy."))


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=8), st.sampled_from(["NN", "VB", "??"])),
        min_size=1,
        max_size=12,
    )
)
def test_any_words_get_a_tree(parser: Parser, tagger: Parser, rows: list[tuple[str, str]]) -> None:
    rows = [(form.translate(dict.fromkeys(map(ord, "\t\r\n"), "_")), tag) for form, tag in rows]
    sentence = headwise.sentence_from_words(rows, ["form", "xpos"])
    for parse in (*parser.parse([sentence]), *tagger.parse([sentence])):
        assert len(parse.heads) == len(rows)
        assert 0 in parse.heads
        annotated = sentence.with_parse(parse)
        assert isinstance(annotated.words[0], Word)
        assert [w.form for w in annotated.words] == [form for form, _ in rows]


def test_a_model_with_broken_weights_is_a_clear_error(
    parser: Parser, ewt_sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(sentences: list[Sentence]) -> list[Selection]:
        return [Selection(np.full((len(s) + 1, len(s) + 1), np.nan), None) for s in sentences]

    monkeypatch.setattr(parser.scorer, "select", broken)
    with pytest.raises(ModelError, match="no distribution over heads"):
        parser.parse(ewt_sentences[:1])


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
    small = parser.with_settings(replace(parser.settings, chunk_size=8))
    stream = small.annotate([*ewt_sentences[:30], blank, longer], threads)
    found = [item for item, _ in islice(stream, 30)]
    with pytest.raises(DataError, match="XPOS") as refused:
        next(stream)
    assert found == parsed(parser, ewt_sentences[:30])
    with pytest.raises(DataError) as first:
        parser.parse([blank])
    assert str(refused.value) == str(first.value)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(
    threads: int,
    parser: Parser,
    ewt_sentences: list[Sentence],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    longest = max(ewt_sentences, key=len)
    others = [sentence for sentence in ewt_sentences if len(sentence) < len(longest)]
    expected = parsed(parser, others[:24])
    select = parser.scorer.select

    def fail_at_longest(sentences: list[Sentence]) -> list[Selection]:
        if longest in sentences:
            raise ModelError("cannot")
        return select(sentences)

    monkeypatch.setattr(parser.scorer, "select", fail_at_longest)
    small = parser.with_settings(replace(parser.settings, chunk_size=8))
    stream = small.annotate([*others[:24], *[longest] * 30, *others], threads)
    assert [item for item, _ in islice(stream, 24)] == expected
    with pytest.raises(ModelError, match="cannot"):
        list(stream)


@pytest.mark.parametrize(("threads", "chunk_size"), [(1, 5), (3, 5), (8, 128)])
def test_threads_windows_and_chunks_change_nothing(
    threads: int, chunk_size: int, parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    malformed = Malformed(b"what?\n\n", DataError("no", "x", 1))
    items = [*ewt_sentences[:70], malformed, *ewt_sentences[70:], *ewt_sentences]
    other = parser.with_settings(replace(parser.settings, chunk_size=chunk_size))
    expected = list(parser.annotate(items))
    assert list(other.annotate(items, threads)) == expected
    assert expected[70] == (malformed, None)
