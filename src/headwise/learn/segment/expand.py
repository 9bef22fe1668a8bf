"""Learn how multi-word tokens expand: a table of those seen, and rules for their like.

For `fazê-lo` = `fazer lo` the first word shares `faz` with the token, so the ending `ê-lo` gives
`er lo`; the same with more and more letters before it (`zê-lo` gives `zer lo`), so that the
longest ending that fits decides. Beginnings are the mirror image, with the last word.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile

from headwise.learn.segment.data import GoldSentence
from headwise.text.expand import MAX_KEY, Expansions, Words, first_key, match_case

CONTEXT = 3
"""Letters of the shared part that a rule may ask for."""
MAX_RULES = 5_000
"""Rules of each kind, the most frequent first."""

Counts = Mapping[str, Counter[Words]]


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
    seen = [(form, words) for form, counts in sorted(lower.items()) for words in counts]
    return Expansions(whole, _rules(seen), _beginnings(seen))


def _most_frequent(counts: Counts) -> dict[str, Words]:
    """Keep the best words of each key; of equally frequent ones, the first in order."""
    order = sorted(counts, key=lambda key: (-counts[key].total(), key))[:MAX_RULES]
    return {key: min(counts[key], key=lambda words: (-counts[key][words], words)) for key in order}


def _rules(seen: Iterable[tuple[str, Words]]) -> dict[str, Words]:
    """Learn what endings become: the first word keeps what is before them."""
    counts: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    for form, (first, *rest) in seen:
        pairs = zip(form, first, strict=False)
        n_shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        for start in range(n_shared, max(0, n_shared - CONTEXT - 1), -1):
            if form[start:]:
                counts[form[start:]][(first[start:], *rest)] += 1
    rules = _most_frequent(counts)
    return {key: words for key, words in rules.items() if not _follows(key, words, rules)}


def _follows(key: str, words: Words, rules: Mapping[str, Words]) -> bool:
    """Say whether a shorter ending does the same already."""
    shorter = first_key(rules, [key[i:] for i in range(1, len(key))])
    if not shorter:
        return False
    first, *rest = rules[shorter]
    return (key[: -len(shorter)] + first, *rest) == words


def _beginnings(seen: Iterable[tuple[str, Words]]) -> dict[str, Words]:
    """Learn what beginnings become: rules for endings, read backwards."""
    mirrored = [(form[::-1], _mirror(words)) for form, words in seen]
    return {key[::-1]: _mirror(words) for key, words in _rules(mirrored).items()}


def _mirror(words: Words) -> Words:
    return tuple(word[::-1] for word in reversed(words))
