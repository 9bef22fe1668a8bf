"""Learn how multi-word tokens expand: a table of those seen, and rules for similar ones.

In `fazê-lo` = `fazer lo` the first word shares `faz` with the token, so the ending `ê-lo` becomes
`er lo`. The same is counted with more letters before it (`zê-lo` becomes `zer lo`), so that the
longest ending that fits decides. Beginnings are the mirror image, with the last word.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile

from headwise.learn.segment.data import GoldSentence
from headwise.text.expand import MAX_KEY, Expansions, Words, first_key, match_case

_CONTEXT = 3
"""Letters of the shared part that a rule may include."""
_MAX_RULES = 5_000
"""Rules of each kind, the most frequent first."""


def learn_expansions(sentences: Iterable[GoldSentence]) -> Expansions:
    """Count the expansions of a treebank and keep the most frequent one of each key."""
    exact: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    lower: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    for sentence in sentences:
        for token in sentence.tokens:
            if token.expands and len(token.form) <= MAX_KEY and " " not in "".join(token.words):
                exact[token.form][token.words] += 1
                lower[token.form.lower()][tuple(word.lower() for word in token.words)] += 1
    whole = _most_frequent(lower)
    as_seen = _most_frequent(exact)
    for form in sorted(as_seen, key=lambda form: form != form.lower()):
        if match_case(form, whole[form.lower()]) != as_seen[form]:
            whole[form] = as_seen[form]
    pairs = [(form, words) for form, counts in sorted(lower.items()) for words in counts]
    return Expansions(whole, _ending_rules(pairs), _beginning_rules(pairs))


def _most_frequent(counts: Mapping[str, Counter[Words]]) -> dict[str, Words]:
    """Keep the most frequent words of each key; ties go to the first in sorted order."""
    order = sorted(counts, key=lambda key: (-counts[key].total(), key))[:_MAX_RULES]
    return {key: min(counts[key], key=lambda words: (-counts[key][words], words)) for key in order}


def _ending_rules(pairs: Iterable[tuple[str, Words]]) -> dict[str, Words]:
    """Learn rules for endings; the first word keeps the letters before the ending."""
    counts: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    for form, (first, *rest) in pairs:
        letters = zip(form, first, strict=False)
        n_shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))
        for start in range(n_shared, max(0, n_shared - _CONTEXT - 1), -1):
            if form[start:]:
                counts[form[start:]][(first[start:], *rest)] += 1
    rules = _most_frequent(counts)
    return {key: words for key, words in rules.items() if not _is_redundant(key, words, rules)}


def _is_redundant(key: str, words: Words, rules: Mapping[str, Words]) -> bool:
    """Return whether the rule of a shorter ending gives the same words."""
    shorter = first_key(rules, [key[i:] for i in range(1, len(key))])
    if not shorter:
        return False
    first, *rest = rules[shorter]
    return (key[: -len(shorter)] + first, *rest) == words


def _beginning_rules(pairs: Iterable[tuple[str, Words]]) -> dict[str, Words]:
    """Learn rules for beginnings: those for endings, of reversed strings."""
    mirrored = [(form[::-1], _mirror(words)) for form, words in pairs]
    return {key[::-1]: _mirror(words) for key, words in _ending_rules(mirrored).items()}


def _mirror(words: Words) -> Words:
    return tuple(word[::-1] for word in reversed(words))
