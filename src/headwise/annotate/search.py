"""Find words by the values of their columns: `deprel:nsubj head.lemma:be`.

A query is a list of terms, and a word must satisfy all of them:

    saw                 the form or the lemma is `saw`
    form:sa*            `*` stands for any characters
    upos:VERB           lemma, upos, xpos, feats, deprel, deps, misc likewise
    feats:Number=Plur   one of the features
    head.lemma:be       the same of the word's head; `head:root` for a word without one
    "in the end"        the text of the sentence contains this

Letters in forms, lemmas and text may be capital or small; tags and labels are taken as written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from headwise.errors import ConfigError, DataError
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import Sentence, Word

MAX_QUERY = 500
MAX_HITS = 1_000
_TERM = re.compile(r'([a-z.]+:)?(?:"([^"]+)"|([^\s"]+))(?=\s|$)')
_LISTS = ("feats", "misc", "deps")
"""Columns with several values."""
_FREE = ("form", "lemma")
"""Columns in which capitals make no difference."""
_COLUMNS = (*_FREE, "upos", "xpos", "deprel", *_LISTS)
_HINT = f"a word, a text in quotes, or one of {', '.join(_COLUMNS)} with a colon, also head.lemma:"
Test = Callable[[Word], bool]


class Hit(msgspec.Struct, frozen=True):
    """A sentence with words that were found; none if only its text was asked for."""

    sentence: int
    words: list[int]


@dataclass(frozen=True, slots=True)
class Query:
    """What a sentence, a word and its head must satisfy."""

    texts: tuple[str, ...]
    tests: tuple[Test, ...]
    head_tests: tuple[Test, ...]
    is_root: bool
    exact: tuple[str, ...] = ()
    """Strings that occur in the lines of every sentence with a hit."""
    free: tuple[str, ...] = ()
    """The same, in small letters."""

    def may_fit(self, block: str) -> bool:
        """Look quickly whether there can be a hit, without reading the sentence."""
        if any(part not in block for part in self.exact):
            return False
        if not self.free:
            return True
        folded = block.casefold()
        return all(part in folded for part in self.free)

    @property
    def is_about_words(self) -> bool:
        """Whether anything but the text is asked for."""
        return bool(self.tests or self.head_tests or self.is_root)

    def words_of(self, sentence: Sentence) -> list[int] | None:
        """Find the words that satisfy the query; None if the sentence does not."""
        text = sentence.text.casefold() if self.texts else ""
        if not len(sentence) or any(part not in text for part in self.texts):
            return None
        if not self.is_about_words:
            return []
        heads = sentence.heads
        found = [
            position
            for position, word in enumerate(sentence.words, 1)
            if all(test(word) for test in self.tests)
            and self._has_head(sentence, heads[position - 1])
        ]
        return found or None

    def _has_head(self, sentence: Sentence, head: int | None) -> bool:
        if not self.head_tests:
            return not self.is_root or head == 0
        if not head or self.is_root:
            return False
        return all(test(sentence.words[head - 1]) for test in self.head_tests)


def read_words_query(text: str) -> Query:
    """Read a query; what cannot be understood is named."""
    if len(text) > MAX_QUERY:
        raise ConfigError(f"the query has more than {MAX_QUERY} characters")
    texts: list[str] = []
    tests: list[Test] = []
    head_tests: list[Test] = []
    exact: list[str] = []
    free: list[str] = []
    is_root = False
    at = 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        term = _TERM.match(text, at)
        if term is None:
            raise ConfigError(f"the query cannot be read at {rest[:40]!r}", _HINT)
        at = term.end()
        field, quoted, bare = (term[1] or "").rstrip(":"), term[2], term[3]
        value = quoted if bare is None else bare
        if not field and quoted is not None:
            texts.append(quoted.casefold())
        elif field == "head" and value == "root":
            is_root = True
        else:
            column = field.removeprefix("head.")
            where = tests if column == field else head_tests
            where.append(_make_test(column, value))
            longest = max(value.split("*"), key=len)
            if column in ("", *_FREE):
                free.append(longest.casefold())
            else:
                exact.append(longest)
    if not (texts or tests or head_tests or is_root):
        raise ConfigError("the query is empty", _HINT)
    return Query(tuple(texts), tuple(tests), tuple(head_tests), is_root, tuple(exact), tuple(free))


def find_words(query: Query, blocks: Sequence[str]) -> Iterator[Hit | None]:
    """Look through sentences one by one; None for one without a hit."""
    for number, block in enumerate(blocks):
        if not query.may_fit(block):
            yield None
            continue
        try:
            found = query.words_of(read_block(block))
        except DataError:
            found = None  # a malformed sentence has no columns to look into
        yield None if found is None else Hit(number, found)


def _make_test(field: str, value: str) -> Test:
    if not field:
        pattern = _pattern(value.casefold())
        return lambda word: any(pattern(getattr(word, column).casefold()) for column in _FREE)
    if field not in _COLUMNS:
        raise ConfigError(f"there is no column {field[:40]!r}", _HINT)
    if field in _FREE:
        free = _pattern(value.casefold())
        return lambda word: free(getattr(word, field).casefold())
    exact = _pattern(value)
    if field in _LISTS:
        return lambda word: any(exact(part) for part in getattr(word, field).split("|"))
    return lambda word: exact(getattr(word, field))


def _pattern(value: str) -> Callable[[str], bool]:
    """Make a test for a value; between stars, parts must come in this order."""
    if "*" not in value:
        return lambda text: text == value
    first, *middle, last = value.split("*")

    def fits(text: str) -> bool:
        if len(text) < len(first) + len(last):
            return False
        if not text.startswith(first) or not text.endswith(last):
            return False
        at, end = len(first), len(text) - len(last)
        for part in middle:
            found = text.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True

    return fits
