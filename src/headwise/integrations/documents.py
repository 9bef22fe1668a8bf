"""spaCy documents as sentences, and parses back onto documents.

White-space tokens are not words, and the parser does not see them. They are attached to the word
before them, or to the first word of their sentence, as `dep`, with the tags of spaCy's own models.
In spaCy a root is its own head.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.parts_of_speech import IDS as UPOS_IDS
from spacy.tokens import Doc, Token

from headwise.arrays import FloatArray
from headwise.errors import DataError, ModelError
from headwise.integrations.surface import Segment, sentence_starts
from headwise.settings.choices import Column
from headwise.text.segmenter import NO_SEGMENTER
from headwise.text.symbols import BYTE_ORDER_MARK, Offsets, replace_invalid, to_codes, to_text
from headwise.treebank.sentence import BLANK, Parse, Sentence, sentence_from_words

MAX_WORDS = 10_000
"""Words in a sentence; the scores of its arcs then take 400 MB."""
_COLUMNS = ("form", "upos", "xpos", "feats", "lemma", "head", "deprel")
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
    """Declare the attributes of tokens and documents that docs/spacy.md names."""
    for kind, name in (
        (Token, "head_probability"),
        (Token, "word_form"),
        (Doc, "head_distributions"),
        (Doc, "constraints"),
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
    words = [_words(doc) for doc in docs]
    # For each token 1 if it starts a sentence, -1 if not, 0 if that is unknown.
    starts: list[Offsets] = [
        np.asarray(doc.to_array("SENT_START")).astype(np.int64) * keep for doc in docs
    ]
    unsure = [k for k in range(len(docs)) if words[k] and not starts[k][1:].all()]
    if unsure and segment is None:
        hint = "mark them first: nlp.add_pipe('sentencizer', before='headwise')"
        raise ModelError(f"the document does not mark its sentences, and {NO_SEGMENTER}", hint)
    offsets = sentence_starts([docs[k].text for k in unsure], segment) if unsure and segment else []
    for k, found in zip(unsure, offsets, strict=True):
        # The first sentence starts where the document does, even with white space.
        places = np.searchsorted([docs[k][i].idx for i in words[k]], found[1:])
        first_words = np.array(words[k], np.int64)[places[places < len(words[k])]]
        starts[k][first_words[starts[k][first_words] == 0]] = 1
    spans = []
    for k, doc in enumerate(docs):
        starts[k][:1] = 1
        bounds = [*np.flatnonzero(starts[k] > 0).tolist(), len(doc)]
        spans.append(_spans(words[k], bounds, max_words))
    return spans


def _words(doc: Doc) -> list[int]:
    """List the tokens that are not blank."""
    return [i for i, token in enumerate(doc) if token.text.removeprefix(BYTE_ORDER_MARK).strip()]


def _spans(words: Sequence[int], bounds: Sequence[int], max_words: int) -> list[SentenceSpan]:
    cuts = np.searchsorted(words, bounds).tolist()
    spans = []
    for i in range(len(bounds) - 1):
        span = SentenceSpan(bounds[i], bounds[i + 1], tuple(words[cuts[i] : cuts[i + 1]]))
        if len(span.words) > max_words:
            what = f"a sentence has {len(span.words):,} words; the limit is {max_words:,}"
            hint = 'let headwise find the sentences: config={"keep_sentences": False}'
            raise DataError(what, "<Doc>", hint=hint)
        spans.append(span)
    return spans


def span_to_sentence(doc: Doc, span: SentenceSpan, keep: Sequence[Column] = ()) -> Sentence:
    """Return the words of a span with tags, features and what is kept, as input for a parser.

    The head of a word that is kept is left blank if it is outside of the span.
    """
    positions = {i: position for position, i in enumerate(span.words, 1)}
    rows = []
    for token in (doc[i] for i in span.words):
        values = [token.pos_, token.tag_, str(token.morph), "", "", ""]
        if "lemma" in keep:
            values[3] = " ".join(token.lemma_.split())
        if "heads" in keep and token.has_head():
            values[4] = "0" if token.head == token else str(positions.get(token.head.i, ""))
        if "labels" in keep:
            values[5] = token.dep_
        form = conllu_form(token._.word_form or token.text)
        rows.append((form, *(value or BLANK for value in values)))
    return sentence_from_words(rows, _COLUMNS)


def conllu_form(text: str) -> str:
    """Spell a token as CoNLL-U does: normal form C, no control characters, single spaces."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    codes = replace_invalid(to_codes(" ".join(text.split())))
    return unicodedata.normalize("NFC", to_text(codes))


def write_parses(doc: Doc, spans: Sequence[SentenceSpan], parses: Sequence[Parse]) -> None:
    """Set heads, labels, tags, features, lemmas, sentence starts and probabilities."""
    heads = np.arange(len(doc))
    for span, parse in zip(spans, parses, strict=True):
        heads[span.start : span.end] = span.anchors()
        for i, head, log_prob in zip(span.words, parse.heads, parse.head_log_probs, strict=True):
            heads[i] = span.words[head - 1] if head else i
            doc[i]._.head_probability = min(float(np.exp(log_prob)), 1.0)
    strings = doc.vocab.strings
    labels = _spread(spans, [parse.labels for parse in parses], SPACE_LABEL)
    columns = {
        "HEAD": (heads - np.arange(len(doc))).tolist(),
        "DEP": [strings.add(label) for label in labels],
    }
    if any(parse.upos for parse in parses):
        upos = _spread(spans, [parse.upos for parse in parses], SPACE_UPOS)
        columns["POS"] = [UPOS_IDS.get(tag, 0) for tag in upos]
    if any(parse.xpos for parse in parses):
        xpos = _spread(spans, [parse.xpos for parse in parses], SPACE_TAG)
        columns["TAG"] = [strings.add(tag) for tag in xpos]
    if any(parse.feats for parse in parses):
        feats = _spread(spans, [parse.feats for parse in parses], BLANK)
        columns["MORPH"] = [doc.vocab.morphology.add(features) for features in feats]
    if any(parse.lemmas for parse in parses):
        lemmas = _spread(spans, [parse.lemmas for parse in parses], "")
        columns["LEMMA"] = [
            strings.add(lemma or token.text) for token, lemma in zip(doc, lemmas, strict=True)
        ]
    _set(doc, columns)
    # spaCy derives sentences from roots, and gets them wrong if a tree has many crossing arcs.
    starts = np.full(len(doc), -1)
    starts[[span.start for span in spans]] = 1
    _set(doc, {"SENT_START": starts.tolist()})


def _spread(
    spans: Sequence[SentenceSpan], values: Sequence[Sequence[str]], of_spaces: str
) -> list[str]:
    """Give every token of a document its value; white space gets that `of_spaces`."""
    spread = [of_spaces] * spans[-1].end
    for span, span_values in zip(spans, values, strict=True):
        for i, value in zip(span.words, span_values, strict=True):
            spread[i] = value
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
