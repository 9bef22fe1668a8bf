"""Any text through the whole parser and the model inside: well-formed, bounded, repeatable."""

import io
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headwise
from headwise.render import draw, to_json, to_svg
from headwise.runtime.parser import Parser
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.tree import is_tree
from headwise.vocabulary.encode import heads_array
from tests.text.referee import incidents

FIXED = settings(max_examples=80, deadline=None, derandomize=True, database=None)
SCRIPTS = (
    "Kids love candy. “So” don't I? \t\r\n\x0b\x1c\x85\xa0\u2028\u3000\ufeff\x00\x1b_#|=\u0301"
)
OTHERS = "שלוםمرحبا語を한국어😀🏽\u200d\u202e\u2066\u1100\u1161\ue000\U000e0041"
TEXT = st.text(st.sampled_from(SCRIPTS + OTHERS) | st.characters(), max_size=80)
HARD = {
    "nothing": "",
    "blanks": " \t\r\n\u3000\u2029",
    "an emoji": "😀",
    "a family": "👨\u200d👩\u200d👧🏽",
    "marks alone": "\u0301\u0301 \u0301",
    "line ends": "One.\rTwo.\r\nThree.\n\nFour.\u2028Five.\u2029Six.\x85Seven.\x0b\x0cEight.",
    "controls": "a\x00b \x01 \x1b[31mred\x1b[0m \x7f\x9f",
    "right to left": "ذهب الولد إلى المدرسة. הילדים אוהבים ממתקים. \u202eabc\u202c",
    "columns": "1\tKids\t_\t_\n# text = no\n_ | = a=b|c _",
    "surrogates": "\ud800 \udfff\ufffd",
    "decomposed": unicodedata.normalize("NFD", "Ångström café 한국어"),
    "no characters": "\uffff\U0010ffff\ufdd0",
    "no space": "abcdefghij" * 10_000,
    "no end": "and then the dog saw another cat " * 300,
    "dots": "." * 3_000,
    "short paragraphs": "a\n\n" * 1_000,
}


@cache
def parser() -> Parser:
    return headwise.load()


def parsed(text: str | Iterable[str], threads: int = 1) -> list[tuple[Sentence, Parse]]:
    return list(parser().annotate_text(text, threads))


def conllu_of(found: list[tuple[Sentence, Parse]]) -> str:
    return "".join(sentence.conllu for sentence, _ in found)


def as_written(raw: str) -> str:
    text = re.sub(r"\s+", " ", raw)
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]", "\u25a1", text)
    return unicodedata.normalize("NFC", text)


def check(text: str, found: list[tuple[Sentence, Parse]]) -> None:
    """Well-formed, of trees, and each token is what stands at its offsets; nothing is left out."""
    conllu = conllu_of(found)
    assert not found or incidents(conllu) == []
    read_again = list(headwise.read_sentences(io.BytesIO(conllu.encode())))
    assert [one.words for one in read_again] == [one.words for one, _ in found]
    assert all(is_tree(heads_array(sentence)) for sentence, _ in found)
    at = 0
    for line in conllu.splitlines():
        columns = line.split("\t")
        span = re.search(r"TokenRange=(\d+):(\d+)$", line) if len(columns) == 10 else None
        if span and int(span[2]) > at:  # what is behind is a word inside a range
            start, end = int(span[1]), int(span[2])
            assert not text[at:start].strip()
            assert as_written(text[start:end]) == columns[1]
            at = end
    assert not text[at:].strip()


def test_the_validator_is_awake() -> None:
    assert incidents("# sent_id = 1\n# text = a\n1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n")


@FIXED
@given(TEXT)
@example("a\u2028b")
def test_any_text_gives_well_formed_trees(text: str) -> None:
    check(text, parsed(text))


@pytest.mark.parametrize("name", HARD)
def test_hard_texts(name: str) -> None:
    found = parsed(HARD[name])
    check(HARD[name], found)
    assert max((len(sentence) for sentence, _ in found), default=0) <= 2_000
    assert bool(found) == bool(HARD[name].strip())


@FIXED
@given(TEXT, st.lists(st.integers(0, 80), max_size=5))
def test_chunks_change_nothing(text: str, cuts: list[int]) -> None:
    chunks = [text[i:j] for i, j in pairwise([0, *sorted(cuts), len(text)])]
    assert parsed(chunks) == parsed(text)


def test_threads_change_nothing() -> None:
    text = " ".join(value[:1_500] for value in HARD.values()) * 3
    alone = parsed(text)
    assert parsed(text, threads=3) == alone
    assert parsed(iter(text), threads=2) == alone


@FIXED
@given(TEXT)
@example(HARD["controls"])
@example(HARD["right to left"])
def test_any_text_can_be_shown(text: str) -> None:
    for sentence, parse in parsed(text):
        drawn = draw(sentence, parse, width=80, colour=False)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", drawn)
        assert to_json(sentence, parse).count("\n") == 0
        assert to_svg(sentence, parse).endswith("</svg>")


def test_offsets_are_those_of_the_whole_stream() -> None:
    text = "Kids love candy.\n\n" * 9_000
    *_, (last, _) = parser().annotate_text(text[-18 * 20 :])
    *_, sentence = parser().segmenter.segment(text)  # type: ignore[union-attr]
    assert [word.form for word in sentence.words] == [word.form for word in last.words]
    assert sentence.words[0].misc == f"TokenRange={len(text) - 18}:{len(text) - 14}"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux keeps it")
def test_a_text_without_an_end_takes_little_memory() -> None:
    program = (
        "import re, headwise\n"
        "text = 'and then the dog saw another cat ' * 300\n"
        "print(sum(len(sentence) for sentence, _ in headwise.load().annotate_text(text)))\n"
        "print(re.search(r'VmHWM:\\s+([0-9]+) kB', open('/proc/self/status').read())[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    n_words, kibibytes = map(int, done.stdout.split())
    assert n_words == 2_100
    assert kibibytes < 512 * 1024
