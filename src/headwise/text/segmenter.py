"""Raw text in, sentences out: the page to read first.

    segmenter = Segmenter(graph, settings)
    for sentence in segmenter.segment(["Kids love candy. ", "So do I."]):
        print(sentence.conllu, end="")

Text passes through these stages: symbols (`symbols`), labels (`scan`), the ends of sentences and of
some words once more (`ends`, if the model has a second network), sentences (`assemble`). It comes
in chunks of any size and is never held in memory as a whole. `segment` finds sentences and words;
`read_lines` takes each line as a sentence and finds words; `read_tokens` also takes the words as
they are, separated by white space.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from headwise.errors import ModelError
from headwise.model.bundle import DAMAGED, Bundle
from headwise.model.graph import Graph
from headwise.settings.choices import Input
from headwise.text.assemble import assemble
from headwise.text.ends import (
    FIRST_KNOWN,
    MAX_KNOWN,
    MAX_SPLITS,
    N_FEATURES,
    PADDING_ROW,
    EndFinder,
    EndScores,
    RowFeatures,
    RowMaker,
    number,
)
from headwise.text.expand import MAX_KEY, Expansions, Words
from headwise.text.scan import (
    FIRST_CHARACTER,
    MAX_ALPHABET,
    N_SCORES,
    PADDING_ID,
    BoundaryScores,
    CharacterIds,
    CharacterScorer,
    Scanner,
    label_by_space,
    make_alphabet,
)
from headwise.text.symbols import read_symbols
from headwise.treebank.sentence import Sentence

SEGMENTER_GRAPH = "segment.onnx"
SEGMENTER_SETTINGS = "segment.json"
ENDS_GRAPH = "segment.ends.onnx"
SEGMENTER_FILES = (SEGMENTER_GRAPH, SEGMENTER_SETTINGS, ENDS_GRAPH)
"""The files of a segmenter, the last only if it has a second network."""
NO_SEGMENTER = "this model cannot find words in raw text: it was trained without a segmenter"
SEGMENT_HINT = "use CoNLL-U, or one sentence per line with spaces between words (--input tokens)"
KnownStrings = Annotated[
    tuple[Annotated[str, Meta(max_length=MAX_KNOWN)], ...], Meta(max_length=100_000)
]
"""Strings that have ids."""
_NOT_IN_FORMS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class EndSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """What the second network knows, each list in the order of the ids, and how far it sees."""

    words: KnownStrings
    shapes: KnownStrings
    endings: KnownStrings
    reach: Annotated[int, Meta(ge=1, le=1_024)]
    """How many tokens on either side a score depends on."""
    splits: Annotated[int, Meta(ge=0, le=MAX_SPLITS)] = 0
    """How many letters the last word of a token may have for the network to find it; 0: none."""

    def maker(self) -> RowMaker:
        """Give the values their ids."""
        return RowMaker(number(self.words), number(self.shapes), number(self.endings), self.reach)


class SegmentSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """`segment.json`: the settings that belong to the networks."""

    characters: Annotated[str, Meta(max_length=MAX_ALPHABET)]
    """The characters that have ids, in order."""
    reach: Annotated[int, Meta(ge=1, le=4_096)]
    """How many characters on either side a score depends on."""
    spaces_inside: bool
    """Whether words may contain spaces; if not, white space always ends a token."""
    expansions: Expansions
    ends: EndSettings | None = None
    """Of the second network, if there is one."""


class Segmenter:
    """Networks that cut text into sentences and words; threads may share them."""

    def __init__(
        self, graph: bytes, settings: bytes, where: str = "<memory>", ends: bytes | None = None
    ) -> None:
        """Load `segment.onnx`, `segment.json` and, with a second network, `segment.ends.onnx`.

        All are the bytes of the files; `where` is for messages.
        """
        self.settings = _read_settings(settings, f"{where}/{SEGMENTER_SETTINGS}")
        self._scanner = Scanner(
            _open_network(graph, f"{where}/{SEGMENTER_GRAPH}", self.settings),
            make_alphabet(self.settings.characters),
            self.settings.reach,
            self.settings.spaces_inside,
        )
        if (ends is None) != (self.settings.ends is None):
            raise ModelError(f"{where}: {ENDS_GRAPH} and {SEGMENTER_SETTINGS} do not fit", DAMAGED)
        self._finder = (
            _open_finder(ends, f"{where}/{ENDS_GRAPH}", self.settings.ends)
            if ends is not None and self.settings.ends is not None
            else None
        )

    def segment(self, text: str | Iterable[str]) -> Iterator[Sentence]:
        """Find sentences, tokens and words in running text."""
        labelled = self._scanner.label(read_symbols(text))
        if self._finder is not None:
            labelled = self._finder.find(labelled)
        return assemble(labelled, self.settings.expansions)

    def read_lines(self, text: str | Iterable[str], source: str = "<text>") -> Iterator[Sentence]:
        """Find tokens and words in lines of one sentence each; a blank line ends a paragraph."""
        labelled = self._scanner.label(read_symbols(text, by_line=True), by_line=True)
        if self._finder is not None and self._finder.splits:
            labelled = self._finder.find(labelled, by_line=True)
        return assemble(labelled, self.settings.expansions, by_line=True, source=source)


def read_tokens(text: str | Iterable[str], source: str = "<text>") -> Iterator[Sentence]:
    """Read one sentence per line, its words separated by white space; no network is needed."""
    labelled = label_by_space(read_symbols(text, by_line=True))
    return assemble(labelled, Expansions(), by_line=True, source=source)


def read_text(
    text: str | Iterable[str], form: Input, segmenter: Segmenter | None, source: str = "<text>"
) -> Iterator[Sentence]:
    """Read `text`, `lines` or `tokens`; only `tokens` works without a segmenter."""
    if form == "tokens":
        yield from read_tokens(text, source)
    elif segmenter is None:
        raise ModelError(NO_SEGMENTER, SEGMENT_HINT)
    elif form == "lines":
        yield from segmenter.read_lines(text, source)
    else:
        yield from segmenter.segment(text)


def why_no_text(reads: Sequence[str]) -> ModelError | None:
    """Return the error for parsing text with a model that reads these columns, if any."""
    if not reads:
        return None
    return ModelError(
        f"this model reads {name_columns(reads)}, and text has no tags",
        "use CoNLL-U with tags, or a model that needs none (headwise info MODEL)",
    )


def name_columns(reads: Sequence[str]) -> str:
    """Name columns of the input in a message."""
    names = ", ".join(column.upper() for column in reads)
    return f"the column{'s' if len(reads) > 1 else ''} {names}"


def load_segmenter(bundle: Bundle) -> Segmenter | None:
    """Load the segmenter of a model folder, or None if it has none."""
    if SEGMENTER_GRAPH not in bundle.manifest.files:
        return None
    return Segmenter(
        bundle.read(SEGMENTER_GRAPH),
        bundle.read(SEGMENTER_SETTINGS),
        str(bundle.path),
        bundle.read(ENDS_GRAPH) if ENDS_GRAPH in bundle.manifest.files else None,
    )


def _read_settings(data: bytes, where: str) -> SegmentSettings:
    try:
        settings = msgspec.json.decode(data, type=SegmentSettings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelError(f"{where}: {error}", DAMAGED) from error
    if len(set(settings.characters)) < len(settings.characters):
        raise ModelError(f"{where}: a character is listed twice", DAMAGED)
    if ends := settings.ends:
        for values in (ends.words, ends.shapes, ends.endings):
            if len(set(values)) < len(values):
                raise ModelError(f"{where}: a word, shape or ending is listed twice", DAMAGED)
    expansions = settings.expansions
    for rules, may_be_empty in (
        (expansions.whole, None),
        (expansions.endings, 0),
        (expansions.beginnings, -1),
    ):
        for key, words in rules.items():
            if not _is_valid(key, words, may_be_empty):
                raise ModelError(f"{where}: the expansion of '{key[:40]}' is not valid", DAMAGED)
    return settings


def _is_valid(key: str, words: Words, may_be_empty: int | None) -> bool:
    """Check that an expansion can be written; the token adds letters to one word of a rule."""
    if not 1 <= len(key) <= MAX_KEY or len(words) < 2:
        return False
    required = [key, *words]
    if may_be_empty is not None:
        required.remove(words[may_be_empty])
    return all(required) and not any(_NOT_IN_FORMS.search(value) for value in (key, *words))


def _open_network(data: bytes, where: str, settings: SegmentSettings) -> CharacterScorer:
    """Open the graph on one thread and check that it fits its settings."""
    graph = Graph(data, where, keeps_memory=True)  # windows have a fixed size

    def score(ids: CharacterIds) -> BoundaryScores:
        return graph.run({"ids": ids}, len(ids) - 2 * settings.reach)[0]

    last_id = FIRST_CHARACTER + len(settings.characters) - 1
    try:
        scores = score(np.array([PADDING_ID] * (2 * settings.reach) + [last_id], np.int32))
        fits = scores.shape == (1, N_SCORES)
    except (KeyError, ValueError, ModelError):
        fits = False
    if not fits:
        raise ModelError(f"{where}: the graph does not fit its settings", DAMAGED)
    return score


def _open_finder(data: bytes, where: str, settings: EndSettings) -> EndFinder:
    """Open the graph of the second network and check that it fits its settings."""
    graph = Graph(data, where, keeps_memory=True)  # windows have a fixed size

    def score(features: RowFeatures, given: EndScores) -> EndScores:
        n = len(given)
        if settings.splits:
            return graph.run({"features": features, "given": given}, n)[0]
        return graph.run({"features": features, "given": given[:, 0]}, n)[0][:, None]

    last_ids = [
        FIRST_KNOWN + len(values) - 1
        for values in (settings.words, settings.shapes, settings.endings)
    ]
    rows = np.full((2 * settings.reach + 1, N_FEATURES), PADDING_ROW, np.int32)
    rows[-1] = [*last_ids, FIRST_KNOWN]
    try:
        given = np.zeros((1, 1 + settings.splits), np.float32)
        fits = score(rows, given).shape == given.shape
    except (IndexError, KeyError, ValueError, ModelError):
        fits = False
    if not fits:
        raise ModelError(f"{where}: the graph does not fit its settings", DAMAGED)
    return EndFinder(score, settings.maker(), settings.splits)
