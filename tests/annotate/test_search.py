"""Queries find what a plain look at every word finds."""

import pytest

from headwise import ConfigError, Sentence
from headwise.annotate.search import find_words, read_words_query
from tests.annotate.made_blocks import make_block


def found(query: str, sentences: list[Sentence]) -> list[tuple[int, list[int]]]:
    blocks = [sentence.conllu for sentence in sentences]
    hits = find_words(read_words_query(query), blocks)
    return [(hit.sentence, hit.words) for hit in hits if hit is not None]


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("form:the", lambda s, w: w.form.lower() == "the"),
        ("the", lambda s, w: "the" in (w.form.lower(), w.lemma.lower())),
        ("be", lambda s, w: "be" in (w.form.lower(), w.lemma.lower())),
        ("upos:VERB deprel:root", lambda s, w: (w.upos, w.deprel) == ("VERB", "root")),
        ("upos:verb", lambda s, w: False),
        ("form:*ing", lambda s, w: w.form.lower().endswith("ing")),
        ("form:a*n", lambda s, w: len(w.form) > 1 and w.form.lower()[0::len(w.form) - 1] == "an"),
        ("xpos:NN*", lambda s, w: w.xpos.startswith("NN")),
        ("feats:Number=Plur", lambda s, w: "Number=Plur" in w.feats.split("|")),
        ("head.upos:VERB deprel:nsubj", lambda s, w: w.deprel == "nsubj" and up(s, w) == "VERB"),
        ("head:root", lambda s, w: w.head == "0"),
        ("head:root head.upos:VERB", lambda s, w: False),
        ('lemma:"of" deprel:case', lambda s, w: w.lemma == "of" and w.deprel == "case"),
    ],
)  # fmt: skip
def test_words_are_found(query: str, holds: object, sentences: list[Sentence]) -> None:
    assert callable(holds)
    expected = [
        (number, words)
        for number, sentence in enumerate(sentences)
        if (words := [i for i, word in enumerate(sentence.words, 1) if holds(sentence, word)])
    ]
    assert found(query, sentences) == expected


def up(sentence: Sentence, word: object) -> str:
    head = int(word.head)  # type: ignore[attr-defined]
    return sentence.words[head - 1].upos if head else ""


def test_text_in_quotes_is_looked_for_in_the_sentence(sentences: list[Sentence]) -> None:
    part = sentences[2].text[5:20]
    assert (2, []) in found(f'"{part.upper()}"', sentences)
    both = found(f'"{part}" upos:PUNCT', sentences)
    assert [number for number, _ in both] == [2]
    assert all(sentences[2].words[i - 1].upos == "PUNCT" for i in both[0][1])


def test_stars_stand_for_anything_in_order() -> None:
    block = make_block("abcabc", "aXbYc", "ab", "a")

    def words(query: str) -> list[int]:
        (hit,) = find_words(read_words_query(query), [block])
        return [] if hit is None else hit.words

    assert words("form:a*c") == [1, 2]
    assert words("form:a*b*c") == [1, 2]
    assert words("form:ab*ab*") == [1]
    assert words("form:a*a") == []
    assert words("form:*b*b*") == [1]
    assert words("form:*c*a*b") == []
    assert words("form:*") == [1, 2, 3, 4]


def test_many_stars_take_no_time() -> None:
    query = read_words_query("form:" + "a*" * 200 + "b")
    (hit,) = find_words(query, [make_block("a" * 5_000)])
    assert hit is None


def test_malformed_sentences_are_passed_over() -> None:
    hits = list(find_words(read_words_query("a"), ["1\ta\n\n", "# comment\n\n", make_block("a")]))
    assert [hit is not None for hit in hits] == [False, False, True]


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("colour:red", "no column 'colour'"),
        ("head.id:1", "no column 'id'"),
        ("head:3", "no column 'head'"),
        ('""', "cannot be read at"),
        ('"open', "cannot be read at"),
        ('form:"a"b', "cannot be read at"),
        ("x" * 501, "more than 500"),
    ],
)
def test_what_cannot_be_understood_is_named(query: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        read_words_query(query)
