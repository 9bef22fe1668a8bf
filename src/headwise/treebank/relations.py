"""The relations of Universal Dependencies, each with a short explanation and an example.

`relations.json` has the 37 universal relations and the subtypes that several treebanks share. The
page, the workbench and `docs/labels.md` show its contents. In an example, `[]` marks the
dependent and `{}` its head; `root` has no head.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

import msgspec

MARKS = str.maketrans("", "", "[]{}")


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A label of an arc: what it is called, what it means, and a marked example.

    An example that is not in English has a language and a translation.
    """

    label: str
    name: str
    meaning: str
    example: str
    language: str = "en"
    translation: str = ""

    @property
    def text(self) -> str:
        """The example without its marks."""
        return self.example.translate(MARKS)


def relations() -> Mapping[str, Relation]:
    """Return all relations by their labels, in alphabetical order."""
    return _read()


@cache
def _read() -> dict[str, Relation]:
    data = (files("headwise.treebank") / "relations.json").read_bytes()
    return {relation.label: relation for relation in msgspec.json.decode(data, type=list[Relation])}


def find_relation(label: str) -> Relation | None:
    """Find the relation of a label; a subtype that is not listed gets its universal relation."""
    listed = relations()
    return listed.get(label) or listed.get(label.partition(":")[0])


def explain_labels(labels: Iterable[str]) -> dict[str, str]:
    """Explain labels in a line each, with an example; labels that are not known are left out."""
    pairs = ((label, find_relation(label)) for label in labels)
    return {label: _explain(relation) for label, relation in pairs if relation}


def _explain(relation: Relation) -> str:
    translation = f" ({relation.translation})" if relation.translation else ""
    return f"{relation.name}: {relation.meaning} Example: {relation.text}{translation}"


def write_glossary() -> str:
    """Write all relations as a table in Markdown; dependents in bold, heads in italics."""
    rows = (
        f"| `{relation.label}` | {relation.name} | {relation.meaning} | {_to_html(relation)} |"
        for relation in relations().values()
    )
    return "\n".join(("| label | name | meaning | example |", "|---|---|---|---|", *rows)) + "\n"


def _to_html(relation: Relation) -> str:
    example = re.sub(
        r"\[(.*?)\]", r"<b>\1</b>", re.sub(r"\{(.*?)\}", r"<i>\1</i>", relation.example)
    )
    return f"{example} ({relation.translation})" if relation.translation else example
