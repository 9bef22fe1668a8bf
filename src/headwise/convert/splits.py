"""Splits into train, dev and test (Sec. 4.1), by file number or by counting sentences.

PTB: sections 2-21, 22 and 23 (`wsj_0200.mrg` is section 2). CTB 5: articles 1-815 and 1001-1136 for
training, 886-931 and 1148-1151 for development, 816-885 and 1137-1147 for testing, as in Zhang and
Clark (2008). For Czech and German, dev is the last sentences of the training file.
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
SPLIT_PARTS: tuple[Part, ...] = ("train", "dev", "test")
_COMPRESSED = r"(\.gz|\.xz)?"
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class TreebankSplit:
    """A pattern for file names with a number, and the numbers that belong to each part."""

    file_name: re.Pattern[str]
    example: str
    numbers: Mapping[Part, tuple[range, ...]]

    def part_of(self, number: int) -> Part | None:
        """Return the part that a file belongs to by its number, None if to no part."""
        parts = (p for p in SPLIT_PARTS if any(number in some for some in self.numbers[p]))
        return next(parts, None)


SPLITS: Mapping[SplitName, TreebankSplit] = {
    "ptb": TreebankSplit(
        re.compile(rf"wsj_([0-9]{{4}})\.(mrg|parse){_COMPRESSED}", re.IGNORECASE),
        "wsj_0200.mrg",
        {"train": (range(200, 2200),), "dev": (range(2200, 2300),), "test": (range(2300, 2400),)},
    ),
    "ctb": TreebankSplit(
        re.compile(rf"chtb_([0-9]{{3,4}})\.(fid|nw|mz)(\.utf-?8)?{_COMPRESSED}", re.IGNORECASE),
        "chtb_001.fid",
        {
            "train": (range(1, 816), range(1001, 1137)),
            "dev": (range(886, 932), range(1148, 1152)),
            "test": (range(816, 886), range(1137, 1148)),
        },
    ),
}
"""The splits of Sec. 4.1."""


def find_split_files(folder: str | Path, name: SplitName) -> dict[Part, list[Path]]:
    """Find the files of each part anywhere below a folder, ordered by number.

    A part without files is an error, and so are two files with the same number.
    """
    if not Path(folder).is_dir():
        raise DataError("not a folder", str(folder), hint="a split is made from a folder of files")
    split = SPLITS[name]
    numbered: dict[int, Path] = {}
    for path in sorted(Path(root) / name for root, _, names in os.walk(folder) for name in names):
        match = split.file_name.fullmatch(path.name)
        number = int(match[1]) if match else -1
        if number in numbered:
            hint = "give a folder that holds only one version of the trees"
            raise DataError(f"the same number as {numbered[number]}", str(path), hint=hint)
        if split.part_of(number):
            numbered[number] = path
    parts: dict[Part, list[Path]] = {
        part: [numbered[number] for number in sorted(numbered) if split.part_of(number) == part]
        for part in SPLIT_PARTS
    }
    if empty := [part for part in SPLIT_PARTS if not parts[part]]:
        raise DataError(
            f"no files for {', '.join(empty)} in this folder or below",
            str(folder),
            hint=f"files must have names like {split.example}, and may be gz or xz",
        )
    return parts


def hold_out_last(
    items: Iterable[_Item], n_last: int, counts: Callable[[_Item], bool]
) -> Iterator[tuple[Part, _Item]]:
    """Assign the last `n_last` items to dev and all others to train, in order.

    An item that does not count (a block without words) goes with those around it. Little more than
    `n_last` items are in memory at a time. If there are no more than that, train is empty.
    """
    buffer: deque[_Item] = deque()
    n_counted = 0
    for item in items:
        buffer.append(item)
        n_counted += counts(item)
        while n_counted > n_last:
            first = buffer.popleft()
            n_counted -= counts(first)
            yield "train", first
    yield from (("dev", item) for item in buffer)
