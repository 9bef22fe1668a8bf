"""What a parser says of all trees: it agrees with itself, and obeys constraints."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as change

import headwise
from headwise import ConfigError, Constraints, Sentence, sentence_from_words
from headwise.runtime.parser import Parser
from headwise.runtime.tree_space import MAX_SUMMED_WORDS
from headwise.settings.choices import Decoder
from headwise.trees.tree import is_projective, is_tree, n_roots

K = 4


@pytest.fixture(scope="module")
def parser(full_run: Path) -> Parser:
    return headwise.load(full_run, k_best=K, marginals=True)


def decoding(parser: Parser, decoder: Decoder, single_root: bool) -> Parser:
    decode = change(parser.settings.decode, decoder=decoder, single_root=single_root)
    return parser.with_settings(change(parser.settings, decode=decode))


def as_array(heads: tuple[int, ...]) -> np.ndarray:
    return np.array([0, *heads], np.int32)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("decoder", ["greedy", "mst", "eisner"])
def test_trees_are_probable_in_order_and_labelled(
    parser: Parser, ewt_sentences: list[Sentence], decoder: Decoder, single_root: bool
) -> None:
    parser = decoding(parser, decoder, single_root)
    for sentence, parse in zip(ewt_sentences, parser.parse(ewt_sentences), strict=True):
        assert 1 <= len(parse.trees) <= K
        assert len(set(parse.trees)) == len(parse.trees)
        probabilities = [tree.probability for tree in parse.trees]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1 + 1e-9
        assert parse.entropy is not None
        assert parse.entropy >= -math.log(max(probabilities)) - 1e-6  # of the most probable tree
        for tree in parse.trees:
            heads = as_array(tree.heads)
            assert is_tree(heads)
            assert not single_root or n_roots(heads) == 1
            assert decoder != "eisner" or is_projective(heads)
            assert len(tree.labels) == len(sentence)
        if decoder != "greedy":
            assert (parse.heads, parse.labels) == parse.trees[0][:2]
            best = parse.trees[0].probability
            assert all(marginal >= best - 1e-9 for marginal in parse.marginals)


def test_what_is_not_asked_for_is_not_there(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    plain = parser.with_settings(change(parser.settings, k_best=0, marginals=False))
    for parse, whole in zip(
        plain.parse(ewt_sentences[:9]), parser.parse(ewt_sentences[:9]), strict=True
    ):
        assert (parse.trees, parse.marginals, parse.entropy) == ((), (), None)
        assert parse == replace(whole, trees=(), marginals=(), entropy=None)
        assert len(whole.marginals) == len(whole.heads)


@pytest.mark.parametrize("decoder", ["greedy", "mst", "eisner"])
def test_constraints_hold_in_the_parse_and_in_all_trees(
    parser: Parser, ewt_sentences: list[Sentence], decoder: Decoder
) -> None:
    parser = decoding(parser, decoder, True)
    sentences = [sentence for sentence in ewt_sentences if len(sentence) > 6]
    asked = Constraints(root=3, labels={2: "odd"}, subtrees=[(4, 5, 6)], forbidden=[(5, 4)])
    free = parser.parse(sentences)
    parses = parser.parse(sentences, [asked if i % 2 else None for i in range(len(sentences))])
    for i, parse in enumerate(parses):
        if i % 2 == 0:
            assert parse.heads == free[i].heads
            continue
        assert math.isnan(parse.column_probs["labels"][1])
        for heads, labels in [(parse.heads, parse.labels), *(tree[:2] for tree in parse.trees)]:
            assert is_tree(as_array(heads))
            assert heads[2] == 0
            assert heads.count(0) == 1
            assert labels[1] == "odd"
            assert heads[4] != 4
            assert sum(head not in (4, 5, 6) for head in heads[3:6]) == 1


def test_kept_heads_and_constraints_go_together(parser: Parser) -> None:
    rows = [("Kids", "2", "_"), ("love", "_", "_"), ("candy", "_", "thing"), (".", "1", "_")]
    sentence = sentence_from_words(rows, ["form", "head", "deprel"])
    keeper = parser.with_settings(change(parser.settings, keep=("heads", "labels")))
    (parse,) = keeper.parse([sentence], [Constraints(heads={4: 2}, root=2)])
    for heads, labels in [(parse.heads, parse.labels), *(tree[:2] for tree in parse.trees)]:
        assert (heads[0], heads[1], heads[3]) == (2, 0, 2)
        assert labels[2] == "thing"
    with pytest.raises(ConfigError, match="words 1 and 2 cannot head each other"):
        keeper.parse([sentence], [Constraints(heads={2: 1})])


def test_kept_labels_alone_ask_for_no_tree(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    greedy = decoding(parser, "greedy", False)
    keeper = greedy.with_settings(change(greedy.settings, keep=("labels",)))
    for one, other in zip(greedy.parse(ewt_sentences), keeper.parse(ewt_sentences), strict=True):
        assert (one.heads, one.how) == (other.heads, other.how)


def test_constraints_win_over_projectivity(parser: Parser) -> None:
    sentence = sentence_from_words([(form,) for form in ["a", "b", "c", "d"]], ["form"])
    projective = decoding(parser, "eisner", True)
    (parse,) = projective.parse([sentence], [Constraints(heads={1: 3, 2: 4})])
    assert parse.heads[:2] == (3, 4)
    assert all(tree.heads[:2] == (3, 4) for tree in parse.trees)


NO_HEAD = [(1, 0), (1, 2)]
"""Of the first word of two."""


def test_what_cannot_be_is_refused(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    sentence = sentence_from_words([("Hi",), ("there",)], ["form"])
    with pytest.raises(ConfigError, match=r"there is no word 3\nhint: the sentence has 2 words"):
        parser.parse([sentence], [Constraints(labels={3: "obj"})])
    with pytest.raises(ConfigError, match="the sentence 'Hi there': word 1 has no head left"):
        parser.parse([*ewt_sentences[:2], sentence], [None, None, Constraints(forbidden=NO_HEAD)])
    with pytest.raises(ConfigError, match="1 constraints for 2 sentences"):
        parser.parse([sentence, sentence], [None])
    with pytest.raises(ConfigError, match="k_best is 101"):
        headwise.load(k_best=101)


def test_very_long_sentences_have_no_sums_over_trees(parser: Parser) -> None:
    forms = [(f"w{i % 50}",) for i in range(MAX_SUMMED_WORDS + 1)]
    (parse,) = parser.parse([sentence_from_words(forms, ["form"])])
    assert len(parse.heads) == MAX_SUMMED_WORDS + 1
    assert (parse.trees, parse.marginals, parse.entropy) == ((), (), None)


def test_a_sentence_without_words_has_an_empty_parse(parser: Parser) -> None:
    (parse,) = parser.parse([sentence_from_words([], [])], [None])
    assert (parse.heads, parse.trees) == ((), ())
