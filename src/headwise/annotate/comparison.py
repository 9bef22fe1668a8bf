"""Two annotations of the same sentences: how far they agree, and where they differ.

Sentences are paired by their words, so that a sentence which one annotator split or joined does not
keep the others from being compared.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headwise.annotate.file.disk import read_blocks
from headwise.errors import ConfigError, DataError
from headwise.evaluate.agreement import Confusion, find_differences, measure_agreement
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import Sentence

MAX_CONFUSIONS = 200
MAX_LISTED = 10_000


class Summary(msgspec.Struct, frozen=True):
    """Agreement over all sentences: shares in percent, kappas up to 1."""

    n_sentences: int
    n_words: int
    n_unmatched: int
    """Sentences of mine that the other file does not have, or that have no words."""
    uas: float | None
    las: float | None
    labels: float | None
    upos: float | None
    kappa_heads: float | None
    kappa_labels: float | None
    kappa_upos: float | None
    n_different_words: int


class DifferingSentence(msgspec.Struct, frozen=True):
    """A sentence of mine, and the words on which the other file differs."""

    sentence: int
    words: list[int]


class CompareAnswer(msgspec.Struct, frozen=True):
    """What a page shows of two files."""

    summary: Summary
    confusions: list[Confusion]
    """My label, theirs, and how many words have them."""
    sentences: list[DifferingSentence]
    more: bool


class OtherFile:
    """Another annotation of the same sentences, read once."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.name = path.name
        self._by_words: dict[tuple[str, ...], list[tuple[str, Sentence]]] = defaultdict(list)
        for block in read_blocks(path):
            sentence = read_block(block, str(path))
            if len(sentence):
                self._by_words[_words_of(sentence)].append((block, sentence))

    def compare(self, blocks: Sequence[str]) -> CompareAnswer:
        """Compare all sentences that both files have."""
        paired = self._pairs(blocks)
        pairs = [(i, *pair) for i, pair in enumerate(paired) if pair is not None]
        if not pairs:
            what = f"{self.name} has none of these sentences"
            raise ConfigError(what, "compare two annotations of the same text")
        mine, theirs = [one for _, one, _, _ in pairs], [other for _, _, other, _ in pairs]
        agreed = measure_agreement(mine, theirs)
        differing = [
            DifferingSentence(pairs[one.number - 1][0], [word.position for word in one.words])
            for one in find_differences(mine, theirs)
        ]
        return CompareAnswer(
            Summary(
                agreed.n_sentences,
                agreed.n_words,
                len(blocks) - len(pairs),
                agreed.uas,
                agreed.las,
                agreed.label_accuracy,
                agreed.upos,
                agreed.head_kappa,
                agreed.label_kappa,
                agreed.upos_kappa,
                agreed.n_different_words,
            ),
            list(agreed.label_confusions[:MAX_CONFUSIONS]),
            differing[:MAX_LISTED],
            len(differing) > MAX_LISTED,
        )

    def find(self, blocks: Sequence[str], index: int) -> str | None:
        """Find the other version of a sentence."""
        found = self._pairs(blocks[: index + 1])[index]
        return None if found is None else found[2]

    def _pairs(self, blocks: Sequence[str]) -> list[tuple[Sentence, Sentence, str] | None]:
        """Pair each sentence of mine with one that has the same words: the first with the first."""
        left = {words: deque(found) for words, found in self._by_words.items()}
        pairs: list[tuple[Sentence, Sentence, str] | None] = []
        for block in blocks:
            sentence = _read_or_none(block)
            found = left.get(_words_of(sentence)) if sentence is not None else None
            if sentence is None or not found:
                pairs.append(None)
            else:
                other_block, other = found.popleft()
                pairs.append((sentence, other, other_block))
        return pairs


def _words_of(sentence: Sentence) -> tuple[str, ...]:
    return tuple(word.form for word in sentence.words)


def _read_or_none(block: str) -> Sentence | None:
    try:
        sentence = read_block(block)
    except DataError:
        return None
    return sentence if len(sentence) else None
