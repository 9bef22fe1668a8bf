"""Treebanks are found by name, and read with the pre-trained vectors beside them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from headwise import read_sentences
from headwise.errors import ConfigError, DataError
from headwise.learn.data.treebanks import Data, hold_out, in_treebank, load_data, sources_of
from headwise.settings.recipe import Recipe
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.vocab import N_SPECIALS, UNK


def load(recipe: Recipe, **model: object) -> Data:
    changed = msgspec.structs.replace(recipe.model, **model)
    return load_data(recipe.data, changed, recipe.train)


def test_other_treebanks_can_have_a_share_of_each_epoch(
    tiny_recipe: Recipe, two_treebanks: tuple[Path, Path]
) -> None:
    main, other = map(str, two_treebanks)
    both = msgspec.structs.replace(
        tiny_recipe, data=msgspec.structs.replace(tiny_recipe.data, train=(main, other))
    )
    assert not load(both).drawn
    some = msgspec.structs.replace(both.train, main_share=0.25)
    data = load_data(both.data, both.model, some)
    n_main = data.treebanks.index(data.treebanks[-1])
    assert n_main > 0
    assert data.drawn == range(n_main, len(data.sentences))
    assert {data.treebanks[i] for i in data.drawn} == {data.treebanks[-1]}


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


def test_vector_words_need_vectors(full_recipe: Recipe, tiny_recipe: Recipe) -> None:
    assert load(tiny_recipe).vectors is None
    with pytest.raises(ConfigError, match=r"vector_words needs model.vectors\nhint: --set"):
        load(full_recipe, vectors="")


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


def made(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_a_file_and_folders_are_named_in_order(tmp_path: Path) -> None:
    files = [
        made(tmp_path / "UD_A" / "train.conllu.xz"),
        made(tmp_path / "UD_B" / "bb_b-ud-train.conllu"),
        made(tmp_path / "c.part.conllu"),
    ]
    made(tmp_path / "UD_A" / "dev.conllu.xz")
    made(tmp_path / "UD_B" / "bb_b-ud-dev.conllu")
    given = (str(tmp_path / "UD_A"), str(tmp_path / "UD_B"), files[2])
    found = {"UD_A": files[0], "bb_b-ud": files[1], "c": files[2]}
    assert list(sources_of(given, "train").items()) == list(found.items())
    assert list(sources_of(given[:2], "dev")) == ["UD_A", "bb_b-ud"]
    assert sources_of("some/where/train.conllu", "train") == {"where": "some/where/train.conllu"}


@pytest.mark.parametrize("given", ["", (), ("a.conllu", "")])
def test_nothing_is_refused(given: str | tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="no dev treebank\nhint: --dev FILE"):
        sources_of(given, "dev")


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    given = tuple(made(tmp_path / part / "same" / "train.conllu") for part in "ab")
    with pytest.raises(ConfigError, match="two train treebanks are named same"):
        sources_of(given, "train")


def test_a_folder_must_hold_one_file(tmp_path: Path) -> None:
    made(tmp_path / "train.txt")
    with pytest.raises(DataError, match="and has: none\nhint: name the file: --train FILE"):
        sources_of(str(tmp_path), "train")
    made(tmp_path / "train.conllu")
    made(tmp_path / "x-ud-train.conllu.gz")
    with pytest.raises(DataError, match=r"train.conllu, x-ud-train.conllu.gz"):
        sources_of(str(tmp_path), "train")


def numbered(n: int, deprel: str = "root", head: str = "0") -> list[Sentence]:
    columns = ["form", "head", "deprel"]
    return [sentence_from_words([(str(i), head, deprel)], columns) for i in range(1, n + 1)]


def forms(sentences: list[Sentence]) -> list[int]:
    return [int(sentence.words[0].form) for sentence in sentences]


@pytest.mark.parametrize("deprel", ["root", "_"])
def test_the_last_tenth_of_every_hundred_sentences_is_held_out(deprel: str) -> None:
    train, dev = hold_out(numbered(235, deprel))
    assert forms(dev) == [*range(91, 101), *range(191, 201), *range(233, 236)]
    assert sorted(forms(train) + forms(dev)) == list(range(1, 236))


def test_what_is_not_annotated_completely_is_not_held_out() -> None:
    some = numbered(40)
    some[37] = numbered(38, "root", "_")[-1]
    some[38] = numbered(39, "_")[-1]
    train, dev = hold_out(some)
    assert forms(dev) == [37, 40]
    assert forms(train)[-2:] == [38, 39]
    with pytest.raises(ConfigError, match=r"too few sentences .*\nhint: --dev FILE"):
        hold_out(numbered(9))


def test_without_dev_nothing_is_learned_from_what_is_held_out(tiny_recipe: Recipe) -> None:
    with_dev = load(tiny_recipe)
    data = load_data(
        msgspec.structs.replace(tiny_recipe.data, dev=""), tiny_recipe.model, tiny_recipe.train
    )
    assert (with_dev.is_held_out, data.is_held_out) == (False, True)
    assert (len(data.train.encoded), len(data.dev.encoded)) == (36, 4)
    assert len(data.vocab.words) < len(with_dev.vocab.words)
    assert list(data.main_train) == list(with_dev.main_train)[:36]
    assert list(data.main_dev) == list(with_dev.main_train)[36:]
