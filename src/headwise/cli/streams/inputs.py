"""What the arguments of `headwise parse` mean: files, folders, patterns, text or stdin.

A path that exists is a file or a folder, and a pattern that matches is its files. One argument that
is neither is text, unless it looks like the name of a file: a mistyped name is refused, not parsed.
Several arguments are files. `--text` makes all of them text.
"""

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from headwise.errors import ConfigError, DataError, escape_controls
from headwise.files import similar_name
from headwise.settings.choices import Input

ENDINGS = (".txt", ".text", ".conllu", ".conllx", ".conll")
"""Files that are taken from a folder, compressed or not."""
PACKED = (".gz", ".xz")
_FILE_NAME = re.compile(
    r"(~|\.{1,2})?/.*|[A-Za-z]:\\.*|\S*\\\S*|\S*_\S*"
    r"|\S+\.(txt|text|conll|conllu|conllx|json|jsonl|tsv|csv|md|rst|html?|xml|pdf|docx?|odt|rtf"
    r"|epub|gz|xz|bz2|zip|parquet|toml|svg|png)",
    re.IGNORECASE,
)
"""Starts like a path, has a `_`, or is one word with the ending of a file."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_LONGEST_NAME = 255
"""Characters; longer arguments are text at first sight."""


@dataclass(frozen=True, slots=True)
class ParseInput:
    """One input: a text, the path of a file, or `-` for stdin.

    `name` is the path of the file below the folder or pattern that was given, or its last part.
    """

    content: str
    is_file: bool
    name: str = ""
    is_in_folder: bool = False

    @property
    def document(self) -> str:
        """Its name without what is known as an ending, to name an output or a document."""
        return _without_ending(self.name)


def document_ids(sources: Sequence[ParseInput]) -> list[str]:
    """Name the documents of one output so that no two have the same name."""
    names = [source.document for source in sources]
    if len(set(names)) < len(names):
        names = [_without_ending(source.content) for source in sources]
    return [escape_controls(re.sub(r"\s", "_", name)) for name in names]


def _without_ending(name: str) -> str:
    for endings in (PACKED, (*ENDINGS, ".md")):
        stem, ending = os.path.splitext(name)
        name = stem if ending.lower() in endings else name
    return name


def find_sources(
    arguments: Sequence[str], form: Input, as_text: bool, output: str = "-"
) -> list[ParseInput]:
    """Find out what the arguments stand for; files in the folder `output` are left out."""
    if as_text:
        if form in ("conllu", "conllx"):
            raise ConfigError(f"--text and --input {form}: a treebank is a file", "leave one out")
        if not arguments:
            raise ConfigError(
                "--text: there is no text", "headwise parse --text 'Kids love candy.'"
            )
        return [ParseInput("\n\n".join(arguments), is_file=False)]
    found: dict[str, ParseInput] = {}
    for argument in arguments or ["-"]:
        sources = _files(argument, output)
        if sources is None:
            is_text = len(arguments) == 1 and form not in ("conllu", "conllx")
            if is_text and not looks_like_a_file(argument):
                return [ParseInput(argument, is_file=False)]
            raise _no_such_file(argument, arguments, form)
        for source in sources:
            found.setdefault(os.path.realpath(source.content), source)
    return list(found.values())


def _files(argument: str, output: str) -> list[ParseInput] | None:
    """List the files that an argument names; None if it names nothing that exists."""
    if argument == "-":
        return [ParseInput("-", is_file=True, name="stdin")]
    if os.path.isdir(argument):
        return _files_below(argument, output)
    if os.path.exists(argument):
        return [ParseInput(argument, is_file=True, name=os.path.basename(argument))]
    if not _may_be_a_name(argument) or not glob.has_magic(argument):
        return None
    fixed = os.path.dirname(argument[: re.search(r"[*?[]", argument).start()])  # type: ignore[union-attr]
    paths = sorted(path for path in glob.glob(argument, recursive=True) if os.path.isfile(path))
    if not paths:
        return None
    return [
        ParseInput(path, True, os.path.relpath(path, fixed or "."), is_in_folder=True)
        for path in paths
    ]


def _files_below(folder: str, output: str) -> list[ParseInput]:
    """List the texts and treebanks in a folder and its sub-folders, by name; hidden ones not."""
    target = None if output == "-" else os.path.realpath(output)
    found = []
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(path, name)) != target
        )
        for name in sorted(files):
            stem, ending = os.path.splitext(name.lower())
            plain = os.path.splitext(stem)[1] if ending in PACKED else ending
            if plain in ENDINGS and not name.startswith("."):
                full = os.path.join(path, name)
                found.append(
                    ParseInput(full, True, os.path.relpath(full, folder), is_in_folder=True)
                )
    if not found:
        what = f"no file ends in {', '.join(ENDINGS)} (.gz, .xz)"
        raise DataError(what, folder, hint=f"name others by a pattern: {quote(folder + '/*')}")
    return found


def looks_like_a_file(argument: str) -> bool:
    """Return whether an argument that is not a file is more likely a mistyped name than text."""
    if not _may_be_a_name(argument):
        return False
    if _FILE_NAME.fullmatch(argument) or _ADDRESS.fullmatch(argument):
        return True
    folders = Path(argument).parents
    is_below = any(os.path.isdir(folder) for folder in folders if str(folder) not in (".", "/"))
    return is_below or similar_name(argument) is not None


def _may_be_a_name(argument: str) -> bool:
    return 0 < len(argument) <= _LONGEST_NAME and "\n" not in argument


def _no_such_file(argument: str, arguments: Sequence[str], form: Input) -> DataError:
    text = " ".join(arguments)
    or_text = "" if form in ("conllu", "conllx") else " If it is text: --text"
    are_names = any(os.path.exists(one) or _FILE_NAME.fullmatch(one) for one in arguments)
    similar = similar_name(argument) if _may_be_a_name(argument) else None
    if _ADDRESS.fullmatch(argument):
        hint = "headwise fetches nothing from the network: download it first"
    elif similar is not None:
        hint = f"did you mean {quote(similar)}?{or_text}"
    elif len(arguments) > 1 and not are_names:
        hint = f"several arguments are files; put text in quotes: {quote(text[:200])}"
    elif glob.has_magic(argument):
        hint = "no file matches this pattern"
    else:
        hint = f"is the path right?{or_text}"
    return DataError("No such file or directory", argument[:_LONGEST_NAME], hint=hint)
