r"""Head rules: tables that say which child of a phrase is its head.

A table is a text file with one phrase per line, in the format of Penn2Malt:

    NP	r POS NN NNP NNPS NNS;r NX;r JJR;r

Steps are tried in turn. A step looks from the left (`l`) or from the right (`r`) for the first
child with one of its categories. A step without categories takes the first child from that side
that is not punctuation, or simply the first if all are. Coordination has no special rule. Traces
and other empty elements (`-NONE-`) are removed first, with every phrase that holds nothing else.

Example: in `(NP (NNP Nov.) (CD 29) (, ,) (CD 1999))` the first step finds Nov., the last noun.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwise.convert.brackets import Node, PhraseTree
from headwise.errors import ConfigError, DataError
from headwise.files import open_source

TABLES_FOLDER = Path(__file__).parent / "tables"
MAX_TABLE_BYTES = 2**20
EMPTY = "-NONE-"
PUNCTUATION = frozenset({"``", "''", ",", ".", ":", "-LRB-", "-RRB-", "PU"})
"""Tags of punctuation in PTB and CTB; brackets count, `$` and `#` do not."""
_AFTER_CATEGORY = re.compile("[-=|]")
_DEFAULT = "default"
_SIDES = {"l": True, "r": False}
_FORM = "a line is a phrase and steps: NP<tab>r POS NN NNP;r NX;r"


@dataclass(frozen=True, slots=True)
class Step:
    """One search along the children, from the left or, if `from_left` is false, from the right.

    It takes the first child that has one of the `categories`; without any, the first child.
    """

    from_left: bool
    categories: frozenset[str]


@dataclass(frozen=True, slots=True)
class HeadRules:
    """A table of head rules.

    `steps` has the steps of each phrase, and `default` those of phrases that are not listed.
    """

    steps: Mapping[str, tuple[Step, ...]]
    default: tuple[Step, ...]

    def choose(self, phrase: str, children: Sequence[str]) -> int:
        """Return the index of the head among the categories of the children, at least one."""
        order = range(len(children))
        for step in (*self.steps.get(phrase, ()), *self.default):
            direction = order if step.from_left else order[::-1]
            if step.categories:
                head = next((i for i in direction if children[i] in step.categories), None)
            else:
                head = next((i for i in direction if children[i] not in PUNCTUATION), direction[0])
            if head is not None:
                return head
        raise AssertionError("the default of a table ends with a step without categories")


def load_rules(name: str) -> HeadRules:
    """Load a built-in table by name (`english`, `chinese`), or a table by its path."""
    built_in = {path.stem: path for path in sorted(TABLES_FOLDER.glob("*.txt"))}
    if name not in built_in and not Path(name).exists():
        hint = f"one of {', '.join(built_in)}, or the path of a file"
        raise ConfigError(f"no head rules '{name[:80]}'", hint)
    return read_rules(built_in.get(name, name))


def read_rules(path: str | Path) -> HeadRules:
    """Read a table; lines that start with `#` are comments."""
    name = str(path)
    with open_source(path) as (stream, _):
        data = stream.read(MAX_TABLE_BYTES + 1)
    if len(data) > MAX_TABLE_BYTES:
        raise DataError("head rules of more than 1 MiB", name, hint="is this the right file?")
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise DataError("head rules that are not UTF-8", name, hint="convert it first") from None
    steps: dict[str, tuple[Step, ...]] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        phrase, its_steps = _read_line(line, name, number)
        if phrase in steps:
            raise DataError(f"'{phrase[:40]}' is listed twice", name, number, _FORM)
        steps[phrase] = its_steps
    default = steps.pop(_DEFAULT, (Step(from_left=False, categories=frozenset()),))
    if default[-1].categories:
        raise DataError("default does not end with l or r alone", name, hint="default<tab>r")
    if not steps:
        raise DataError("the file has no head rules", name, hint=_FORM)
    return HeadRules(steps, default)


def _read_line(line: str, name: str, number: int) -> tuple[str, tuple[Step, ...]]:
    """Read `NP r NN;r`; a colon after the phrase, as in some tables, is skipped."""
    phrase, *rest = line.split(maxsplit=1)
    written = rest[0].strip() if rest else ""
    if written.startswith(": "):
        written = written[2:]
    steps = []
    for part in written.rstrip("; \t").split(";"):
        side, *categories = part.split() or [""]
        if side not in _SIDES:
            what = f"a step of '{phrase[:40]}' begins with '{side[:40]}', not with l or r"
            raise DataError(what, name, number, _FORM)
        steps.append(Step(_SIDES[side], frozenset(categories)))
    return phrase, tuple(steps)


def category(label: str) -> str:
    """Strip function tags and indices from a label: `NP-SBJ-1` and `NP=2` become NP.

    If annotators left two tags (`VBG|NN`), the first counts.
    """
    return label if label.startswith("-") else _AFTER_CATEGORY.split(label, maxsplit=1)[0] or label


def functions(label: str) -> tuple[str, ...]:
    """Return the function tags of a label: for `NP-LOC-PRD-1`, LOC and PRD."""
    if label.startswith("-"):
        return ()
    parts = label.replace("=", "-").split("-")[1:]
    return tuple(part for part in parts if part and not part.isdecimal())


def remove_empty(tree: PhraseTree) -> PhraseTree | None:
    """Copy a tree without empty elements and phrases of nothing else; None if nothing is left."""
    is_kept = [node.word is not None and node.label != EMPTY for node in tree.nodes]
    for index in range(len(tree.nodes) - 1, 0, -1):
        is_kept[tree.nodes[index].parent] |= is_kept[index]
    if not is_kept[0]:
        return None
    new_indices: dict[int, int] = {-1: -1}
    nodes: list[Node] = []
    for index, node in enumerate(tree.nodes):
        if is_kept[index]:
            new_indices[index] = len(nodes)
            nodes.append(node._replace(parent=new_indices[node.parent]))
    return PhraseTree(tuple(nodes), tree.source, tree.first_line)
