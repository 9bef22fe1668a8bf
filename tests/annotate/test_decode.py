"""The tree around what is fixed: it holds, the rest is the best, and it is quick."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise import Sentence
from headwise.annotate.contradictions import ContradictionError
from headwise.annotate.decode import DecodedSentence, Redecoder
from headwise.runtime.parser import Parser
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import sentence_from_words
from headwise.trees.tree import is_tree
from tests.annotate.made_blocks import blank, fix


def tree_of(decoded: DecodedSentence) -> Sentence:
    return read_block(decoded.conllu)


def test_without_marks_it_is_the_parse(
    redecoder: Redecoder, parser: Parser, sentences: list[Sentence]
) -> None:
    for sentence, parse in zip(sentences[:30], parser.parse(sentences[:30]), strict=True):
        empty = blank(sentence, "head", "deprel", "upos", "xpos")
        found = tree_of(redecoder.decode(empty))
        assert found.heads == parse.heads
        assert tuple(word.deprel for word in found.words) == parse.labels
        assert tuple(word.upos for word in found.words) == parse.upos


def test_everything_else_stays(redecoder: Redecoder, sentences: list[Sentence]) -> None:
    for sentence in sentences[:30]:
        found = tree_of(redecoder.decode(sentence))
        assert blank(found, "head", "deprel").lines == blank(sentence, "head", "deprel").lines


def test_what_is_fixed_holds_and_the_rest_follows(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    sentence = max(sentences, key=len)
    free = tree_of(redecoder.decode(sentence))
    last = len(sentence)
    other = 1 if free.heads[last - 1] != 1 else 2
    moved = fix(free, {last: other})
    decoded = redecoder.decode(moved)
    assert tree_of(decoded).heads[last - 1] == other
    assert decoded.words[last - 1].probability == pytest.approx(1.0)
    # What it could be instead is still listed.
    assert len(decoded.words[last - 1].heads) > 1
    assert all(0 <= p <= 1 for word in decoded.words for _, p in word.heads)


def test_refused_heads_are_left_out(redecoder: Redecoder, sentences: list[Sentence]) -> None:
    sentence = sentences[1]
    free = tree_of(redecoder.decode(sentence))
    position = len(sentence)
    refused = free.heads[position - 1]
    assert refused is not None
    again = redecoder.decode(fix(free, {position: refused}, f"NotHead={refused}"))
    assert tree_of(again).heads[position - 1] != refused
    assert refused not in [head for head, _ in again.words[position - 1].heads]
    assert position in again.changed


def test_a_fixed_label_stays(redecoder: Redecoder, sentences: list[Sentence]) -> None:
    sentence = sentences[0]
    word = sentence.words[0]._replace(deprel="dep", misc="Fixed=Deprel")
    decoded = redecoder.decode(sentence.with_words([word, *sentence.words[1:]]))
    assert tree_of(decoded).words[0].deprel == "dep"
    assert all(tree.labels[0] == "dep" for tree in decoded.trees)
    assert decoded.words[0].labels[0][0] != "dep"


def test_trees_and_probabilities_fit_together(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    for sentence in sentences[:20]:
        decoded = redecoder.decode(sentence, k=4)
        probabilities = [tree.probability for tree in decoded.trees]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1 + 1e-6
        assert decoded.trees[0].heads == tree_of(decoded).heads
        assert decoded.probability == pytest.approx(probabilities[0], abs=1e-6)
        for word, head in zip(decoded.words, tree_of(decoded).heads, strict=True):
            assert dict(word.heads).get(head, 0) == pytest.approx(word.probability, abs=1e-4)
        assert redecoder.certainty(sentence) == pytest.approx(
            min(word.probability for word in decoded.words), abs=1e-6
        )
    assert redecoder.decode(sentences[0], k=0).trees == []


def test_certainty_is_that_of_words_that_are_not_fixed(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    sentence = sentences[1]
    all_fixed = fix(sentence, dict(enumerate(sentence.gold_heads(), 1)))
    assert redecoder.certainty(all_fixed) == 1.0
    assert redecoder.certainty(sentence) < 1.0


def test_only_what_was_there_counts_as_changed(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    sentence = sentences[5]
    assert redecoder.decode(blank(sentence, "head", "deprel")).changed == []
    decoded = redecoder.decode(sentence)
    differing = [
        i
        for i, (old, new) in enumerate(zip(sentence.words, tree_of(decoded).words, strict=True), 1)
        if (old.head, old.deprel) != (new.head, new.deprel)
    ]
    assert decoded.changed == differing


def test_given_trees_stay_as_far_as_they_can(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    n_changed = 0
    for sentence in sentences[:30]:
        assert redecoder.decode(sentence, keep=True).changed == []
        if len(sentence) < 4:
            continue
        # A word that headed another hangs below it now: only what must change does.
        head = next(h for h in sentence.gold_heads() if h)
        child = sentence.gold_heads().index(head) + 1
        decoded = redecoder.decode(fix(sentence, {head: child}), keep=True)
        found = tree_of(decoded)
        assert found.heads[head - 1] == child
        n_changed += sum(a != b for a, b in zip(found.heads, sentence.heads, strict=True))
        assert sum(a != b for a, b in zip(found.heads, sentence.heads, strict=True)) <= 3
    assert n_changed


def test_blank_columns_are_filled_and_others_stay(redecoder: Redecoder) -> None:
    rows = [("Kids", "X"), ("love", "_"), ("candy", "_")]
    decoded = redecoder.decode(sentence_from_words(rows, ["form", "upos"]))
    assert [word.upos for word in tree_of(decoded).words] == ["X", "VERB", "NOUN"]
    assert decoded.words[1].upos[0][0] == "VERB"
    assert decoded.words[1].xpos[0][0] == "VBP"
    assert decoded.words[1].lemma == []


def test_a_very_long_sentence_has_no_sums(redecoder: Redecoder) -> None:
    sentence = sentence_from_words([("word",)] * 501, ["form"])
    decoded = redecoder.decode(sentence)
    assert decoded.probability is None
    assert decoded.trees == []
    assert len(decoded.words) == 501
    assert 0 <= redecoder.certainty(sentence) <= 1


def test_forty_words_take_well_under_a_tenth_of_a_second(
    redecoder: Redecoder, sentences: list[Sentence]
) -> None:
    words = [word for sentence in sentences for word in sentence.words][:40]
    sentence = sentence_from_words([(word.form,) for word in words], ["form"])
    seconds = []
    for head in range(1, 8):
        started = time.perf_counter()
        redecoder.decode(fix(sentence, {40: head}), k=3)
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.1


def test_scores_are_remembered_for_the_last_sentences(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.annotate.decode.CACHED_SENTENCES", 2)
    redecoder = Redecoder(parser)
    counted = []
    select = parser.scorer.select

    def count(asked: list[Sentence]) -> object:
        counted.extend(asked)
        return select(asked)

    monkeypatch.setattr(parser.scorer, "select", count)
    for at in (0, 1, 0, 2, 0, 1):
        redecoder.decode(sentences[at])
    assert [sentences.index(sentence) for sentence in counted] == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("heads", "word", "what", "unfix"),
    [
        ({1: 2, 2: 1}, 1, "1 would head itself through 2", [2]),
        ({1: 2, 2: 1}, 2, "2 would head itself through 1", [1]),
        ({1: 2, 2: 3, 3: 1}, 3, "3 would head itself through 1 and 2", None),
        ({1: 1}, 1, "word 1 cannot head itself", [1]),
        ({1: 0, 3: 0}, 3, "words 1 and 3 cannot both be the root", [1]),
        ({1: 2, 2: 1, 3: 4, 4: 3}, 1, "1 would head itself through 2", None),
    ],
)
def test_a_contradiction_is_named_with_what_to_unfix(
    redecoder: Redecoder, heads: dict[int, int], word: int, what: str, unfix: list[int] | None
) -> None:
    forms = ["She", "saw", "the", "man"]
    sentence = fix(sentence_from_words([(form,) for form in forms], ["form"]), heads)
    with pytest.raises(ContradictionError) as caught:
        redecoder.decode(sentence, word=word)
    assert caught.value.what == what
    assert unfix is None or caught.value.unfix == unfix
    assert unfix is not None or word not in caught.value.unfix
    words = list(sentence.words)
    for position in caught.value.unfix:
        words[position - 1] = words[position - 1]._replace(head="_", misc="_")
    decoded = redecoder.decode(sentence.with_words(words))
    kept = {i: h for i, h in heads.items() if i not in caught.value.unfix}
    assert {i: tree_of(decoded).heads[i - 1] for i in kept} == kept


def test_a_word_without_a_head_left_is_released(redecoder: Redecoder) -> None:
    sentence = sentence_from_words([("Kids",), ("love",)], ["form"])
    sentence = fix(sentence, {1: 2}, "NotHead=0,2")
    with pytest.raises(ContradictionError, match="word 1 has no head left") as caught:
        redecoder.decode(sentence)
    assert caught.value.unfix == [1]


def test_a_contradiction_of_the_last_word_with_itself(redecoder: Redecoder) -> None:
    sentence = sentence_from_words([("Kids",), ("love",)], ["form"])
    sentence = fix(sentence, {1: 2}, "Fixed=Head|NotHead=2")
    with pytest.raises(ContradictionError, match="both required and forbidden") as caught:
        redecoder.decode(sentence, word=1)
    assert caught.value.unfix == [1]


def test_a_sentence_without_words_stays(redecoder: Redecoder) -> None:
    decoded = redecoder.decode(read_block("# only a comment\n\n"))
    assert decoded.conllu == "# only a comment\n\n"
    assert decoded.words == decoded.trees == []


words_of_four = st.tuples(
    *[
        st.tuples(
            st.one_of(st.none(), st.integers(0, 4)),
            st.booleans(),
            st.lists(st.integers(0, 4), max_size=4, unique=True),
        )
    ]
    * 4
)


@settings(max_examples=80)
@given(words_of_four, st.one_of(st.none(), st.integers(1, 4)), st.booleans())
def test_whatever_is_marked_holds_or_is_named(
    redecoder: Redecoder,
    marked: tuple[tuple[int | None, bool, list[int]], ...],
    word: int | None,
    keep: bool,
) -> None:
    rows = []
    for form, (head, is_fixed, not_heads) in zip(("She", "saw", "the", "man"), marked, strict=True):
        misc = ["Fixed=Head"] if is_fixed else []
        misc += ["NotHead=" + ",".join(map(str, not_heads))] if not_heads else []
        rows.append((form, "_" if head is None else str(head), "|".join(misc) or "_"))
    sentence = sentence_from_words(rows, ["form", "head", "misc"])
    unfix: list[int] = []
    try:
        decoded = redecoder.decode(sentence, word=word, keep=keep)
    except ContradictionError as error:
        unfix = error.unfix
        assert unfix
        released = [
            one._replace(misc="_") if i in unfix else one for i, one in enumerate(sentence.words, 1)
        ]
        decoded = redecoder.decode(sentence.with_words(released), word=word, keep=keep)
    heads = tree_of(decoded).heads
    assert is_tree(np.array([0, *heads]))
    for position, (head, is_fixed, not_heads) in enumerate(marked, 1):
        if position not in unfix:
            assert head is None or not is_fixed or heads[position - 1] == head
            assert heads[position - 1] not in not_heads
