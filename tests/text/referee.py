"""Judges of segmented text: the official validator of Universal Dependencies, and offsets."""

import io
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from udtools import Validator
from udtools.state import State

from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence

HARD_TEXTS = {
    "nothing": "",
    "blanks": " \t\r\n\u3000\u2029",
    "an emoji": "😀",
    "a family": "👨\u200d👩\u200d👧🏽",
    "only marks": "\u0301\u0301 \u0301",
    "line ends": "One.\rTwo.\r\nThree.\n\nFour.\u2028Five.\u2029Six.\x85Seven.\x0b\x0cEight.",
    "controls": "a\x00b \x01 \x1b[31mred\x1b[0m \x7f\x9f",
    "right to left": "ذهب الولد إلى المدرسة. הילדים אוהבים ממתקים. \u202eabc\u202c",
    "columns": "1\tKids\t_\t_\n# text = no\n_ | = a=b|c _",
    "surrogates": "\ud800 \udfff\ufffd",
    "decomposed": unicodedata.normalize("NFD", "Ångström café 한국어"),
    "not characters": "\uffff\U0010ffff\ufdd0",
    "a byte order mark": "\ufeffKids love candy.",
    "no space": "abcdefghij" * 10_000,
    "no end": "and then the dog saw another cat " * 300,
    "dots": "." * 3_000,
    "short paragraphs": "a\n\n" * 1_000,
}


@cache
def validator() -> Validator:
    return Validator(level=1, output=None)


def incidents(conllu: str) -> list[str]:
    """Return the errors that the validator reports, at the level of the format."""
    state = State()
    validator().validate_file_handle(io.StringIO(conllu, newline="\n"), state)
    return [str(one) for one in state.error_tracker]


def as_written(raw: str) -> str:
    """Return the form of a token that is `raw` in the input."""
    text = re.sub(r"\s+", " ", raw)
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]", "\u25a1", text)
    return unicodedata.normalize("NFC", text)


def token_ranges(sentence: Sentence) -> list[tuple[str, int, int]]:
    """Return form, start and end of each token."""
    return [(token.form, *token.span) for token in sentence.tokens if token.span]


def check_segmentation(text: str, sentences: Sequence[Sentence]) -> None:
    """Check that sentences are valid CoNLL-U and that their tokens cover the text."""
    some = sentences if len(text) < 500 else sentences[:3]  # the validator is slow
    few = "".join(sentence.conllu for sentence in some)
    assert not few or incidents(few) == []
    conllu = "".join(sentence.conllu for sentence in sentences)
    read_again = list(read_sentences(io.BytesIO(conllu.encode())))
    assert [one.words for one in read_again] == [one.words for one in sentences]
    tokens = [token for sentence in sentences for token in token_ranges(sentence)]
    assert all(as_written(text[start:end]) == form for form, start, end in tokens)
    edges = [0, *(edge for _, start, end in tokens for edge in (start, end)), len(text)]
    assert edges == sorted(edges)
    gaps = [text[i:j] for i, j in zip(edges[::2], edges[1::2], strict=True)]
    assert not "".join(gaps).removeprefix("\ufeff").strip()
