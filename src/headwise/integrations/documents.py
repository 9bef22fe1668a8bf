"""spaCy documents as sentences, and parses back onto documents.

White-space tokens are not words, and the parser does not see them. They are attached to the word
before them, or to the first word of their sentence, as `dep`, with the tags of spaCy's own models.
In spaCy a root is its own head.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.parts_of_speech import IDS as UPOS_IDS
from spacy.tokens import Doc, Token

from headwise.arrays import FloatArray
from headwise.errors import DataError, ModelError
from headwise.integrations.surface import Segment, sentence_starts
from headwise.text.assemble import to_text
from headwise.text.segmenter import NO_SEGMENTER
from headwise.text.symbols import (
    BYTE_ORDER_MARK,
    Offsets,
    replace_invalid,
    to_codes,
)
from headwise.treebank.sentence import BLANK, Parse, Sentence, sentence_from_words

MAX_WORDS = 10_000
"""Words in a sentence; the scores of its arcs then take 400 MB."""
SPACE_LABEL, SPACE_UPOS, SPACE_TAG = "dep", "SPACE", "_SP"


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """One sentence: the tokens `start` to `end` of a document, of which `words` are not blank."""

    start: int
    end: int
    words: tuple[int, ...]

    def anchors(self) -> list[int]:
        """Return for each token itself if it is a word, else the word that it is attached to."""
        anchor = self.words[0] if self.words else self.start
        is_word = set(self.words)
        anchors = []
        for i in range(self.start, self.end):
            anchor = i if i in is_word else anchor
            anchors.append(anchor)
        return anchors


def declare_extensions() -> None:
    """Declare `token._.head_probability`, `token._.word_form` and `doc._.head_distributions`."""
    for kind, name in (
        (Token, "head_probability"),
        (Token, "word_form"),
        (Doc, "head_distributions"),
    ):
        if not kind.has_extension(name):
            kind.set_extension(name, default=None, force=True)  # another thread may be faster


def find_sentences(
    docs: Sequence[Doc], segment: Segment | None, keep: bool, max_words: int = MAX_WORDS
) -> list[list[SentenceSpan]]:
    """Cut documents into sentences; with `keep`, the sentence starts they already have stay.

    `segment` is only called for documents in which a token may or may not start a sentence. A
    sentence that starts inside a token starts with the next one.
    """
    words = [[i for i, token in enumerate(doc) if not _is_blank(token.text)] for doc in docs]
    marked = [_marked_starts(doc) if keep else np.zeros(len(doc), np.int64) for doc in docs]
    unsure = [k for k in range(len(docs)) if words[k] and not marked[k][1:].all()]
    starts = _find_starts([docs[k] for k in unsure], [words[k] for k in unsure], segment)
    found = dict(zip(unsure, starts, strict=True))
    spans = []
    for k, doc in enumerate(docs):
        is_start = marked[k] > 0
        if k in found:
            is_start[found[k]] |= marked[k][found[k]] == 0
        is_start[:1] = True
        bounds = [*np.flatnonzero(is_start).tolist(), len(doc)]
        spans.append(_spans(words[k], bounds, max_words))
    return spans


def _is_blank(text: str) -> bool:
    return not text.removeprefix(BYTE_ORDER_MARK).strip()


def _marked_starts(doc: Doc) -> Offsets:
    """Return for each token 1 if it starts a sentence, -1 if not, 0 if that is unknown."""
    return np.asarray(doc.to_array("SENT_START")).astype(np.int64)


def _find_starts(
    docs: Sequence[Doc], words: Sequence[Sequence[int]], segment: Segment | None
) -> Iterator[Offsets]:
    """Return the tokens that start sentences, except the first sentence of each document.

    That one starts where the document does, even with white space.
    """
    if docs and segment is None:
        hint = "mark them first: nlp.add_pipe('sentencizer', before='headwise')"
        raise ModelError(f"the document does not mark its sentences, and {NO_SEGMENTER}", hint)
    starts = sentence_starts([doc.text for doc in docs], segment) if segment and docs else []
    for doc, doc_words, offsets in zip(docs, words, starts, strict=True):
        places = np.searchsorted([doc[i].idx for i in doc_words], offsets[1:])
        yield np.array(doc_words, np.int64)[places[places < len(doc_words)]]


def _spans(words: Sequence[int], bounds: Sequence[int], max_words: int) -> list[SentenceSpan]:
    cuts = np.searchsorted(words, bounds).tolist()
    spans = []
    for i in range(len(bounds) - 1):
        span = SentenceSpan(bounds[i], bounds[i + 1], tuple(words[cuts[i] : cuts[i + 1]]))
        if len(span.words) > max_words:
            raise DataError(
                f"a sentence has {len(span.words):,} words; the limit is {max_words:,}",
                "<Doc>",
                hint='let headwise find the sentences: config={"keep_sentences": False}',
            )
        spans.append(span)
    return spans


def span_to_sentence(doc: Doc, span: SentenceSpan) -> Sentence:
    """Return the words of a span with their tags, as input for a parser."""
    tokens = [doc[i] for i in span.words]
    values = [
        (conllu_form(token._.word_form or token.text), token.pos_ or BLANK, token.tag_ or BLANK)
        for token in tokens
    ]
    return sentence_from_words(values, ["form", "upos", "xpos"])


def conllu_form(text: str) -> str:
    """Spell a token as CoNLL-U does: normal form C, no control characters, single spaces."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    codes = replace_invalid(to_codes(" ".join(text.split())))
    return unicodedata.normalize("NFC", to_text(codes))


def write_parses(doc: Doc, spans: Sequence[SentenceSpan], parses: Sequence[Parse]) -> None:
    """Set heads, labels, tags, sentence starts and probabilities."""
    heads = np.arange(len(doc))
    labels = [SPACE_LABEL] * len(doc)
    for span, parse in zip(spans, parses, strict=True):
        heads[span.start : span.end] = span.anchors()
        for i, head, label in zip(span.words, parse.heads, parse.labels, strict=True):
            heads[i] = span.words[head - 1] if head else i
            labels[i] = label
        for i, log_prob in zip(span.words, parse.head_log_probs, strict=True):
            doc[i]._.head_probability = min(float(np.exp(log_prob)), 1.0)
    strings = doc.vocab.strings
    columns = {
        "HEAD": (heads - np.arange(len(doc))).tolist(),
        "DEP": [strings.add(label) for label in labels],
    }
    if upos := _spread_tags(spans, [parse.upos for parse in parses], SPACE_UPOS):
        columns["POS"] = [UPOS_IDS.get(tag, 0) for tag in upos]
    if xpos := _spread_tags(spans, [parse.xpos for parse in parses], SPACE_TAG):
        columns["TAG"] = [strings.add(tag) for tag in xpos]
    _set(doc, columns)
    # spaCy derives sentences from roots, and gets them wrong if a tree has many crossing arcs.
    starts = np.full(len(doc), -1)
    starts[[span.start for span in spans]] = 1
    _set(doc, {"SENT_START": starts.tolist()})


def _spread_tags(
    spans: Sequence[SentenceSpan], tags: Sequence[Sequence[str]], space_tag: str
) -> list[str]:
    """Return the tags of all tokens, or nothing if the parser predicts none."""
    if not any(tags):
        return []
    spread = [space_tag] * spans[-1].end
    for span, span_tags in zip(spans, tags, strict=True):
        for i, tag in zip(span.words, span_tags, strict=True):
            spread[i] = tag
    return spread


def _set(doc: Doc, columns: dict[str, list[int]]) -> None:
    values = [[value % 2**64 for value in column] for column in columns.values()]
    array: Any = np.array(values, np.uint64).T  # [tokens, columns]; spaCy's type is `Ints2d`
    doc.from_array(list(columns), array)


def spread_distribution(span: SentenceSpan, head_log_probs: FloatArray) -> FloatArray:
    """Turn log P_head [N+1, N+1] into probabilities [n, n+1] over the tokens of a span.

    Rows are dependents, columns heads; column 0 is ROOT. Rows and columns of white space are zero.
    """
    n_tokens = span.end - span.start
    spread = np.zeros((n_tokens, n_tokens + 1), np.float32)
    rows = np.array(span.words, np.int64) - span.start
    spread[np.ix_(rows, np.append(0, rows + 1))] = np.exp(head_log_probs[1:])
    return spread
