"""A table of lemmas wins over the model, and a table that cannot be read says where."""

import gzip
import math
from dataclasses import replace
from pathlib import Path

import pytest

import headwise
from headwise import DataError, Parse, sentence_from_words
from headwise.runtime.lemmas import find_lemma, lemmas_fingerprint, read_lemmas, set_lemmas

TABLE = "# ours\n\ndata\tNOUN\tdatum\n'em\t_\tthey\r\nUS\tPROPN\tUS\nsaw\t_\tsee\nsaw\tNOUN\tsaw\n"


def table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "lemmas.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_table_is_read(tmp_path: Path) -> None:
    lemmas = read_lemmas(table(tmp_path, TABLE))
    assert lemmas == {
        "data": {"NOUN": "datum"},
        "'em": {"_": "they"},
        "US": {"PROPN": "US"},
        "saw": {"_": "see", "NOUN": "saw"},
    }
    packed = table(tmp_path, gzip.compress(b"\xef\xbb\xbf" + TABLE.encode()))
    assert read_lemmas(packed) == lemmas
    assert lemmas_fingerprint(lemmas) == lemmas_fingerprint(dict(reversed(lemmas.items())))
    assert lemmas_fingerprint(lemmas) != lemmas_fingerprint({})


@pytest.mark.parametrize(
    ("form", "tag", "lemma"),
    [
        ("data", "NOUN", "datum"),
        ("Data", "NOUN", "datum"),  # at the start of a sentence
        ("data", "X", None),
        ("US", "PROPN", "US"),
        ("us", "PROPN", None),
        ("saw", "VERB", "see"),
        ("Saw", "NOUN", "saw"),
        ("sawed", "VERB", None),
    ],
)
def test_how_a_lemma_is_found(tmp_path: Path, form: str, tag: str, lemma: str | None) -> None:
    assert find_lemma(read_lemmas(table(tmp_path, TABLE)), form, tag) == lemma


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("data\tdatum\n", r":1: 'data\\tdatum' is not an entry\nhint: a line has three columns"),
        ("a\t_\tb\n\n#x\ta\n", r":3: '#x\\ta' is not an entry"),
        ("a\t_\t\n", ":1: .* is not an entry"),
        ("a\tnoun\tb\n", ":1: 'noun' is not a universal tag\nhint: one of ADJ, ADP"),
        ("a\t_\tb\na\t_\tc\n", ":2: 'a' with _ has the lemma 'b' already"),
        ("a\t_\tb\x1b[0m\n", ":1: .* has a control character"),
        (b"a\t_\t\xff\n", ":1: byte 5 of the line is not UTF-8"),
        ("a\t_\t" + "b" * 5_000, ":1: the line has more than 4,096 bytes"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str | bytes, what: str) -> None:
    with pytest.raises(DataError, match=what):
        read_lemmas(table(tmp_path, text))


def test_tables_are_bounded_and_must_exist(tmp_path: Path) -> None:
    assert read_lemmas(table(tmp_path, "a\t_\tb\n" * 3), max_lines=3) == {"a": {"_": "b"}}
    assert read_lemmas(table(tmp_path, "a\t_\tb\n" * 3), max_bytes=18) == {"a": {"_": "b"}}
    for limit in ({"max_lines": 3}, {"max_bytes": 18}):
        with pytest.raises(DataError, match=r"more than (3 lines|.* lines or 18 bytes)"):
            read_lemmas(table(tmp_path, "a\t_\tb\n" * 4), **limit)
    with pytest.raises(DataError, match="No such file"):
        read_lemmas(tmp_path / "missing")


def test_lemmas_are_set_and_lose_their_probability() -> None:
    sentence = sentence_from_words(
        [("Data", "given"), ("saw", "_"), ("it", "_")], ["form", "lemma"]
    )
    parse = Parse((0, 1, 1), ("a", "b", "c"), (0.0,) * 3, "greedy", ("NOUN", "VERB", "PRON"))
    lemmas = {"data": {"NOUN": "datum"}, "saw": {"_": "see"}}
    # A model without lemmas: those of the input stay where the table has none.
    plain = set_lemmas(sentence, parse, lemmas, keep_given=False)
    assert plain.lemmas == ("datum", "see", "_")
    assert plain.column_probs == {}
    full = replace(
        parse,
        lemmas=("data", "saw", "it"),
        column_probs={"lemma": (0.5, 0.5, 0.5), "upos": (1,) * 3},
    )
    changed = set_lemmas(sentence, full, lemmas, keep_given=False)
    assert changed.lemmas == ("datum", "see", "it")
    probs = changed.column_probs["lemma"]
    assert [math.isnan(prob) for prob in probs] == [True, True, False]
    assert changed.column_probs["upos"] == (1, 1, 1)
    kept = replace(full, lemmas=("given", "saw", "it"))
    assert set_lemmas(sentence, kept, lemmas, keep_given=True).lemmas == ("given", "see", "it")


@pytest.mark.parametrize("as_file", [True, False])
def test_a_parser_with_a_table(as_file: bool, tmp_path: Path) -> None:
    path = table(tmp_path, TABLE)
    parser = headwise.load(lemmas=path if as_file else read_lemmas(path))
    ((sentence, parse),) = parser.annotate_text("Data saw the US.")
    assert [word.lemma for word in sentence.words][:2] == ["datum", "see"]
    assert parse.lemmas == tuple(word.lemma for word in sentence.words)
