"""Treebanks with pre-trained vectors beside them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from headwise import read_sentences
from headwise.errors import ConfigError
from headwise.learn.data.treebanks import Data, in_treebank, load_data
from headwise.settings.recipe import Recipe
from headwise.vocabulary.vocab import N_SPECIALS, UNK


def load(recipe: Recipe, **model: object) -> Data:
    changed = msgspec.structs.replace(recipe.model, **model)
    return load_data(recipe.data, changed, recipe.train)


def test_vectors_are_those_of_the_first_words_and_of_the_treebank(
    full_recipe: Recipe, some_vectors: Path
) -> None:
    data = load(full_recipe, vector_words=1)
    rows = dict(line.split(" ", 1) for line in some_vectors.read_text("utf-8").splitlines())
    assert data.vectors is not None
    assert data.vectors.shape == (len(data.vocab.vectors), 6)
    assert not data.vectors[:N_SPECIALS].any()
    assert data.vocab.vectors.strings[0] == "zyxwv"
    assert "vwxyz" not in data.vocab.vectors.strings
    assert data.vocab.vector_id("vwxyz") == UNK
    for number, word in enumerate(data.vocab.vectors.strings, N_SPECIALS):
        expected = np.array(rows[word].split(" "), np.float32)
        assert np.array_equal(data.vectors[number], expected)
    for sentence in read_sentences(full_recipe.data.train):
        assert all(data.vocab.vector_id(word.form) >= N_SPECIALS for word in sentence.words)


def test_without_vector_words_there_is_no_table(tiny_recipe: Recipe) -> None:
    assert load(tiny_recipe).vectors is None


def test_vector_words_need_vectors(full_recipe: Recipe) -> None:
    with pytest.raises(ConfigError, match=r"vector_words needs model.vectors\nhint: --set"):
        load(full_recipe, vectors="")


def test_vectors_of_another_size_name_the_setting(full_recipe: Recipe) -> None:
    with pytest.raises(ConfigError, match=r"vector_size is 7\nhint: --set model.vector_size=6"):
        load(full_recipe, vector_size=7)


def test_another_input_is_another_fingerprint(full_recipe: Recipe) -> None:
    prints = {
        load(full_recipe, **changes).fingerprint()
        for changes in (
            {},
            {"pieces": 501},
            {"vector_words": 1},
            {"predicted_tags": ["upos"]},
            {"tag_column": "upos+xpos"},
            {"marks": ("feats",)},
            {"marks": ("feats", "treebank")},
        )
    }
    assert len(prints) == 7
    assert load(full_recipe).fingerprint() in prints


def test_several_treebanks_have_one_vocabulary_and_a_mark_each(
    two_treebanks: tuple[Path, Path], full_recipe: Recipe
) -> None:
    paths = tuple(map(str, two_treebanks))
    sources = msgspec.structs.replace(full_recipe.data, train=paths, dev=paths)
    model = msgspec.structs.replace(full_recipe.model, marks=("treebank",))
    data = load_data(sources, model, full_recipe.train)
    assert data.vocab.treebanks == ("first", "second")
    assert data.vocab.treebank == "first"
    assert set(data.others) == {"second"}
    assert len(data.sentences) == len(data.train.encoded) == 40
    assert list(data.treebanks) == ["first"] * 25 + ["second"] * 15
    first = [encoded.ids.marks[1:, 0] for encoded in data.train.encoded]
    assert {int(number) for marks in first[:25] for number in marks} == {N_SPECIALS}
    assert {int(number) for marks in first[25:] for number in marks} == {N_SPECIALS + 1}
    others = [encoded.ids.marks[1:, 0] for encoded in data.others["second"].encoded]
    assert all((marks == N_SPECIALS + 1).all() for marks in others)
    words = {word.form for sentence in data.sentences for word in sentence.words}
    assert set(data.vocab.words.strings) == words
    assert in_treebank(data.vocab, "second").treebank == "second"
    assert in_treebank(data.vocab, "third").treebank == "first"
