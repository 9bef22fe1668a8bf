"""Where `-o` puts the output: one file for all inputs, or a folder with one file for each.

`-o` names a folder if it is one, if it ends in `/`, or if there are several inputs (or a folder of
them) and its name has no ending of an output. The file for `a.txt` is then `a.conllu`, in the
sub-folder that the input was in. Two inputs with the same output, and an output that is an input,
are refused before anything is written.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwise.cli.streams.inputs import PACKED, ParseInput
from headwise.cli.streams.output import BY_SUFFIX, OutputFormat
from headwise.errors import ConfigError
from headwise.files import make_folder

_ENDINGS: dict[OutputFormat, str] = {
    "conllu": ".conllu",
    "conllx": ".conllx",
    "json": ".jsonl",
    "tree": ".txt",
    "svg": ".svg",
    "png": ".png",
    "html": ".html",
}


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
    """Tell whether `-o` names a folder with one output for each input."""
    if output == "-":
        return False
    if os.path.isdir(output) or output.endswith(("/", os.sep)):
        return True
    are_many = len(sources) > 1 or any(source.is_in_folder for source in sources)
    return are_many and not has_ending(output) and not os.path.exists(output)


def has_ending(output: str) -> bool:
    """Tell whether the name of an output has an ending that says what it is."""
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
