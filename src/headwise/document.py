"""A parsed text to work with: sentences, words, and the words around each word in its tree.

    document = parser("Kids love candy. So do I.")
    for word in document.words:
        print(word.form, word.deprel, word.head, [child.form for child in word.children])

These objects are views, made when they are asked for: all values are in the `Sentence` and the
`Parse` below them. Positions of characters are those of the text that was given, also where a form
was normalised or a token stands for several words.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from headwise.errors import ConfigError, install, plural
from headwise.settings.choices import PredictedColumn
from headwise.treebank.records import SentenceRecord, to_json, to_record
from headwise.treebank.sentence import (
    Parse,
    Sentence,
    Span,
    Token,
    Word,
    filled,
    filled_lemma,
)
from headwise.vocabulary.features import split_feats

if TYPE_CHECKING:
    import pandas as pd

ROW_KEYS = (
    "sentence", "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "start", "end",
    "probability",
)  # fmt: skip
"""The columns of a document as a table with a row for each word."""
MAX_SHOWN = 50
"""Sentences of a document that a notebook shows."""
_FRAME = '<div style="overflow-x:auto;margin:0 0 1em">{}</div>'


class DocumentRecord(msgspec.Struct, frozen=True):
    """A document as JSON; its sentences are those of `headwise parse --format json`."""

    text: str
    sentences: list[SentenceRecord]


@dataclass(frozen=True, slots=True, repr=False)
class ParsedWord:
    """A word in the tree of its sentence; `id` is its number there, from 1."""

    sentence: "ParsedSentence"
    id: int

    def __hash__(self) -> int:
        return hash((self.row, self.id))

    def __repr__(self) -> str:
        return f"<word {self.id} {self.form!r} {self.deprel}>"

    def __str__(self) -> str:
        return self.form

    @property
    def row(self) -> Word:
        """The ten columns of CoNLL-U, as strings."""
        return self.sentence.sentence.words[self.id - 1]

    @property
    def form(self) -> str:
        """The word itself, in Unicode normal form C."""
        return self.row.form

    @property
    def lemma(self) -> str:
        """The dictionary form; empty if the model does not know lemmas."""
        return filled_lemma(self.row) or ""

    @property
    def upos(self) -> str:
        """The universal tag; empty if the model does not know tags."""
        return filled(self.row.upos) or ""

    @property
    def xpos(self) -> str:
        """The treebank's own tag; empty if the model does not know it."""
        return filled(self.row.xpos) or ""

    @property
    def feats(self) -> Mapping[str, str]:
        """The morphological features: `{"Number": "Plur"}`."""
        return split_feats(self.row.feats)

    @property
    def deprel(self) -> str:
        """The label of the arc from the head."""
        return self.sentence.parse.labels[self.id - 1]

    @property
    def head(self) -> "ParsedWord | None":
        """The head; None if the word is a root."""
        head = self.sentence.parse.heads[self.id - 1]
        return ParsedWord(self.sentence, head) if head else None

    @property
    def is_root(self) -> bool:
        """Whether the word has no head."""
        return not self.sentence.parse.heads[self.id - 1]

    @property
    def children(self) -> tuple["ParsedWord", ...]:
        """The words whose head this is, in the order of the text."""
        return self.sentence.words_at(self.sentence.children_of[self.id])

    @property
    def subtree(self) -> tuple["ParsedWord", ...]:
        """The word and all below it, in the order of the text."""
        return self.sentence.words_at(sorted(self._below()))

    def _below(self) -> set[int]:
        found: set[int] = set()
        waiting = [self.id]
        while waiting:
            position = waiting.pop()
            found.add(position)
            waiting += (i for i in self.sentence.children_of[position] if i not in found)
        return found

    @property
    def ancestors(self) -> tuple["ParsedWord", ...]:
        """The head, its head and so on, up to the root."""
        heads = self.sentence.parse.heads
        found: list[int] = []
        position = heads[self.id - 1]
        while position and position not in found:
            found.append(position)
            position = heads[position - 1]
        return self.sentence.words_at(found)

    @property
    def probability(self) -> float:
        """The probability of the arc from the head, Eq. 5."""
        return math.exp(min(self.sentence.parse.head_log_probs[self.id - 1], 0.0))

    @property
    def marginal(self) -> float | None:
        """The probability of the same arc over all trees, if the parser was loaded with it."""
        marginals = self.sentence.parse.marginals
        return marginals[self.id - 1] if marginals else None

    @property
    def probabilities(self) -> Mapping[str, float]:
        """The probabilities of `deprel`, `upos` and the other values that the parser filled in."""
        columns = self.sentence.parse.column_probs.items()
        values = (("deprel" if name == "labels" else name, probs) for name, probs in columns)
        of_word = {name: probs[self.id - 1] for name, probs in values}
        return {name: prob for name, prob in of_word.items() if not math.isnan(prob)}

    @property
    def token(self) -> Token:
        """The token of the text that the word belongs to; it may stand for several words."""
        return self.sentence.token_of[self.id - 1]

    @property
    def span(self) -> Span:
        """Start and end (not included) in the text that was given, in characters.

        A word that has no letters of its own in the text, like the two of Portuguese "do", has the
        span of its token.
        """
        span = self.row.span or self.token.span
        assert span is not None  # the segmenter gives every token its span
        return span

    @property
    def start(self) -> int:
        """The position of the first character in the text that was given."""
        return self.span[0]

    @property
    def end(self) -> int:
        """The position after the last character in the text that was given."""
        return self.span[1]

    @property
    def text(self) -> str:
        """The characters from `start` to `end`, as they were given."""
        return self.sentence.document_text[slice(*self.span)]


@dataclass(frozen=True, repr=False)
class ParsedSentence:
    """A sentence of a document: its `Sentence`, with the columns filled in, and its `Parse`.

    Iterating over it gives its words. `document_text` is the text of the whole document.
    """

    document_text: str
    sentence: Sentence
    parse: Parse

    def __hash__(self) -> int:
        return hash(self.sentence.lines)

    def __repr__(self) -> str:
        return f"<sentence: {plural(len(self), 'word')}, {self.text[:60]!r}>"

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        """Count the words."""
        return len(self.sentence)

    def __iter__(self) -> Iterator[ParsedWord]:
        return iter(self.words)

    def __getitem__(self, index: int) -> ParsedWord:
        """Return a word by its index, from 0 as in any list."""
        return self.words[index]

    @property
    def words(self) -> tuple[ParsedWord, ...]:
        """All words in order."""
        return self.words_at(range(1, len(self) + 1))

    def words_at(self, positions: Iterable[int]) -> tuple[ParsedWord, ...]:
        """Return the words at these positions (1 to N)."""
        return tuple(ParsedWord(self, position) for position in positions)

    @property
    def roots(self) -> tuple[ParsedWord, ...]:
        """The words without a head: one, unless the parser may make several."""
        return self.words_at(self.children_of[0])

    @property
    def root(self) -> ParsedWord:
        """The first word without a head."""
        return self.roots[0]

    @cached_property
    def children_of(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the children of ROOT (0) and of each word (1 to N)."""
        children: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for position, head in enumerate(self.parse.heads, 1):
            children[head].append(position)
        return tuple(map(tuple, children))

    @cached_property
    def token_of(self) -> tuple[Token, ...]:
        """The token of the text that each word belongs to."""
        tokens = self.sentence.tokens
        return tuple(token for token in tokens for _ in range(token.first, token.last + 1))

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text: words, and multi-word tokens that stand for several."""
        return self.sentence.tokens

    @property
    def start(self) -> int:
        """The position of the first character in the text that was given."""
        return self[0].start

    @property
    def end(self) -> int:
        """The position after the last character in the text that was given."""
        return self[-1].end

    @property
    def text(self) -> str:
        """The characters from `start` to `end`, as they were given."""
        return self.document_text[self.start : self.end]

    def to_conllu(self) -> str:
        """Write the sentence as CoNLL-U, the blank line after it included."""
        return self.sentence.conllu

    def to_json(self) -> str:
        """Write the sentence as one JSON object, as `headwise parse --format json` does."""
        return to_json(self.sentence, self.parse)

    def to_svg(
        self,
        *,
        max_width: float | None = None,
        columns: Sequence[PredictedColumn] = ("upos",),
    ) -> str:
        """Draw the tree as SVG, with the values of `columns` below each word."""
        from headwise.render.svg import to_svg  # parsing starts sooner without it

        return to_svg(self.sentence, self.parse, max_width=max_width, columns=columns)

    def _repr_html_(self) -> str:
        """Give notebooks what they display."""
        return _FRAME.format(self.to_svg())


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A parsed text; iterating over it gives its sentences."""

    text: str
    sentences: tuple[ParsedSentence, ...]

    def __repr__(self) -> str:
        n_words = sum(map(len, self.sentences))
        return f"<document: {plural(len(self), 'sentence')}, {plural(n_words, 'word')}>"

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.sentences)

    def __iter__(self) -> Iterator[ParsedSentence]:
        return iter(self.sentences)

    def __getitem__(self, index: int) -> ParsedSentence:
        """Return a sentence by its index, from 0."""
        return self.sentences[index]

    @property
    def words(self) -> tuple[ParsedWord, ...]:
        """The words of all sentences, one after the other."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def to_conllu(self) -> str:
        """Write all sentences as CoNLL-U."""
        return "".join(sentence.to_conllu() for sentence in self.sentences)

    def to_json(self) -> str:
        """Write the document as one JSON object: `text` and `sentences`."""
        records = [to_record(sentence.sentence, sentence.parse) for sentence in self.sentences]
        return msgspec.json.encode(DocumentRecord(self.text, records)).decode()

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict for each word, for any library of tables; `head` is 0 for a root."""
        return [
            dict(zip(ROW_KEYS, (number, *_row_values(word)), strict=True))
            for number, sentence in enumerate(self.sentences, 1)
            for word in sentence
        ]

    def to_pandas(self) -> "pd.DataFrame":
        """Make a data frame with a row for each word; needs pandas."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            what = f"to_pandas needs {error.name}, which is not installed"
            raise ConfigError(what, f"{install('pandas')}; to_rows() needs nothing") from error
        return pd.DataFrame(self.to_rows(), columns=ROW_KEYS)

    def to_svg(
        self,
        *,
        max_width: float | None = None,
        columns: Sequence[PredictedColumn] = ("upos",),
    ) -> str:
        """Draw all sentences below each other in one SVG picture."""
        from headwise.render.svg import stack_svgs

        drawn = (s.to_svg(max_width=max_width, columns=columns) for s in self.sentences)
        return stack_svgs(list(drawn))

    def _repr_html_(self) -> str:
        """Give notebooks what they display: the trees of the first sentences."""
        drawn = "".join(sentence._repr_html_() for sentence in self.sentences[:MAX_SHOWN])
        n_more = len(self) - MAX_SHOWN
        return drawn + (f"<p>and {plural(n_more, 'more sentence')}</p>" if n_more > 0 else "")


def make_document(text: str, parsed: Iterable[tuple[Sentence, Parse]]) -> Document:
    """Put the parsed sentences of a text together."""
    return Document(text, tuple(ParsedSentence(text, *pair) for pair in parsed))


def _row_values(word: ParsedWord) -> tuple[int | float | str, ...]:
    tags = (word.lemma, word.upos, word.xpos, filled(word.row.feats) or "")
    head = word.sentence.parse.heads[word.id - 1]
    return (word.id, word.form, *tags, head, word.deprel, *word.span, word.probability)
