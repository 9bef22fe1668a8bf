"""Messages say what, where and what next, and are safe to print."""

import io

import pytest

from headwise.errors import DataError, HeadwiseError, plural, refuse
from headwise.treebank.conllu import read_sentences


@pytest.mark.parametrize(
    "wild",
    ["\x1b[31m", "\x07", "\x00", "a\rb", "\x9b1m", "\x7f", "\u202e", "\u2066", "\u2028", "\udc80"],
)
def test_control_characters_never_reach_the_terminal(wild: str) -> None:
    error = HeadwiseError(f"HEAD is '{wild}'", f"not {wild}")
    assert wild not in str(error)
    assert str(error) == f"{error.what}\nhint: {error.hint}"
    assert str(error).isprintable() or str(error).count("\n") == 1
    str(error).encode()
    line = f"1\tx\t_\t_\t_\t_\t{wild}\t_\t_\t_\n".encode(errors="replace")
    with pytest.raises(DataError) as refusal:
        list(read_sentences(io.BytesIO(line)))
    assert wild not in str(refusal.value)


def test_other_characters_are_shown_as_they_are() -> None:
    assert HeadwiseError("«mi\u200cx»\tü\n語\u00a0😀").what == "«mi\u200cx»\tü\n語\u00a0😀"


def test_where_comes_before_what() -> None:
    error = DataError("HEAD is 9", "a.conllu", 7, "a hint")
    assert str(error) == "a.conllu:7: HEAD is 9\nhint: a hint"
    assert (error.source, error.line, error.hint) == ("a.conllu", 7, "a hint")
    assert str(DataError("it is closed", "<stdin>")) == "<stdin>: it is closed"


@pytest.mark.parametrize(
    ("count", "written"), [(0, "0 words"), (1, "1 word"), (2000, "2,000 words")]
)
def test_counts_have_their_noun(count: int, written: str) -> None:
    assert plural(count, "word") == written


def test_a_value_of_the_wrong_type_is_refused() -> None:
    refuse([], (str,), "a list, please")
    with pytest.raises(TypeError, match="a list, please"):
        refuse("text", (str,), "a list, please")
