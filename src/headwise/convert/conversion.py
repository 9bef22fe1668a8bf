"""Conversion of whole files, as a lazy stream of sentences with counts of what was lost.

`headwise convert` runs this; `brackets`, `dependencies` and `conll` do the work.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from headwise.convert.brackets import PhraseTree, read_trees
from headwise.convert.conll import to_conllu, to_conllx
from headwise.convert.dependencies import tree_to_sentence
from headwise.convert.heads import EMPTY, HeadRules
from headwise.errors import ConfigError
from headwise.treebank.conllu import read_sentences

TreebankFormat = Literal["penn", "conllu", "conllx"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What to convert and how; `drop` is for CoNLL-U to CoNLL-X, the other options for trees."""

    source: TreebankFormat
    target: TreebankFormat
    rules: HeadRules | None = None
    encoding: str = "utf-8"
    join_words: bool = False
    unescape: bool = False
    drop: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that are impossible or without effect, before any file is opened."""
        direction = f"{self.source} to {self.target}"
        if self.source != "penn" and self.target == "penn":
            hint = "convert trees to dependencies, or CoNLL to CoNLL"
            raise ConfigError(f"{direction}: dependencies have no phrases", hint)
        if direction in ("penn to conllu", "penn to conllx"):
            if self.rules is None:
                hint = "--rules english, --rules chinese or a file of your own"
                raise ConfigError(f"{direction} needs head rules, and none are given", hint)
        elif self.rules or self.unescape:
            what = f"{direction} takes no head rules and changes no words"
            raise ConfigError(what, "leave them out")
        if self.source != "penn" and (self.join_words or self.encoding != "utf-8"):
            what = f"{direction}: CoNLL files are UTF-8, and a word may have spaces"
            raise ConfigError(what, "convert the file first: iconv -f ENCODING -t UTF-8")
        if self.drop and direction != "conllu to conllx":
            raise ConfigError(f"{direction} drops nothing", "--drop is for conllu to conllx")


class Converted(NamedTuple):
    """A sentence in its new format, its number of words, and counts of what was lost, by kind."""

    data: bytes
    n_words: int
    lost: Counter[str]


def convert_file(source: str | Path | BinaryIO, conversion: Conversion) -> Iterator[Converted]:
    """Convert a path, stdin (`-`) or a binary stream, sentence by sentence."""
    if conversion.source == "penn":
        trees = read_trees(source, conversion.encoding, conversion.join_words)
        for number, tree in enumerate(trees, 1):
            yield _convert_tree(tree, number, conversion)
        return
    for sentence in read_sentences(source, conversion.source):
        converted, lost = sentence, Counter[str]()
        if conversion.source == "conllx" and conversion.target == "conllu":
            converted = to_conllu(sentence)
        elif conversion.source == "conllu" and conversion.target == "conllx":
            converted, lost = to_conllx(sentence, conversion.drop)
        yield Converted(converted.data, len(converted), lost)


def _convert_tree(tree: PhraseTree, number: int, conversion: Conversion) -> Converted:
    if conversion.target == "penn":
        n_words = sum(node.word is not None and node.label != EMPTY for node in tree.nodes)
        return Converted(tree.text.encode("utf-8"), n_words, Counter())
    assert conversion.rules is not None
    name = f"{Path(tree.source).name.strip('<>').split('.')[0]}.{number}"
    sentence = tree_to_sentence(
        tree, conversion.rules, conversion.target, name, conversion.unescape
    )
    if sentence is None:
        return Converted(b"", 0, Counter({"trees without words": 1}))
    return Converted(sentence.data, len(sentence), Counter())
