"""What `headwise parse` and `headwise show` write: where, in which format, and trees in it.

`-o` names a folder if it is one, if it ends in `/`, or if there are several inputs (or a folder of
them) and its name has no ending of an output. The file for `a.txt` is then `a.conllu`, in the
sub-folder that the input was in. Two inputs with the same output, and an output that is an input,
are refused before anything is written.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from headwise.cli.streams.inputs import PACKED, ParseInput
from headwise.errors import ConfigError
from headwise.files import make_folder
from headwise.render.html import html_page
from headwise.render.png import require_png, to_png
from headwise.render.svg import stack_svgs, to_svg
from headwise.render.terminal import draw
from headwise.runtime.parser import Annotated
from headwise.settings.choices import Input, PredictedColumn
from headwise.treebank.records import to_json
from headwise.treebank.sentence import Parse, Sentence

OutputFormat = Literal["conllu", "conllx", "json", "tree", "svg", "png", "html"]
PICTURES: tuple[OutputFormat, ...] = ("svg", "png", "html")
BY_SUFFIX: dict[str, OutputFormat] = {
    ".json": "json",
    ".jsonl": "json",
    ".svg": "svg",
    ".png": "png",
    ".html": "html",
    ".htm": "html",
}
_ENDINGS: dict[OutputFormat, str] = {
    "conllu": ".conllu",
    "conllx": ".conllx",
    "json": ".jsonl",
    "tree": ".txt",
    "svg": ".svg",
    "png": ".png",
    "html": ".html",
}
_NOT_WRITTEN = (
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".bmp",
    ".tiff",
    ".eps",
    ".ps",
    ".pdf",
    ".doc",
    ".docx",
    ".odt",
    ".xlsx",
    ".csv",
    ".xml",
    ".parquet",
)
"""Endings of other formats, which are refused, because the output would be CoNLL-U."""
SHOWN: tuple[PredictedColumn, ...] = ("upos",)
"""Columns that pictures show unless others are asked for."""
MAX_PICTURES = 1_000
"""Sentences in one SVG or PNG, which are all in memory; more could hardly be looked at."""
WIDEST_TREE = 500
"""Cells of a tree in a file: room for deep trees and long features, but not for endless lines."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where trees are drawn: a terminal, or a file or pipe, whose `width` may have no limit."""

    is_terminal: bool
    width: int | None
    colour: bool
    encoding: str

    @property
    def tree_width(self) -> int:
        """The cells that a tree may take."""
        return self.width or WIDEST_TREE


PAGE = Screen(is_terminal=False, width=None, colour=False, encoding="utf-8")


def screen_of(output: str) -> Screen:
    """Find out what `-o OUTPUT` is; `NO_COLOR` and simple terminals get no colour."""
    if output != "-" or sys.stdout is None:
        return Screen(False, _asked_width(), False, "utf-8")
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _asked_width()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(is_terminal, width, is_terminal and not plain, sys.stdout.encoding)


def _asked_width() -> int | None:
    """Read the width of a file or pipe from `COLUMNS`; without it, there is no limit."""
    columns = os.environ.get("COLUMNS", "")
    return (int(columns) or None) if columns.isdecimal() else None


def choose_format(
    asked: OutputFormat | None,
    output: str,
    form: Input,
    screen: Screen,
    with_probabilities: bool = False,
    with_trees: bool = False,
) -> OutputFormat:
    """Choose the format by the flag, by the name of the output, or by where it goes."""
    name = output.removesuffix(".gz").removesuffix(".xz")
    asked = asked or format_of(name, "use .conllu, .json, .svg, .png or .html")
    if asked is None and name.lower().endswith(".conllx"):
        asked = "conllx"
    check_picture(asked, screen)
    hint = "headwise convert turns one into the other"
    if form == "conllx" and asked == "conllu":
        raise ConfigError("--format conllu: the input is CoNLL-X", hint)
    if form != "conllx" and asked == "conllx":
        raise ConfigError("CoNLL-X is only written from CoNLL-X: --input conllx", hint)
    if with_probabilities and (form == "conllx" or (asked or "conllu") != "conllu"):
        what = f"--probabilities: not in {asked or form}, only in MISC of CoNLL-U"
        raise ConfigError(what, "use --format conllu; json has all probabilities without it")
    if with_trees and asked is None and (with_probabilities or name.lower().endswith(".conllu")):
        asked = "conllu"
    if with_trees and asked not in (None, "json"):
        what = f"--k-best, --marginals: not in {asked}, only in JSON"
        raise ConfigError(what, "use --format json")
    if with_trees:
        return "json"
    if with_probabilities:
        return "conllu"
    return asked or ("tree" if screen.is_terminal else "conllx" if form == "conllx" else "conllu")


def format_of(name: str, hint: str = "use .svg, .png or .html") -> OutputFormat | None:
    """Tell a format by the ending of a file name; what is never written is refused."""
    ending = os.path.splitext(name)[1].lower()
    if ending in _NOT_WRITTEN:
        raise ConfigError(f"-o {name}: {ending} is not written", hint)
    return BY_SUFFIX.get(ending)


def check_picture(asked: OutputFormat | None, screen: Screen) -> None:
    """Refuse before the work what would fail or do harm at its end."""
    if asked == "png":
        require_png()
        if screen.is_terminal:
            raise ConfigError("--format png: not on a terminal", "name a file: -o tree.png")


@dataclass(frozen=True, slots=True)
class Target:
    """One output, and the inputs that go into it."""

    path: str
    sources: tuple[ParseInput, ...]
    is_one_of_many: bool = False

    def make_room(self) -> None:
        """Create the folder of an output that is one of many."""
        if self.is_one_of_many:
            make_folder(Path(self.path).parent)


def plan_targets(sources: Sequence[ParseInput], output: str, form: OutputFormat) -> list[Target]:
    """Decide which input goes into which output."""
    if not is_folder(sources, output):
        targets = [Target(output, tuple(sources))]
    else:
        targets = [Target(_path_in(output, source, form), (source,), True) for source in sources]
    _refuse_clashes(targets)
    return targets


def is_folder(sources: Sequence[ParseInput], output: str) -> bool:
    """Return whether `-o` names a folder with one output for each input."""
    if output == "-":
        return False
    if os.path.isdir(output) or output.endswith(("/", os.sep)):
        return True
    are_many = len(sources) > 1 or any(source.is_in_folder for source in sources)
    return are_many and not has_ending(output) and not os.path.exists(output)


def has_ending(output: str) -> bool:
    """Return whether the name of an output has an ending that says what it is."""
    stem, ending = os.path.splitext(output.lower())
    ending = os.path.splitext(stem)[1] if ending in PACKED else ending
    return ending in BY_SUFFIX or ending in _ENDINGS.values()


def _path_in(folder: str, source: ParseInput, form: OutputFormat) -> str:
    if not source.is_file or source.content == "-":
        what = "text" if not source.is_file else "stdin"
        raise ConfigError(f"-o {folder}: {what} has no name for a file in a folder", "name a file")
    return os.path.join(folder, source.document + _ENDINGS[form])


def _refuse_clashes(targets: Sequence[Target]) -> None:
    by_path: dict[str, ParseInput] = {}
    inputs = [source.content for target in targets for source in target.sources if source.is_file]
    for target in targets:
        first = by_path.setdefault(os.path.realpath(target.path), target.sources[0])
        if first is not target.sources[0]:
            both = f"{first.content} and {target.sources[0].content}"
            hint = "choose another folder for one; a folder as input keeps its sub-folders"
            raise ConfigError(f"{both} would both be written to {target.path}", hint)
        if not os.path.isfile(target.path):
            continue
        for path in inputs:
            if os.path.isfile(path) and os.path.samefile(path, target.path):
                what = f"-o {target.path}: this is an input, and would be overwritten"
                raise ConfigError(what, "choose another name or folder for the output")


def columns_to_show(names: str) -> tuple[PredictedColumn, ...]:
    """Read the names of columns for pictures, separated by commas, in their order."""
    columns: tuple[PredictedColumn, ...] = get_args(PredictedColumn)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    for name in asked:
        if name not in columns:
            hint = f"choose from {', '.join(columns)}; heads and labels are always shown"
            raise ConfigError(f"--columns: there is no column {name[:40]!r}", hint)
    return tuple(column for name in dict.fromkeys(asked) for column in columns if column == name)


def written(
    items: Iterable[Annotated],
    form: OutputFormat,
    screen: Screen = PAGE,
    columns: Sequence[PredictedColumn] = SHOWN,
) -> Iterator[bytes]:
    """Write each item; malformed input passes through in CoNLL, other formats leave it out.

    Pictures show `columns` of each word.
    """
    if form in ("conllu", "conllx"):
        yield from (item.data for item, _ in items)
        return
    sentences = ((item, parse) for item, parse in items if isinstance(item, Sentence) and len(item))
    if form == "json":
        yield from ((to_json(*both) + "\n").encode() for both in sentences)
    elif form == "tree":
        yield from _trees(sentences, screen, columns)
    elif form == "html":
        yield from (part.encode() for part in html_page(sentences, columns=columns))
    else:
        svg = _picture(sentences, form, columns)
        yield (svg + "\n").encode() if form == "svg" else to_png(svg)


def _trees(
    sentences: Iterable[tuple[Sentence, Parse | None]],
    screen: Screen,
    columns: Sequence[PredictedColumn],
) -> Iterator[bytes]:
    """Draw trees with a blank line between them."""
    gap = ""
    for sentence, parse in sentences:
        drawing = draw(
            sentence,
            parse,
            width=screen.tree_width,
            colour=screen.colour,
            encoding=screen.encoding,
            columns=columns,
        )
        yield f"{gap}{drawing}\n".encode(screen.encoding, "replace")
        gap = "\n"


def _picture(
    sentences: Iterable[tuple[Sentence, Parse | None]],
    form: OutputFormat,
    columns: Sequence[PredictedColumn],
) -> str:
    """Draw all sentences in one picture, one below the other."""
    pictures: list[str] = []
    for both in sentences:
        if len(pictures) == MAX_PICTURES:
            what = f"--format {form}: more than {MAX_PICTURES:,} sentences"
            raise ConfigError(what, "draw fewer at a time, or use --format html")
        pictures.append(to_svg(*both, columns=columns))
    return stack_svgs(pictures)
