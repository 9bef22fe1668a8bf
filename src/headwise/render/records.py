"""A sentence as one JSON object, for programs: a line of JSON Lines.

Values stand as in the file; a key without a value is left out. The order of keys is fixed, so equal
sentences give equal lines. The schema, with an example, is in `docs/output.md`.
"""

import re

import msgspec

from headwise.render.arcs import arcs_of, comment_value, comments_of, filled, other_lines, text_of
from headwise.treebank.sentence import Parse, Sentence, Word

DECIMALS = 4
_RANGE_IN_TEXT = re.compile(r"TokenRange=([0-9]{1,12}):([0-9]{1,12})")


class WordRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A word; `start` and `end` are offsets into the text it was read from, in characters."""

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


class TokenRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A multi-word token: one form in the text for the words `first` to `last`."""

    first: int
    last: int
    form: str
    misc: str | None = None
    start: int | None = None
    end: int | None = None


class EmptyRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An empty node of the enhanced graph, numbered `3.1` after the word 3."""

    id: str
    form: str | None = None
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    deps: str | None = None
    misc: str | None = None


class SentenceRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A sentence; `how` says which decoder made its tree."""

    sent_id: str | None = None
    text: str
    comments: list[str] = []
    words: list[WordRecord]
    tokens: list[TokenRecord] = []
    empty_nodes: list[EmptyRecord] = []
    how: str | None = None


def to_json(sentence: Sentence, parse: Parse | None = None) -> str:
    """Write a sentence as one line of JSON, without its line end."""
    return msgspec.json.encode(to_record(sentence, parse)).decode()


def to_record(sentence: Sentence, parse: Parse | None = None) -> SentenceRecord:
    """Collect what is known of a sentence; `sent_id` and `text` are not repeated as comments."""
    comments = comments_of(sentence)
    ids = (comment_value(comment, "sent_id") for comment in comments)
    others = [word for _, word in other_lines(sentence)]
    return SentenceRecord(
        sent_id=next((value for value in ids if value), None),
        text=text_of(sentence),
        comments=[
            comment
            for comment in comments
            if not comment_value(comment, "sent_id") and not comment_value(comment, "text")
        ],
        words=_words(sentence, parse),
        tokens=[_token(word) for word in others if "-" in word.id],
        empty_nodes=[_empty_node(word) for word in others if "-" not in word.id],
        how=None if parse is None else parse.how,
    )


def _words(sentence: Sentence, parse: Parse | None) -> list[WordRecord]:
    found = []
    for arc, word in zip(arcs_of(sentence, parse), sentence.words, strict=True):
        start, end = place_in_text(word)
        sure = arc.probability
        found.append(
            WordRecord(
                id=arc.dependent,
                form=word.form,
                lemma=_lemma(word),
                upos=filled(word.upos),
                xpos=filled(word.xpos),
                feats=filled(word.feats),
                head=arc.head,
                deprel=filled(arc.label),
                deps=filled(word.deps),
                misc=filled(word.misc),
                start=start,
                end=end,
                probability=None if sure is None else round(sure, DECIMALS),
            )
        )
    return found


def _lemma(word: Word) -> str | None:
    # The lemma of an underscore is an underscore; of any other word it is not known.
    return word.lemma if word.form == word.lemma else filled(word.lemma)


def _token(word: Word) -> TokenRecord:
    first, _, last = word.id.partition("-")
    start, end = place_in_text(word)
    return TokenRecord(
        first=int(first),
        last=int(last),
        form=word.form,
        misc=filled(word.misc),
        start=start,
        end=end,
    )


def _empty_node(word: Word) -> EmptyRecord:
    return EmptyRecord(
        id=word.id,
        form=filled(word.form),
        lemma=filled(word.lemma),
        upos=filled(word.upos),
        xpos=filled(word.xpos),
        feats=filled(word.feats),
        deps=filled(word.deps),
        misc=filled(word.misc),
    )


def place_in_text(word: Word) -> tuple[int, int] | tuple[None, None]:
    """Read `TokenRange` from MISC: where a word stands in the text it was read from."""
    for part in word.misc.split("|"):
        if place := _RANGE_IN_TEXT.fullmatch(part):
            return int(place[1]), int(place[2])
    return None, None
