"""What an argument is taken for; the names are those of real files in a folder."""

from pathlib import Path

import pytest

from headwise import ConfigError, DataError
from headwise.cli.streams.inputs import ParseInput, document_ids, find_sources
from headwise.settings.choices import Input


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with some files, and work in it."""
    for name in ("notes.txt", "README.md", "my book.txt", "data/a.txt", "data/b.conllu.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Kids love candy.")
    for name in ("data/deep/c.TXT", "data/deep/picture.jpg", "data/.hidden/d.txt", "data/.e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Kids love candy.")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(*arguments: str, form: Input = "auto", output: str = "-") -> list[str]:
    sources = find_sources(arguments, form, as_text=False, output=output)
    assert all(source.is_file for source in sources)
    return [source.content for source in sources]


@pytest.mark.parametrize(
    "text",
    [
        "Kids love candy.",
        "Candy",
        "TCP/IP",
        "and/or",
        "Read README.md",
        "Is it in notes.txt?",
        "What?",
        "*sigh*",
        "3.14",
        "U.S.",
        "",
        "a\nb.txt",
        "word " * 2_000,
    ],
)
def test_what_names_no_file_is_text(text: str) -> None:
    assert find_sources([text], "auto", as_text=False) == [ParseInput(text, is_file=False)]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("notse.txt", "did you mean notes.txt? If it is text: --text"),
        ("data/x.conllu.gz", "is the path right?"),
        ("readme.txt", "is the path right? If it is text: --text"),
        ("README", "did you mean README.md?"),
        ("my bok.txt", "did you mean 'my book.txt'?"),
        ("my_file", "is the path right?"),
        ("/no such folder/file", "is the path right?"),
        ("~/notes.txt", "is the path right?"),
        ("./notes", "did you mean ./notes.txt?"),
        ("data/whatever", "is the path right?"),
        ("data/*.jsonl", "no file matches this pattern"),
        ("data/nowhere/", "is the path right?"),
        ("data/nowhere/deeper/file", "is the path right?"),
        (r"data\a.txt", "is the path right?"),
        ("https://example.org/page", "headwise fetches nothing from the network"),
    ],
)
def test_a_mistyped_name_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(DataError) as refused:
        find_sources([name], "auto", as_text=False)
    assert str(refused.value).startswith(f"{name}: No such file or directory\nhint: {hint}")
    assert find_sources([name], "auto", as_text=True) == [ParseInput(name, is_file=False)]


def test_what_exists_is_a_file_unless_it_is_said_to_be_text() -> None:
    assert contents("notes.txt") == ["notes.txt"]
    assert contents("my book.txt", "./notes.txt") == ["my book.txt", "./notes.txt"]
    assert contents() == contents("-") == ["-"]
    assert find_sources(["notes.txt"], "auto", as_text=True) == [ParseInput("notes.txt", False)]


def test_several_arguments_are_files_each_once() -> None:
    assert contents("notes.txt", "README.md", "./notes.txt") == ["notes.txt", "README.md"]
    for arguments in (["Kids", "love", "candy."], ["Kids love candy.", "So do I."]):
        with pytest.raises(DataError, match="several arguments are files; put text in quotes"):
            find_sources(arguments, "auto", as_text=False)
    for names in (["notes.txt", "candy"], ["one.txt", "two.txt"]):
        with pytest.raises(DataError, match="No such file or directory\nhint: is the path"):
            find_sources(names, "auto", as_text=False)
    with pytest.raises(DataError, match="candy: No such file or directory\nhint: is the path"):
        find_sources(["notes.txt", "candy"], "auto", as_text=False)


def test_several_texts_are_paragraphs() -> None:
    sources = find_sources(["Kids love candy.", "So do I."], "auto", as_text=True)
    assert sources == [ParseInput("Kids love candy.\n\nSo do I.", is_file=False)]
    with pytest.raises(ConfigError, match="--text: there is no text"):
        find_sources([], "auto", as_text=True)
    with pytest.raises(ConfigError, match="--text and --input conllu"):
        find_sources(["1"], "conllu", as_text=True)


def test_a_treebank_is_never_text() -> None:
    with pytest.raises(DataError, match=r"Candy: No such file or directory\nhint: is [^T]*$"):
        find_sources(["Candy"], "conllu", as_text=False)


def test_a_folder_stands_for_its_texts_and_treebanks() -> None:
    assert contents("data") == ["data/a.txt", "data/b.conllu.gz", "data/deep/c.TXT"]
    names = [source.name for source in find_sources(["data/"], "auto", as_text=False)]
    assert names == ["a.txt", "b.conllu.gz", "deep/c.TXT"]
    assert contents("data", output="data/deep") == ["data/a.txt", "data/b.conllu.gz"]
    Path("empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no file ends in .txt, .*\nhint: .* 'empty/\*'"):
        contents("empty")


def test_a_pattern_stands_for_the_files_that_match() -> None:
    assert contents("data/*.txt") == ["data/a.txt"]
    assert contents("data/**/*.[tT]*") == ["data/a.txt", "data/deep/c.TXT"]
    names = [source.name for source in find_sources(["data/**/c*"], "auto", as_text=False)]
    assert names == ["deep/c.TXT"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("a.txt", "a"),
        ("a.conllu.gz", "a"),
        ("deep/b.TXT.xz", "deep/b"),
        ("v1.2", "v1.2"),
        ("page.html", "page.html"),
        ("my\nbook.md", "my_book"),
        ("bad\udcff.txt", "bad\\udcff"),
    ],
)
def test_documents_have_the_names_of_their_files(name: str, document: str) -> None:
    assert document_ids([ParseInput(name, True, name)]) == [document]
