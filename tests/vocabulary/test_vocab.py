"""Every string has one id, and what training never saw is UNK."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headwise.errors import ConfigError, ModelError
from headwise.settings.choices import TagColumn
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.vocab import (
    N_SPECIALS,
    PAD,
    ROOT,
    UNK,
    Index,
    Vocab,
    build_vocab,
    collect_marks,
    marks_of,
    tag_of,
    vocab_from_json,
    vocab_to_json,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
JSON = {"tag_column": "xpos", "words": ["a"], "tags": ["T"], "labels": ["root"]}


def sentence(*rows: tuple[str, str, str, str]) -> Sentence:
    return sentence_from_words(rows, ["form", "upos", "xpos", "deprel"])


TRAIN = [
    sentence(("The", "DET", "DT", "det"), ("cat", "NOUN", "NN", "root")),
    sentence(("the", "DET", "DT", "det"), ("cat", "NOUN", "NN", "root"), ("1", "X", "CD", "dep")),
    sentence(("the", "DET", "DT", "det"), ("<unk>", "X", "NN", "dep"), ("<unk>", "X", "NN", "dep")),
]
COLUMNS = ["form", "upos", "xpos", "feats"]
ONE = sentence_from_words([("x", "NOUN", "NNG+JKS", "Case=Nom|Number=Sing")], COLUMNS)
TWO = sentence_from_words([("y", "VERB", "V", "_"), ("z", "NOUN", "N", "Case=Nom")], COLUMNS)


def test_specials_come_first() -> None:
    assert (PAD, UNK, ROOT) == (0, 1, 2)
    index = Index(["b", "a"])
    assert len(index) == N_SPECIALS + 2
    assert [index.id_of("b"), index.id_of("a"), index.id_of("c")] == [3, 4, UNK]


def test_rare_words_are_unknown() -> None:
    vocab = build_vocab(TRAIN, "xpos", min_count=2)
    assert vocab.words.strings == ("<unk>", "cat", "the")
    assert vocab.words.id_of("1") == UNK
    assert build_vocab(TRAIN, "xpos", min_count=3).words.strings == ()


@pytest.mark.parametrize("spelling", ["<unk>", "<pad>", "<root>", "UNK", "ROOT", "_"])
def test_a_word_spelled_like_a_special_is_a_word(spelling: str) -> None:
    row = (spelling, spelling, spelling, spelling)
    vocab = build_vocab([sentence(row)], "xpos", min_count=1)
    for index in (vocab.words, vocab.tags, vocab.labels):
        assert index.id_of(spelling) == N_SPECIALS
        assert index.strings == (spelling,)


def test_frequent_strings_come_first_and_ties_are_alphabetical() -> None:
    vocab = build_vocab(TRAIN, "xpos", min_count=1)
    assert vocab.words.strings == ("<unk>", "cat", "the", "1", "The")
    assert vocab.tags.strings == ("NN", "DT", "CD")
    assert vocab.labels.strings == ("dep", "det", "root")
    assert vocab_to_json(build_vocab(TRAIN[::-1], "xpos", 1)) == vocab_to_json(vocab)


def test_tags_come_from_the_chosen_column_rare_ones_too() -> None:
    assert tag_of(TRAIN[1], "xpos") == ["DT", "NN", "CD"]
    assert tag_of(TRAIN[1], "upos") == ["DET", "NOUN", "X"]
    assert tag_of(TRAIN[1], "upos+xpos") == ["DET DT", "NOUN NN", "X CD"]
    assert tag_of(TRAIN[1], "none") == []
    assert build_vocab(TRAIN, "upos", min_count=9).tags.strings == ("DET", "X", "NOUN")
    pairs = build_vocab(TRAIN, "upos+xpos", min_count=1).tags.strings
    assert pairs == ("DET DT", "NOUN NN", "X NN", "X CD")


def test_predicted_tags_are_collected_by_column() -> None:
    vocab = build_vocab(TRAIN, "none", 1, predicted=["xpos", "upos"])
    tags = [(column, index.strings) for column, index in vocab.predicted.items()]
    assert tags == [("upos", ("DET", "X", "NOUN")), ("xpos", ("NN", "DT", "CD"))]
    assert vocab.tags.strings == ()


def test_features_and_rules_of_lemmas_are_collected() -> None:
    rows = [
        ("cats", "cat", "NOUN", "Number=Plur"),
        ("dogs", "dog", "NOUN", "Number=Plur"),
        ("dog", "dog", "NOUN", "_"),
        ("is", "be", "AUX", "Number=Sing"),
    ]
    treebank = [sentence_from_words(rows, ["form", "lemma", "upos", "feats"])]
    vocab = build_vocab(treebank, "none", 1, 0, ["lemma", "feats", "upos", "xpos"], True)
    assert vocab.features is not None
    assert vocab.features.values == {"Number": ("Plur", "Sing")}
    assert vocab.rules is not None
    assert vocab.rules.strings == ("lower||-",)  # others are seen once
    assert vocab.outputs == {"upos": (2,), "feats": (1, 3), "lemma": (1,)}  # XPOS is blank
    assert vocab.alphabet.letters[:3] == ("s", "d", "g")


def test_columns_that_teach_nothing_are_not_predicted() -> None:
    blank = [sentence_from_words([("a", "x", "b")], ["form", "feats", "lemma"])]
    vocab = build_vocab(blank, "none", 1, 0, ["upos", "feats", "lemma"])
    assert vocab.outputs == {}
    assert (vocab.features, vocab.rules, vocab.alphabet.letters) == (None, None, ())


def test_each_tag_part_and_feature_is_a_mark() -> None:
    assert marks_of(ONE.words[0], ("upos", "xpos", "feats", "treebank")) == [
        "upos=NOUN", "xpos=NNG", "xpos=JKS", "feats=Case=Nom", "feats=Number=Sing",
    ]  # fmt: skip
    assert marks_of(TWO.words[0], ("feats",)) == []


def test_marks_are_collected_treebanks_first_then_by_frequency() -> None:
    treebanks = {"b": [ONE], "a": [TWO]}
    assert collect_marks(treebanks, ("upos", "feats", "treebank")) == [
        "treebank=b", "treebank=a",
        "feats=Case=Nom", "upos=NOUN", "feats=Number=Sing", "upos=VERB",
    ]  # fmt: skip
    assert collect_marks(treebanks, ("upos",)) == ["upos=NOUN", "upos=VERB"]


def test_a_vector_is_found_by_spelling_and_else_in_lower_case() -> None:
    vocab = replace(build_vocab(TRAIN, "xpos", 1), vectors=Index(["The", "cat", "the"]))
    assert [vocab.vector_id(form) for form in ("The", "the", "THE", "Cat")] == [3, 5, 5, 4]
    assert vocab.vector_id("dog") == UNK


@pytest.mark.parametrize("tag_column", ["xpos", "upos", "upos+xpos", "none"])
@pytest.mark.parametrize("is_full", [False, True])
def test_a_vocabulary_comes_back_from_json(tag_column: TagColumn, is_full: bool) -> None:
    names = ("ewt-dev-100.conllu", "coptic-20.conllu", "hand-made.conllu")
    sentences = [s for name in names for s in read_sentences(FIXTURES / name)]
    vocab = build_vocab(sentences, tag_column, min_count=1)
    if is_full:
        vocab = build_vocab(
            sentences, tag_column, 1, 700, ["xpos", "upos", "feats", "lemma"], reads_letters=True
        )
        vocab = replace(vocab, vectors=Index(["the", "of", "ñ"]))
        marks = Index(["treebank=a b", "treebank=c", "upos=X", "feats=Case=Nom"])
        vocab = replace(vocab, mark_columns=("treebank", "upos", "feats"), marks=marks)
    data = vocab_to_json(vocab)
    again = vocab_from_json(data, "vocab.json")
    assert strings(again) == strings(vocab)
    assert vocab_to_json(again) == data
    assert data.endswith(b"}\n")
    assert len(vocab.words) > 900


def strings(vocab: Vocab) -> tuple[object, ...]:
    indexes = (vocab.words, vocab.tags, vocab.labels, vocab.vectors, vocab.marks)
    predicted = [(column, index.strings) for column, index in vocab.predicted.items()]
    others = (vocab.tag_column, vocab.ngrams.n_buckets, predicted, vocab.mark_columns)
    rules = None if vocab.rules is None else vocab.rules.strings
    others += (vocab.alphabet.letters, vocab.features, rules)
    return (*(index.strings for index in indexes), *others)


WRONG_VALUES: dict[str, dict[str, object]] = {
    "unknown key": {"more": []},
    "number as word": {"words": [1]},
    "unknown tag column": {"tag_column": "lemma"},
    "word twice": {"words": ["a", "a"]},
    "vector twice": {"vectors": ["a", "a"]},
    "predicted tag twice": {"predicted": {"upos": ["X", "X"]}},
    "unknown predicted column": {"predicted": {"feats": ["X"]}},
    "mark twice": {"marks": ["upos=X", "upos=X"]},
    "unknown mark column": {"mark_columns": ["lemma"]},
    "letter twice": {"letters": ["a", "a"]},
    "two letters as one": {"letters": ["ab"]},
    "feature of no value": {"features": {"Case": []}},
    "value twice": {"features": {"Case": ["Nom", "Nom"]}},
    "feature with a tab": {"features": {"Ca\tse": ["Nom"]}},
    "feature that is two": {"features": {"A=1|B": ["2"]}},
    "value that is two": {"features": {"A": ["1|B=2"]}},
    "empty value": {"features": {"Case": [""]}},
    "too many values": {
        "features": {f"F{i}": [str(v) for v in range(1 if i else 2**11)] for i in range(2**9)}
    },
    "too many tags with features": {
        "features": {f"F{i}": ["1"] for i in range(2**6)},
        "features_of": {f"T{i}": [] for i in range(2**15)},
    },
    "long label": {"labels": ["x" * 1_001]},
    "long tag": {"predicted": {"upos": ["x" * 1_001]}},
    "long value": {"features": {"A": ["x" * 1_001]}},
    "long FEATS": {"features": {f"{i:0900}": ["x"] for i in range(30)}},
    "long rule": {"rules": ["keep||" + "+a" * 500]},
    "rule twice": {"rules": ["lower||", "lower||"]},
    "not a rule": {"rules": ["other||"]},
    "too few pieces": {"pieces": -1},
    "too many pieces": {"pieces": 10**9},
}
DAMAGED = {
    "nothing": b"",
    "cut off": json.dumps(JSON).encode()[:-3],
    "not text": json.dumps(JSON).encode().replace(b'"a"', b'"\xff"'),
    "not an object": b"[]",
    "missing key": json.dumps({k: v for k, v in JSON.items() if k != "tags"}).encode(),
    **{name: json.dumps(JSON | change).encode() for name, change in WRONG_VALUES.items()},
}


def test_sentences_are_read_as_in_the_main_treebank_or_as_in_a_chosen_one() -> None:
    marks = {"mark_columns": ["treebank", "upos"], "marks": ["treebank=a", "treebank=b", "upos=X"]}
    vocab = vocab_from_json(json.dumps(JSON | marks).encode(), "v")
    assert (vocab.treebanks, vocab.treebank) == (("a", "b"), "a")
    assert vocab.as_in("b").treebank == "b"
    assert vocab.reads == ("xpos", "upos")
    with pytest.raises(ConfigError, match=r"no treebank c in this model\nhint: it knows a, b"):
        vocab.as_in("c")


def test_json_of_an_older_release_is_read() -> None:
    vocab = vocab_from_json(json.dumps(JSON).encode(), "v")
    older = (("a",), ("T",), ("root",), (), (), "xpos", 0, [], (), (), None, None)
    assert strings(vocab) == older
    assert json.loads(vocab_to_json(vocab)) == JSON
    with pytest.raises(ConfigError, match="was not trained to tell treebanks apart"):
        vocab.as_in("a")


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_vocabulary_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError) as refusal:
        vocab_from_json(data, "model/vocab.json")
    assert str(refusal.value).startswith("model/vocab.json: ")
    assert refusal.value.hint == "the model folder is damaged; fetch it again"


def test_values_of_ordinary_length_are_read() -> None:
    long = {"labels": ["x" * 1_000], "rules": ["!" + "x" * 999]}
    many = {f"Feature{i}[layer]": [f"Value{j}" for j in range(30)] for i in range(300)}
    vocab_from_json(json.dumps(JSON | long | {"features": many}).encode(), "v")


@pytest.mark.parametrize("label", ["x" * 1_001, "a\rb"])
def test_what_no_model_could_write_is_refused_before_training(label: str) -> None:
    given = sentence_from_words([("a", "X")], ["form", "upos"])
    word = given.words[0]._replace(deprel=label)
    with pytest.raises(
        ConfigError, match=r"no model can write this: .*\nhint: correct the treebank"
    ):
        build_vocab([replace(given, words=(word,))], "none", 1)
