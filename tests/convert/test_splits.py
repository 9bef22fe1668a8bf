"""Splits by the numbers of files, and by counting."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.convert.splits import SPLITS, SplitName, find_split_files, hold_out_last
from headwise.errors import DataError


@pytest.mark.parametrize(
    ("name", "part", "numbers"),
    [
        ("ptb", "train", (200, 2199)),
        ("ptb", "dev", (2200, 2299)),
        ("ptb", "test", (2300, 2399)),
        ("ptb", None, (199, 2400)),
        ("ctb", "train", (1, 815, 1001, 1136)),
        ("ctb", "dev", (886, 931, 1148, 1151)),
        ("ctb", "test", (816, 885, 1137, 1147)),
        ("ctb", None, (0, 932, 1000, 1152)),
    ],
)
def test_the_borders_are_those_of_the_paper(
    name: SplitName, part: str | None, numbers: tuple[int, ...]
) -> None:
    assert {SPLITS[name].part_of(number) for number in numbers} == {part}


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_files_are_found_at_any_depth_and_ordered_by_number(tmp_path: Path) -> None:
    make(tmp_path, "wsj/22/wsj_2201.mrg", "wsj/02/wsj_0202.mrg.gz", "wsj/03/WSJ_0300.MRG")
    make(tmp_path, "b/wsj_0201.mrg", "c/wsj_2300.parse", "wsj/00/wsj_0001.mrg", "readme.txt")
    make(tmp_path, "wsj/02/wsj_0202.pos", "wsj/02/wsj_02.mrg")
    found = find_split_files(tmp_path, "ptb")
    names = {part: [path.name for path in paths] for part, paths in found.items()}
    assert names == {
        "train": ["wsj_0201.mrg", "wsj_0202.mrg.gz", "WSJ_0300.MRG"],
        "dev": ["wsj_2201.mrg"],
        "test": ["wsj_2300.parse"],
    }


def test_articles_have_three_or_four_digits(tmp_path: Path) -> None:
    make(tmp_path, "chtb_1001.fid", "chtb_001.fid", "chtb_0900.fid.utf8", "chtb_820.fid.xz")
    found = find_split_files(str(tmp_path), "ctb")
    assert [path.name for path in found["train"]] == ["chtb_001.fid", "chtb_1001.fid"]


def test_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a folder\nhint: "):
        find_split_files(tmp_path / "missing", "ptb")
    make(tmp_path, "wsj_0200.mrg", "wsj_2300.mrg")
    with pytest.raises(DataError, match=r"no files for dev in this folder .*\nhint: .*wsj_0200"):
        find_split_files(tmp_path, "ptb")
    with pytest.raises(DataError, match="no files for train, dev, test"):
        find_split_files(tmp_path, "ctb")
    make(tmp_path, "old/wsj_0200.mrg")
    with pytest.raises(DataError, match=r"the same number as .*wsj_0200\.mrg\nhint: "):
        find_split_files(tmp_path, "ptb")


@given(st.lists(st.integers(-2, 5), max_size=20), st.integers(1, 25))
def test_the_last_are_dev(items: list[int], n_last: int) -> None:
    parts = list(hold_out_last(iter(items), n_last, lambda item: item > 0))
    assert [item for _, item in parts] == items
    counted = [part for part, item in parts if item > 0]
    assert counted.count("dev") == min(n_last, len(counted))
    assert [part for part, _ in parts] == sorted((part for part, _ in parts), reverse=True)


def test_no_more_than_the_last_are_held() -> None:
    taken = []

    def source() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number

    parts = hold_out_last(source(), 3, lambda _: True)
    assert next(parts) == ("train", 0)
    assert taken == [0, 1, 2, 3]
