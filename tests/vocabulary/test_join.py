"""Two vocabularies become one: every string once, and counts added up."""

from dataclasses import replace

import numpy as np

from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.features import collect_features, join_features
from headwise.vocabulary.join import join_vocabs
from headwise.vocabulary.lexicon import build_lexicon, join_lexicons, pack_lexicon
from headwise.vocabulary.vocab import Index, Vocab, build_vocab, collect_marks

COLUMNS = ["form", "lemma", "upos", "feats", "head", "deprel"]
PREDICTED = ("upos", "xpos", "feats", "lemma")
OLD = sentence_from_words(
    [
        ("Kids", "kid", "NOUN", "Number=Plur", "2", "nsubj"),
        ("run", "run", "VERB", "Tense=Pres", "0", "root"),
    ],
    COLUMNS,
)
NEW = sentence_from_words(
    [
        ("dogs", "dog", "NOUN", "Case=Nom|Number=Plur", "2", "nsubj"),
        ("run", "run", "NOUN", "Number=Sing", "0", "root"),
        ("!", "!", "PUNCT", "_", "2", "punct"),
    ],
    COLUMNS,
)


def vocab_of(*sentences: Sentence, treebank: str) -> Vocab:
    vocab = build_vocab(sentences * 2, "none", 1, predicted=PREDICTED, reads_letters=True)
    marks = Index(collect_marks({treebank: sentences}, ("treebank", "upos")))
    lexicon = build_lexicon(word for sentence in sentences for word in sentence.words)
    return replace(
        vocab, mark_columns=("treebank", "upos"), marks=marks, treebank=treebank, lexicon=lexicon
    )


def test_every_string_of_both_is_there_once_and_the_main_treebank_is_the_new_one() -> None:
    old, new = vocab_of(OLD, treebank="old"), vocab_of(NEW, treebank="new")
    both, together = join_vocabs(new, old, PREDICTED), vocab_of(OLD, NEW, treebank="new")
    for joined, expected in (
        (both.words, together.words),
        (both.labels, together.labels),
        (both.predicted["upos"], together.predicted["upos"]),
        (both.rules, together.rules),
    ):
        assert joined is not None
        assert expected is not None
        assert sorted(joined.strings) == sorted(expected.strings)
    assert sorted(both.alphabet.letters) == sorted(together.alphabet.letters)
    assert both.features is not None
    assert together.features is not None
    assert sorted(both.features.score_names) == sorted(together.features.score_names)
    assert list(both.features.values) == list(together.features.values)
    assert both.features.allowed == together.features.allowed
    assert both.treebanks == ("new", "old")
    assert both.treebank == "new"
    assert list(both.predicted) == ["upos"]


def test_what_the_new_model_does_not_read_or_predict_is_left_out() -> None:
    old = vocab_of(OLD, treebank="old")
    new = replace(build_vocab([NEW], "none", 1), mark_columns=("upos",), marks=Index(["upos=X"]))
    both = join_vocabs(new, old, ())
    assert (both.predicted, both.features, both.rules, both.lexicon) == ({}, None, None, None)
    assert both.marks.strings == ("upos=X", "upos=NOUN", "upos=VERB")
    assert not both.alphabet.letters


def test_a_column_that_only_the_old_model_knows_stays() -> None:
    blank = sentence_from_words([("run", "0")], ["form", "head"])
    old, new = vocab_of(OLD, treebank="old"), build_vocab([blank], "none", 1, predicted=PREDICTED)
    both = join_vocabs(new, old, PREDICTED)
    assert (both.labels, both.features) == (old.labels, join_features(old.features, old.features))
    assert both.rules is not None
    assert both.lexicon is old.lexicon


def test_joined_lexicons_are_those_of_both_treebanks() -> None:
    one, other = (build_lexicon(sentence.words) for sentence in (OLD, NEW))
    both = build_lexicon([*OLD.words, *NEW.words])
    assert pack_lexicon(join_lexicons(one, other)) == pack_lexicon(both)


def test_the_numbers_of_a_prior_have_names() -> None:
    lexicon = build_lexicon([*OLD.words, *NEW.words])
    names = lexicon.prior_names
    assert len(names) == len(set(names)) == lexicon.prior_size
    prior = dict(zip(names, lexicon.prior_of("run").tolist(), strict=True))
    assert prior["form", "upos", "VERB"] == prior["form", "upos", "NOUN"] == 0.5
    assert prior["form", "Tense", "Pres"] == prior["form", "Number", "Sing"] == 0.5
    assert np.isclose(prior["count",], np.log(3))


def test_scores_of_features_are_named_in_order() -> None:
    features = collect_features([("X", "A=1|B=2"), ("X", "A=3"), ("X", "A=3")])
    assert features.score_names == [("A", ""), ("A", "3"), ("A", "1"), ("B", ""), ("B", "2")]
    assert len(features.score_names) == features.n_scores
