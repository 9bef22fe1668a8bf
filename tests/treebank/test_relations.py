"""The glossary of labels: complete, short, and the same in the docs."""

import re
from pathlib import Path

import pytest

import headwise
from headwise.treebank.relations import (
    Relation,
    explain_labels,
    find_relation,
    relations,
    write_glossary,
)

UNIVERSAL = {
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound",
    "conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat",
    "goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan",
    "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
}  # fmt: skip
LABELS_PAGE = Path(__file__).parents[2] / "docs/labels.md"


def test_all_universal_relations_are_there() -> None:
    assert {label for label in relations() if ":" not in label} == UNIVERSAL
    assert list(relations()) == sorted(relations())


def test_every_label_of_the_english_model_is_explained_as_it_is() -> None:
    labels = headwise.load().vocab.labels.strings
    assert set(labels) - set(relations()) == set()


@pytest.mark.parametrize("relation", relations().values(), ids=lambda relation: relation.label)
def test_a_relation_is_short_and_its_example_is_marked(relation: Relation) -> None:
    assert 0 < len(relation.name) <= 45
    assert len(relation.meaning) <= 120
    assert relation.meaning.endswith(".")
    n_heads = 0 if relation.label == "root" else 1
    assert len(re.findall(r"\[[^][{}]+\]", relation.example)) == 1
    assert len(re.findall(r"\{[^][{}]+\}", relation.example)) == n_heads
    assert len(relation.example) - len(relation.text) == 2 + 2 * n_heads
    assert (relation.language == "en") == (not relation.translation)


def test_an_unlisted_subtype_gets_its_universal_relation() -> None:
    assert find_relation("obl:somewhere") is relations()["obl"]
    assert find_relation("nobody:knows") is None


def test_labels_are_explained_in_a_line() -> None:
    assert explain_labels(["nsubj", "SBJ", "expl:pv"]) == {
        "nsubj": "nominal subject: The noun or pronoun that does something, or of which something "
        "is said. Example: Kids love candy.",
        "expl:pv": "pronoun that belongs to the verb: A reflexive pronoun without which the verb "
        "has another meaning or none. Example: Er freut sich. (He is glad.)",
    }


def test_the_page_shows_the_glossary() -> None:
    assert write_glossary() in LABELS_PAGE.read_text(encoding="utf-8"), "run make labels"
