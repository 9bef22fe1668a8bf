"""What a model predicts of each word beside its head: UPOS, XPOS, FEATS and LEMMA, as strings.

FEATS follows UPOS: a feature that never goes with the tag is not written. LEMMA follows both: what
training has seen for the form with this analysis comes first, and then the rule that the network
finds most probable among those that fit the form. Each value has its probability.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from headwise.arrays import FloatArray, IntArray
from headwise.runtime.kept import Values, keep_values
from headwise.runtime.scorer import Selection
from headwise.settings.choices import Column, PredictedColumn
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.lemma_rules import apply_rule
from headwise.vocabulary.vocab import Vocab

_MAX_CACHED = 20_000
"""Combinations of features whose FEATS are remembered."""
Written = dict[PredictedColumn, Values]
"""The values of each predicted column and their probabilities."""


class ColumnWriter:
    """Turns the positions that a scorer chose into the strings of columns."""

    def __init__(self, vocab: Vocab, keep: Sequence[Column] = ()) -> None:
        """Leave what the input has in the columns `keep`."""
        self._vocab = vocab
        self._outputs = tuple(vocab.outputs)
        self._keep = keep
        self._feats: dict[bytes, str] = {}  # threads may share it: each step on it is atomic
        if vocab.features is not None:
            tags = [*vocab.features.allowed, ""]  # the last row is that of tags that are new
            self._rows_of_tags = {tag: row for row, tag in enumerate(tags)}
            self._goes_with = np.stack([vocab.features.goes_with(tag) for tag in tags])

    def write(
        self, sentences: Sequence[Sentence], selections: Sequence[Selection]
    ) -> list[Written]:
        """Write the columns of sentences, together: much of the work is for all their words."""
        columns: list[Written] = [{} for _ in sentences]
        for i, column in enumerate(self._outputs if sentences else ()):
            tags = np.concatenate([selection.tags[i][1:] for selection in selections])
            log_probs = np.concatenate([one.tag_log_probs[i][1:] for one in selections])
            values, probs = self._write_column(column, sentences, columns, tags, log_probs)
            start = 0
            for sentence, written in zip(sentences, columns, strict=True):
                end = start + len(sentence)
                written[column] = tuple(values[start:end]), tuple(probs[start:end])
                if column in self._keep:
                    written[column] = keep_values(sentence, column, *written[column])
                start = end
        return columns

    def _write_column(
        self,
        column: PredictedColumn,
        sentences: Sequence[Sentence],
        columns: Sequence[Written],
        tags: IntArray,
        log_probs: FloatArray,
    ) -> tuple[list[str], list[float]]:
        """Write a column from positions [N] or [N, features], after the columns before it."""
        if column == "feats":
            written = [of_sentence.get("upos", ((), ()))[0] for of_sentence in columns]
            return self._write_feats([upos for part in written for upos in part], tags, log_probs)
        if column == "lemma":
            forms = [word.form for sentence in sentences for word in sentence.words]
            analyses = chain.from_iterable(map(analyses_of, sentences, columns))
            return self._write_lemmas(forms, analyses, tags, log_probs)
        strings = self._vocab.predicted[column].strings
        chosen = log_probs[np.arange(len(tags)), tags]
        return [strings[i] for i in tags.tolist()], list(probabilities(chosen))

    def _write_feats(
        self, uposes: Sequence[str], tags: IntArray, log_probs: FloatArray
    ) -> tuple[list[str], list[float]]:
        """Write FEATS from positions [N, features]; it is as probable as all of them together."""
        features = self._vocab.features
        assert features is not None
        if uposes:
            rows, new = self._rows_of_tags, len(self._goes_with) - 1
            tags = tags * self._goes_with[[rows.get(upos, new) for upos in uposes]]  # 0 is ABSENT
        n_words, n_features = tags.shape
        chosen = log_probs[np.arange(n_words)[:, None], np.arange(n_features), tags]
        keys, size = tags.tobytes(), tags.itemsize * n_features
        values = []
        for at in range(0, size * n_words, size):
            key = keys[at : at + size]
            feats = self._feats.get(key)
            if feats is None:
                feats = features.write(np.frombuffer(key, tags.dtype).tolist())
                if len(self._feats) >= _MAX_CACHED:
                    self._feats.clear()
                self._feats[key] = feats
            values.append(feats)
        return values, list(probabilities(chosen.sum(axis=1)))

    def _write_lemmas(
        self,
        forms: Sequence[str],
        analyses: Iterable[tuple[str, str]],
        tags: IntArray,
        log_probs: FloatArray,
    ) -> tuple[list[str], list[float]]:
        """Write lemmas from positions [N] of rules and their log-probabilities [N, rules]."""
        assert self._vocab.rules is not None
        rules = self._vocab.rules.strings
        probs = list(probabilities(log_probs[np.arange(len(tags)), tags]))
        lexicon = self._vocab.lexicon
        lemmas = []
        words = zip(forms, analyses, tags.tolist(), strict=True)
        for i, (form, (upos, feats), rule) in enumerate(words):
            lemma = apply_rule(form, rules[rule])
            if lemma is None:
                lemma, probs[i] = _first_that_fits(form, rules, log_probs[i])
            known = None if lexicon is None else lexicon.lemma_of(form, upos, feats)
            if lexicon is not None and known is not None:
                probs[i] = lexicon.accuracy[known != lemma]
                lemma = known
            lemmas.append(lemma)
        return lemmas, probs


def analyses_of(sentence: Sentence, written: Written) -> Iterator[tuple[str, str]]:
    """Give UPOS and FEATS of each word: as they were written, or else as the input has them."""
    uposes = written["upos"][0] if "upos" in written else [w.upos for w in sentence.words]
    featses = written["feats"][0] if "feats" in written else [w.feats for w in sentence.words]
    return zip(uposes, featses, strict=True)


def _first_that_fits(form: str, rules: Sequence[str], log_probs: FloatArray) -> tuple[str, float]:
    """Try rules, the most probable first; if none fits, the form is its own lemma."""
    for rule in np.argsort(-log_probs).tolist():
        lemma = apply_rule(form, rules[rule])
        if lemma is not None:
            return lemma, probabilities(log_probs[[rule]])[0]
    return form, 0.0


def probabilities(log_probs: FloatArray) -> tuple[float, ...]:
    """Turn log-probabilities [N] into probabilities; rounding may leave one slightly above 0."""
    return tuple(np.exp(np.minimum(log_probs, 0.0)).tolist())
