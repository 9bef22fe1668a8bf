"""`headwise show`: trees as they stand, in every format, and on a terminal page by page."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from invoked import headwise, on_terminal, refusal

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAMPLE = FIXTURES / "ewt-dev-100.conllu"
KIDS = """# sent_id = kids-1
# text = Kids love candy.
1\tKids\tkid\tNOUN\t_\tNumber=Plur\t2\tnsubj\t_\t_
2\tlove\tlove\tVERB\t_\t_\t0\troot\t_\t_
3\tcandy\tcandy\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_

# sent_id = i-2
1\t<I>\tI\tPRON\t_\t_\t0\troot\t_\t_

# sent_id = hebrew-3
1\t\u05d9\u05dc\u05d3\t_\tNOUN\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture
def kids(tmp_path: Path) -> Path:
    (tmp_path / "kids.conllu").write_text(KIDS, encoding="utf-8")
    return tmp_path / "kids.conllu"


def shown(*arguments: object, stdin: bytes = b"") -> str:
    done = headwise("show", *arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_trees_are_drawn_as_they_stand(kids: Path) -> None:
    first, second, _ = shown(kids).split("\n\n")
    assert first.splitlines() == [
        "1  Kids love candy.",
        " ╭──► Kids   NOUN   nsubj  ← love",
        "─┼──► love   VERB   root",
        " ╰──► candy  NOUN   obj    ← love",
        "?───► .      PUNCT  _",
    ]
    assert second.splitlines() == ["2  <I>", "──► <I>  PRON  root"]
    assert shown(stdin=KIDS.encode()) == shown("-", stdin=KIDS.encode()) == shown(kids)
    assert "Number=Plur" in shown(kids, "--columns", "feats")
    conllx = shown(FIXTURES / "hand-made.conllx", "--input", "conllx", "-s", 1)
    assert conllx.startswith("1  ")


def test_sentences_are_chosen_by_number_range_or_id(kids: Path) -> None:
    def numbers(*wanted: str) -> list[str]:
        flags = [flag for one in wanted for flag in ("--sentence", one)]
        return [line.split()[0] for line in shown(kids, "--list", *flags).splitlines()]

    assert numbers() == numbers("1-3") == ["1", "2", "3"]
    assert numbers("2") == numbers("i-2") == ["2"]
    assert numbers("3", "kids-1") == ["1", "3"]
    for wanted in ("4", "2-4", "kids-9"):
        message = refusal_after_output(kids, wanted)
        assert f"there is no sentence {wanted}; the file has 3 sentences" in message
    for wanted in ("0", "3-2"):
        assert "there are no such sentences" in refusal("show", kids, "-s", wanted)


def refusal_after_output(path: Path, wanted: str) -> str:
    done = headwise("show", path, "-s", wanted)
    assert done.returncode == 1
    return done.stderr.decode()


def test_what_comes_after_the_last_wanted_sentence_is_not_read(kids: Path) -> None:
    kids.write_text(KIDS + "broken\n\n")
    assert shown(kids, "-s", "3").startswith("3  ")
    assert "1 column where 10" in refusal_after_output(kids, "5")


def test_a_list_has_number_id_and_text(kids: Path) -> None:
    assert shown(kids, "--list").splitlines()[:2] == ["1  kids-1  Kids love candy.", "2  i-2  <I>"]


def test_pictures_go_by_the_name_of_the_output(kids: Path, tmp_path: Path) -> None:
    for name in ("tree.svg", "tree.png", "tree.html", "tree.txt"):
        assert shown(kids, "-o", tmp_path / name) == ""
    picture = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert len(picture.findall("{*}svg")) == 3
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "tree.html").read_text(encoding="utf-8")
    assert page.count("<figure id=") == 3
    assert "&lt;I&gt;" in page
    assert "<I>" not in page
    assert (tmp_path / "tree.txt").read_text(encoding="utf-8") == shown(kids)
    assert shown(kids, "--format", "svg", "-s", 1).startswith("<svg ")
    assert ".gif is not written" in refusal("show", kids, "-o", tmp_path / "a.gif")
    for name in ("a.json", "a.conllu"):
        assert "headwise show draws trees" in refusal("show", kids, "-o", tmp_path / name)
    assert not list(tmp_path.glob("a.*"))


def test_what_is_no_file_is_refused_with_what_was_meant(kids: Path, tmp_path: Path) -> None:
    assert f"did you mean {kids}?" in refusal("show", tmp_path / "kid.conllu")
    assert "hint: name a file in this folder" in refusal("show", tmp_path)
    message = refusal("show", "Kids love candy.")
    assert "draw its tree: headwise parse 'Kids love candy.' --format tree" in message
    done = headwise("show", stdin=b"")
    assert (done.returncode, done.stderr) == (0, b"headwise: the input has no sentences\n")


def test_a_text_is_refused_with_the_command_that_draws_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Kids love candy.")
    message = refusal("show", tmp_path / "notes.txt")
    assert f"{tmp_path}/notes.txt is text, not a treebank: it has no trees\nhint: " in message
    assert f"headwise parse {tmp_path}/notes.txt --format tree" in message


def test_a_terminal_without_a_file_is_wrong_usage() -> None:
    shown = on_terminal("show", code=2)
    assert "Error: Missing argument FILE.\nhint: name a treebank: headwise show " in shown


@pytest.mark.parametrize("width", ["", "60"])
def test_a_file_or_pipe_is_cut_only_if_a_width_is_asked_for(tmp_path: Path, width: str) -> None:
    text = "Kids love candy " * 80
    feats = "|".join(f"Feature{letter}=Value" for letter in "ABCDEFG")
    row = f"1\tKids\t_\t_\t_\t{feats}\t0\troot\t_\t_\n\n"
    (tmp_path / "wide.conllu").write_text(f"# text = {text}\n{row}")
    command = ("show", tmp_path / "wide.conllu", "--columns", "feats")
    drawn = headwise(*command, COLUMNS=width).stdout.decode()
    headwise(*command, "-o", tmp_path / "tree.txt", COLUMNS=width)
    assert (tmp_path / "tree.txt").read_text(encoding="utf-8") == drawn
    if width:
        assert max(map(len, drawn.splitlines())) == 60
    else:
        assert drawn.splitlines() == [f"1  {text.strip()}", f"──► Kids  {feats}  root"]


def test_a_terminal_shows_several_trees_in_a_pager(kids: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager.py"
    pager.write_text("import sys\nfor line in sys.stdin: print('paged', line, end='')\n")
    command = f"{sys.executable} {pager}"
    paged = on_terminal("show", kids, PAGER=command, TERM="xterm")
    assert len(re.findall("^paged [123]  ", paged, re.MULTILINE)) == 3
    single = on_terminal("show", kids, "-s", "1", PAGER=command, TERM="xterm")
    assert single.startswith("1  Kids love candy.\n ╭──► Kids   \x1b[2mNOUN")
    listed = on_terminal("show", SAMPLE, "--list", PAGER=command, TERM="xterm", width=40)
    assert max(map(len, listed.splitlines())) <= 40 + len("paged ")
    done = subprocess.run(
        [sys.executable, "-m", "headwise", "show", kids, "--format", "png"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"\x89PNG")
