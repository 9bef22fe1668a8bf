"""Lemmas that a user sets: a table of forms, tags and lemmas that wins over the model.

    data<TAB>NOUN<TAB>datum
    'em<TAB>_<TAB>they

A line names a form, a universal tag (`_`: any) and a lemma. A form in lower case also matches
the same form with capitals, unless that form has its own line.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from headwise.errors import DataError
from headwise.files import open_source
from headwise.treebank.sentence import BLANK, Parse, Sentence
from headwise.treebank.universal import UNIVERSAL_TAGS

Lemmas = Mapping[str, Mapping[str, str]]
"""For each form, its lemma by universal tag; `_` stands for any tag."""
MAX_LINES = 2_000_000
MAX_LINE_BYTES = 4_096
MAX_BYTES = 2**27
"""Of the whole table, unpacked: 2,000,000 lines of 67 bytes."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_COLUMNS_HINT = "a line has three columns separated by tabs: form, UPOS or _, lemma"


def read_lemmas(
    path: str | Path, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> dict[str, dict[str, str]]:
    """Read a table of lemmas; blank lines, and lines that start with `#` and have no tab, pass."""
    lemmas: dict[str, dict[str, str]] = {}
    n_bytes = 0
    with open_source(path) as (stream, name):
        lines = iter(lambda: stream.readline(MAX_LINE_BYTES + 1), b"")
        for number, line in enumerate(lines, 1):
            n_bytes += len(line)
            if number > max_lines or n_bytes > max_bytes:
                limits = f"{max_lines:,} lines or {max_bytes:,} bytes"
                raise DataError(f"more than {limits}", name, hint="use a smaller table")
            if len(line) > MAX_LINE_BYTES:
                what = f"the line has more than {MAX_LINE_BYTES:,} bytes"
                raise DataError(what, name, number, _COLUMNS_HINT)
            if entry := _read_entry(line, name, number):
                form, tag, lemma = entry
                if lemmas.setdefault(form, {}).setdefault(tag, lemma) != lemma:
                    what = f"{form!r} with {tag} has the lemma {lemmas[form][tag]!r} already"
                    raise DataError(what, name, number, "keep one of the lines")
    return lemmas


def _read_entry(line: bytes, name: str, number: int) -> tuple[str, str, str] | None:
    try:
        text = line.decode("utf-8").removeprefix("\ufeff").rstrip("\r\n")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} of the line is not UTF-8"
        raise DataError(what, name, number, "save the file as UTF-8") from error
    if not text or (text.startswith("#") and "\t" not in text):
        return None
    columns = [column.strip() for column in text.split("\t")]
    if len(columns) != 3 or not all(columns):
        raise DataError(f"{text[:40]!r} is not an entry", name, number, _COLUMNS_HINT)
    form, tag, lemma = columns
    if _CONTROL.search(text.replace("\t", "")):
        raise DataError(f"{text[:40]!r} has a control character", name, number, _COLUMNS_HINT)
    if tag != BLANK and tag not in UNIVERSAL_TAGS:
        hint = f"one of {', '.join(sorted(UNIVERSAL_TAGS))}, or _ for any"
        raise DataError(f"{tag[:40]!r} is not a universal tag", name, number, hint)
    return form, tag, lemma


def lemmas_fingerprint(lemmas: Lemmas) -> str:
    """Give a checksum of a table."""
    return hashlib.sha256(msgspec.json.encode(lemmas, order="deterministic")).hexdigest()


def set_lemmas(sentence: Sentence, parse: Parse, lemmas: Lemmas, keep_given: bool) -> Parse:
    """Put lemmas of the table in place of those of the parse, or of the sentence if it has none.

    A lemma from the table has no probability (NaN). With `keep_given`, lemmas of the input stay.
    """
    old = parse.lemmas or tuple(word.lemma for word in sentence.words)
    tags = parse.upos or [word.upos for word in sentence.words]
    probs = list(parse.column_probs.get("lemma", ()))
    new = list(old)
    for i, (word, tag) in enumerate(zip(sentence.words, tags, strict=True)):
        lemma = find_lemma(lemmas, word.form, tag)
        if lemma is None or (keep_given and word.lemma != BLANK):
            continue
        new[i] = lemma
        if probs:
            probs[i] = math.nan
    column_probs = {**parse.column_probs, "lemma": tuple(probs)} if probs else parse.column_probs
    return replace(parse, lemmas=tuple(new), column_probs=column_probs)


def find_lemma(lemmas: Lemmas, form: str, tag: str) -> str | None:
    """Look up a form as it is, then in lower case; a line with the tag wins over one for any."""
    for spelling in (form, form.lower()):
        if by_tag := lemmas.get(spelling):
            lemma = by_tag.get(tag) or by_tag.get(BLANK)
            if lemma is not None:
                return lemma
    return None
