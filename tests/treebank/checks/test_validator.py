"""The validator of Universal Dependencies gives the same verdict on damaged sentences."""

from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from udtools import Validator  # type: ignore[import-untyped]
from udtools.state import State  # type: ignore[import-untyped]

from headwise.treebank.checks import Check, check_lines
from headwise.treebank.conllu import read_sentences

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOR_TREEBANKS = {"parallel-id-part", "parallel-id-alt"}
FOR_SENTENCES = {
    *("word-id-sequence", "multiple-roots", "non-tree", "missing-empty-line", "unconnected-egraph"),
    *("missing-text", "multiple-text", "text-extra-chars", "missing-sent-id", "multiple-sent-id"),
    *("invalid-sent-id", "slash-in-sent-id", "multiple-newdoc", "multiple-newpar", "empty-text"),
    *("invalid-parallel-id", "multiple-parallel-id", "text-trailing-whitespace", "empty-sentence"),
    *("nospaceafter-yes", "misplaced-word-interval", "misplaced-empty-node", "missing-spaceafter"),
}  # fmt: skip
"""Errors that the validator reports at another line than the one that is wrong, or again and again
after the first."""
STRICTER_HERE = "must be root", "DEPREL is root"
"""That HEAD 0 and the label root go together is level 3 in the validator."""
DEPS = [
    *("1:dep", "0:root", "2:dep|1:dep", "1:dep|1:dep", "1:dep|2:conj:and", "99:dep", "1:", "dep"),
    *("1.1:ref", "1:obl:für:acc", "1:Obl", "1:foo", "x:dep", "1:dep:a:b:c:d", "1:conj|1:case"),
]  # fmt: skip
FEATS = [
    *("A=B", "A=b", "a=B", "A=B|A=C", "B=A|A=B", "A=C,B", "A=B,C", "A=B,B", "A[x]=B", "A=", "A"),
    *("A=B|b=C", "A=B,", "A=B|", "Typo=Yes", "Number=Plur|Number[psor]=Sing"),
]  # fmt: skip
MISC = [
    *("SpaceAfter=No", "SpaceAfter=Yes", "NoSpaceAfter=Yes", "Lang=a|Lang=b", "a=b|c", "|", "_"),
    *("SpaceAfter=No|SpaceAfter=No", "a b"),
]  # fmt: skip
VALUES = {
    0: ["0", "1", "2", "3", "99", "1-2", "2-3", "3-2", "0.1", "1.1", "2.1", "3.2", "x", "01"],
    1: ["a b", "a  b", "x", "_", "Kids", "o\u0308"],
    2: ["a b", "_", "\ufffd", ""],
    3: ["NOUN", "noun", "PUNCT", "_", "N V", "FOO"],
    4: ["_", "", "NN S"],
    5: [*FEATS, "_"],
    6: ["_", "0", "1", "2", "3", "99", "-1", "01", "1.1", "x"],
    7: ["root", "obl:tmod", "obl:TMOD", "foo", "_", "obl:a:b", "Obl"],
    8: [*DEPS, "_"],
    9: MISC,
}
ANYTHING = ["_", "", " ", "x", "a ", " a", "\u00a0", "\ufffd", "\u212b", *DEPS, *FEATS, *MISC]
COMMENTS = [
    *("# text = x", "# text =", "# sent_id = a", "# sent_id =", "# sent_id = a b", "# newpar"),
    *("# newdoc", "# newdoc id = x", "# parallel_id = a/b", "# parallel_id = a/b/alt1part2"),
    *("# parallel_id = a", "# parallel_id = a/b/", "#sent_id=z", "# x", "#", "# text = a b "),
]  # fmt: skip


@cache
def validator() -> Validator:
    return Validator(level=2, output=None)


@cache
def good_sentences() -> list[list[str]]:
    names = ["ewt-dev-100", "coptic-20", "ewt-empty-nodes-6"]
    return [
        list(sentence.lines)
        for name in names
        for sentence in read_sentences(FIXTURES / f"{name}.conllu")
        if len(sentence) < 15
    ]


@st.composite
def damaged(draw: st.DrawFn) -> list[str]:
    lines = list(draw(st.sampled_from(good_sentences())))
    first = sum(1 for line in lines if line.startswith("#"))
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from([*["cell"] * 6, "any", "drop", "twice", "comment"]))
        at = draw(st.integers(0 if kind in {"drop", "twice"} else first, len(lines) - 1))
        if kind == "drop" and len(lines) > 1:
            del lines[at]
        elif kind == "twice":
            lines.insert(at, lines[at])
        elif kind == "comment":
            lines.insert(draw(st.integers(0, 2)), draw(st.sampled_from(COMMENTS)) + "\n")
        elif "\t" in lines[at]:
            cells = lines[at].rstrip("\n").split("\t")
            column = draw(st.integers(0, len(cells) - 1))
            values = VALUES[column] if kind == "cell" else ANYTHING
            cells[column] = draw(st.sampled_from(values))
            lines[at] = "\t".join(cells) + "\n"
    return lines


def errors_of_udtools(lines: list[str]) -> list[Any]:
    state = State()
    state.current_line = len(lines)
    validator().validate_sentence([line.rstrip("\n") for line in lines], state)
    return [error for error in state.error_tracker if error.testid not in FOR_TREEBANKS]


def our_errors(lines: list[str]) -> list[Check]:
    found = [check for check in check_lines(lines) if check.level]
    return [c for c in found if not any(what in c.message for what in STRICTER_HERE)]


@settings(max_examples=300, deadline=None)
@given(lines=damaged())
def test_verdicts_are_the_same_level_by_level(lines: list[str]) -> None:
    assume(any(line.partition("\t")[0].isdigit() for line in lines))
    theirs = [error for error in errors_of_udtools(lines) if error.is_error()]
    ours = our_errors(lines)
    # The validator accepts a range that stands too far before its first word.
    assume(not any("must come right before" in check.message for check in ours))
    assert min((e.level for e in theirs), default=None) == min(
        (check.level for check in ours), default=None
    ), ([error.testid for error in theirs], ours)
    rows = {check.row for check in ours}
    for error in theirs:
        if error.testid not in FOR_SENTENCES:
            assert error.lineno - 1 in rows, (error.testid, error.lineno, ours)
