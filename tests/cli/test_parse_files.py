"""`headwise parse` on several files, folders and at a prompt."""

import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest
from invoked import headwise, on_terminal, refusal

from headwise import read_sentences

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of inputs, and work beside it."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "kids.txt").write_text("Kids love candy. So do I.")
    (tmp_path / "in" / "deep" / "word.txt.gz").write_bytes(gzip.compress(b"Every word."))
    first = SAMPLE.read_bytes().split(b"\n\n")[0] + b"\n\n"
    (tmp_path / "in" / "sample.conllu").write_bytes(first)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(*arguments: object) -> str:
    done = headwise("parse", "--quiet", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_folder_becomes_a_folder(folder: Path) -> None:
    assert output("in", "-o", "out") == ""
    written = sorted(str(path.relative_to("out")) for path in Path("out").rglob("*.*"))
    assert written == ["deep/word.conllu", "kids.conllu", "sample.conllu"]
    for name in ("kids.txt", "sample.conllu", "deep/word.txt.gz"):
        target = Path("out", name.split(".")[0] + ".conllu")
        assert target.read_text() == output(Path("in") / name)
    done = headwise("parse", "in", "-o", "out")  # again, over its own output
    assert b"4 sentences, " in done.stderr
    output("in/*.txt", "in/sample.conllu", "-o", "trees/", "--format", "svg")
    assert sorted(os.listdir("trees")) == ["kids.svg", "sample.svg"]


@pytest.mark.parametrize("flags", [[], ["--processes", "2"]])
def test_several_files_in_one_output_keep_their_names(flags: list[str]) -> None:
    command = ["in/sample.conllu", "in/kids.txt", "in/deep/word.txt.gz", "-o", "all.conllu"]
    output(*command, *flags)
    text = Path("all.conllu").read_text()
    assert re.findall("# newdoc id = (.*)", text)[1:] == ["kids", "word"]
    ids = [sentence.metadata["sent_id"] for sentence in read_sentences("all.conllu")]
    assert ids[1:] == ["kids-1", "kids-2", "word-1"]
    assert text.startswith(output("in/sample.conllu"))
    assert text.count("\t0\troot") == 4


def test_files_of_the_same_name_have_their_paths_as_names() -> None:
    Path("in/deep/kids.txt").write_text("Kids love candy.")
    text = output("in/kids.txt", "in/deep/kids.txt")
    assert re.findall("# newdoc id = (.*)", text) == ["in/kids", "in/deep/kids"]


def test_nothing_is_written_where_outputs_clash() -> None:
    Path("in/sample.txt").write_text("Kids love candy.")
    before = sorted(os.listdir("in"))
    assert "would both be written to out/sample.conllu" in refusal("parse", "in", "-o", "out")
    message = refusal("parse", "in/sample.conllu", "-o", "in/sample.conllu")
    assert "this is an input, and would be overwritten" in message
    assert sorted(os.listdir("in")) == before
    assert not Path("out").exists()


def test_each_file_of_many_is_checked_for_its_language() -> None:
    german = "Der Hund liegt im Garten und schläft, weil die Sonne scheint und es warm ist. " * 4
    Path("in/hund.txt").write_text(german)
    done = headwise("parse", "in/kids.txt", "in/hund.txt", "-o", "out")
    message = done.stderr.decode()
    assert message.startswith("headwise: hund.txt: the text looks German")
    done = headwise("parse", "-m", "auto", "in/kids.txt", "in/sample.conllu", "-o", "out")
    message = done.stderr.decode()
    assert message.startswith("headwise: kids.txt: model en\nheadwise: sample.conllu: model en\n")


def test_text_without_a_command_is_parsed() -> None:
    plain = output("Kids love candy.")
    for arguments in (
        ["Kids love candy.", "--quiet"],
        ["--quiet", "Kids love candy."],
        ["-m", "en", "--quiet", "Kids love candy."],
    ):
        assert headwise(*arguments).stdout.decode() == plain
    assert headwise("in/kids.txt", "--quiet").stdout.decode() == output("in/kids.txt")
    done = headwise("-", "--quiet", stdin=b"Kids love candy.")
    assert done.stdout.decode() == plain
    message = refusal("prase", code=2)
    assert "No such command 'prase'. Did you mean 'parse'? If it is text: headwise parse" in message
    assert "No such command 'Candy'. If it is text: headwise parse Candy" in refusal(
        "Candy", code=2
    )
    assert "No such option" in refusal("--verison", code=2)
    message = refusal("Kids", "love", "candy.", "-o", "tree.svg", code=2)
    assert "If it is text: headwise 'Kids love candy.' -o tree.svg" in message


def test_a_mistyped_file_without_a_command_is_refused_as_by_parse() -> None:
    Path("notes.txt").write_text("Kids love candy.")
    Path("train.conllu").touch()
    for name in ("note.txt", "notes", "missing/notes.txt"):
        assert refusal(name) == refusal("parse", name)
    assert "hint: did you mean notes.txt? If it is text: --text" in refusal("note.txt")
    assert "Did you mean 'train'?" in refusal("trainn", code=2)
    assert "No such option" in refusal("--my_flag", code=2)


def test_a_prompt_draws_each_line_when_it_is_typed() -> None:
    answers = ["Kids love candy.\n", "\n", "So do I.\n", "\x04"]
    shown = on_terminal("parse", answers=answers, NO_COLOR="1")
    assert "Type a sentence and press Enter; end with Ctrl-D." in shown
    before, first, blank, second, _ = shown.split("> ")
    assert "Type" in before
    assert "╭──► Kids   NOUN   nsubj" in first
    assert blank.strip() == ""
    assert "► I" in second


def test_a_prompt_notices_another_language() -> None:
    answers = ["Kids love candy.\n", "Die Kinder lieben Schokolade und Kuchen.\n", "\x04"]
    _, english, german, _ = on_terminal("parse", answers=answers).split("> ")
    assert "looks" not in english
    assert "the text looks German, but the model is for English" in german


def test_other_input_from_a_terminal_says_how_to_end_it(folder: Path) -> None:
    typed = "Kids love candy.\n\x04"
    shown = on_terminal("parse", "--format", "conllu", typed=typed)
    assert "Type or paste the input; end with Ctrl-D." in shown
    assert "\tKids\t" in shown
    assert "paste" not in on_terminal("parse", "--quiet", "-o", folder / "out.conllu", typed=typed)
    assert "\tKids\t" in Path("out.conllu").read_text()


@pytest.mark.slow
def test_progress_tells_the_share_and_the_time_that_is_left(tiny_run: Path) -> None:
    Path("large.conllu").write_bytes(SAMPLE.read_bytes() * 20)
    for flags in ([], ["--processes", "2"]):
        shown = on_terminal(
            "parse",
            "-m",
            tiny_run,
            "large.conllu",
            "large.conllu",
            *flags,
            stdout=subprocess.DEVNULL,
        )
        shares = [int(share) for share in re.findall(r"\r([0-9]+)%, [0-9]+ s left, ", shown)]
        assert shares
        assert shares == sorted(shares)
        assert shown.strip().split("\r")[-1].startswith("2,000 sentences")
