from pathlib import Path

import pytest

from headwise.errors import ConfigError, DataError
from headwise.learn.data.sources import sources_of


def made(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_a_file_and_folders_are_named_in_order(tmp_path: Path) -> None:
    files = [
        made(tmp_path / "UD_A" / "train.conllu.xz"),
        made(tmp_path / "UD_B" / "bb_b-ud-train.conllu"),
        made(tmp_path / "c.part.conllu"),
    ]
    made(tmp_path / "UD_A" / "dev.conllu.xz")
    made(tmp_path / "UD_B" / "bb_b-ud-dev.conllu")
    given = (str(tmp_path / "UD_A"), str(tmp_path / "UD_B"), files[2])
    found = {"UD_A": files[0], "bb_b-ud": files[1], "c": files[2]}
    assert sources_of(given, "train") == found
    assert list(sources_of(given, "train")) == list(found)
    assert list(sources_of(given[:2], "dev")) == ["UD_A", "bb_b-ud"]


def test_one_file_is_a_treebank_by_itself() -> None:
    assert sources_of("some/where/train.conllu", "train") == {"where": "some/where/train.conllu"}


@pytest.mark.parametrize("given", ["", (), ("a.conllu", "")])
def test_nothing_is_refused(given: str | tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="no dev treebank\nhint: --dev FILE"):
        sources_of(given, "dev")


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    given = tuple(made(tmp_path / part / "same" / "train.conllu") for part in "ab")
    with pytest.raises(ConfigError, match="two train treebanks are named same"):
        sources_of(given, "train")


def test_a_folder_must_hold_one_file(tmp_path: Path) -> None:
    made(tmp_path / "train.txt")
    with pytest.raises(DataError, match="and has: none\nhint: name the file: --train FILE"):
        sources_of(str(tmp_path), "train")
    made(tmp_path / "train.conllu")
    made(tmp_path / "x-ud-train.conllu.gz")
    with pytest.raises(DataError, match=r"train.conllu, x-ud-train.conllu.gz"):
        sources_of(str(tmp_path), "train")
