"""Level 2, comments: `sent_id` and `text` occur once, and the text matches the tokens."""

import re
from collections.abc import Sequence

from headwise.treebank.checks.rows import Check, Checks, Row, quote

_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S+)")
_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
_PARALLEL_ID = re.compile(
    r"#\s*parallel_id\s*=\s*[a-z]+/[-0-9a-z]+(?:/(?:alt[1-9][0-9]*)?(?:part[1-9][0-9]*)?)?(?<!/)"
)
_BREAKS = {kind: re.compile(rf"#\s*{kind}(?:\s+\S+)?") for kind in ("newdoc", "newpar")}


def check_metadata(lines: Sequence[str], rows: Sequence[Row]) -> Checks:
    """Check the comments, and the `text` comment against FORM and SpaceAfter."""
    comments = [(at, line.rstrip("\r\n")) for at, line in enumerate(lines) if line.startswith("#")]
    yield from _check_sent_id(comments)
    yield from _check_other_comments(comments)
    for row in rows:
        yield from _check_space_after(row)
    yield from _check_words_of_ranges(rows)
    texts = [(at, match[1]) for at, line in comments if (match := _TEXT.fullmatch(line))]
    if not texts:
        yield Check(2, None, None, "the comment '# text = ...' is missing")
    for at, _ in texts[1:]:
        yield Check(2, None, None, "the comment '# text' occurs twice", at)
    if len(texts) == 1:
        at, text = texts[0]
        if not text or text != text.rstrip():
            what = "must not end with a space" if text else "must not be empty"
            yield Check(2, None, None, f"the comment '# text' {what}", at)
        yield from _check_text(text, at, _tokens(rows))


def _check_sent_id(comments: Sequence[tuple[int, str]]) -> Checks:
    matches = [(at, match) for at, line in comments if (match := _SENT_ID.fullmatch(line))]
    for at, line in comments:
        if re.match("# ?sent_id", line) and not _SENT_ID.fullmatch(line):
            what = f"{quote(line)} must look like '# sent_id = x', without spaces in x"
            yield Check(2, None, None, what, at)
    if not matches:
        yield Check(2, None, None, "the comment '# sent_id = ...' is missing")
    for at, _ in matches[1:]:
        yield Check(2, None, None, "the comment '# sent_id' occurs twice", at)
    if len(matches) == 1 and matches[0][1][1].count("/") > 1:
        yield Check(2, None, None, "sent_id may have one / at most", matches[0][0])


def _check_other_comments(comments: Sequence[tuple[int, str]]) -> Checks:
    for kind, pattern in _BREAKS.items():
        places = [at for at, line in comments if pattern.fullmatch(line)]
        for at in places[1:]:
            yield Check(2, None, None, f"the comment '# {kind}' occurs twice", at)
    places = []
    for at, line in comments:
        if _PARALLEL_ID.fullmatch(line):
            places.append(at)
        elif re.match("# ?parallel_id", line):
            what = f"{quote(line)} must look like '# parallel_id = corpus/sentence'"
            yield Check(2, None, None, what, at)
    for at in places[1:]:
        yield Check(2, None, None, "the comment '# parallel_id' occurs twice", at)


def _check_space_after(row: Row) -> Checks:
    misc = row.cells.misc
    if "NoSpaceAfter=Yes" in misc:
        yield row.check(2, "misc", "write SpaceAfter=No instead of NoSpaceAfter=Yes")
    if any(part.startswith("SpaceAfter=") and part != "SpaceAfter=No" for part in misc.split("|")):
        yield row.check(2, "misc", "SpaceAfter can only be No; did you mean SpacesAfter?")
    if row.is_empty_node and "SpaceAfter=No" in misc:
        yield row.check(2, "misc", "an empty node is not in the text and cannot have SpaceAfter")


def _check_words_of_ranges(rows: Sequence[Row]) -> Checks:
    last = 0
    for row in rows:
        if row.is_range:
            last = int(row.cells.id.partition("-")[2])
        elif row.is_word and int(row.cells.id) <= last and "SpaceAfter=No" in row.cells.misc:
            what = "SpaceAfter=No belongs to the multi-word token, not to a word of it"
            yield row.check(2, "misc", what)


def _tokens(rows: Sequence[Row]) -> list[Row]:
    """List the lines that are in the text: ranges, and words outside of them."""
    tokens: list[Row] = []
    last = 0
    for row in rows:
        if row.is_range:
            last = int(row.cells.id.partition("-")[2])
            tokens.append(row)
        elif row.is_word and int(row.cells.id) > last:
            tokens.append(row)
    return tokens


def _check_text(text: str, at: int, tokens: Sequence[Row]) -> Checks:
    """Spell the text token by token, and stop at the first that differs."""
    rest = text
    for row in tokens:
        form = row.cells.form
        if not rest.startswith(form):
            what = f"FORM is {quote(form)}, but the text continues with {quote(rest)}"
            if rest[:1].isspace():
                what += "; is there an extra SpaceAfter=No before it?"
            yield row.check(2, "form", what)
            return
        rest = rest[len(form) :]
        if "SpaceAfter=No" not in row.cells.misc.split("|"):
            if rest and not rest[0].isspace():
                what = f"no space follows {quote(form)} in the text; add SpaceAfter=No"
                yield row.check(2, "misc", what)
            rest = rest.lstrip()
    if rest:
        yield Check(2, None, None, f"the text continues after the last word: {quote(rest)}", at)
