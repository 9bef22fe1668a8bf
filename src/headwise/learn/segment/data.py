"""The text of a treebank to learn segmentation from: labelled characters, in batches.

The text is rebuilt from the forms and `SpaceAfter=No`; paragraphs start at `# newpar` and
`# newdoc`. Each epoch rebuilds it with a few random changes, so that the network does not rely on
the cues of tidy text: paragraphs are joined, sentences become paragraphs of their own or lose their
final mark. Line ends need no such change, since the runtime turns them into spaces. A treebank
with a space before every punctuation mark is shown both ways, as people do not write like that.

Batches are rows of equal length cut from the text, padded between paragraphs as at runtime; each
row comes with as many characters on either side as the network can see.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwise.settings.training import SegmentConfig
from headwise.text.scan import (
    BOUNDARY,
    EXPANDS,
    FIRST_CHARACTER,
    PADDING_ID,
    SENTENCE_END,
    TOKEN_END,
    WORD_END,
    Alphabet,
    CharacterIds,
    Labels,
    is_white_space,
)
from headwise.text.symbols import PARAGRAPH, SPACE, Codes, Flags, to_codes
from headwise.treebank.sentence import Sentence

IGNORED = -1
"""The target of a character that has nothing to decide, such as white space."""

_MIN_PARAGRAPH_SHARE = 0.02
"""A treebank with fewer paragraphs per sentence does not mark them; they are then drawn."""
_MEAN_PARAGRAPH = 5
"""Sentences in a paragraph that is drawn, on average."""
_MIN_SPACES_SHARE = 0.001
"""Fewer tokens with a space inside are accidents of the treebank."""
_CLOSING = frozenset(",.;:!?…%")
"""Marks without a space before them; so are closing brackets and quotes."""

Targets = NDArray[np.int64]
SegmentBatch = tuple[CharacterIds, Targets]
"""Ids int32 [B, W + 2 reach]; targets int64 [B, W, 3]: boundary, sentence end, expansion."""


@dataclass(frozen=True, slots=True)
class GoldToken:
    """A token of the text: its form, its words, and whether a space follows."""

    form: str
    words: tuple[str, ...]
    has_space: bool

    @property
    def expands(self) -> bool:
        """Whether the token is several words that do not stand side by side in it."""
        return len(self.words) > 1 and "".join(self.words) != self.form


@dataclass(frozen=True, slots=True)
class GoldSentence:
    """The tokens of a sentence, and whether it starts a paragraph."""

    tokens: tuple[GoldToken, ...]
    starts_paragraph: bool


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSentence:
    """The characters of a sentence [T] and their labels [T]; `has_space` if a space follows it."""

    codes: Codes
    labels: Labels
    has_space: bool
    starts_paragraph: bool


def gold_sentences(sentences: Sequence[Sentence]) -> list[GoldSentence]:
    """Read the tokens of all sentences that have words, and whether they start a paragraph."""
    return [
        GoldSentence(
            tuple(
                GoldToken(
                    " ".join(token.form.split()),
                    tuple(word.form for word in sentence.words[token.first - 1 : token.last]),
                    token.has_space_after,
                )
                for token in sentence.tokens
            ),
            any(comment.startswith(("newpar", "newdoc")) for comment in sentence.comments),
        )
        for sentence in sentences
        if len(sentence)
    ]


def has_paragraphs(sentences: Sequence[GoldSentence]) -> bool:
    """Return whether a treebank marks its paragraphs."""
    n_starts = sum(sentence.starts_paragraph for sentence in sentences)
    return n_starts > _MIN_PARAGRAPH_SHARE * len(sentences)


def has_spaces_inside(sentences: Sequence[GoldSentence]) -> bool:
    """Return whether the words of a treebank may contain spaces."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    return sum(" " in token.form for token in tokens) > _MIN_SPACES_SHARE * len(tokens)


def has_space_everywhere(sentences: Sequence[GoldSentence]) -> bool:
    """Return whether a treebank has a space after every token."""
    return all(token.has_space for sentence in sentences for token in sentence.tokens)


def with_marks_attached(sentence: GoldSentence) -> GoldSentence:
    """Remove the spaces before closing marks and after opening ones."""
    followers = [*sentence.tokens[1:], None]
    tokens = tuple(
        replace(token, has_space=not (_opens(token.form) or (after and _closes(after.form))))
        for token, after in zip(sentence.tokens, followers, strict=True)
    )
    return replace(sentence, tokens=tokens)


def _opens(form: str) -> bool:
    return len(form) == 1 and unicodedata.category(form) in {"Ps", "Pi"}


def _closes(form: str) -> bool:
    return all(mark in _CLOSING or unicodedata.category(mark) in {"Pe", "Pf"} for mark in form)


def encode_sentence(sentence: GoldSentence) -> EncodedSentence:
    """Lay out the tokens as labelled characters."""
    text: list[str] = []
    labels: list[int] = []
    for token in sentence.tokens:
        text.append(token.form + " " * token.has_space)
        token_labels = [0] * len(token.form)
        if len(token.words) > 1 and not token.expands:
            for end in np.cumsum([len(word) for word in token.words[:-1]]).tolist():
                token_labels[end - 1] = WORD_END
        token_labels[-1] = TOKEN_END | (EXPANDS if token.expands else 0)
        labels += token_labels + [0] * token.has_space
    has_space = sentence.tokens[-1].has_space
    n = len(labels) - has_space
    codes = to_codes("".join(text))[:n]
    return EncodedSentence(
        codes, np.array(labels[:n], np.uint8), has_space, sentence.starts_paragraph
    )


def frequent_characters(sentences: Sequence[EncodedSentence], min_count: int) -> list[str]:
    """List the characters seen at least `min_count` times, by code point."""
    codes = np.concatenate([sentence.codes for sentence in sentences])
    distinct, counts = np.unique(codes, return_counts=True)
    return [chr(code) for code in distinct[counts >= min_count].tolist()]


def paragraph_starts(sentences: Sequence[EncodedSentence], marked: bool) -> Flags:
    """Return which sentences start a paragraph: only the first, unless the treebank marks them."""
    starts = np.array([s.starts_paragraph and marked for s in sentences], np.bool_)
    starts[:1] = True
    return starts


def draw_paragraph_starts(
    sentences: Sequence[EncodedSentence],
    marked: bool,
    config: SegmentConfig,
    random: np.random.Generator,
) -> Flags:
    """Draw the paragraphs of one epoch."""
    n = len(sentences)
    starts = paragraph_starts(sentences, marked)
    starts &= random.random(n) >= config.join
    if not marked:
        starts |= random.random(n) < 1 / _MEAN_PARAGRAPH
    is_alone = random.random(n) < config.alone
    starts |= is_alone
    starts[1:] |= is_alone[:-1]
    starts[:1] = True
    return starts


def gold_text(
    sentences: Sequence[EncodedSentence], starts: Flags, is_bare: Flags | None = None
) -> tuple[Codes, Labels]:
    """Join sentences into one text, with a paragraph at each of `starts`: symbols and labels [T].

    A sentence that `is_bare` loses its final mark if it ends a paragraph.
    """
    ends = [*starts[1:].tolist(), True]
    codes: list[Codes] = []
    labels: list[Labels] = []
    for i, (sentence, ends_paragraph) in enumerate(zip(sentences, ends, strict=True)):
        bare = is_bare is not None and is_bare[i] and ends_paragraph
        part = _without_final_mark(sentence) if bare else sentence
        gap = [PARAGRAPH] if ends_paragraph else [SPACE] * part.has_space
        codes += [part.codes, np.array(gap, np.uint32)]
        labels += [part.labels.copy(), np.zeros(len(gap), np.uint8)]
        labels[-2][-1] |= SENTENCE_END
    return np.concatenate(codes), np.concatenate(labels)


def _without_final_mark(sentence: EncodedSentence) -> EncodedSentence:
    """Remove the last token if it is a single mark and not the only token."""
    ends = np.flatnonzero(sentence.labels & TOKEN_END)
    if len(ends) < 2:
        return sentence
    last = chr(int(sentence.codes[-1]))
    start = int(ends[-2]) + 1
    if len(sentence.codes) - start > 2 or last.isalnum():
        return sentence
    return replace(
        sentence, codes=sentence.codes[:start], labels=sentence.labels[:start], has_space=True
    )


def make_targets(codes: Codes, labels: Labels) -> Targets:
    """Return the three targets of each symbol: [T, 3].

    White space has no targets, and no sentence end is learned where a blank line decides.
    """
    following = np.append(codes[1:], np.uint32(PARAGRAPH))
    is_end = (labels & TOKEN_END) > 0
    bits = [labels & BOUNDARY, labels & SENTENCE_END > 0, labels & EXPANDS > 0]
    targets = np.stack(bits, axis=1).astype(np.int64)
    targets[is_white_space(codes), 0] = IGNORED
    targets[~is_end | (following == PARAGRAPH), 1] = IGNORED
    targets[~is_end, 2] = IGNORED
    return targets


def hide_characters(
    ids: CharacterIds, alphabet: Alphabet, share: float, random: np.random.Generator
) -> CharacterIds:
    """Replace a share of the characters by their class, so that classes are learned too."""
    is_hidden = (ids >= FIRST_CHARACTER) & (random.random(len(ids)) < share)
    return np.where(is_hidden, alphabet.classes[ids], ids)


def segment_batches(
    ids: CharacterIds,
    targets: Targets,
    reach: int,
    n_rows: int,
    width: int,
    random: np.random.Generator,
) -> Iterator[SegmentBatch]:
    """Cut ids [T, ...] and targets [T, n] into rows of `width`: random start, random order."""
    shift = int(random.integers(width))
    n = -(-(shift + len(ids)) // width)
    after = n * width - shift - len(ids)
    around = [(reach + shift, after + reach)] + [(0, 0)] * (ids.ndim - 1)
    ids = np.pad(ids, around, constant_values=PADDING_ID)
    targets = np.pad(targets, ((shift, after), (0, 0)), constant_values=IGNORED)
    order = random.permutation(n)
    for first in range(0, n, n_rows):
        rows = order[first : first + n_rows] * width
        yield (
            np.stack([ids[row : row + width + 2 * reach] for row in rows]),
            np.stack([targets[row : row + width] for row in rows]),
        )
