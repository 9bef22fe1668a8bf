"""Treebanks as text to learn segmentation from: characters, and what ends at each of them.

The text of a treebank is put together again from its forms and `SpaceAfter=No`; paragraphs begin
at `# newpar` and `# newdoc`. Each epoch makes it anew with a few changes, so that the network
learns from fewer cues than a tidy text gives: paragraphs run together, sentences stand alone, or
lose their last mark. Line ends need no such change: the runtime makes spaces of them. A treebank
with spaces before all of its marks is shown both ways, as people do not write like that.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.text.scan import EXPANDS, SENTENCE_END
from headwise.text.scan import TOKEN_END as TOKEN_BIT
from headwise.text.scan import WORD_END as WORD_BIT
from headwise.text.symbols import PARAGRAPH, SPACE, Codes, to_codes
from headwise.treebank.sentence import Sentence

INSIDE, WORD_END, TOKEN_END = 0, 1, 2
"""What a character ends; `WORD_END` is inside a token of several words."""
MIN_PARAGRAPH_SHARE = 0.02
"""Fewer paragraphs than this for each sentence are no paragraphs: they are then drawn."""
MEAN_PARAGRAPH = 5
"""Sentences in a paragraph that is drawn."""

CLOSING = frozenset(",.;:!?…%")
"""Marks that stand at the word before them, beside closing brackets and quotes."""

Labels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of surface text: its form, its words (one, or several), and the space after it."""

    form: str
    words: tuple[str, ...]
    has_space: bool

    @property
    def expands(self) -> bool:
        """Whether its words do not simply stand side by side in it."""
        return len(self.words) > 1 and "".join(self.words) != self.form


@dataclass(frozen=True, slots=True)
class GoldSentence:
    """The tokens of a sentence, and whether a paragraph begins with it."""

    tokens: tuple[Token, ...]
    starts_paragraph: bool


@dataclass(frozen=True, slots=True, eq=False)
class GoldText:
    """Symbols [T] as the runtime reads them, and labels [T] of the characters among them."""

    codes: Codes
    boundary: Labels
    sentence: Labels
    expands: Labels


def gold_sentence(sentence: Sentence) -> GoldSentence:
    """Read the tokens of a sentence, and whether it starts a paragraph."""
    starts_paragraph = any(c.startswith(("newpar", "newdoc")) for c in sentence.comments)
    tokens = tuple(
        Token(
            " ".join(token.form.split()),
            tuple(word.form for word in sentence.words[token.first - 1 : token.last]),
            token.has_space_after,
        )
        for token in sentence.tokens
    )
    return GoldSentence(tokens, starts_paragraph)


def gold_sentences(sentences: Sequence[Sentence]) -> list[GoldSentence]:
    """Read all sentences that have words."""
    return [gold_sentence(sentence) for sentence in sentences if len(sentence)]


def has_paragraphs(sentences: Sequence[GoldSentence]) -> bool:
    """Say whether a treebank marks its paragraphs."""
    n_starts = sum(sentence.starts_paragraph for sentence in sentences)
    return n_starts > MIN_PARAGRAPH_SHARE * len(sentences)


def is_spaced_out(sentences: Sequence[GoldSentence]) -> bool:
    """Say whether a treebank has a space after every token, marks too."""
    return all(token.has_space for one in sentences for token in one.tokens)


def with_marks_attached(sentence: GoldSentence) -> GoldSentence:
    """Take the spaces away before closing marks and after opening ones."""
    followers = [*sentence.tokens[1:], None]
    tokens = tuple(
        Token(token.form, token.words, not (_opens(token) or (after and _closes(after))))
        for token, after in zip(sentence.tokens, followers, strict=True)
    )
    return GoldSentence(tokens, sentence.starts_paragraph)


def _opens(token: Token) -> bool:
    return len(token.form) == 1 and unicodedata.category(token.form) in {"Ps", "Pi"}


def _closes(token: Token) -> bool:
    return all(
        character in CLOSING or unicodedata.category(character) in {"Pe", "Pf"}
        for character in token.form
    )


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSentence:
    """A sentence as arrays [T], its spaces inside included, and whether a space follows it."""

    codes: Codes
    boundary: Labels
    expands: Labels
    has_space: bool
    starts_paragraph: bool


def encode_sentence(sentence: GoldSentence) -> EncodedSentence:
    """Lay the tokens out as characters."""
    text: list[str] = []
    boundary: list[int] = []
    expands: list[int] = []
    for token in sentence.tokens:
        text.append(token.form + " " * token.has_space)
        own = [INSIDE] * len(token.form)
        if len(token.words) > 1 and not token.expands:
            for end in np.cumsum([len(word) for word in token.words[:-1]]).tolist():
                own[end - 1] = WORD_END
        own[-1] = TOKEN_END
        boundary += own + [INSIDE] * token.has_space
        expands += [0] * (len(own) - 1) + [int(token.expands)] + [0] * token.has_space
    has_space = sentence.tokens[-1].has_space
    n = len(boundary) - has_space
    return EncodedSentence(
        to_codes("".join(text))[:n],
        np.array(boundary[:n], np.uint8),
        np.array(expands[:n], np.uint8),
        has_space,
        sentence.starts_paragraph,
    )


def paragraph_starts(sentences: Sequence[EncodedSentence], given: bool) -> NDArray[np.bool_]:
    """Say before which sentences a paragraph begins, as the treebank has it; none if not given."""
    starts = np.array([s.starts_paragraph and given for s in sentences], np.bool_)
    starts[:1] = True
    return starts


@dataclass(frozen=True, slots=True)
class Changes:
    """How often an epoch departs from the treebank's own text."""

    join: float
    """Share of the paragraph breaks that become a space."""
    alone: float
    """Share of the sentences that become a paragraph of their own."""
    bare: float
    """Share of the sentences at the end of a paragraph that lose their last mark."""


def changed_starts(
    sentences: Sequence[EncodedSentence],
    given: bool,
    changes: Changes,
    random: np.random.Generator,
) -> NDArray[np.bool_]:
    """Draw the paragraphs of one epoch."""
    n = len(sentences)
    starts = paragraph_starts(sentences, given)
    starts &= random.random(n) >= changes.join
    if not given:
        starts |= random.random(n) < 1 / MEAN_PARAGRAPH
    alone = random.random(n) < changes.alone
    starts |= alone
    starts[1:] |= alone[:-1]
    starts[:1] = True
    return starts


def gold_text(
    sentences: Sequence[EncodedSentence],
    starts: NDArray[np.bool_],
    bare: NDArray[np.bool_] | None = None,
) -> GoldText:
    """Join sentences into one text; those at the end of a paragraph lose a mark where `bare`."""
    ends = [*starts[1:].tolist(), True]
    parts: list[EncodedSentence] = [
        _without_last_mark(sentence) if bare is not None and bare[i] and ends[i] else sentence
        for i, sentence in enumerate(sentences)
    ]
    gaps = [
        np.array([PARAGRAPH] if end else [SPACE] * part.has_space, np.uint32)
        for part, end in zip(parts, ends, strict=True)
    ]
    zeros = [np.zeros(len(gap), np.uint8) for gap in gaps]
    is_last = [np.zeros(len(part.codes), np.uint8) for part in parts]
    for flags in is_last:
        flags[-1] = 1
    return GoldText(
        np.concatenate(
            [a for part, gap in zip(parts, gaps, strict=True) for a in (part.codes, gap)]
        ),
        _join([part.boundary for part in parts], zeros),
        _join(is_last, zeros),
        _join([part.expands for part in parts], zeros),
    )


def _join(labels: Sequence[Labels], zeros: Sequence[Labels]) -> Labels:
    return np.concatenate([array for pair in zip(labels, zeros, strict=True) for array in pair])


def _without_last_mark(sentence: EncodedSentence) -> EncodedSentence:
    """Take the last token off where it is one character that is no letter and more is left."""
    ends = np.flatnonzero(sentence.boundary == TOKEN_END)
    if len(ends) < 2:
        return sentence
    last = chr(int(sentence.codes[-1]))
    start = int(ends[-2]) + 1
    if len(sentence.codes) - start > 2 or last.isalnum():
        return sentence
    return EncodedSentence(
        sentence.codes[:start],
        sentence.boundary[:start],
        sentence.expands[:start],
        True,
        sentence.starts_paragraph,
    )


def frequent_characters(sentences: Sequence[EncodedSentence], min_count: int) -> list[str]:
    """Name the characters seen at least so often, in the order of their code points."""
    codes = np.concatenate([sentence.codes for sentence in sentences])
    distinct, counts = np.unique(codes, return_counts=True)
    return [chr(code) for code in distinct[counts >= min_count].tolist()]


def has_spaces_inside(sentences: Sequence[GoldSentence]) -> bool:
    """Say whether words with a space inside are more than accidents of the treebank."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    return sum(" " in token.form for token in tokens) > 0.001 * len(tokens)


def gold_labels(
    text: GoldText, sentences: Sequence[GoldSentence]
) -> tuple[Labels, dict[int, tuple[str, ...]]]:
    """Give labels [T] as the runtime has them, and the words of the tokens that expand."""
    is_end = text.boundary == TOKEN_END
    labels = (text.boundary == WORD_END) * np.uint8(WORD_BIT)
    labels |= is_end * np.uint8(TOKEN_BIT)
    labels |= text.sentence * np.uint8(SENTENCE_END)
    labels |= text.expands * np.uint8(EXPANDS)
    tokens = [token for sentence in sentences for token in sentence.tokens]
    ends = np.flatnonzero(is_end).tolist()
    words = {e: token.words for e, token in zip(ends, tokens, strict=True) if token.expands}
    return labels, words
