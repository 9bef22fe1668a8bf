"""A sentence that is too long for the budget is parsed in parts, and is still a tree."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from headwise import load, sentence_from_words
from headwise.runtime.long_sentences import join_parses, split_sentence
from headwise.runtime.parser import BYTES_PER_PAIR, BYTES_PER_WORD, Parser, longest_within
from headwise.settings.parsing import MEMORY_BUDGET
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.tree import is_tree, n_roots


def long_sentence(n_words: int) -> Sentence:
    return sentence_from_words([(f"w{i}", "NN") for i in range(n_words)], ["form", "xpos"])


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(st.integers(1, 2**40), st.sampled_from(["greedy", "mst", "eisner"]))
def test_the_longest_sentence_fits_the_budget_and_one_more_word_does_not(
    budget: int, decoder: str
) -> None:
    n = longest_within(budget, decoder)  # type: ignore[arg-type]
    a, b = BYTES_PER_PAIR[decoder], BYTES_PER_WORD  # type: ignore[index]
    assert n == 1 or a * n * n + b * n <= budget
    assert a * (n + 1) ** 2 + b * (n + 1) > budget


def test_five_thousand_words_are_not_split() -> None:
    assert longest_within(MEMORY_BUDGET // 2, "mst") > 5_000


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 70))
def test_parts_hold_each_word_once(n_words: int, limit: int) -> None:
    sentence = long_sentence(n_words)
    parts = split_sentence(sentence, limit)
    assert tuple(word for part in parts for word in part.words) == sentence.words
    lengths = [len(part) for part in parts]
    assert max(lengths) <= limit
    assert max(lengths) - min(lengths) <= 1


def parse_of(heads: list[int], how: str = "greedy") -> Parse:
    labels = tuple("root" if head == 0 else "obj" for head in heads)
    return Parse(tuple(heads), labels, tuple([-0.5] * len(heads)), how)  # type: ignore[arg-type]


def test_the_example_in_the_docstring() -> None:
    parts = [parse_of([2, 0]), parse_of([0, 1], "eisner")]
    joined = join_parses(parts, True, ["root", "obj", "dep", "parataxis"])
    assert joined.heads == (2, 0, 2, 3)
    assert joined.labels == ("obj", "root", "parataxis", "obj")
    assert joined.how == "eisner"
    assert join_parses(parts, True, ["root", "dep"]).labels[2] == "dep"
    assert join_parses(parts, True, ["root"]).labels[2] == "root"
    assert join_parses(parts, False, ["dep"]).heads == (2, 0, 0, 3)


def test_all_columns_are_joined() -> None:
    columns = {"upos": ("X",), "xpos": ("x",), "feats": ("A=B",), "lemmas": ("be",)}
    parts = [
        dataclasses.replace(parse_of([0]), **columns, column_probs={"feats": (prob,)})  # type: ignore[arg-type]
        for prob in (0.5, 0.75)
    ]
    joined = join_parses(parts, True, [])
    assert (joined.upos, joined.xpos) == (("X", "X"), ("x", "x"))
    assert (joined.feats, joined.lemmas) == (("A=B", "A=B"), ("be", "be"))
    assert joined.column_probs == {"feats": (0.5, 0.75)}


def test_a_label_that_comes_from_joining_has_no_probability() -> None:
    parts = [dataclasses.replace(parse_of([0, 1]), column_probs={"labels": (0.5, 0.25)})] * 2
    joined = join_parses(parts, True, ["dep"])
    assert joined.labels == ("root", "obj", "dep", "obj")
    probs = joined.column_probs["labels"]
    assert [0.0 if math.isnan(prob) else prob for prob in probs] == [0.5, 0.25, 0.0, 0.25]


def test_without_a_root_in_the_first_part_others_keep_theirs() -> None:
    assert join_parses([parse_of([2, 1]), parse_of([0])], True, []).heads == (2, 1, 0)


@pytest.fixture(scope="module")
def parser(full_run: object) -> Parser:
    parser = load(str(full_run))
    budget = 2 * (32 * 40 * 40 + BYTES_PER_WORD * 40)  # far below what may be asked for
    return parser.with_settings(replace(parser.settings, memory_budget=budget))


@pytest.mark.parametrize("threads", [1, 3])
def test_one_long_sentence_among_short_ones(parser: Parser, threads: int) -> None:
    short, long = long_sentence(7), long_sentence(101)
    items = [short, long, short, long_sentence(40), sentence_from_words([], []), short]
    done = list(parser.annotate(items, threads))
    assert [len(sentence) for sentence, _ in done] == [7, 101, 7, 40, 0, 7]
    for (_, parse), item in zip(done, items, strict=True):
        assert parse is not None
        heads = np.array([0, *parse.heads], np.int32)
        assert len(parse.upos) == len(parse.labels) == len(item)
        assert not len(item) or (is_tree(heads) and n_roots(heads) == 1)
    assert done[0][1] == done[2][1] == done[5][1]
    (alone,) = parser.parse([long])
    assert done[1][1] == alone
    (whole,) = (parse for parse, _ in parser.parse_with_distributions([long]))
    assert whole.heads != alone.heads


def test_a_list_of_sentences_is_parsed_within_the_budget(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_pairs = []
    select = parser.scorer.select

    def watch(sentences: list[Sentence]) -> object:
        n_pairs.append(sum(len(sentence) ** 2 for sentence in sentences))
        return select(sentences)

    monkeypatch.setattr(parser.scorer, "select", watch)
    lengths = [30, 25, 8, 30, 25, 30]
    parses = parser.parse([long_sentence(n) for n in lengths])
    assert [len(parse.heads) for parse in parses] == lengths
    assert max(n_pairs) <= 40**2
