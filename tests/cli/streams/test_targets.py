import os
from pathlib import Path

import pytest

from headwise import ConfigError
from headwise.cli.streams.inputs import ParseInput, find_sources
from headwise.cli.streams.output import OutputFormat, plan_targets


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt", "a.conllu", "more/a.txt", "more/deep/c.txt.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Kids love candy.")
    monkeypatch.chdir(tmp_path)


def plan(*arguments: str, output: str, form: OutputFormat = "conllu") -> list[str]:
    sources = find_sources(arguments, "auto", as_text=False, output=output)
    return [target.path for target in plan_targets(sources, output, form)]


def test_one_input_goes_into_one_file() -> None:
    assert plan("a.txt", output="-") == ["-"]
    assert plan("a.txt", output="out") == ["out"]
    assert plan("Kids love candy.", output="out.conllu") == ["out.conllu"]


def test_a_folder_has_one_output_for_each_input() -> None:
    expected = ["out/a.conllu", "out/b.conllu"]
    assert plan("a.txt", "b.txt", output="out") == plan("a.txt", "b.txt", output="out/") == expected
    assert plan("more", output="out") == ["out/a.conllu", "out/deep/c.conllu"]
    assert plan("a.txt", output="out/") == ["out/a.conllu"]
    Path("out").mkdir()
    assert plan("a.txt", output="out") == ["out/a.conllu"]
    assert plan("a.txt", "b.txt", output="out", form="json") == ["out/a.jsonl", "out/b.jsonl"]
    assert plan("a.txt", output="out", form="png") == ["out/a.png"]
    assert not os.listdir("out")


def test_a_name_with_an_ending_is_one_file_for_all() -> None:
    for output in ("all.conllu", "all.conllu.xz", "all.svg", "all.txt", "-", "b.conllu"):
        assert plan("a.txt", "b.txt", output=output) == [output]


def test_what_has_no_name_needs_a_file() -> None:
    with pytest.raises(ConfigError, match="-o out/: text has no name for a file in a folder"):
        plan("Kids love candy.", output="out/")
    with pytest.raises(ConfigError, match="-o out/: stdin has no name"):
        plan("-", output="out/")


def test_two_inputs_never_share_an_output() -> None:
    with pytest.raises(ConfigError, match=r"a\.txt and more/a\.txt would both be written to out/a"):
        plan("a.txt", "more/a.txt", output="out")
    assert plan("a.txt", "more/a.txt", output="out.conllu") == ["out.conllu"]


def test_an_input_is_never_overwritten() -> None:
    os.link("a.conllu", "linked.conllu")
    os.symlink("a.conllu", "link.conllu")
    for arguments, output in (
        (["a.conllu"], "a.conllu"),
        (["a.conllu"], "./linked.conllu"),
        (["a.conllu", "b.txt"], "link.conllu"),
        (["a.conllu"], "."),
    ):
        with pytest.raises(ConfigError, match="this is an input, and would be overwritten"):
            plan(*arguments, output=output)
    assert plan("b.txt", output="a.conllu") == ["a.conllu"]


def test_a_folder_is_made_when_it_is_needed() -> None:
    sources = [ParseInput("more/deep/c.txt.gz", True, "deep/c.txt.gz")]
    (target,) = plan_targets(sources, "new/", "conllu")
    assert not os.path.exists("new")
    target.make_room()
    assert os.path.isdir("new/deep")
