"""The parts of a workbench put together: a file, a parser, and what is found out about both."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from headwise.annotate.comparison import OtherFile
from headwise.annotate.decode import Redecoder
from headwise.annotate.file.saved import AnnotatedFile
from headwise.annotate.overview import Overview
from headwise.annotate.teach import TeachAnswer, Teacher
from headwise.errors import DataError
from headwise.runtime.parser import Parser
from headwise.treebank.checks import Check, check_sentence
from headwise.treebank.conllu import read_block
from headwise.treebank.relations import explain_labels
from headwise.treebank.sentence import BLANK, Sentence

_SAMPLE = 20
"""Sentences that decide whether the trees of a file are the parser's own."""
_SAME = 0.995
"""Share of arcs that are the parser's, from which on they are taken for its guesses."""
_MAX_VALUES = 500
"""Of a column that the page offers."""
_SAMPLED_BLOCKS = 1_000
_RIGHT_TO_LEFT = ("R", "AL")


class Columns(msgspec.Struct, frozen=True):
    """The values that are offered, the most frequent first."""

    labels: list[str]
    upos: list[str]
    xpos: list[str]
    feats: dict[str, list[str]]


class DocumentAnswer(msgspec.Struct, frozen=True):
    """What a page needs to know before it shows a sentence."""

    name: str
    seq: int
    n_sentences: int
    can_undo: bool
    can_redo: bool
    model: str
    language: str
    direction: str
    keep: bool
    columns: Columns
    label_help: dict[str, str]
    saved: bool
    conflict: bool
    differing: tuple[int, int] | None
    failure: str
    compare: str | None


class Workbench:
    """A file that is annotated, the parser that helps, and an overview of the sentences."""

    def __init__(
        self,
        file: AnnotatedFile,
        parser: Parser,
        model: str,
        language: str = "",
        keep: bool | None = None,
        compare: OtherFile | None = None,
        source: str = "",
    ) -> None:
        """Put the parts together; without `keep` the trees of the file say what they are.

        `model` is what the parser is called, `source` the name or the folder of its model.
        """
        self.file = file
        self.model = model
        self._source = source or model
        self.other = compare
        self.teacher = Teacher(file.path)
        self.language = language
        self.redecoder = Redecoder(parser)
        with file.lock:
            blocks = file.document.blocks
            self.keep = _has_own_trees(blocks, self.redecoder) if keep is None else keep
            self.overview = Overview(blocks, file.lock, self._judge)
            file.on_splice = self.overview.splice

    def teach(self, epochs: int) -> TeachAnswer:
        """Begin to teach the parser what is finished."""
        with self.file.lock:
            blocks = list(self.file.document.blocks)
        return self.teacher.start(blocks, self.redecoder.parser, self._source, epochs)

    def switch(self) -> None:
        """Let the parser that was taught help from now on."""
        parser, folder = self.teacher.load_taught()
        self.redecoder = Redecoder(parser)
        self.model, self._source = folder.parent.name, str(folder)
        self.teacher.done()
        self.overview.forget()

    def check(self, sentence: Sentence) -> list[Check]:
        """Check a sentence as the UD validator does; unknown labels are noted."""
        return check_sentence(sentence, self._columns.labels)

    def _judge(self, sentence: Sentence) -> tuple[float, int]:
        """Find the certainty of a sentence, and count its faults if it is annotated."""
        is_annotated = None not in sentence.heads
        faults = [check for check in self.check(sentence) if check.level] if is_annotated else []
        return self.redecoder.certainty(sentence), len(faults)

    def close(self) -> None:
        """End all threads, then save."""
        self.teacher.close()
        self.overview.close()
        self.file.close()

    def describe(self) -> DocumentAnswer:
        """Describe the document as it is now."""
        conflict = self.file.check_file()
        differing = self.file.differing()
        with self.file.lock:
            document = self.file.document
            return DocumentAnswer(
                name=self.file.path.name,
                seq=document.seq,
                n_sentences=len(document.blocks),
                can_undo=document.can_undo,
                can_redo=document.can_redo,
                model=self.model,
                language=self.language,
                direction=_direction(document.blocks[:_SAMPLED_BLOCKS]),
                keep=self.keep,
                columns=self._columns,
                label_help=explain_labels(self._columns.labels),
                saved=self.file.is_saved,
                conflict=conflict,
                differing=differing,
                failure=self.file.failure,
                compare=None if self.other is None else self.other.name,
            )

    @cached_property
    def _columns(self) -> Columns:
        """Collect the values of the model and of the start of the file, as it was opened."""
        vocab = self.redecoder.parser.vocab
        sentences = _read_some(self.file.document.blocks, _SAMPLED_BLOCKS)
        words = [word for sentence in sentences for word in sentence.words]
        features = {} if vocab.features is None else dict(vocab.features.values)
        feats = {name: list(values) for name, values in features.items()}
        for pair in _frequent(part for word in words for part in word.feats.split("|")):
            name, _, value = pair.partition("=")
            if value and value not in feats.setdefault(name, []):
                feats[name].append(value)
        known = {column: index.strings for column, index in vocab.predicted.items()}
        return Columns(
            _merged(vocab.labels.strings, (word.deprel for word in words)),
            _merged(known.get("upos", ()), (word.upos for word in words)),
            _merged(known.get("xpos", ()), (word.xpos for word in words)),
            dict(sorted(feats.items(), key=lambda pair: pair[0].lower())),
        )


def _merged(known: Sequence[str], found: Iterable[str]) -> list[str]:
    """List what the model knows, then what else the file has."""
    values = dict.fromkeys([*known, *_frequent(found)])
    values.pop(BLANK, None)
    return list(values)[:_MAX_VALUES]


def _frequent(values: Iterable[str]) -> list[str]:
    return [value for value, _ in Counter(values).most_common(_MAX_VALUES)]


def _read_some(blocks: Sequence[str], most: int) -> list[Sentence]:
    """Read the first sentences; malformed ones are left out, which are shown elsewhere."""
    sentences = []
    for block in blocks[:most]:
        try:
            sentences.append(read_block(block))
        except DataError:
            continue
    return sentences


def _has_own_trees(blocks: Sequence[str], redecoder: Redecoder) -> bool:
    """Return whether the file has trees that the parser did not make, so that they should stay."""
    n_words = n_same = 0
    complete = (s for s in _read_some(blocks, 10 * _SAMPLE) if s.words and None not in s.heads)
    for _, sentence in zip(range(_SAMPLE), complete, strict=False):
        bare = sentence.with_words([word._replace(misc=BLANK) for word in sentence.words])
        decoded = read_block(redecoder.decode(bare, k=0).conllu)
        n_words += len(sentence)
        n_same += sum(a == b for a, b in zip(decoded.heads, sentence.heads, strict=True))
    return n_same < _SAME * n_words


def _direction(blocks: Sequence[str]) -> str:
    """Say in which direction the text runs, by its letters."""
    letters = Counter(
        unicodedata.bidirectional(letter)
        for block in blocks[:_SAMPLE]
        for line in block.split("\n")
        if line[:1].isdigit()
        for letter in line.split("\t", 2)[1]
    )
    n_right = sum(letters[kind] for kind in _RIGHT_TO_LEFT)
    return "rtl" if n_right > letters["L"] else "ltr"
