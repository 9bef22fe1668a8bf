"""Level 2, HEAD and DEPS: every head exists, the words are a tree with one root.

Errors are reported even if other words have no head yet. Arcs that cross are notes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from headwise.treebank.checks.rows import Check, Checks, Row, quote
from headwise.treebank.sentence import BLANK

_ENHANCED_HEAD = re.compile(r"(0|[1-9][0-9]{0,8})(\.[1-9][0-9]{0,8})?")
_LISTED = 10


def check_structure(rows: Sequence[Row]) -> Checks:
    """Check the tree of the words and the enhanced graph of words and empty nodes."""
    words = [row for row in rows if row.is_word]
    yield from _check_heads(words)
    heads = {
        int(row.cells.id): int(row.cells.head)
        for row in words
        if _is_number_up_to(row.cells.head, len(words))
    }
    yield from _check_roots(words, heads)
    yield from _check_cycles(words, heads)
    yield from _note_crossings(words, heads)
    yield from _check_graph([row for row in rows if not row.is_range])


def _is_number_up_to(value: str, largest: int) -> bool:
    is_number = value.isascii() and value.isdigit() and len(value) < 10
    return is_number and str(int(value)) == value and int(value) <= largest


def _check_heads(words: Sequence[Row]) -> Checks:
    for row in words:
        head = row.cells.head
        if head == BLANK:
            yield row.check(2, "head", "the word has no HEAD")
        elif not _is_number_up_to(head, len(words)):
            what = f"HEAD is {quote(head)}, but must be a number from 0 to {len(words)}"
            yield row.check(2, "head", what)
        elif head == row.cells.id:
            yield row.check(2, "head", "the word is its own head")
        elif head == "0" and row.cells.deprel not in {"root", BLANK}:
            what = f"HEAD is 0, so that DEPREL must be root, not {quote(row.cells.deprel)}"
            yield row.check(2, "deprel", what)
        elif head != "0" and row.cells.deprel.partition(":")[0] == "root":
            yield row.check(2, "deprel", f"DEPREL is root, but HEAD is {head}, not 0")


def _check_roots(words: Sequence[Row], heads: Mapping[int, int]) -> Checks:
    roots = [word for word, head in heads.items() if head == 0]
    if len(roots) > 1:
        what = f"words {_listed(roots)} all have HEAD 0; a sentence has one root"
        for root in roots[1:]:
            yield words[root - 1].check(2, "head", what)
    if not roots and words and len(heads) == len(words):
        yield Check(2, None, "head", "no word has HEAD 0; a sentence has one root")


def _check_cycles(words: Sequence[Row], heads: Mapping[int, int]) -> Checks:
    seen_from: dict[int, int] = {}
    for start in heads:
        word = start
        while word in heads and word not in seen_from:
            seen_from[word] = start
            word = heads[word]
        if seen_from.get(word) == start and heads[word] != word:
            cycle = [word]
            while (word := heads[word]) != cycle[0]:
                cycle.append(word)
            what = f"words {_listed(sorted(cycle))} form a cycle"
            yield words[min(cycle) - 1].check(2, "head", what)


def _listed(numbers: Sequence[int]) -> str:
    """List numbers in a message: 3, 5 and 7."""
    first = list(map(str, numbers[:_LISTED]))
    if len(numbers) > _LISTED:
        return f"{', '.join(first)} and {len(numbers) - _LISTED} more"
    return f"{', '.join(first[:-1])} and {first[-1]}"


def _note_crossings(words: Sequence[Row], heads: Mapping[int, int]) -> Checks:
    """Note the arcs that cross another, the arc from ROOT at 0 included.

    An arc crosses another if a word strictly between its ends has an arc to beyond them.
    """
    lowest = list(range(len(words) + 1))
    highest = lowest.copy()
    for word, head in heads.items():
        for end, other in ((word, head), (head, word)):
            lowest[end] = min(lowest[end], other)
            highest[end] = max(highest[end], other)
    for word, head in heads.items():
        left, right = sorted((word, head))
        if head == 0 or right - left < 2:
            continue
        inside = slice(left + 1, right)
        if min(lowest[inside]) < left or max(highest[inside]) > right:
            form = quote(words[head - 1].cells.form)
            what = f"the arc to its head {form} crosses another arc (the tree is not projective)"
            yield words[word - 1].check(0, "head", what)


def _check_graph(nodes: Sequence[Row]) -> Checks:
    if all(row.cells.deps == BLANK for row in nodes) and not any(
        row.is_empty_node for row in nodes
    ):
        return
    ids = {row.cells.id for row in nodes}
    children: dict[str, list[str]] = {}
    broken = False
    for row in nodes:
        heads, found = _enhanced_heads(row, ids)
        yield from found
        broken = broken or heads is None
        for head in heads or ():
            children.setdefault(head, []).append(row.cells.id)
    if not broken:
        lost = ids - _reachable(children)
        for row in nodes:
            if row.cells.id in lost:
                what = "the enhanced graph has no path from the root to this word"
                yield row.check(2, "deps", what)


def _enhanced_heads(row: Row, ids: set[str]) -> tuple[list[str] | None, list[Check]]:
    """Read the heads in DEPS; None if one of them cannot be read or does not exist."""
    deps = row.cells.deps
    pairs = [pair.partition(":") for pair in deps.split("|")] if deps != BLANK else []
    for head, _, label in pairs:
        if not _ENHANCED_HEAD.fullmatch(head) or not label:
            what = f"DEPS is {quote(deps)}, but must be pairs like 4:nsubj, separated by |"
            return None, [row.check(2, "deps", what)]
        if head != "0" and head not in ids:
            what = f"DEPS has the head {head}, which is not in the sentence"
            return None, [row.check(2, "deps", what)]
    found = []
    order = [(_order(head), label) for head, _, label in pairs]
    if order != sorted(order):
        what = f"DEPS must be sorted by head, then by relation: {quote(deps)}"
        found.append(row.check(2, "deps", what))
    if len(set(order)) < len(order):
        found.append(row.check(2, "deps", f"DEPS has the same pair twice: {quote(deps)}"))
    heads = [head for head, _, _ in pairs]
    if row.cells.id in heads:
        found.append(row.check(2, "deps", "DEPS makes the word its own head"))
    return heads, found


def _order(number: str) -> tuple[int, int]:
    """Order IDs: 3, 3.1, 3.10, 4."""
    word, _, node = number.partition(".")
    return int(word), int(node or 0)


def _reachable(children: Mapping[str, Iterable[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = ["0"]
    while ahead:
        for child in children.get(ahead.pop(), ()):
            if child not in reached:
                reached.add(child)
                ahead.append(child)
    return reached
