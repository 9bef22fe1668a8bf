"""spaCy documents as sentences, and parses back onto documents; trees are made up."""

import math
import random
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from headwise.errors import DataError, ModelError
from headwise.integrations.documents import (
    SentenceSpan,
    conllu_form,
    declare_extensions,
    find_sentences,
    span_to_sentence,
    spread_distribution,
    write_parses,
)
from headwise.integrations.surface import Segment
from headwise.text.segmenter import read_tokens
from headwise.treebank.sentence import Parse, Sentence, sentence_from_tokens

FIXED = settings(max_examples=100, deadline=None, derandomize=True, database=None)
VOCAB = Vocab()
declare_extensions()


def doc_of(text: str, sent_starts: list[bool | None] | None = None) -> Doc:
    """Cut at single spaces; a middle dot stands for white space."""
    words = [word.replace("\N{MIDDLE DOT}", "\n") for word in text.split()]
    return Doc(VOCAB, words=words, sent_starts=sent_starts)


def ending_with(mark: str) -> Segment:
    """Make a segmenter that ends a sentence after each word with a mark at its end."""

    def segment(chunks: Iterable[str]) -> Iterator[Sentence]:
        offset, rows = 0, []
        for word in "".join(chunks).replace("\n", " ").split(" "):
            if word:
                rows.append((word, f"TokenRange={offset}:{offset + len(word)}", ()))
            offset += len(word) + 1
            if rows and word.endswith(mark):
                yield sentence_from_tokens(rows)
                rows = []
        if rows:
            yield sentence_from_tokens(rows)

    return segment


def bounds(doc: Doc, mark: str = ".", keep: bool = True) -> list[tuple[int, int]]:
    (spans,) = find_sentences([doc], ending_with(mark), keep)
    return [(span.start, span.end) for span in spans]


def test_sentences_are_found_in_the_text_of_all_documents_together() -> None:
    docs = [doc_of("a b. c d."), doc_of(""), doc_of("· ·"), doc_of("\ufeff e. · f")]
    found = find_sentences(docs, ending_with("."), True)
    assert found == [
        [SentenceSpan(0, 2, (0, 1)), SentenceSpan(2, 4, (2, 3))],
        [],
        [SentenceSpan(0, 2, ())],
        [SentenceSpan(0, 3, (1,)), SentenceSpan(3, 4, (3,))],
    ]


def test_marked_sentence_starts_are_kept_and_the_others_found() -> None:
    assert bounds(doc_of("a b. c d", [True, False, False, True])) == [(0, 3), (3, 4)]
    assert bounds(doc_of("a b. c d", [None, None, False, None])) == [(0, 4)]
    assert bounds(doc_of("a b. c d", [None, True, None, None])) == [(0, 1), (1, 2), (2, 4)]
    assert bounds(doc_of("a b. c d", [True, False, False, True]), keep=False) == [(0, 2), (2, 4)]


def test_a_sentence_that_starts_inside_a_token_starts_with_the_next() -> None:
    assert bounds(Doc(VOCAB, words=["a", "b. c", "d", "e"])) == [(0, 2), (2, 4)]
    assert bounds(Doc(VOCAB, words=["a", "b. c"])) == [(0, 2)]


def test_without_a_segmenter_the_document_must_mark_its_sentences() -> None:
    with pytest.raises(ModelError, match="sentencizer"):
        find_sentences([doc_of("a b")], None, True)
    assert find_sentences([doc_of("a"), doc_of("")], None, True) == [[SentenceSpan(0, 1, (0,))], []]
    marked = doc_of("a b", [True, False])
    assert find_sentences([marked], None, True) == [[SentenceSpan(0, 2, (0, 1))]]


def test_a_sentence_that_is_too_long_is_refused() -> None:
    find_sentences([doc_of("a b · c")], ending_with("."), True, max_words=3)
    with pytest.raises(DataError, match="a sentence has 4 words; the limit is 3"):
        find_sentences([doc_of("a b c d")], ending_with("."), True, max_words=3)


def test_forms_are_those_of_the_command_line() -> None:
    tokens = ["Kids", "caf\u00e9", "cafe\u0301", "a\x00b", "a\ufeff", "\u1100\u1161", "\ufffd", "#"]
    (sentence,) = read_tokens(" ".join(tokens))
    assert list(map(conllu_form, tokens)) == [word.form for word in sentence.words]
    assert conllu_form("New\t\n York") == "New York"


def test_the_parser_gets_tags_and_forms() -> None:
    doc = Doc(VOCAB, words=["m", "\n", "x"], pos=["DET", "", ""], tags=["ART", "", ""])
    doc[0]._.word_form = "dem"
    words = span_to_sentence(doc, SentenceSpan(0, 3, (0, 2))).words
    found = [(word.form, word.upos, word.xpos) for word in words]
    assert found == [("dem", "DET", "ART"), ("x", "_", "_")]


def test_parses_are_written_and_white_space_is_attached_to_the_word_before() -> None:
    doc = doc_of("· a · · b · c")
    spans = [SentenceSpan(0, 6, (1, 4)), SentenceSpan(6, 7, (6,))]
    parses = [
        Parse((2, 0), ("det", "root"), (math.log(0.25), 0.0), "greedy", ("DET", "?"), ("D", "N")),
        Parse((0,), ("root",), (1e-9,), "greedy", ("X",), ("F",)),
    ]
    write_parses(doc, spans, parses)
    assert [token.head.i for token in doc] == [1, 4, 1, 1, 4, 4, 6]
    assert [token.dep_ for token in doc] == ["dep", "det", "dep", "dep", "root", "dep", "root"]
    assert [token.pos_ for token in doc] == ["SPACE", "DET", "SPACE", "SPACE", "", "SPACE", "X"]
    assert [token.tag_ for token in doc] == ["_SP", "D", "_SP", "_SP", "N", "_SP", "F"]
    probabilities = [token._.head_probability for token in doc]
    assert probabilities == [None, pytest.approx(0.25), None, None, 1.0, None, 1.0]
    assert [sentence.text.strip() for sentence in doc.sents] == ["a \n \n b", "c"]


def test_tags_that_the_parser_does_not_predict_are_kept() -> None:
    doc = Doc(VOCAB, words=["a", "b"], pos=["DET", "NOUN"], tags=["D", "N"])
    parse = Parse((2, 0), ("det", "root"), (0.0, 0.0), "greedy")
    write_parses(doc, [SentenceSpan(0, 2, (0, 1))], [parse])
    assert [(token.pos_, token.tag_) for token in doc] == [("DET", "D"), ("NOUN", "N")]


def test_features_and_lemmas_are_written() -> None:
    doc = doc_of("dogs · bark")
    parse = Parse(
        (2, 0),
        ("nsubj", "root"),
        (0.0, 0.0),
        "greedy",
        feats=("Number=Plur", "_"),
        lemmas=("dog", "bark"),
    )
    write_parses(doc, [SentenceSpan(0, 3, (0, 2))], [parse])
    assert [token.lemma_ for token in doc] == ["dog", "\n", "bark"]
    assert [str(token.morph) for token in doc] == ["Number=Plur", "", ""]
    assert doc[0].morph.get("Number") == ["Plur"]
    assert doc.has_annotation("MORPH", require_complete=True)
    assert doc.has_annotation("LEMMA", require_complete=True)


def test_features_and_lemmas_that_the_parser_does_not_predict_are_kept() -> None:
    doc = Doc(VOCAB, words=["dogs"], lemmas=["dog"], morphs=["Number=Plur"])
    parse = Parse((0,), ("root",), (0.0,), "greedy")
    write_parses(doc, [SentenceSpan(0, 1, (0,))], [parse])
    assert (doc[0].lemma_, str(doc[0].morph)) == ("dog", "Number=Plur")


def test_what_is_kept_is_passed_to_the_parser() -> None:
    doc = Doc(
        VOCAB,
        words=["the", "\n", "old", "dog", "barks"],
        lemmas=["the", "\n", "old\tage", "dog", "bark"],
        morphs=["Definite=Def", "", "", "Number=Sing", ""],
        heads=[3, 0, 1, 4, 4],
        deps=["det", "dep", "", "nsubj", "root"],
    )
    span = SentenceSpan(0, 4, (0, 2, 3))
    columns = ("lemma", "feats", "head", "deprel")

    def values(sentence: Sentence) -> list[tuple[str, ...]]:
        return [tuple(getattr(word, column) for column in columns) for word in sentence.words]

    assert values(span_to_sentence(doc, span)) == [
        ("_", "Definite=Def", "_", "_"),
        ("_", "_", "_", "_"),
        ("_", "Number=Sing", "_", "_"),
    ]
    # `old` has no head; that of `dog` is in another sentence.
    assert values(span_to_sentence(doc, span, ("lemma", "heads", "labels"))) == [
        ("the", "Definite=Def", "3", "det"),
        ("old age", "_", "_", "_"),
        ("dog", "Number=Sing", "_", "nsubj"),
    ]
    root = span_to_sentence(doc, SentenceSpan(3, 5, (3, 4)), ("heads",))
    assert [word.head for word in root.words] == ["2", "0"]


def test_a_sentence_of_white_space_is_attached_to_its_first_token() -> None:
    doc = doc_of("a · ·")
    parses = [Parse((0,), ("root",), (0.0,), "greedy"), Parse((), (), (), "greedy")]
    write_parses(doc, [SentenceSpan(0, 1, (0,)), SentenceSpan(1, 3, ())], parses)
    assert [token.head.i for token in doc] == [0, 1, 1]
    assert [sentence.start for sentence in doc.sents] == [0, 1]


def random_tree(n_words: int, seed: int) -> tuple[int, ...]:
    """Draw a tree with any number of crossing arcs."""
    rng = random.Random(seed)
    order = rng.sample(range(1, n_words + 1), n_words)
    heads = dict(zip(order[1:], order, strict=False)) | {order[0]: 0}
    for word in order[1:]:
        if rng.random() < 0.3:
            heads[word] = order[rng.randrange(order.index(word))]
    return tuple(heads[word] for word in range(1, n_words + 1))


@FIXED
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9999)), min_size=1, max_size=4))
def test_any_trees_survive_in_their_sentences(shapes: list[tuple[int, int]]) -> None:
    trees = [random_tree(*shape) for shape in shapes]
    doc = Doc(VOCAB, words=["w"] * sum(map(len, trees)))
    starts = np.cumsum([0, *map(len, trees)]).tolist()
    spans = [
        SentenceSpan(start, start + len(tree), tuple(range(start, start + len(tree))))
        for start, tree in zip(starts, trees, strict=False)
    ]
    parses = [Parse(tree, ("x",) * len(tree), (0.0,) * len(tree), "greedy") for tree in trees]
    write_parses(doc, spans, parses)
    assert [sentence.start for sentence in doc.sents] == starts[:-1]
    for start, tree in zip(starts, trees, strict=False):
        heads = [doc[start + i].head.i for i in range(len(tree))]
        assert heads == [start + (head - 1 if head else i) for i, head in enumerate(tree)]


def test_distributions_are_over_the_tokens_and_root_is_column_0() -> None:
    chosen = np.array([[1, 0, 0], [0.25, 0.25, 0.5], [0.5, 0.5, 0]], np.float32)
    with np.errstate(divide="ignore"):
        spread = spread_distribution(SentenceSpan(3, 6, (3, 5)), np.log(chosen))
    assert spread.tolist() == [[0.25, 0.25, 0, 0.5], [0, 0, 0, 0], [0.5, 0.5, 0, 0]]
    nothing = spread_distribution(SentenceSpan(0, 2, ()), np.zeros((1, 1), np.float32))
    assert nothing.tolist() == [[0, 0, 0], [0, 0, 0]]
