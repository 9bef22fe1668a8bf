"""A sentence as one JSON object, a line of JSON Lines.

Values are those of the file; a key without a value is left out. The order of keys is fixed, so
equal sentences give equal lines. The schema, with an example, is in `docs/output.md`.
"""

import math

import msgspec

from headwise.treebank.probabilities import DECIMALS
from headwise.treebank.sentence import (
    Parse,
    RankedTree,
    Sentence,
    Token,
    filled,
    filled_lemma,
    split_comment,
)

_OWN_KEYS = ("sent_id", "text")
_NO_SPAN = (None, None)


class ProbabilitiesRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The probabilities of the other values that the parser filled in."""

    lemma: float | None = None
    upos: float | None = None
    xpos: float | None = None
    feats: float | None = None
    deprel: float | None = None


class WordRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A word; `start` and `end` are the characters of the text that it was read from."""

    id: int
    form: str
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    head: int | None = None
    deprel: str | None = None
    deps: str | None = None
    misc: str | None = None
    start: int | None = None
    end: int | None = None
    probability: float | None = None
    """Of the arc from `head`, Eq. 5."""
    marginal: float | None = None
    """Of the same arc over all trees."""
    probabilities: ProbabilitiesRecord | None = None


class TokenRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A multi-word token: one form in the text for the words `first` to `last`."""

    first: int
    last: int
    form: str
    misc: str | None = None
    start: int | None = None
    end: int | None = None


class EmptyRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """An empty node of the enhanced graph, numbered `3.1` after the word 3."""

    id: str
    form: str | None = None
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    deps: str | None = None
    misc: str | None = None


class TreeRecord(msgspec.Struct, frozen=True):
    """One of the most probable trees: head and label of each word, and its share of all trees."""

    heads: list[int]
    labels: list[str]
    probability: float


class SentenceRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A sentence; `how` says which decoder made its tree."""

    sent_id: str | None = None
    text: str
    comments: list[str] = []
    words: list[WordRecord]
    tokens: list[TokenRecord] = []
    empty_nodes: list[EmptyRecord] = []
    how: str | None = None
    entropy: float | None = None
    """Of the distribution over all trees, in nats."""
    trees: list[TreeRecord] = []
    """The most probable ones, best first."""


def to_json(sentence: Sentence, parse: Parse | None = None) -> str:
    """Write a sentence as one line of JSON, without its line end."""
    return msgspec.json.encode(to_record(sentence, parse)).decode()


def to_record(sentence: Sentence, parse: Parse | None = None) -> SentenceRecord:
    """Collect the values of a sentence; `sent_id` and `text` are not repeated as comments."""
    return SentenceRecord(
        sent_id=sentence.metadata.get("sent_id") or None,
        text=sentence.text,
        comments=[comment for comment in sentence.comments if not _has_own_key(comment)],
        words=_words(sentence, parse),
        tokens=[_token(token) for token in sentence.multi_word_tokens],
        empty_nodes=[EmptyRecord(n.id, *map(filled, n[1:-1])) for n in sentence.empty_nodes],
        how=None if parse is None else parse.how,
        entropy=None if parse is None or parse.entropy is None else _rounded(parse.entropy),
        trees=[] if parse is None else [_tree(tree) for tree in parse.trees],
    )


def _has_own_key(comment: str) -> bool:
    key, value = split_comment(comment)
    return key in _OWN_KEYS and bool(value)


def _words(sentence: Sentence, parse: Parse | None) -> list[WordRecord]:
    if parse is None:
        labels = [word.deprel for word in sentence.words]
        columns = zip(sentence.heads, labels, [math.nan] * len(sentence), strict=True)
    else:
        columns = zip(parse.heads, parse.labels, parse.probabilities, strict=True)
    records: list[WordRecord] = []
    probabilities = _probabilities(parse, len(sentence))
    marginals = (parse.marginals if parse else ()) or (math.nan,) * len(sentence)
    for word, (head, label, probability) in zip(sentence.words, columns, strict=True):
        start, end = word.span or _NO_SPAN
        record = WordRecord(
            id=len(records) + 1,
            form=word.form,
            lemma=filled_lemma(word),
            upos=filled(word.upos),
            xpos=filled(word.xpos),
            feats=filled(word.feats),
            head=head,
            deprel=filled(label),
            deps=filled(word.deps),
            misc=filled(word.misc),
            start=start,
            end=end,
            probability=_rounded(probability),
            marginal=_rounded(marginals[len(records)]),
            probabilities=probabilities[len(records)],
        )
        records.append(record)
    return records


def _probabilities(parse: Parse | None, n_words: int) -> list[ProbabilitiesRecord | None]:
    """Collect the probabilities of each word, by the keys of their values."""
    if parse is None or not parse.column_probs:
        return [None] * n_words
    keys = ["deprel" if column == "labels" else column for column in parse.column_probs]
    rows = zip(*(map(_rounded, probs) for probs in parse.column_probs.values()), strict=True)
    return [
        None if set(row) == {None} else ProbabilitiesRecord(**dict(zip(keys, row, strict=True)))
        for row in rows
    ]


def _rounded(probability: float) -> float | None:
    return None if math.isnan(probability) else round(probability, DECIMALS)


def _token(token: Token) -> TokenRecord:
    start, end = token.span or _NO_SPAN
    return TokenRecord(token.first, token.last, token.form, filled(token.misc), start, end)


def _tree(tree: RankedTree) -> TreeRecord:
    # Four decimals would call the first trees of a long sentence impossible.
    probability = float(f"{tree.probability:.{DECIMALS}g}")
    return TreeRecord(list(tree.heads), list(tree.labels), probability)
