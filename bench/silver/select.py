"""Which paragraphs and sentences a model can learn from, and which it must not see."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import headwise
from headwise.treebank.sentence import Sentence

MIN_WORDS, MAX_WORDS = 4, 60
MIN_ALPHABETIC = 0.6
"""Least share of the words of a sentence that consist of letters."""
MIN_HELD_OUT = 6
"""Held-out sentences of this many words are looked for inside other sentences, too."""
MIN_COMMON = 0.15
"""Least share of the words of a sentence, if it is long, that are common English words."""
_LONG = 8

_COMMON_WORDS = """
    a about all also am an and any are as at be been but by can could did do does for from get
    had has have he her him his how i if in into is it its just like may me more my n't no not of
    on one or other our out she should so some than that the their them then there these they this
    to up us use was we were what when where which who will with would you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_PLACEHOLDER = re.compile(r"<[a-zA-Z/][^>]*>|[{}]|%s|\$[a-z|]")
_LINK = re.compile(r"\s*https?://\S+")
_CODE = re.compile(r"[\\=_$^|<>{}\[\]]|::|\(\)|^--?[a-z]|/.*/|^[@%&]\w|\w\.\w+\(")


def clean_paragraph(text: str) -> str:
    """Return a paragraph on one line, without links; an empty one if it is not prose."""
    text = _LINK.sub("", " ".join(text.split()))
    text = text.replace("``", '"').replace("''", '"').replace("\N{REPLACEMENT CHARACTER}", "")
    return "" if _PLACEHOLDER.search(text) else text


def is_useful(sentence: Sentence) -> bool:
    """Whether a sentence is English prose of a good length."""
    forms = [word.form for word in sentence.words]
    n_alphabetic = sum(form.isalpha() for form in forms)
    n_common = sum(form.lower() in _COMMON for form in forms)
    return (
        MIN_WORDS <= len(forms) <= MAX_WORDS
        and n_alphabetic >= MIN_ALPHABETIC * len(forms)
        and (len(forms) < _LONG or n_common >= MIN_COMMON * len(forms))
        and not any(_CODE.search(form) for form in forms)
    )


def normalise(sentence: Sentence) -> tuple[str, ...]:
    """Give the letters and digits of each word in lower case, to find duplicates."""
    words = ("".join(filter(str.isalnum, word.form.lower())) for word in sentence.words)
    return tuple(word for word in words if word)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Sentences of dev and test sets: all of them, and long ones by their first words."""

    sentences: frozenset[tuple[str, ...]]
    by_start: dict[tuple[str, ...], list[tuple[str, ...]]]

    def is_in(self, words: tuple[str, ...]) -> bool:
        """Tell whether a sentence is held out, or has one that is held out inside."""
        if words in self.sentences:
            return True
        for first in range(len(words) - MIN_HELD_OUT + 1):
            for held_out in self.by_start.get(words[first : first + MIN_HELD_OUT], ()):
                if words[first : first + len(held_out)] == held_out:
                    return True
        return False


def read_held_out(treebanks: Iterable[Path]) -> HeldOut:
    """Read the dev and test sets of treebanks; a folder has one of them at least."""
    sentences = set()
    for folder in treebanks:
        paths = [folder / f"{part}.conllu.xz" for part in ("dev", "test")]
        if not any(path.exists() for path in paths):
            raise FileNotFoundError(f"{folder}: neither dev.conllu.xz nor test.conllu.xz")
        sentences |= {
            normalise(s) for path in paths if path.exists() for s in headwise.read_sentences(path)
        }
    by_start = defaultdict(list)
    for words in sentences:
        if len(words) >= MIN_HELD_OUT:
            by_start[words[:MIN_HELD_OUT]].append(words)
    return HeldOut(frozenset(sentences), dict(by_start))


def select_sentences(
    sentences: Iterable[Sentence], held_out: HeldOut, seen: set[tuple[str, ...]]
) -> Iterator[Sentence]:
    """Leave out useless and held-out sentences and those in `seen`, to which the rest is added."""
    for sentence in sentences:
        words = normalise(sentence)
        if words not in seen and is_useful(sentence) and not held_out.is_in(words):
            seen.add(words)
            yield sentence
