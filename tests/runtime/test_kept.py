"""What the input has stays, the best tree is made around it, and contradictions are refused."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import headwise
from headwise import DataError, Malformed, Sentence, sentence_from_words
from headwise.runtime.kept import check_heads, decode_around, given_heads, keep_values
from headwise.runtime.parser import BYTES_PER_WORD, Parser
from headwise.settings.choices import ArcWeights, Decoder
from headwise.settings.parsing import DecodeConfig
from headwise.trees.constraints import Constraints
from tests.trees.brute_force import all_trees, total

FREE = -1
WORDS = ("The", "tall", "man", "saw", "it", "yesterday")


def with_heads(*heads: object) -> Sentence:
    rows = [(form, str(head)) for form, head in zip(WORDS, heads, strict=False)]
    return sentence_from_words(rows, ["form", "head"])


def as_given(heads: np.ndarray) -> dict[int, int]:
    return {word: head for word, head in enumerate(heads.tolist()) if word and head != FREE}


@st.composite
def scores_and_heads(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw log-probabilities and part of some tree."""
    n_words = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = rng.normal(0, draw(st.sampled_from([1, 10, 100])), (n_words + 1, n_words + 1))
    log_probs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    trees = all_trees(n_words, draw(st.booleans()), False)
    tree = trees[draw(st.integers(0, len(trees) - 1))].copy()
    tree[1:][rng.random(n_words) < draw(st.sampled_from([0.2, 0.5, 0.8]))] = FREE
    return log_probs.astype(np.float32), tree


@pytest.mark.parametrize("weights", ["log-probability", "probability"])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("decoder", ["mst", "eisner"])
@settings(derandomize=True, database=None, max_examples=150, deadline=None)
@given(made=scores_and_heads())
def test_the_tree_is_the_best_of_all_that_have_the_given_heads(
    decoder: Decoder, single_root: bool, weights: ArcWeights, made: tuple[np.ndarray, np.ndarray]
) -> None:
    log_probs, heads = made
    if single_root and (heads[1:] == 0).sum() > 1:
        return  # refused before
    decode = DecodeConfig(decoder=decoder, single_root=single_root, weights=weights)
    (tree,) = decode_around([log_probs], [Constraints(heads=as_given(heads))], decode)
    for projective in [True, False] if decoder == "eisner" else [False]:
        trees = all_trees(len(heads) - 1, single_root, projective)
        possible = trees[((heads == FREE) | (trees == heads)).all(axis=1)]
        if len(possible):
            break
    assert (tree.heads == possible).all(axis=1).any()
    scores = log_probs.astype(np.float64)
    scores = np.exp(scores) if weights == "probability" else scores
    if tree.how != "greedy":
        free = np.where((heads == FREE)[:, None], scores, 0.0)
        assert total(free, tree.heads) == pytest.approx(total(free, possible).max(), abs=1e-6)


def test_a_tree_that_cannot_be_projective_is_made_all_the_same() -> None:
    """No given arcs cross, but 2 is the only word left for ROOT, under the arc from 1 to 3."""
    decode = DecodeConfig(decoder="eisner", single_root=True)
    log_probs = np.full((4, 4), -1.5, np.float32)
    (tree,) = decode_around([log_probs], [Constraints(heads={1: 2, 3: 1})], decode)
    assert tree.heads.tolist() == [0, 2, 0, 1]


def test_heads_that_cross_are_kept_by_the_projective_decoder() -> None:
    heads = np.array([0, 3, 0, 2, FREE], np.int32)
    log_probs = np.full((5, 5), -2.0, np.float32)
    (tree,) = decode_around(
        [log_probs], [Constraints(heads=as_given(heads))], DecodeConfig(decoder="eisner")
    )
    assert tree.heads.tolist()[:4] == [0, 3, 0, 2]


def test_greedy_keeps_heads_too() -> None:
    log_probs = np.log(np.full((3, 3), 1 / 3, np.float32))
    (tree,) = decode_around(
        [log_probs], [Constraints(heads={1: 2})], DecodeConfig(decoder="greedy")
    )
    assert (tree.heads.tolist(), tree.how) == ([0, 2, 0], "greedy")


@pytest.mark.parametrize(
    ("heads", "single_root", "line", "what"),
    [
        ((2, 7, "_"), False, 2, r"HEAD of word 2 \('tall'\) is '7', but the sentence has 3 words"),
        (("x",), False, 1, r"HEAD of word 1 \('The'\) is 'x', but the sentence has 1 word\n"),
        ((0, 2), False, 2, r"the HEAD of word 2 \('tall'\) is the word itself"),
        (
            ("_", 3, 4, 2, 0),
            False,
            2,
            r"the HEAD of words 2 \('tall'\), 3 \('man'\) and 4 \('saw'\) leads back to",
        ),
        (
            (0, "_", 0),
            True,
            3,
            r"words 1 \('The'\) and 3 \('man'\) have HEAD 0, .* one root\n.*--multi-root",
        ),
    ],
)
def test_contradictions_are_refused_by_name(
    heads: tuple[object, ...], single_root: bool, line: int, what: str
) -> None:
    with pytest.raises(DataError, match=what) as refusal:
        check_heads(with_heads(*heads), single_root)
    assert f"<memory>:{line}: " in str(refusal.value)
    assert refusal.value.hint


def test_many_roots_and_half_of_a_tree_are_fine() -> None:
    check_heads(with_heads(0, "_", 0), single_root=False)
    check_heads(with_heads(3, 3, 4, 0, 4, 4), single_root=True)
    check_heads(with_heads("_", "_"), single_root=True)
    check_heads(sentence_from_words([], []), single_root=True)
    assert given_heads(with_heads("_", 0, 2)) == {2: 0, 3: 2}


@settings(derandomize=True, database=None, max_examples=300, deadline=None)
@given(heads=st.lists(st.integers(-1, 6), min_size=6, max_size=6), single_root=st.booleans())
def test_heads_pass_if_and_only_if_some_tree_has_them(heads: list[int], single_root: bool) -> None:
    trees = all_trees(6, single_root, False)
    given_ = np.array([0, *heads])
    is_possible = bool(((given_ == FREE) | (trees == given_)).all(axis=1).any())
    sentence = with_heads(*("_" if head == FREE else head for head in heads))
    if is_possible:
        check_heads(sentence, single_root)
    else:
        with pytest.raises(DataError):
            check_heads(sentence, single_root)


def test_blanks_are_filled_in_and_kept_values_have_no_probability() -> None:
    sentence = sentence_from_words([("A", "X", "_"), ("b", "_", "_")], ["form", "upos", "feats"])
    values, probs = keep_values(sentence, "upos", ("Y", "Z"), (0.5, 0.25))
    assert values == ("X", "Z")
    assert math.isnan(probs[0])
    assert probs[1] == 0.25
    # All blank: features are missing, so they are predicted.
    assert keep_values(sentence, "feats", ("A=B", "_"), (0.5, 0.5)) == (("A=B", "_"), (0.5, 0.5))


def test_a_blank_beside_features_means_no_features() -> None:
    sentence = sentence_from_words([("A", "Number=Sing"), ("b", "_")], ["form", "feats"])
    values, probs = keep_values(sentence, "feats", ("A=B", "C=D"), (0.5, 0.5))
    assert values == ("Number=Sing", "_")
    assert all(map(math.isnan, probs))


@pytest.fixture(scope="module")
def keeper(full_run: Path) -> Parser:
    return headwise.load(full_run, keep="heads,labels")


def test_a_parser_keeps_heads_and_labels(
    keeper: Parser, full_run: Path, ewt_sentences: list[Sentence]
) -> None:
    """Every other word keeps its HEAD, every third its DEPREL; the rest is a tree with them."""
    asked: list[Sentence] = []
    for sentence in ewt_sentences:
        words = [
            word._replace(head=word.head if i % 2 else "_", deprel="_" if i % 3 else "odd")
            for i, word in enumerate(sentence.words)
        ]
        asked.append(sentence.with_words(words))
    plain = headwise.load(full_run)
    multi = replace(keeper.settings, decode=replace(keeper.settings.decode, single_root=False))
    keeper = keeper.with_settings(multi)
    n_changed = 0
    parses = keeper.parse_with_distributions(asked)
    for sentence, (parse, log_probs), other in zip(asked, parses, plain.parse(asked), strict=True):
        for i, (word, head) in enumerate(zip(sentence.words, parse.heads, strict=True)):
            assert word.head in ("_", str(head))
            assert (parse.labels[i] == "odd") == (word.deprel == "odd")
            assert math.isnan(parse.column_probs["labels"][i]) == (word.deprel == "odd")
            # The probability of a kept head is the model's.
            assert parse.head_log_probs[i] == log_probs[i + 1, head]
            n_changed += word.head == "_" and head != other.heads[i]
        check_heads(with_tree(sentence, parse.heads), single_root=False)
    assert n_changed > 0  # the given heads move others


def with_tree(sentence: Sentence, heads: tuple[int, ...]) -> Sentence:
    pairs = zip(sentence.words, heads, strict=True)
    return sentence.with_words([word._replace(head=str(head)) for word, head in pairs])


def test_a_whole_tree_stays_as_it_is(full_run: Path, ewt_sentences: list[Sentence]) -> None:
    everything = headwise.load(full_run, keep="lemma,upos,xpos,feats,heads,labels")
    for sentence, parsed in zip(ewt_sentences, everything.annotate(ewt_sentences), strict=True):
        assert parsed[0] == sentence


def test_contradictions_in_a_stream_are_errors_or_left_out(keeper: Parser) -> None:
    good = "1\tA\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    cycle = good.replace("\tb\t_\t_\t_\t_\t_", "\tb\t_\t_\t_\t_\t1")
    text = (good + cycle + good).encode()
    with pytest.raises(DataError, match=r"<stream>:4: the HEAD of words 1 \('A'\) and 2 \('b'\)"):
        list(keeper.annotate(headwise.read_conllu(io.BytesIO(text))))
    with pytest.raises(DataError, match="a cycle"):
        keeper.parse(list(headwise.read_sentences(io.BytesIO(cycle.encode()))))
    done: list[Any] = list(keeper.annotate(headwise.read_conllu(io.BytesIO(text)), on_error="skip"))
    assert [type(item) for item, _ in done] == [Sentence, Malformed, Sentence]
    assert done[1][0].data == cycle.encode()
    assert done[0][0].words[0].head == "2"


@pytest.mark.parametrize("label", ["x" * 1_001, "ro\rot"])
def test_a_label_that_cannot_be_one_is_named_or_left_out(label: str, keeper: Parser) -> None:
    line = "1\tA\t_\t_\t_\t_\t_\t{}\t_\t_\n\n"
    text = (line.format("x" * 1_000) + line.format(label)).encode()
    with pytest.raises(
        DataError, match=r"<stream>:3: DEPREL of word 1 \('A'\) is '.*\nhint: it must"
    ):
        list(keeper.annotate(headwise.read_conllu(io.BytesIO(text))))
    done: list[Any] = list(keeper.annotate(headwise.read_conllu(io.BytesIO(text)), on_error="skip"))
    assert [type(item) for item, _ in done] == [Sentence, Malformed]


def test_a_sentence_too_long_for_the_budget_cannot_keep_heads(keeper: Parser) -> None:
    budget = 2 * (32 * 40 * 40 + BYTES_PER_WORD * 40)
    small = keeper.with_settings(replace(keeper.settings, memory_budget=budget))
    forms = [(f"w{i}", "_") for i in range(101)]
    sentence = sentence_from_words(forms, ["form", "head"])
    assert len(small.parse([sentence])[0].heads) == 101
    given_ = sentence_from_words([("w0", "2"), *forms[1:]], ["form", "head"])
    with pytest.raises(
        DataError, match="101 words is parsed in parts, which cannot keep its heads"
    ):
        small.parse([given_])
