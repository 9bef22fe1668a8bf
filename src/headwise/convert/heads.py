r"""Which child of a phrase is its head: tables of rules, and the trees made ready for them.

A table is a text file, one phrase a line, in the form of Penn2Malt:

    NP	r POS NN NNP NNPS NNS;r NX;r JJR;r

Steps are tried in turn. A step looks from the left (`l`) or from the right (`r`) for the first
child whose category is one of its own; a step without categories takes the first child from that
side, punctuation passed over as long as there is anything else. Coordination has no rule of its
own: the table decides. Before that, traces and other empty elements (`-NONE-`) leave the tree, and
with them every phrase that holds nothing else.

Example: in `(NP (NNP Nov.) (CD 29) (, ,) (CD 1999))` the first step finds Nov., the last noun.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwise.convert.brackets import Node, Tree
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
    """One look along the children; without categories it takes whatever comes first."""

    from_left: bool
    categories: frozenset[str]


@dataclass(frozen=True, slots=True)
class HeadRules:
    """A table: the steps of each phrase, and those of every phrase that is not listed."""

    steps: Mapping[str, tuple[Step, ...]]
    default: tuple[Step, ...]

    def choose(self, phrase: str, children: Sequence[str]) -> int:
        """Give the place of the head among `children`, which are categories, not empty."""
        order = range(len(children))
        for step in (*self.steps.get(phrase, ()), *self.default):
            one_way = order if step.from_left else reversed(order)
            if step.categories:
                found = next((i for i in one_way if children[i] in step.categories), None)
            else:
                found = next((i for i in one_way if children[i] not in PUNCTUATION), None)
                if found is None:
                    return 0 if step.from_left else len(children) - 1
            if found is not None:
                return found
        raise AssertionError("the default of a table ends with a step without categories")


def load_rules(name: str) -> HeadRules:
    """Load a table by the name of one inside the package (`english`, `chinese`) or by its path."""
    if name in inside_tables():
        return read_rules(TABLES_FOLDER / f"{name}.txt")
    if not Path(name).exists():
        inside = ", ".join(inside_tables())
        raise ConfigError(f"no head rules '{name[:80]}'", f"one of {inside}, or the path of a file")
    return read_rules(name)


def inside_tables() -> tuple[str, ...]:
    """Name the tables inside the package."""
    return tuple(sorted(path.stem for path in TABLES_FOLDER.glob("*.txt")))


def read_rules(path: str | Path) -> HeadRules:
    """Read a table; `#` begins a line of comment."""
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
            raise DataError(f"'{phrase[:40]}' for the second time", name, number, _FORM)
        steps[phrase] = its_steps
    default = steps.pop(_DEFAULT, (Step(from_left=False, categories=frozenset()),))
    if default[-1].categories:
        raise DataError("default does not end with l or r alone", name, hint="default<tab>r")
    if not steps:
        raise DataError("no head rules in it", name, hint=_FORM)
    return HeadRules(steps, default)


def _read_line(line: str, name: str, number: int) -> tuple[str, tuple[Step, ...]]:
    """Read `NP r NN;r`; a colon after the phrase, as some tables have it, is passed over."""
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
    """Give a label without function tags and indices: `NP-SBJ-1` and `NP=2` are NP.

    Where annotators left two tags (`VBG|NN`), the first counts.
    """
    return label if label.startswith("-") else _AFTER_CATEGORY.split(label, maxsplit=1)[0] or label


def functions(label: str) -> tuple[str, ...]:
    """Give the function tags of a label: those of `NP-LOC-PRD-1` are LOC and PRD."""
    if label.startswith("-"):
        return ()
    parts = label.replace("=", "-").split("-")[1:]
    return tuple(part for part in parts if part and not part.isdecimal())


def without_empty(tree: Tree) -> Tree | None:
    """Copy a tree without empty elements and the phrases that hold only such; None if all is."""
    is_kept = [node.word is not None and node.label != EMPTY for node in tree.nodes]
    for place in range(len(tree.nodes) - 1, 0, -1):
        is_kept[tree.nodes[place].parent] |= is_kept[place]
    if not is_kept[0]:
        return None
    new_places: dict[int, int] = {-1: -1}
    nodes: list[Node] = []
    for place, node in enumerate(tree.nodes):
        if is_kept[place]:
            new_places[place] = len(nodes)
            nodes.append(node._replace(parent=new_places[node.parent]))
    return Tree(tuple(nodes), tree.source, tree.first_line)
