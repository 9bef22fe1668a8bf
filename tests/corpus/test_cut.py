"""However a stream is cut into ranges, each document is read once, and all bytes are somewhere."""

from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.corpus import cut as cutting
from headwise.corpus.cut import Cut, Rule, conllu_rule, cut, first_byte

RULES = st.sampled_from(["line", "paragraph", "newdoc"])
LINES = st.lists(
    st.sampled_from(
        [
            b"\n",
            b" \t\n",
            b"\r\n",
            b"word\n",
            b"# newdoc id = x\n",
            b"# text\n",
            b"end",
            b"ab c\r\n",
        ]
    )
)


def read(data: bytes, start: int, end: int | None, rule: Rule) -> list[Cut]:
    stream = BytesIO(data)
    stream.seek(first_byte(start))
    return list(cut(stream, start, end, rule))


def test_the_example_of_the_page() -> None:
    data = b"a\n\nb\n\nc\n"
    assert [found.data for found in read(data, 0, 3, "paragraph")] == [b"a\n\n", b"b\n\n"]
    assert [found.data for found in read(data, 3, 8, "paragraph")] == [b"c\n"]


@settings(derandomize=True, database=None, max_examples=300)
@given(LINES, RULES, st.lists(st.integers(0, 60), max_size=6))
def test_ranges_share_documents_out_exactly(
    lines: list[bytes], rule: Rule, bounds: list[int]
) -> None:
    data = b"".join(lines)
    whole = read(data, 0, None, rule)
    assert b"".join(found.data or b"" for found in whole) == data
    marks = sorted({0, *(bound for bound in bounds if bound < len(data))})
    parts = [read(data, start, end, rule) for start, end in pairwise([*marks, None])]
    assert [found for part in parts for found in part] == whole


def test_rules() -> None:
    data = b"\n# newdoc id = 1\nx\n\ny\n\n\n# newdoc\nz\n"
    assert [found.position for found in read(data, 0, None, "line")] == [
        0,
        1,
        17,
        19,
        20,
        22,
        23,
        24,
        33,
    ]
    assert [found.position for found in read(data, 0, None, "paragraph")] == [0, 1, 20, 24]
    assert [found.position for found in read(data, 0, None, "newdoc")] == [0, 1, 24]


@pytest.mark.parametrize("rule", ["line", "paragraph", "newdoc"])
def test_what_is_too_long_is_counted_and_not_held(
    rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "MAX_DOCUMENT_BYTES", 30)
    monkeypatch.setattr(cutting, "CHUNK", 8)
    data = b"# newdoc\n" + b"long " * 20 + b"\n\n# newdoc\nshort\n"
    found = read(data, 0, None, rule)
    assert any(document.data is None and document.size >= 100 for document in found)
    assert found[-1].data is not None
    assert sum(document.size for document in found) == len(data)
    # A long line that begins with white space is no blank one.
    blanks = b"a\n" + b" " * 20 + b"b\nc\n"
    assert len(read(blanks, 0, None, "paragraph")) == 1


def test_too_long_a_part_makes_its_document_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MAX_DOCUMENT_BYTES", 30)
    data = b"# newdoc\na\n\n" + b"b" * 40 + b"\n\nc\n\n# newdoc\nd\n"
    assert [document.data for document in read(data, 0, None, "newdoc")] == [None, b"# newdoc\nd\n"]


def test_a_file_with_newdoc_is_cut_there() -> None:
    assert conllu_rule(b"\n# newdoc id = a\n# sent_id = 1\n1\t_\n\n") == "newdoc"
    assert conllu_rule(b"# sent_id = 1\n1\t_\n\n# newdoc\n") == "paragraph"
    assert conllu_rule(b"") == "paragraph"
