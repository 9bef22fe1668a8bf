"""How a multi-word token expands to words that do not stand side by side in it: `do` to `de o`.

The network finds the tokens that expand; their words are looked up here. A token seen in training
has its own entry; any other is rewritten by the longest ending or beginning seen in training:

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
    """Expansions seen in training: of whole tokens, and as rules for endings and beginnings."""

    whole: dict[str, Words] = {}
    endings: dict[str, Words] = {}
    beginnings: dict[str, Words] = {}

    def expand(self, form: str) -> Words | None:
        """Return the words of a token, or None if no entry and no rule fits."""
        if words := self.whole.get(form):
            return words
        lower = form.lower()
        if words := self.whole.get(lower):
            return match_case(form, words)
        if len(lower) != len(form):
            return None
        n = len(form)
        lengths = range(min(n - 1, MAX_KEY), 0, -1)
        ending = first_key(self.endings, [lower[n - k :] for k in lengths])
        beginning = first_key(self.beginnings, [lower[:k] for k in lengths])
        if ending and len(ending) >= len(beginning):
            first, *rest = match_case(form, self.endings[ending], inside=True)
            return (form[: n - len(ending)] + first, *rest)
        if beginning:
            *rest, last = match_case(form, self.beginnings[beginning])
            return (*rest, last + form[len(beginning) :])
        return None


def first_key(rules: Mapping[str, Words], keys: list[str]) -> str:
    """Return the first of the keys that has a rule, or an empty string."""
    return next((key for key in keys if key in rules), "")


def match_case(form: str, words: Words, inside: bool = False) -> Words:
    """Capitalise words like `form`: `NO` -> `EM O`, `No` -> `Em o`.

    With `inside`, the words start inside the token, so its first letter does not matter.
    """
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    if form[:1].isupper() and not inside:
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words
