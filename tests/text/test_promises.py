"""Any text through the whole parser and the built-in model: well-formed, bounded, repeatable."""

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headwise
from headwise.render import draw, to_json, to_svg
from headwise.runtime.parser import Parser
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.tree import is_tree
from headwise.vocabulary.encode import heads_array
from tests.text.referee import HARD_TEXTS, check_segmentation

FIXED = settings(max_examples=80, deadline=None, derandomize=True, database=None)
SCRIPTS = (
    "Kids love candy. “So” don't I? \t\r\n\x0b\x1c\x85\xa0\u2028\u3000\ufeff\x00\x1b_#|=\u0301"
    "שלוםمرحبا語を한국어😀🏽\u200d\u202e\u2066\u1100\u1161\ue000\U000e0041"
)
TEXT = st.text(st.sampled_from(SCRIPTS) | st.characters(), max_size=80)


@cache
def parser() -> Parser:
    return headwise.load()


def parsed(text: str | Iterable[str], threads: int = 1) -> list[tuple[Sentence, Parse]]:
    return list(parser().annotate_text(text, threads))


@FIXED
@given(TEXT)
@example("a\u2028b")
@example(HARD_TEXTS["controls"])
@example(HARD_TEXTS["right to left"])
def test_any_text_gives_well_formed_trees_that_can_be_shown(text: str) -> None:
    found = parsed(text)
    check_segmentation(text, [sentence for sentence, _ in found])
    for sentence, parse in found:
        assert is_tree(heads_array(sentence))
        drawn = draw(sentence, parse, width=80, colour=False)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", drawn)
        assert to_json(sentence, parse).count("\n") == 0
        assert to_svg(sentence, parse).endswith("</svg>")


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_hard_texts(name: str) -> None:
    found = [sentence for sentence, _ in parsed(HARD_TEXTS[name])]
    check_segmentation(HARD_TEXTS[name], found)
    assert all(is_tree(heads_array(sentence)) for sentence in found)
    assert max(map(len, found), default=0) <= 2_000
    assert bool(found) == bool(HARD_TEXTS[name].strip())


def test_chunks_and_threads_change_nothing() -> None:
    text = " ".join(value[:1_000] for value in HARD_TEXTS.values()) * 2
    expected = parsed(text)
    assert parsed(text, threads=3) == expected
    assert parsed(iter(text), threads=2) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
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
