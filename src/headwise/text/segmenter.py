"""Raw text in, sentences out: the page to read first.

    segmenter = Segmenter(graph, settings)
    for sentence in segmenter.segment(["Kids love candy. ", "So do I."]):
        print(sentence.conllu, end="")

Text comes in chunks of any size and is never held whole. `segment` finds sentences and words;
`read_lines` takes each line for a sentence and finds words; `read_tokens` takes each line for a
sentence and white space between words as it stands.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from headwise.errors import ModelError
from headwise.model.bundle import DAMAGED, Bundle
from headwise.model.graph import ORT_ERRORS, open_graph
from headwise.text.assemble import assemble
from headwise.text.characters import MAX_CHARACTERS, PAD, Ids, make_alphabet
from headwise.text.expand import MAX_KEY, Expansions, Words
from headwise.text.scan import Scanner, Scores, label_by_space
from headwise.text.stream import read_symbols
from headwise.treebank.sentence import Sentence

GRAPH = "segment.onnx"
SETTINGS = "segment.json"
NO_SEGMENTER = "this model cannot find words in raw text: it was trained without a segmenter"
SEGMENT_HINT = "give it CoNLL-U, or one sentence a line with spaces between words (--input tokens)"
N_SCORES = 5
SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no form may hold."""


class SegmentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`segment.json`: what the network was trained with and what belongs to it."""

    characters: Annotated[str, Meta(max_length=MAX_CHARACTERS)]
    """The characters that have ids of their own, in order."""
    reach: Annotated[int, Meta(ge=1, le=4_096)]
    """How many characters on either side a score depends on."""
    spaces_inside: bool
    """Whether words may have a space inside; if not, white space always ends a token."""
    expansions: Expansions


class Segmenter:
    """A network that cuts text into sentences and words; safe to use from several threads."""

    def __init__(self, graph: bytes, settings: bytes, where: str = "<memory>") -> None:
        """Load `segment.onnx` and `segment.json` from their bytes; `where` is for messages."""
        self.settings = _read_settings(settings, f"{where}/{SETTINGS}")
        alphabet = make_alphabet(self.settings.characters)
        network = _Graph(graph, f"{where}/{GRAPH}")
        reach = self.settings.reach
        network.check(np.array([PAD] * (2 * reach) + [alphabet.size - 1], np.int32))
        self._scanner = Scanner(network, alphabet, reach, self.settings.spaces_inside)

    def segment(self, chunks: str | Iterable[str]) -> Iterator[Sentence]:
        """Find sentences, tokens and words in running text."""
        symbols = read_symbols(_as_chunks(chunks))
        return assemble(self._scanner.label(symbols), self.settings.expansions)

    def read_lines(self, chunks: str | Iterable[str], source: str = "<text>") -> Iterator[Sentence]:
        """Find tokens and words in lines that are a sentence each; blank lines end paragraphs."""
        lines = read_symbols(_as_chunks(chunks), by_line=True)
        parts = self._scanner.label(lines, by_line=True)
        return assemble(parts, self.settings.expansions, cut=False, source=source)


def read_tokens(chunks: str | Iterable[str], source: str = "<text>") -> Iterator[Sentence]:
    """Read one sentence a line, its words separated by white space; no network is needed."""
    lines = read_symbols(_as_chunks(chunks), by_line=True)
    return assemble(label_by_space(lines), Expansions(), cut=False, source=source)


def load_segmenter(bundle: Bundle) -> Segmenter | None:
    """Load the segmenter of a model folder, None if it has none."""
    if GRAPH not in bundle.manifest.files:
        return None
    return Segmenter(bundle.read(GRAPH), bundle.read(SETTINGS), str(bundle.path))


def _as_chunks(chunks: str | Iterable[str]) -> Iterable[str]:
    return [chunks] if isinstance(chunks, str) else chunks


def _read_settings(data: bytes, where: str) -> SegmentSettings:
    try:
        settings = msgspec.json.decode(data, type=SegmentSettings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelError(f"{where}: {error}", DAMAGED) from error
    if len(set(settings.characters)) < len(settings.characters):
        raise ModelError(f"{where}: a character is listed twice", DAMAGED)
    expansions = settings.expansions
    for rules, may_be_empty in (
        (expansions.whole, None),
        (expansions.endings, 0),
        (expansions.beginnings, -1),
    ):
        for key, words in rules.items():
            if not _is_sound(key, words, may_be_empty):
                raise ModelError(f"{where}: '{key[:40]}' has no sound expansion", DAMAGED)
    return settings


def _is_sound(key: str, words: Words, may_be_empty: int | None) -> bool:
    """Check that an expansion can be written; of a rule, one word may lie in the token alone."""
    if not 1 <= len(key) <= MAX_KEY or len(words) < 2:
        return False
    given = [key, *words]
    if may_be_empty is not None:
        given.remove(words[may_be_empty])
    return all(given) and not any(SPACES.search(value) for value in (key, *words))


class _Graph:
    """The network on ONNX Runtime, on one thread."""

    def __init__(self, data: bytes, where: str) -> None:
        self._where = where
        self._session = open_graph(data, where, keeps_memory=True)  # windows have a fixed size

    def check(self, ids: Ids) -> None:
        """Try one character, the last of the alphabet: the graph must have room for it."""
        try:
            fits = self(ids).shape == (1, N_SCORES)
        except (ValueError, *ORT_ERRORS):
            fits = False
        if not fits:
            raise ModelError(f"{self._where}: the graph does not fit its settings", DAMAGED)

    def __call__(self, ids: Ids) -> Scores:
        """Score ids [T + 2 reach]: [T, 5]."""
        scores: Scores = self._session.run(None, {"ids": ids})[0]
        return scores
