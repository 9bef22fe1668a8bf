"""However a stream is divided into ranges, each document is read once and no byte is lost."""

from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.corpus.splitting import (
    MAX_DOCUMENT_BYTES,
    BoundaryRule,
    choose_conllu_rule,
    first_byte,
    split_stream,
)

RULES = st.sampled_from(["line", "paragraph", "newdoc"])
LINES = st.lists(
    st.sampled_from(b"\n| \t\n|\r\n|word\n|# newdoc id = x\n|# text\n|end|ab c\r\n".split(b"|"))
)


def read(
    data: bytes, start: int, end: int | None, rule: BoundaryRule
) -> list[tuple[int, bytes | None]]:
    stream = BytesIO(data)
    stream.seek(first_byte(start))
    return list(split_stream(stream, start, end, rule))


def texts(data: bytes, start: int, end: int | None, rule: BoundaryRule) -> list[bytes | None]:
    return [text for _, text in read(data, start, end, rule)]


def test_the_example_of_the_module() -> None:
    data = b"a\n\nb\n\nc\n"
    assert texts(data, 0, 3, "paragraph") == [b"a\n\n", b"b\n\n"]
    assert texts(data, 3, 8, "paragraph") == [b"c\n"]


@settings(derandomize=True, database=None, max_examples=300)
@given(LINES, RULES, st.lists(st.integers(0, 60), max_size=6))
def test_every_document_is_in_exactly_one_range(
    lines: list[bytes], rule: BoundaryRule, bounds: list[int]
) -> None:
    data = b"".join(lines)
    whole = read(data, 0, None, rule)
    assert b"".join(text or b"" for _, text in whole) == data
    marks = sorted({0, *(bound for bound in bounds if bound < len(data))})
    parts = [read(data, start, end, rule) for start, end in pairwise([*marks, None])]
    assert [document for part in parts for document in part] == whole


def test_rules() -> None:
    data = b"\n# newdoc id = 1\nx\n\ny\n\n\n# newdoc\nz\n"
    positions: dict[BoundaryRule, list[int]] = {
        "line": [0, 1, 17, 19, 20, 22, 23, 24, 33],
        "paragraph": [0, 1, 20, 24],
        "newdoc": [0, 1, 24],
    }
    for rule, expected in positions.items():
        assert [position for position, _ in read(data, 0, None, rule)] == expected


@pytest.mark.parametrize("rule", ["line", "paragraph", "newdoc"])
def test_a_long_document_is_not_held(rule: BoundaryRule) -> None:
    long = b"long " * (MAX_DOCUMENT_BYTES // 5 + 1)
    data = b"# newdoc\n" + long + b"\n\n# newdoc\nshort\n"
    end = [b"\n", b"# newdoc\n", b"short\n"] if rule == "line" else [b"# newdoc\nshort\n"]
    assert texts(data, 0, None, rule)[-1 - len(end) :] == [None, *end]


def test_a_long_paragraph_makes_its_document_too_long() -> None:
    data = b"# newdoc\na\n\n" + b"b" * MAX_DOCUMENT_BYTES + b"\n\nc\n\n# newdoc\nd\n"
    assert texts(data, 0, None, "newdoc") == [None, b"# newdoc\nd\n"]


def test_a_long_line_that_starts_with_white_space_is_not_blank() -> None:
    assert len(read(b"a\n" + b" " * 2**21 + b"b\nc\n", 0, None, "paragraph")) == 1


def test_a_file_with_newdoc_is_split_there() -> None:
    assert choose_conllu_rule(b"\n# newdoc id = a\n# sent_id = 1\n1\t_\n\n") == "newdoc"
    assert choose_conllu_rule(b"# sent_id = 1\n1\t_\n\n# newdoc\n") == "paragraph"
    assert choose_conllu_rule(b"") == "paragraph"
