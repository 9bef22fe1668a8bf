"""Who goes where (Sec. 4.1): train, dev and test by the numbers of files, or by counting.

PTB: sections 2-21, 22 and 23 (`wsj_0200.mrg` is section 2). CTB 5: articles 1-815 and 1001-1136 for
training, 886-931 and 1148-1151 for development, 816-885 and 1137-1147 for testing, as Zhang and
Clark (2008) have it. For Czech and German the last sentences of training are dev.
"""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from headwise.errors import DataError

Part = Literal["train", "dev", "test"]
SplitName = Literal["ptb", "ctb"]
PARTS: tuple[Part, ...] = ("train", "dev", "test")
_PACKED = r"(\.gz|\.xz)?"
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Split:
    """How files are called, what their number is divided by, and which numbers go where."""

    file_name: re.Pattern[str]
    example: str
    divisor: int
    numbers: Mapping[Part, tuple[range, ...]]

    def part_of(self, number: int) -> Part | None:
        """Say where a file goes by its number; None for files that are in no part."""
        place = number // self.divisor
        found = (part for part in PARTS if any(place in some for some in self.numbers[part]))
        return next(found, None)


def split_by_name(name: SplitName) -> Split:
    """Give a split of Sec. 4.1."""
    if name == "ptb":
        return Split(
            re.compile(rf"wsj_([0-9]{{4}})\.(mrg|parse){_PACKED}", re.IGNORECASE),
            "wsj_0200.mrg",
            100,
            {"train": (range(2, 22),), "dev": (range(22, 23),), "test": (range(23, 24),)},
        )
    return Split(
        re.compile(rf"chtb_([0-9]{{3,4}})\.(fid|nw|mz)(\.utf-?8)?{_PACKED}", re.IGNORECASE),
        "chtb_001.fid",
        1,
        {
            "train": (range(1, 816), range(1001, 1137)),
            "dev": (range(886, 932), range(1148, 1152)),
            "test": (range(816, 886), range(1137, 1148)),
        },
    )


def find_files(folder: str | Path, name: SplitName) -> dict[Part, list[Path]]:
    """Find the files of each part anywhere under a folder, in the order of their numbers.

    A part without files is an error, and so are two files of one number.
    """
    split = split_by_name(name)
    numbered: dict[int, Path] = {}
    for path in _files_under(Path(folder)):
        found = split.file_name.fullmatch(path.name)
        if not found or split.part_of(number := int(found[1])) is None:
            continue
        if number in numbered:
            raise DataError(
                f"the same file as {numbered[number]}, by its number",
                str(path),
                hint="name the folder that holds one version of the trees",
            )
        numbered[number] = path
    parts: dict[Part, list[Path]] = {part: [] for part in PARTS}
    for number in sorted(numbered):
        part = split.part_of(number)
        assert part is not None
        parts[part].append(numbered[number])
    if empty := [part for part in PARTS if not parts[part]]:
        raise DataError(
            f"no file of {', '.join(empty)} in this folder or below",
            str(folder),
            hint=f"files are called like {split.example}, and may be gz or xz",
        )
    return parts


def _files_under(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise DataError("not a folder", str(folder), hint="a split is made from a folder of files")
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            yield Path(root) / name


def hold_out_last(
    items: Iterable[_Item], n_last: int, counts: Callable[[_Item], bool]
) -> Iterator[tuple[Part, _Item]]:
    """Say of each item whether it is among the last `n_last` (dev) or not (train), in order.

    An item that does not count (a block without words) goes with those around it. Not much more
    than `n_last` items are held at a time. With fewer items than that, none is of `train`.
    """
    held: deque[_Item] = deque()
    n_held = 0
    for item in items:
        held.append(item)
        n_held += counts(item)
        while n_held > n_last:
            first = held.popleft()
            n_held -= counts(first)
            yield "train", first
    yield from (("dev", item) for item in held)
