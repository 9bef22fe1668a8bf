"""Whole files, from one format to another: a lazy stream of sentences as bytes, and what was lost.

This is what `headwise convert` runs; `brackets`, `dependencies` and `conll` do the work.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from headwise.convert.brackets import Tree, read_trees
from headwise.convert.conll import to_conllu, to_conllx
from headwise.convert.dependencies import to_sentence
from headwise.convert.heads import EMPTY, HeadRules
from headwise.errors import ConfigError
from headwise.settings.choices import Format
from headwise.treebank.conllu import as_bytes, read_sentences
from headwise.treebank.sentence import Sentence

TreebankFormat = Literal["penn", "conllu", "conllx"]
_NO_WORDS = "trees without words"


@dataclass(frozen=True, slots=True)
class Conversion:
    """From what to what, and how: the next four are for trees, `drop` for CoNLL-X."""

    source: TreebankFormat
    target: TreebankFormat
    rules: HeadRules | None = None
    encoding: str = "utf-8"
    join_words: bool = False
    unescape: bool = False
    drop: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be done, or would do nothing, before any file is touched."""
        way = f"{self.source} to {self.target}"
        if self.source != "penn" and self.target == "penn":
            hint = "convert trees to dependencies, or CoNLL to CoNLL"
            raise ConfigError(f"{way}: dependencies have no phrases", hint)
        if way in ("penn to conllu", "penn to conllx"):
            if self.rules is None:
                hint = "--rules english, --rules chinese or a file of your own"
                raise ConfigError(f"{way}: heads come by head rules, and none are given", hint)
        elif self.rules or self.unescape:
            raise ConfigError(f"{way} needs no head rules and changes no words", "leave them out")
        if self.source != "penn" and (self.join_words or self.encoding != "utf-8"):
            hint = "convert the file first: iconv -f ENCODING -t UTF-8"
            raise ConfigError(f"{way}: CoNLL files are UTF-8, and a word may have spaces", hint)
        if self.drop and way != "conllu to conllx":
            raise ConfigError(f"{way} drops nothing", "--drop is for conllu to conllx")


class Piece(NamedTuple):
    """A sentence in its new format, how many words it has, and how many of what were lost."""

    data: bytes
    n_words: int
    lost: Counter[str]


def convert_file(source: str | Path | BinaryIO, conversion: Conversion) -> Iterator[Piece]:
    """Convert a file sentence by sentence; from stdin (`-`) or a binary stream, too."""
    if conversion.source == "penn":
        found = read_trees(source, conversion.encoding, conversion.join_words)
        for number, tree in enumerate(found, 1):
            yield _convert_tree(tree, number, conversion)
    else:
        for sentence in read_sentences(source, conversion.source):
            yield _convert_sentence(sentence, conversion)


def _convert_tree(tree: Tree, number: int, conversion: Conversion) -> Piece:
    if conversion.target == "penn":
        n_words = sum(node.word is not None and node.label != EMPTY for node in tree.nodes)
        return Piece(tree.text.encode("utf-8"), n_words, Counter())
    assert conversion.rules is not None
    form: Format = conversion.target
    file_name = Path(tree.source).name.strip("<>").split(".")[0]
    sentence = to_sentence(
        tree, conversion.rules, form, f"{file_name}.{number}", conversion.unescape
    )
    if sentence is None:
        return Piece(b"", 0, Counter({_NO_WORDS: 1}))
    return Piece(as_bytes(sentence), len(sentence), Counter())


def _convert_sentence(sentence: Sentence, conversion: Conversion) -> Piece:
    lost: Counter[str] = Counter()
    if conversion.source == "conllx" and conversion.target == "conllu":
        sentence = to_conllu(sentence)
    elif conversion.source == "conllu" and conversion.target == "conllx":
        sentence, lost = to_conllx(sentence, conversion.drop)
    return Piece(as_bytes(sentence), len(sentence), lost)
