"""Treebanks in which some of the annotation is missing."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from headwise.treebank.sentence import BLANK, Sentence


def with_blanks(
    sentences: Iterable[Sentence], columns: Sequence[str], share: float, seed: int = 1
) -> list[Sentence]:
    """Blank the columns of a share of the words, drawn for each column by itself."""
    draw = random.Random(seed)
    return [
        sentence.with_words(
            [
                word._replace(**{c: BLANK for c in columns if draw.random() < share})
                for word in sentence.words
            ]
        )
        for sentence in sentences
    ]


def write(path: Path, sentences: Iterable[Sentence]) -> str:
    path.write_text("".join(sentence.conllu for sentence in sentences), encoding="utf-8")
    return str(path)
