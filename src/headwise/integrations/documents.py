"""spaCy's documents as sentences, and parses back onto documents.

White-space tokens are no words: the parser does not see them. They hang on the word before them, or
on the first word of their sentence, as `dep`, with the tags that spaCy's own models give them. In
spaCy a root is its own head.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.parts_of_speech import IDS as UPOS_IDS
from spacy.tokens import Doc, Token

from headwise.arrays import FloatArray
from headwise.errors import DataError, ModelError
from headwise.integrations.surface import Offsets, Segment, sentence_starts
from headwise.text.segmenter import NO_SEGMENTER
from headwise.treebank.sentence import BLANK, Parse, Sentence, sentence_from_words

MAX_WORDS = 10_000
"""Words in a sentence; the table of its arcs then takes 400 MB."""
SPACE_LABEL, SPACE_UPOS, SPACE_TAG = "dep", "SPACE", "_SP"
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
_WHITE_SQUARE = "\u25a1"
_NOWHERE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The tokens `start` to `end` of a document, one sentence; `words` are those not white."""

    start: int
    end: int
    words: tuple[int, ...]

    def anchors(self) -> list[int]:
        """Give each token a word to hang on if it is white space: the last one, or the first."""
        anchor = self.words[0] if self.words else self.start
        is_word = set(self.words)
        anchors = []
        for i in range(self.start, self.end):
            anchor = i if i in is_word else anchor
            anchors.append(anchor)
        return anchors


Stretches = list[Stretch]


def declare_extensions() -> None:
    """Make `token._.head_probability`, `token._.word_form` and `doc._.head_distributions` known."""
    for kind, name in (
        (Token, "head_probability"),
        (Token, "word_form"),
        (Doc, "head_distributions"),
    ):
        if not kind.has_extension(name):
            kind.set_extension(name, default=None, force=True)  # another thread may be as far


def find_stretches(docs: Sequence[Doc], segment: Segment | None, keep: bool) -> list[Stretches]:
    """Cut documents into sentences; with `keep`, what they say of their tokens stands.

    `segment` is asked only where it is not known of each token whether a sentence starts with it.
    A sentence that starts inside a token starts with the next one.
    """
    words = [[i for i, token in enumerate(doc) if token.text.strip()] for doc in docs]
    said = [_said(doc) if keep else np.zeros(len(doc), np.int64) for doc in docs]
    unsure = [k for k, own in enumerate(words) if own and not said[k][1:].all()]
    asked = _found([docs[k] for k in unsure], [words[k] for k in unsure], segment)
    found = dict(zip(unsure, asked, strict=True))
    result = []
    for k, doc in enumerate(docs):
        is_start = said[k] > 0
        starts = found.get(k, _NOWHERE)
        is_start[starts] |= said[k][starts] == 0
        is_start[:1] = True
        result.append(_stretches(words[k], [*np.flatnonzero(is_start).tolist(), len(doc)]))
    return result


def _said(doc: Doc) -> Offsets:
    """Read what is known of each token: 1 for the start of a sentence, -1 for none, 0 nothing."""
    return np.asarray(doc.to_array("SENT_START")).astype(np.int64)


def _found(
    docs: Sequence[Doc], words: Sequence[Sequence[int]], segment: Segment | None
) -> Iterator[Offsets]:
    """Give the tokens that sentences start with, but for the first sentence of a document.

    That one starts where the document does, be it with white space.
    """
    if docs and segment is None:
        hint = "mark them first: nlp.add_pipe('sentencizer', before='headwise')"
        raise ModelError(f"where do sentences start? {NO_SEGMENTER}", hint)
    starts = sentence_starts([doc.text for doc in docs], segment) if segment and docs else []
    for doc, own, offsets in zip(docs, words, starts, strict=True):
        places = np.searchsorted([doc[i].idx for i in own], offsets[1:])
        yield np.array(own, np.int64)[places[places < len(own)]]


def _stretches(words: Sequence[int], bounds: Sequence[int]) -> Stretches:
    cuts = np.searchsorted(words, bounds).tolist()
    stretches = []
    for i in range(len(bounds) - 1):
        own = tuple(words[cuts[i] : cuts[i + 1]])
        if len(own) > MAX_WORDS:
            raise DataError(
                f"a sentence of {len(own):,} words; at most {MAX_WORDS:,} are parsed",
                "<Doc>",
                hint='let headwise find the sentences: config={"keep_sentences": False}',
            )
        stretches.append(Stretch(bounds[i], bounds[i + 1], own))
    return stretches


def to_sentence(doc: Doc, stretch: Stretch) -> Sentence:
    """Give the words of a stretch to a parser, with the tags that they have."""
    tokens = [doc[i] for i in stretch.words]
    values = [
        (fit_form(token._.word_form or token.text), token.pos_ or BLANK, token.tag_ or BLANK)
        for token in tokens
    ]
    return sentence_from_words(values, ["form", "upos", "xpos"])


def fit_form(text: str) -> str:
    """Spell a token as CoNLL-U would: normal form C, no control characters, single spaces."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return unicodedata.normalize("NFC", _UNFIT.sub(_WHITE_SQUARE, " ".join(text.split())))


def write(doc: Doc, stretches: Sequence[Stretch], parses: Sequence[Parse]) -> None:
    """Set heads, labels, tags, sentence starts and probabilities."""
    heads = np.arange(len(doc))
    labels = [SPACE_LABEL] * len(doc)
    for stretch, parse in zip(stretches, parses, strict=True):
        words = stretch.words
        heads[stretch.start : stretch.end] = stretch.anchors()
        for i, head, label in zip(words, parse.heads, parse.labels, strict=True):
            heads[i] = words[head - 1] if head else i
            labels[i] = label
        for i, log_prob in zip(words, parse.head_log_probs, strict=True):
            doc[i]._.head_probability = min(float(np.exp(log_prob)), 1.0)
    strings = doc.vocab.strings
    columns = {
        "HEAD": (heads - np.arange(len(doc))).tolist(),
        "DEP": [strings.add(label) for label in labels],
    }
    if upos := _column(stretches, [parse.upos for parse in parses], SPACE_UPOS):
        columns["POS"] = [UPOS_IDS.get(tag, 0) for tag in upos]
    if xpos := _column(stretches, [parse.xpos for parse in parses], SPACE_TAG):
        columns["TAG"] = [strings.add(tag) for tag in xpos]
    _set(doc, columns)
    # spaCy finds sentences by their roots, and gives up on trees that cross themselves too often.
    starts = np.full(len(doc), -1)
    starts[[stretch.start for stretch in stretches]] = 1
    _set(doc, {"SENT_START": starts.tolist()})


def _column(
    stretches: Sequence[Stretch], tags: Sequence[Sequence[str]], of_space: str
) -> list[str]:
    """Spread tags over all tokens; none where the parser has none."""
    if not any(tags):
        return []
    spread = [of_space] * stretches[-1].end
    for stretch, own in zip(stretches, tags, strict=True):
        for i, tag in zip(stretch.words, own, strict=True):
            spread[i] = tag
    return spread


def _set(doc: Doc, columns: dict[str, list[int]]) -> None:
    values = [[value % 2**64 for value in column] for column in columns.values()]
    array: Any = np.array(values, np.uint64).T  # [tokens, columns]; spaCy calls it `Ints2d`
    doc.from_array(list(columns), array)


def spread_distribution(stretch: Stretch, head_log_probs: FloatArray) -> FloatArray:
    """Turn log P_head [N+1, N+1] into probabilities [n, n+1] over the tokens of a stretch.

    A row chooses, a column is chosen; column 0 is ROOT. White space neither chooses nor is chosen.
    """
    n_tokens = stretch.end - stretch.start
    spread = np.zeros((n_tokens, n_tokens + 1), np.float32)
    rows = np.array(stretch.words, np.int64) - stretch.start
    spread[np.ix_(rows, np.append(0, rows + 1))] = np.exp(head_log_probs[1:])
    return spread
