from udtools.data import Data  # type: ignore[import-untyped]

from headwise.treebank.relations import relations
from headwise.treebank.universal import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS


def test_tags_and_relations_are_those_of_the_validator() -> None:
    data = Data()
    assert set(data.upos) == UNIVERSAL_TAGS
    assert data.get_deprel_for_language("ud") - {"ref"} == UNIVERSAL_RELATIONS


def test_every_universal_relation_is_explained() -> None:
    assert {label for label in relations() if ":" not in label} == UNIVERSAL_RELATIONS
