"""`headwise convert` as a user runs it."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from headwise.cli.main import main

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures"
ROAD = FIXTURES / "heads-gentle-road.txt"
KIDS = "( (S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))) (. .)) )\n"
CHINESE = "<DOC>\n<S ID=1>\n( (IP (NP-SBJ (NN 学生)) (VP (VV 来)) (PU 。)) )\n</S>\n</DOC>\n"


def done(*arguments: object, stdin: bytes | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["convert", *map(str, arguments)], input=stdin)
    assert result.exit_code == code, result.stderr
    return result


def fails(code: int, message: str, *arguments: object, stdin: bytes | None = None) -> None:
    assert message in done(*arguments, stdin=stdin, code=code).stderr


def test_a_real_process_reads_stdin_and_writes_stdout() -> None:
    command = [sys.executable, "-m", "headwise", "convert", "--rules", "english", "-"]
    finished = subprocess.run(command, input=KIDS.encode(), capture_output=True, check=True)
    assert finished.stdout.startswith(b"# sent_id = stdin.1\n1\tKids\t_\t_\tNNS\t_\t2\tSUB\t_\t_\n")
    assert finished.stderr == b"1 sentence, 4 words\n"


def test_several_files_become_one(tmp_path: Path) -> None:
    first, second, out = tmp_path / "a.mrg", tmp_path / "b.mrg.gz", tmp_path / "out.conllx.gz"
    first.write_text(KIDS)
    second.write_bytes(gzip.compress(KIDS.encode() * 2))
    result = done(first, second, "--rules", "english", "--to", "conllx", "-o", out)
    assert result.stdout == ""
    assert result.stderr == "3 sentences, 12 words\n"
    assert gzip.decompress(out.read_bytes()).count(b"\n\n") == 3


def test_the_name_of_the_output_gives_its_format(tmp_path: Path) -> None:
    sample = FIXTURES / "hand-made.conllx"
    for name in ("out.conllx", "OUT.CONLLX", "out.conllx.gz"):
        done(sample, "-o", tmp_path / name)
    assert (tmp_path / "out.conllx").read_bytes() == sample.read_bytes()
    assert (tmp_path / "OUT.CONLLX").read_bytes() == sample.read_bytes()
    assert gzip.decompress((tmp_path / "out.conllx.gz").read_bytes()) == sample.read_bytes()
    as_conllu = done(sample).stdout_bytes
    assert as_conllu != sample.read_bytes()
    for flags in (["-o", tmp_path / "out"], ["--to", "conllu", "-o", tmp_path / "asked.conllx"]):
        done(sample, *flags)
        assert flags[-1].read_bytes() == as_conllu
    done(ROAD, "-o", tmp_path / "trees.mrg")
    assert (tmp_path / "trees.mrg").read_bytes() == done(ROAD, "--to", "penn").stdout_bytes
    fails(1, "dependencies have no phrases", sample, "-o", tmp_path / "x.mrg")


def test_a_sample_comes_out_as_checked_by_hand(tmp_path: Path) -> None:
    result = done(ROAD, "--rules", "english", "--quiet")
    assert result.stdout_bytes == (FIXTURES / "heads-gentle-road.conllu").read_bytes()
    assert result.stderr == ""
    rules = tmp_path / "own.txt"
    rules.write_text("default l\nS l NP;l\n")
    assert done(ROAD, "--rules", rules).stdout_bytes != result.stdout_bytes


def treebank(folder: Path, names: list[str], text: bytes) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    return folder


def test_ptb_in_one_command(tmp_path: Path) -> None:
    names = ["02/wsj_0200.mrg", "21/wsj_2199.mrg", "22/wsj_2200.mrg", "23/wsj_2300.mrg"]
    folder = treebank(tmp_path / "wsj", names, (KIDS * 2).encode())
    out = tmp_path / "new" / "ptb"
    result = done(folder, "--split", "ptb", "--out", out)
    assert {path.name for path in out.iterdir()} == {"dev.conllu", "test.conllu", "train.conllu"}
    assert result.stderr == (
        f"{out}/train.conllu: 4 sentences, 16 words\n"
        f"{out}/dev.conllu: 2 sentences, 8 words\n"
        f"{out}/test.conllu: 2 sentences, 8 words\n"
    )
    ids = re.findall(r"sent_id = (.*)", (out / "train.conllu").read_text())
    assert ids == ["wsj_0200.1", "wsj_0200.2", "wsj_2199.1", "wsj_2199.2"]
    done(folder, "--split", "ptb", "--to", "penn", "--out", out, "--quiet")
    assert (out / "dev.mrg").read_text() == KIDS.replace(" )\n", ")\n") * 2


def test_ctb_in_one_command(tmp_path: Path) -> None:
    names = ["chtb_001.fid", "chtb_1148.fid", "chtb_816.fid"]
    folder = treebank(tmp_path / "ctb", names, CHINESE.encode("gb18030"))
    flags = ["--split", "ctb", "--to", "conllx", "--out", tmp_path / "out"]
    done(folder, *flags, "--encoding", "gb18030")
    test = (tmp_path / "out" / "test.conllx").read_text(encoding="utf-8")
    assert test.startswith("1\t学生\t_\tNN\tNN\t_\t2\tSUB\t_\t_\n")
    fails(1, "chtb_001.fid:3: byte 21 of the line is not utf-8", folder, *flags)


def test_the_last_sentences_are_dev(tmp_path: Path) -> None:
    sample = FIXTURES / "ewt-dev-100.conllu"
    flags = ["--from", "conllu", "--out", tmp_path, "--last"]
    result = done(sample, *flags, 37)
    assert "train.conllu: 63 sentences" in result.stderr
    parts = [(tmp_path / f"{part}.conllu").read_bytes() for part in ("train", "dev")]
    assert b"".join(parts) == sample.read_bytes()
    assert parts[1].count(b"# sent_id") == 37
    fails(1, "no sentence is left to train on", sample, *flags, 100)


def test_what_is_left_out_is_counted() -> None:
    sample = FIXTURES / "ewt-empty-nodes-6.conllu"
    flags = [sample, "--to", "conllx"]
    fails(1, "CoNLL-X cannot hold: empty node", *flags)
    summary = done(*flags, "--drop").stderr
    assert re.search(r"^left out: .*[0-9]+ DEPS, .*[0-9]+ empty nodes", summary, re.MULTILINE)
    assert "1 trees without words" in done("--rules", "english", stdin=b"((S (-NONE- *)))").stderr


def test_a_fault_leaves_no_file(tmp_path: Path) -> None:
    names = ["wsj_0200.mrg", "wsj_2200.mrg", "wsj_2300.mrg"]
    folder = treebank(tmp_path / "wsj", names, KIDS.encode())
    (folder / "wsj_2300.mrg").write_text(KIDS + "(S (NN a)\n")
    fails(1, "wsj_2300.mrg:2: the file ends", folder, "--split", "ptb", "--out", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    (tmp_path / "file").touch()
    fails(1, "can a folder be created there?", folder, "--split", "ptb", "--out", tmp_path / "file")


def test_words_as_they_are_and_as_asked_for() -> None:
    trees = b"(NP (NR Ken Madsen) (-LRB- -LRB-))"
    result = done("--rules", "chinese", "--join-words", "--unescape", "--quiet", stdin=trees)
    assert [line.split("\t")[1] for line in result.stdout.splitlines()[1:3]] == ["Ken_Madsen", "("]
    fails(1, "--join-words", "--rules", "chinese", stdin=trees)


def test_flags_that_do_not_go_together(tmp_path: Path) -> None:
    fails(1, "none are given", ROAD)
    fails(1, "stdin can be read only once", "-", "-", "--rules", "english")
    fails(1, "exclude each other", tmp_path, "--split", "ptb", "--last", 3, "--out", tmp_path)
    fails(1, "add --out DIR", tmp_path, "--split", "ptb")
    fails(1, "add --out DIR", ROAD, "--last", 3)
    fails(1, "--out is for", ROAD, "--out", tmp_path)
    fails(1, "parts go to --out", ROAD, "--last", 3, "--out", tmp_path, "-o", "x")
    fails(1, "one folder", "a", "b", "--split", "ptb", "--out", tmp_path)
    fails(1, "one folder", "--from", "conllx", "a", "--split", "ptb", "--out", tmp_path)
    fails(1, "No such file", tmp_path / "missing.mrg", "--rules", "english")
    fails(2, "Usage", "--from", "xml", ROAD)
    fails(2, "Usage", "--last", 0, ROAD)
