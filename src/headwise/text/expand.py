"""Multi-word tokens whose words do not stand side by side in them: `do` is `de o`, `im` `in dem`.

The network says which token expands; how is looked up here. A token seen in training has its
words; another is rewritten by the longest ending or beginning that training saw:

    ending     "ê-lo" -> ("er", "lo")       fazê-lo -> faz|er lo
    beginning  "dell'" -> ("di", "l'")      the rest of the token goes to the last word

Keys are in lower case; the words take on the case of the token.
"""

from collections.abc import Mapping

import msgspec

Words = tuple[str, ...]
MAX_KEY = 64
"""Characters in the longest key."""


class Expansions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What training saw: whole tokens, then rules by ending and by beginning."""

    whole: dict[str, Words] = {}
    endings: dict[str, Words] = {}
    beginnings: dict[str, Words] = {}

    def expand(self, form: str) -> Words | None:
        """Give the words of a token, or None where nothing is known of its like."""
        if words := self.whole.get(form):
            return words
        lower = form.lower()
        if words := self.whole.get(lower):
            return in_case_of(form, words)
        if len(lower) != len(form):
            return None
        return self._by_rule(form, lower)

    def _by_rule(self, form: str, lower: str) -> Words | None:
        n = len(form)
        at_end = longest(self.endings, [lower[n - k :] for k in range(min(n - 1, MAX_KEY), 0, -1)])
        at_start = longest(self.beginnings, [lower[:k] for k in range(min(n - 1, MAX_KEY), 0, -1)])
        if at_end and len(at_end) >= len(at_start):
            first, *rest = in_case_of(form, self.endings[at_end], inside=True)
            return (form[: n - len(at_end)] + first, *rest)
        if at_start:
            *rest, last = in_case_of(form, self.beginnings[at_start])
            return (*rest, last + form[len(at_start) :])
        return None


def longest(rules: Mapping[str, Words], keys: list[str]) -> str:
    """Give the first key that has a rule, or nothing."""
    return next((key for key in keys if key in rules), "")


def in_case_of(form: str, words: Words, inside: bool = False) -> Words:
    """Put words in capitals as `form` is: `NO` -> `EM O`, `No` -> `Em o`.

    With `inside`, the words begin inside the token, and only capitals throughout count.
    """
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    if form[:1].isupper() and not inside:
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words
