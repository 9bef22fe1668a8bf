"""Bracketed trees in the Penn format of PTB and CTB: a lazy reader and a writer.

    ( (S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))) (. .)) )

A `(` is followed by a label, and a label by one word or by phrases; only the outermost label may be
missing. Any white space separates. Markup between trees (`<S ID=1>`, as in CTB) is skipped, and so
is text after it on the same line (`<DOCID> CHTB_001 </DOCID>`). Malformed trees are refused with
`file:line: what`. Trees are flat lists of nodes, so deep brackets do not hit the recursion limit.
Only one tree is in memory at a time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from headwise.errors import ConfigError, DataError, plural
from headwise.files import open_source

MAX_TREE_LINE_BYTES = 16 * 2**20
MAX_NODES = 1_000_000
MAX_DEPTH = 10_000
_TOKEN = re.compile(r"[()]|[^()\s]+", re.ASCII)
_BRACKETS = ("(", ")")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODING = "name the encoding of the file: --encoding gb18030, for example"
_NO_TREES = "is this a file of bracketed trees? for CoNLL: --from conllx or conllu"
_ONE_WORD = "a bracket holds one word or phrases: (NN dog)"
_MISSING = "is a ) missing before this line?"


class Node(NamedTuple):
    """A bracket and its `label`.

    `word` is None for a phrase; `parent` is an index into the nodes, or -1.
    """

    label: str
    parent: int
    word: str | None = None


@dataclass(frozen=True, slots=True)
class PhraseTree:
    """The brackets of one tree.

    `nodes` are in the order of the text, so that a parent precedes its children. The tree was read
    from `source`, where it begins in `first_line`.
    """

    nodes: tuple[Node, ...]
    source: str = field(default="<memory>", compare=False)
    first_line: int = field(default=1, compare=False)

    def children(self) -> list[list[int]]:
        """List the indices of the children of each node, in order."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes[1:], 1):
            children[node.parent].append(index)
        return children

    @property
    def text(self) -> str:
        """The tree on one line, with its line end."""
        parts: list[str] = []
        still_open: list[int] = []
        for index, node in enumerate(self.nodes):
            while still_open and still_open[-1] != node.parent:
                still_open.pop()
                parts.append(")")
            parts.append(f"{' ' if index else ''}({node.label}")
            if node.word is None:
                still_open.append(index)
            else:
                parts.append(f" {node.word})")
        return "".join(parts) + ")" * len(still_open) + "\n"


def read_trees(
    source: str | Path | BinaryIO,
    encoding: str = "utf-8",
    join_words: bool = False,
    max_line_bytes: int = MAX_TREE_LINE_BYTES,
    max_nodes: int = MAX_NODES,
) -> Iterator[PhraseTree]:
    """Read trees one by one from a path, `-` (stdin) or a binary stream; gz and xz are unpacked.

    Several words under one tag (CTB has `(NR Ken Madsen)`) are malformed, or, with `join_words`,
    one word: `Ken_Madsen`. Longer lines than `max_line_bytes` and larger trees than `max_nodes` are
    refused.
    """
    _check_encoding(encoding)
    with open_source(source) as (stream, name):
        builder = _Builder(name, join_words, max_nodes)
        lines = _lines(stream, name, encoding, max_line_bytes)
        for line, text in _without_headers(lines, builder, name):
            is_markup = False
            for mark in _TOKEN.findall(text):
                if not builder.is_open and mark not in _BRACKETS:
                    is_markup |= mark.startswith("<")
                    if is_markup:
                        continue
                if tree := builder.add(mark, line):
                    yield tree
        builder.end()


def _check_encoding(encoding: str) -> None:
    """Refuse unknown encodings, and those that write brackets and line ends unlike ASCII."""
    try:
        is_known = "(\n)".encode(encoding) == b"(\n)"
    except (LookupError, ValueError):
        is_known = False
    if not is_known:
        raise ConfigError(
            f"encoding '{encoding[:40]}' is unknown, or does not write ( and ) as ASCII does",
            "utf-8, gb18030 (Chinese Treebank), latin-1; or convert the file to UTF-8 first",
        )


def _lines(stream: BinaryIO, name: str, encoding: str, max_bytes: int) -> Iterator[tuple[int, str]]:
    """Read lines with their numbers; a byte order mark at the start is removed."""
    line = 0
    while raw := stream.readline(max_bytes + 1):
        line += 1
        if len(raw) > max_bytes:
            what = f"a line of more than {max_bytes >> 20} MiB"
            raise DataError(what, name, line, _NO_TREES)
        try:
            text = raw.decode(encoding)
        except UnicodeError as error:
            where = f"byte {error.start + 1} of the line" if hasattr(error, "start") else "the line"
            raise DataError(f"{where} is not {encoding}", name, line, _ENCODING) from None
        if not text.isascii() and _SURROGATE.search(text):
            raise DataError(f"the line is not {encoding}: half a character", name, line, _ENCODING)
        yield line, text.removeprefix("\ufeff") if line == 1 else text


def _without_headers(
    lines: Iterator[tuple[int, str]], builder: "_Builder", name: str
) -> Iterator[tuple[int, str]]:
    """Skip the free text that CTB has between `<HEADER>` and `</HEADER>`."""
    header_line = 0
    for line, text in lines:
        if not builder.is_open and text.lstrip().upper().startswith("<HEADER>"):
            header_line = line
        if header_line == 0:
            yield line, text
        elif "</HEADER>" in text.upper():
            header_line = 0
    if header_line:
        what = "the <HEADER> that begins here does not end"
        raise DataError(what, name, header_line, "is there a </HEADER>?")


class _Builder:
    """The tree under construction: tokens in, and a tree out when its last bracket closes."""

    def __init__(self, name: str, join_words: bool, max_nodes: int) -> None:
        self._name = name
        self._join_words = join_words
        self._max_nodes = max_nodes
        self._nodes: list[Node] = []
        self._open: list[int] = []
        self._lines: list[int] = []
        self._wants_label = False

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def add(self, mark: str, line: int) -> PhraseTree | None:
        if mark == "(":
            self._open_bracket(line)
        elif not self.is_open and mark == ")":
            hint = "is there an extra ) before this line?"
            raise DataError("a ) without a (", self._name, line, hint)
        elif not self.is_open:
            raise DataError(f"'{mark[:40]}' outside brackets", self._name, line, _NO_TREES)
        elif mark == ")":
            return self._close_bracket(line)
        elif self._wants_label:
            self._nodes[-1] = self._nodes[-1]._replace(label=mark)
            self._wants_label = False
        else:
            self._add_word(mark, line)
        return None

    def end(self) -> None:
        if self._open:
            n_open = plural(len(self._open), "bracket")
            what = f"the file ends inside the tree that begins here: {n_open} open"
            hint = "is the file cut off, or a ) missing?"
            raise DataError(what, self._name, self._lines[0], hint)

    def _open_bracket(self, line: int) -> None:
        nodes = self._nodes
        if self._wants_label and len(nodes) > 1:
            raise self._error("a bracket without a label", line, _MISSING)
        parent = self._open[-1] if self._open else -1
        if nodes and nodes[parent].word is not None:
            what = f"a phrase beside the word '{str(nodes[parent].word)[:40]}'"
            raise self._error(what, line, _ONE_WORD)
        if len(nodes) >= self._max_nodes or len(self._open) >= MAX_DEPTH:
            limits = f"{self._max_nodes:,} brackets, or {MAX_DEPTH:,} inside each other"
            raise self._error(f"a tree of more than {limits}", line, _MISSING)
        self._open.append(len(nodes))
        self._lines.append(line)
        nodes.append(Node("", parent))
        self._wants_label = True

    def _close_bracket(self, line: int) -> PhraseTree | None:
        index = self._open.pop()
        node = self._nodes[index]
        if index == len(self._nodes) - 1 and node.word is None:
            what = f"nothing under '{node.label[:40]}'" if node.label else "empty brackets"
            raise self._error(what, line, _ONE_WORD)
        first_line = self._lines.pop()
        if self._open:
            return None
        tree = PhraseTree(tuple(self._nodes), self._name, first_line)
        self._nodes = []
        return tree

    def _add_word(self, mark: str, line: int) -> None:
        index = self._open[-1]
        node = self._nodes[index]
        if index != len(self._nodes) - 1:
            what = f"the word '{mark[:40]}' beside phrases under '{node.label[:40]}'"
            raise self._error(what, line, _ONE_WORD)
        if node.word is None:
            self._nodes[index] = node._replace(word=mark)
        elif self._join_words:
            self._nodes[index] = node._replace(word=f"{node.word}_{mark}")
        else:
            what = f"the word '{mark[:40]}' beside '{node.word[:40]}' under '{node.label[:40]}'"
            raise self._error(what, line, f"{_ONE_WORD}; to join words: --join-words")

    def _error(self, what: str, line: int, hint: str) -> DataError:
        """Add where the tree begins, if on another line: the mistake is between the two."""
        first = self._lines[0] if self._lines else line
        where = "" if first == line else f" (in the tree that begins in line {first})"
        return DataError(what + where, self._name, line, hint)
