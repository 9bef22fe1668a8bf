"""Sentences for the tests of pictures: from a line of text, or any tree with any text."""

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from headwise import Parse, Sentence, sentence_from_words

COLUMNS = ("form", "upos", "head", "deprel")
KIDS = "Kids/NOUN/2/nsubj love/VERB/0/root candy/NOUN/2/obj"
HEARING = (
    "A/DET/2/det hearing/NOUN/4/nsubj:pass is/AUX/4/aux:pass scheduled/VERB/0/root on/ADP/7/case "
    "the/DET/7/det issue/NOUN/2/nmod today/NOUN/4/obl"
)
"""The arc from `hearing` to `issue` crosses those of `scheduled`."""


def sentence(line: str) -> Sentence:
    """Make a sentence of words written `form/upos/head/deprel`."""
    return sentence_from_words([word.split("/") for word in line.split(" ")], COLUMNS)


def parse_of(made: Sentence, probabilities: Sequence[float], how: str = "greedy") -> Parse:
    return Parse(
        heads=tuple(int(word.head) for word in made.words),
        labels=tuple(word.deprel for word in made.words),
        head_log_probs=tuple(math.log(p) if p else -math.inf for p in probabilities),
        how=how,
    )


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\t\r\n")
"""What a column of a file may hold."""
ANYTHING = st.characters(exclude_characters="\t\r\n")
"""Lone surrogates too, which no file holds but a string may."""
VALUES = st.text(CHARACTERS, min_size=1, max_size=12)
WILD_VALUES = st.text(ANYTHING, min_size=1, max_size=12)
SHORT_VALUES = st.text(CHARACTERS, min_size=1, max_size=5)
LABELS = st.sampled_from(["nsubj", "obj", "nmod:poss", "punct", "root"])


@st.composite
def head_lists(draw: st.DrawFn, max_size: int = 12) -> list[int]:
    """Draw any heads, from position 1: mostly trees, some with circles or many roots."""
    n_words = draw(st.integers(0, max_size))
    if draw(st.integers(0, 3)) == 0:
        return [draw(st.integers(0, n_words)) for _ in range(n_words)]
    order = draw(st.permutations(range(1, n_words + 1)))
    heads = [0] * n_words
    for rank, position in enumerate(order):
        heads[position - 1] = order[draw(st.integers(0, rank - 1))] if rank else 0
    return heads


@st.composite
def sentences(draw: st.DrawFn, values: st.SearchStrategy[str] = VALUES) -> Sentence:
    heads = draw(head_lists())
    rows = [(draw(values), draw(values), str(head), draw(LABELS)) for head in heads]
    return sentence_from_words(rows, COLUMNS)


@st.composite
def parsed_sentences(
    draw: st.DrawFn, values: st.SearchStrategy[str] = VALUES
) -> tuple[Sentence, Parse]:
    made = draw(sentences(values))
    sure = [draw(st.floats(0, 1)) for _ in made.words]
    return made, parse_of(made, sure, draw(st.sampled_from(["greedy", "mst"])))
