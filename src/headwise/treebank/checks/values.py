"""Level 2, cell by cell: universal tags and relations, and the form of FEATS, DEPS and MISC."""

import re
import unicodedata
from collections import Counter

from headwise.treebank.checks.rows import Checks, ColumnName, Row, quote
from headwise.treebank.sentence import BLANK
from headwise.treebank.universal import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS

_ENHANCED_ONLY = frozenset({"ref"})
_FEATURE = re.compile(r"([A-Z][A-Za-z0-9]*(?:\[[a-z0-9]+\])?)=([A-Z0-9][A-Za-z0-9,]*)")
_VALUE = re.compile(r"[A-Z0-9][A-Za-z0-9]*")
_RELATION = re.compile(r"[a-z]+(:[a-z]+)?")
_LOWER = re.compile(r"[a-z]+")
_CASELESS_OR_LOWER = {"Ll", "Lm", "Lo", "Mn", "Mc", "Me"}
_ONCE_IN_MISC = {"SpaceAfter", "Lang", "Translit", "LTranslit", "Gloss", "LId", "LDeriv", "Ref"}
_BLANK_IN_RANGES: tuple[ColumnName, ...] = (
    "lemma",
    "upos",
    "xpos",
    "feats",
    "head",
    "deprel",
    "deps",
)


def check_values(row: Row) -> Checks:
    """Check the cells of a word, a multi-word token or an empty node, each by itself."""
    if row.is_range:
        yield from _check_blank_cells(row, _BLANK_IN_RANGES, "a multi-word token")
    else:
        if row.is_empty_node:
            yield from _check_blank_cells(row, ("head", "deprel"), "an empty node")
        else:
            yield from _check_relation(row)
        yield from _check_tag(row)
        yield from _check_features(row)
        yield from _check_enhanced_relations(row)
    yield from _check_misc(row)


def _check_blank_cells(row: Row, columns: tuple[ColumnName, ...], what: str) -> Checks:
    for column in columns:
        value: str = getattr(row.cells, column)
        may_stay = column == "feats" and row.is_range and value == "Typo=Yes"
        if value != BLANK and not may_stay:
            yield row.check(2, column, f"{column.upper()} of {what} must be _, not {quote(value)}")


def _check_tag(row: Row) -> Checks:
    tag = row.cells.upos
    if tag == BLANK:
        if row.is_word:
            yield row.check(2, "upos", "the word has no UPOS")
    elif tag not in UNIVERSAL_TAGS:
        yield row.check(2, "upos", f"{quote(tag)} is not a universal tag (NOUN, VERB, ...)")


def _check_relation(row: Row) -> Checks:
    label = row.cells.deprel
    if label == BLANK:
        yield row.check(2, "deprel", "the word has no DEPREL")
    elif not _RELATION.fullmatch(label):
        what = f"DEPREL is {quote(label)}, but must look like obl or obl:tmod"
        yield row.check(2, "deprel", what)
    elif label.partition(":")[0] not in UNIVERSAL_RELATIONS:
        what = f"{quote(label.partition(':')[0])} is not a universal relation (nsubj, obl, ...)"
        yield row.check(2, "deprel", what)


def _check_features(row: Row) -> Checks:
    feats = row.cells.feats
    if feats == BLANK:
        return
    features = feats.split("|")
    if not _is_sorted(features):
        yield row.check(2, "feats", f"features must be sorted by name: {quote(feats)}")
    names: Counter[str] = Counter()
    for feature in features:
        match = _FEATURE.fullmatch(feature)
        values = match[2].split(",") if match else []
        if match is None or not all(map(_VALUE.fullmatch, values)):
            what = f"{quote(feature)} must look like Name=Value, with letters and digits only"
            yield row.check(2, "feats", what)
            continue
        names[match[1]] += 1
        if len(set(values)) < len(values):
            yield row.check(2, "feats", f"{quote(feature)} has a value twice")
        elif not _is_sorted(values):
            yield row.check(2, "feats", f"the values of {quote(feature)} must be sorted")
    for name, n in names.items():
        if n > 1:
            yield row.check(2, "feats", f"the feature {quote(name)} occurs twice")


def _is_sorted(values: list[str]) -> bool:
    lower = [value.lower() for value in values]
    return lower == sorted(lower)


def _check_enhanced_relations(row: Row) -> Checks:
    """Check the labels in DEPS; its heads are left to `structure`."""
    if row.cells.deps == BLANK:
        return
    for pair in row.cells.deps.split("|"):
        label = pair.partition(":")[2]
        if not label:
            continue
        if not _is_enhanced_relation(label):
            what = f"{quote(label)} in DEPS must look like obl, obl:tmod or nmod:of"
            yield row.check(2, "deps", what)
        elif label.partition(":")[0] not in UNIVERSAL_RELATIONS | _ENHANCED_ONLY:
            what = f"{quote(label.partition(':')[0])} in DEPS is not a universal relation"
            yield row.check(2, "deps", what)


def _is_enhanced_relation(label: str) -> bool:
    """Check a relation, with up to three additions: subtype, preposition, case.

    Only the preposition may have letters other than a-z, and underscores.
    """
    relation, *additions = label.split(":")
    is_plain = [_LOWER.fullmatch(addition) is not None for addition in additions]
    if not _LOWER.fullmatch(relation) or len(additions) > 3 or is_plain.count(False) > 1:
        return False
    if len(additions) == 3 and not (is_plain[0] and is_plain[2]):
        return False
    return all(
        part and all(unicodedata.category(letter) in _CASELESS_OR_LOWER for letter in part)
        for addition in additions
        for part in addition.split("_")
    )


def _check_misc(row: Row) -> Checks:
    keys = Counter(part.partition("=")[0] for part in row.cells.misc.split("|"))
    for key in _ONCE_IN_MISC & keys.keys():
        if keys[key] > 1:
            yield row.check(2, "misc", f"{key} must not occur twice in MISC")
