"""Edit rules that turn a form into its lemma.

A rule is a string: a case, a script for the start and one for the end of the word, as in
`lower||---+y` ("parties" -> "party"). What lies between the two scripts is copied. A script reads
letters of the form: `=` copies one, `-` deletes one, `+y` inserts a `y`. A lemma that shares no
letter with its form is a rule of its own: `!be` ("is" -> "be").

    lower   the form in lower case, edited
    keep    the form as it is, edited
    title   in lower case, edited, then with a capital at the start
    upper   in lower case, edited, then in capitals
"""

from functools import lru_cache
from typing import Final

from headwise.treebank.sentence import BLANK, MAX_VALUE, Word

_CASES: Final = ("lower", "keep", "title", "upper")
_ABSOLUTE: Final = "!"
_MAX_CHARACTERS = 100
"""Longer forms and lemmas are not compared letter by letter."""
_MAX_CACHED = 2**16


def rule_of(word: Word) -> str | None:
    """Make the rule that a word of a treebank teaches.

    None if it has no lemma, is a typo, or has a lemma that is too long for a rule.
    """
    if word.lemma == BLANK != word.form or "Typo=Yes" in word.feats.split("|"):
        return None
    rule = make_rule(word.form, word.lemma)
    return rule if len(rule) <= MAX_VALUE else None


@lru_cache(_MAX_CACHED)
def make_rule(form: str, lemma: str) -> str:
    """Find the shortest rule that turns a form into its lemma.

    >>> make_rule("Parties", "party")
    'lower||---+y'
    """
    if max(len(form), len(lemma)) > _MAX_CHARACTERS:
        return "keep||" if form == lemma else _ABSOLUTE + lemma
    rules: list[tuple[int, int, str]] = []
    for case in _CASES:
        source = form if case == "keep" else form.lower()
        target = lemma if case == "keep" else lemma.lower()
        n, start, target_start = _longest_common_part(source, target)
        if not n or "|" in target:
            continue
        before = _edit_script(source[:start], target[:target_start])
        after = _edit_script(source[start + n :], target[target_start + n :])
        rule = f"{case}|{before}|{after}"
        if apply_rule(form, rule) == lemma:
            rules.append((len(before) + len(after), len(rules), rule))
    return min(rules)[2] if rules else _ABSOLUTE + lemma


def apply_rule(form: str, rule: str) -> str | None:
    """Turn a form into a lemma; None if the rule does not fit, or leaves nothing.

    >>> apply_rule("cities", "lower||---+y")
    'city'
    """
    # Very long words must not fill the memory.
    apply = _apply_cached if len(form) <= _MAX_CHARACTERS else _apply
    return apply(form, rule)


def _apply(form: str, rule: str) -> str | None:
    if rule.startswith(_ABSOLUTE):
        return rule[1:]
    case, before, after = rule.split("|", 2)
    source = form if case == "keep" else form.lower()
    n_before, n_after = _n_read(before), _n_read(after)
    if n_before + n_after > len(source):
        return None
    end = len(source) - n_after
    start = _run_script(source[:n_before], before)
    lemma = start + source[n_before:end] + _run_script(source[end:], after)
    if not lemma:
        return None
    if case == "title":
        return lemma[:1].upper() + lemma[1:]
    return lemma.upper() if case == "upper" else lemma


_apply_cached = lru_cache(_MAX_CACHED)(_apply)


def is_rule(rule: str) -> bool:
    """Check that a string can be used as a rule, and that its lemmas fit into CoNLL-U."""
    if len(rule) > MAX_VALUE or not {"\t", "\n", "\r"}.isdisjoint(rule):
        return False
    if rule.startswith(_ABSOLUTE):
        return len(rule) > 1
    case, *scripts = rule.split("|")
    return case in _CASES and len(scripts) == 2 and all(map(_is_script, scripts))


def _is_script(script: str) -> bool:
    at = 0
    while at < len(script):
        if script[at] not in "=-+" or script[at : at + 2] == "+":
            return False
        at += 2 if script[at] == "+" else 1
    return True


def _n_read(script: str) -> int:
    """Count the letters that a script reads."""
    n = at = 0
    while at < len(script):
        inserts = script[at] == "+"
        n, at = n + (not inserts), at + (2 if inserts else 1)
    return n


def _run_script(letters: str, script: str) -> str:
    """Edit exactly the letters that a script reads."""
    edited = []
    read = at = 0
    while at < len(script):
        if script[at] == "+":
            edited.append(script[at + 1])
            at += 2
            continue
        if script[at] == "=":
            edited.append(letters[read])
        read, at = read + 1, at + 1
    return "".join(edited)


def _longest_common_part(one: str, other: str) -> tuple[int, int, int]:
    """Find the longest common substring: its length, and where it starts in both."""
    best = (0, 0, 0)
    lengths = [0] * (len(other) + 1)
    for i, letter in enumerate(one, 1):
        previous = 0
        for j, other_letter in enumerate(other, 1):
            above = lengths[j]
            lengths[j] = previous + 1 if letter == other_letter else 0
            if lengths[j] > best[0]:
                best = (lengths[j], i - lengths[j], j - lengths[j])
            previous = above
    return best


def _edit_script(source: str, target: str) -> str:
    """Write the shortest script from one string to another, deletions before insertions."""
    n, m = len(source), len(target)
    cost = [[(n - i) + (m - j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            cost[i][j] = 1 + min(cost[i + 1][j], cost[i][j + 1])
            if source[i] == target[j]:
                cost[i][j] = min(cost[i][j], cost[i + 1][j + 1])
    script = []
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and source[i] == target[j] and cost[i][j] == cost[i + 1][j + 1]:
            script.append("=")
            i, j = i + 1, j + 1
        elif i < n and cost[i][j] == 1 + cost[i + 1][j]:
            script.append("-")
            i += 1
        else:
            script.append(f"+{target[j]}")
            j += 1
    return "".join(script)
