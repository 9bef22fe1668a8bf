"""One vocabulary of two: what a trained model knows, and what a new treebank adds.

Strings are matched by their spelling, so the order of ids does not matter; weights are moved from
the one order to the other by `learn.start.weights`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from headwise.settings.choices import PredictedColumn, PredictedTag
from headwise.treebank.sentence import BLANK
from headwise.vocabulary.features import Features, join_features
from headwise.vocabulary.letters import Letters
from headwise.vocabulary.lexicon import join_lexicons
from headwise.vocabulary.vocab import EMPTY_INDEX, Index, Vocab


def join_vocabs(new: Vocab, known: Vocab, predicted: Sequence[PredictedColumn]) -> Vocab:
    """Add the strings of a trained model to those of a new treebank.

    What the new model does not read or predict is left out. Of the columns `predicted`, it predicts
    those that either side can. Its main treebank stays the new one.
    """
    no_labels = new.labels.strings == (BLANK,)
    columns = [column for column in get_args(PredictedTag) if column in predicted]
    either = {**known.predicted, **new.predicted}
    features = [f for f in (known.features, new.features) if f is not None]
    rules = [index for index in (known.rules, new.rules) if index is not None]
    lexicon = new.lexicon
    if known.lexicon is not None and (lexicon is not None or "lemma" in predicted):
        lexicon = known.lexicon if lexicon is None else join_lexicons(known.lexicon, lexicon)
    return replace(
        new,
        words=_join(known.words, new.words),
        tags=_join(known.tags, new.tags) if known.tag_column == new.tag_column else new.tags,
        labels=known.labels if no_labels else _join(known.labels, new.labels),
        predicted={
            column: _join(
                known.predicted.get(column, EMPTY_INDEX), new.predicted.get(column, EMPTY_INDEX)
            )
            for column in columns
            if column in either
        },
        marks=_join(new.marks, _read_marks(new, known)),  # the main treebank comes first
        alphabet=_join_letters(known, new),
        features=_join_features(features) if "feats" in predicted else None,
        rules=_join(*rules, EMPTY_INDEX) if rules and "lemma" in predicted else None,
        lexicon=lexicon,
    )


def _join(*parts: Index) -> Index:
    return Index(dict.fromkeys(string for part in parts for string in part.strings))


def _read_marks(new: Vocab, known: Vocab) -> Index:
    """Keep the marks of columns that the new model reads."""
    starts = tuple(f"{column}=" for column in new.mark_columns)
    return Index(mark for mark in known.marks.strings if mark.startswith(starts))


def _join_letters(known: Vocab, new: Vocab) -> Letters:
    if not new.alphabet.letters:
        return new.alphabet
    return Letters(list(dict.fromkeys((*known.alphabet.letters, *new.alphabet.letters))))


def _join_features(parts: Sequence[Features]) -> Features | None:
    return join_features(parts[0], parts[-1]) if parts else None
