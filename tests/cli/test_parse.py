"""`headwise parse` as a user runs it, on text; pipes and terminals in real processes."""

import gzip
import json
import lzma
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from invoked import headwise, on_terminal, refusal

from headwise import load, read_sentences

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"
CONLLX = SAMPLE.with_name("hand-made.conllx")
TEXT = b"Kids love candy. So do I.\n\nEvery word selects its head.\n"


def parse(
    *arguments: object, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return headwise("parse", *arguments, stdin=stdin, **environment)


def output(*arguments: object, stdin: bytes = b"", **environment: str) -> bytes:
    done = parse("--quiet", *arguments, stdin=stdin, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


def forms(conllu: bytes) -> list[list[str]]:
    rows = [line.split("\t") for line in conllu.decode().splitlines()]
    return [row[1:2] + row[3:8] for row in rows if len(row) == 10 and row[0].isdigit()]


def test_text_as_an_argument_from_stdin_and_in_a_file_is_the_same(tmp_path: Path) -> None:
    from_stdin = output(stdin=TEXT)
    assert forms(from_stdin)[:4] == [
        ["Kids", "NOUN", "NNS", "_", "2", "nsubj"],
        ["love", "VERB", "VBP", "_", "0", "root"],
        ["candy", "NOUN", "NN", "_", "2", "obj"],
        [".", "PUNCT", ".", "_", "2", "punct"],
    ]
    assert from_stdin.count(b"# sent_id = ") == 3
    assert from_stdin.count(b"# newpar") == 2
    plain, packed, smaller = (tmp_path / f"book{end}" for end in (".txt", ".txt.gz", ".xz"))
    plain.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT))
    smaller.write_bytes(lzma.compress(TEXT))
    for source in (plain, packed, smaller, TEXT.decode()):
        assert output(source) == from_stdin
    assert output("-", stdin=gzip.compress(TEXT)) == from_stdin


def test_every_form_of_text(without_segmenter: Path) -> None:
    text = b"So do I. Kids love\ncandy.\n"
    by_form = {
        form: output("--input", form, stdin=text) for form in ("text", "auto", "lines", "tokens")
    }
    assert by_form["text"] == by_form["auto"]
    assert by_form["lines"].count(b"# sent_id") == by_form["tokens"].count(b"# sent_id") == 2
    assert b"\tI.\t" in by_form["tokens"]
    assert b"\tI.\t" not in by_form["lines"]
    assert output("-m", without_segmenter, "--input", "tokens", stdin=text) == by_form["tokens"]
    assert output("So do I. Kids love\ncandy.", "--input", "tokens") == by_form["tokens"]


def test_treebanks_go_by_name_or_start(tmp_path: Path) -> None:
    parsed = output(SAMPLE)
    assert output(stdin=SAMPLE.read_bytes()) == output(SAMPLE, "--input", "conllu") == parsed
    assert output(SAMPLE, "--threads", 3) == parsed
    conllx = output(CONLLX, "--input", "conllx")
    assert conllx == output(CONLLX, "--input", "conllx", "--format", "conllx")
    assert len(forms(conllx)) == len(forms(CONLLX.read_bytes()))
    broken = tmp_path / "broken.conllu"
    broken.write_text("1 Kids _ _ _ _ _ _ _ _\n\n")
    assert f"{broken}:1: 1 column where 10" in refusal("parse", broken)
    assert "byte order mark" in refusal("parse", stdin=b"\xef\xbb\xbf# sent_id = 1\n1\tKids\n\n")


def test_columns_left_as_in_the_input_are_named_at_the_end() -> None:
    """Scoring them would compare the treebank with itself."""
    note = b"left as in the input: LEMMA, FEATS (not predicted by the model)"
    for flags in ([], ["--processes", 2]):
        assert headwise("parse", SAMPLE, *flags).stderr.splitlines()[-1] == note
    assert note not in headwise("parse", SAMPLE, "--quiet").stderr
    assert note not in headwise("parse", "Kids love candy.").stderr


def test_a_slow_pipe_is_waited_for() -> None:
    command = [sys.executable, "-m", "headwise", "parse", "--quiet"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout  # noqa: PT018
        process.stdin.write(b"# a remark\n")
        process.stdin.flush()
        time.sleep(1)
        process.stdin.write(b"1\tKids\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
        process.stdin.close()
        assert process.stdout.read().startswith(b"# a remark\n1\tKids\t_\tNOUN")


def test_every_format(tmp_path: Path) -> None:
    records = [json.loads(line) for line in output("--format", "json", stdin=TEXT).splitlines()]
    assert [record["text"] for record in records][1] == "So do I."
    assert records[0]["words"][0]["start"] == 0
    ((_, parse), *_) = load().annotate_text(TEXT.decode())
    probabilities = [word["probability"] for word in records[0]["words"]]
    assert probabilities == pytest.approx(parse.probabilities, abs=1e-4)
    tree = output("--format", "tree", stdin=TEXT).decode()
    assert "╭──► Kids   NOUN   nsubj  ← love" in tree
    assert "\x1b" not in tree
    assert output("--format", "svg", stdin=TEXT).startswith(b"<svg ")
    path = tmp_path / "out.conllu.xz"
    assert output("-o", path, stdin=TEXT) == b""
    assert lzma.decompress(path.read_bytes()) == output("--format", "conllu", stdin=TEXT)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.svg", b"<svg"),
        ("a.json", b"{"),
        ("a.JSONL", b"{"),
        ("a.png", b"\x89PNG\r\n"),
        ("a.html", b"<!doctype html>"),
    ],
)
def test_the_name_of_the_output_gives_its_format(name: str, start: bytes, tmp_path: Path) -> None:
    output("Kids love candy.", "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    output("Kids love candy.", "-o", tmp_path / name, "--format", "conllu")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("# newpar")


def test_pictures_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    message = refusal("parse", "Hi.", "-o", tmp_path / "a.pdf")
    assert f"-o {tmp_path}/a.pdf: .pdf is not written\nhint: use .conllu, .json, .svg" in message
    assert not (tmp_path / "a.pdf").exists()


def test_decoders_and_roots(tiny_run: Path) -> None:
    by_default, greedy, eisner = (
        output(SAMPLE, "-m", tiny_run, *flags)
        for flags in ([], ["--decoder", "greedy"], ["--decoder", "eisner", "--single-root"])
    )
    assert greedy != eisner != by_default
    assert eisner.count(b"\t0\t") == 100


def test_on_error_skip_reports_and_passes_through_or_leaves_out(tiny_run: Path) -> None:
    first = SAMPLE.read_bytes().split(b"\n\n")[0] + b"\n\n"
    skip = ("-m", tiny_run, "--on-error", "skip")
    done = parse(*skip, stdin=first + b"what\n\n" + first)
    before, after = done.stdout.split(b"what\n\n")
    assert before == after
    assert b"headwise: passed through unparsed: <stdin>:" in done.stderr
    assert b"1 unparsed" in done.stderr
    done = parse(*skip, "--format", "json", stdin=first + b"what\n\n")
    assert b"headwise: left out: <stdin>:" in done.stderr
    assert done.stdout.count(b"\n") == 1


def test_output_appears_whole_or_not_at_all(tiny_run: Path, tmp_path: Path) -> None:
    broken = SAMPLE.read_bytes() + b"what\n\n"
    message = refusal("parse", "-m", tiny_run, "-o", tmp_path / "out.conllu", stdin=broken)
    assert "1 column where 10" in message
    assert list(tmp_path.iterdir()) == []


def test_several_models_are_an_ensemble(full_run: Path, marked_run: Path) -> None:
    models = ("-m", full_run, "-m", marked_run)
    sentences = list(read_sentences(SAMPLE))
    parses = load([full_run, marked_run]).parse(sentences)
    expected = "".join(s.with_parse(p).conllu for s, p in zip(sentences, parses, strict=True))
    assert output(*models, SAMPLE).decode() == expected
    assert output("-m", full_run, SAMPLE).decode() != expected
    message = refusal("parse", *models, "Kids love candy.")
    assert "this model reads the columns XPOS, FEATS, and text has no tags" in message


def test_a_treebank_is_chosen_by_name(marked_run: Path) -> None:
    main, first, second = (
        output("-m", marked_run, *chosen, SAMPLE)
        for chosen in ([], ["--treebank", "first"], ["--treebank", "second"])
    )
    assert main == first != second
    message = refusal("parse", "-m", marked_run, "--treebank", "third", SAMPLE)
    assert message == "headwise: no treebank third in this model\nhint: it knows first, second\n"


@pytest.mark.parametrize("form", ["conllu", "json", "tree"])
@pytest.mark.parametrize("stdin", [b"", b"\r\n \t\n"])
def test_nothing_gives_nothing(form: str, stdin: bytes, without_segmenter: Path) -> None:
    for model in ("en", without_segmenter):
        assert output("-m", model, "--format", form, stdin=stdin).strip() == b""
    assert output("", "--format", form) == b""


def test_the_summary_is_on_stderr_and_uses_the_singular() -> None:
    done = parse("Candy")
    assert done.stderr.startswith(b"1 sentence, 1 word, ")
    assert done.stderr.endswith(b" words/s; 1 greedy\n")
    assert forms(done.stdout)[0][0] == "Candy"


def test_tags_are_kept_when_asked_for() -> None:
    given = b"1\tKids\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
    assert forms(output(stdin=given))[0][1] == "NOUN"
    kept = forms(output("--keep-tags", stdin=given))[0]
    assert kept[1] == "VERB"
    assert kept[2] != "_"


def test_columns_are_kept_lemmas_set_and_probabilities_written(tmp_path: Path) -> None:
    given = b"1\tKids\t_\tVERB\t_\t_\t3\t_\t_\t_\n2\tlove\t_\t_\t_\t_\t_\t_\t_\t_\n"
    given += b"3\tcandy\t_\t_\t_\t_\t_\tiobj\t_\tSpaceAfter=No\n\n"
    (tmp_path / "lemmas.tsv").write_text("kids\tVERB\tkid\n")
    flags = ["--keep", "upos,heads,labels", "--lemmas", tmp_path / "lemmas.tsv", "--probabilities"]
    done = output(*flags, stdin=given)
    rows = [line.split("\t") for line in done.decode().splitlines() if line]
    assert rows[0][2:4] == ["kid", "VERB"]
    assert (rows[0][6], rows[2][7]) == ("3", "iobj")
    assert re.fullmatch(
        r"HeadProb=0\.\d{4}\|LabelProb=[01]\.\d{4}\|XposProb=[01]\.\d{4}", rows[0][9]
    )
    assert re.fullmatch(
        r"HeadProb=[^|]*\|SpaceAfter=No\|UposProb=[^|]*\|XposProb=[^|]*", rows[2][9]
    )
    assert output(*flags, "--processes", 2, stdin=given) == done
    # Parsed again, all values stay and their probabilities go, except those of heads.
    again = output("--keep", "lemma,upos,xpos,feats,heads,labels", "--probabilities", stdin=done)
    assert [line.split("\t")[:9] for line in again.decode().splitlines() if line] == [
        r[:9] for r in rows
    ]
    assert b"XposProb" not in again


def test_flags_for_columns_are_checked(tmp_path: Path) -> None:
    assert "keep: there is no column 'head'\nhint: choose from lemma, upos, xpos" in refusal(
        "parse", "Hi.", "--keep", "upos,head"
    )
    message = refusal("parse", "Hi.", "--keep", "upos", "--no-keep-tags")
    assert "--keep upos and --no-keep-tags: choose one" in message
    for flags in (["--format", "json"], ["-o", tmp_path / "a.json"], ["--input", "conllx"]):
        assert "--probabilities: not in " in refusal("parse", CONLLX, "--probabilities", *flags)
    message = refusal("parse", "Hi.", "--columns", "upos", "--format", "json")
    assert "--columns: not with --format json, which has all columns" in message
    (tmp_path / "bad.tsv").write_text("kids kid\n")
    assert "bad.tsv:1: 'kids kid' is not an entry" in refusal(
        "parse", "Hi.", "--lemmas", tmp_path / "bad.tsv"
    )
    cycle = b"1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n\n"
    message = refusal("parse", "--keep", "heads", stdin=cycle)
    assert "<stdin>:1: the HEAD of words 1 ('a') and 2 ('b') leads back" in message


def test_a_missing_file_is_not_parsed_as_text(tmp_path: Path) -> None:
    message = refusal("parse", tmp_path / "missing.txt")
    assert f"{tmp_path}/missing.txt: No such file or directory\nhint: " in message
    assert "missing: No such file" in refusal("parse", "missing", "--input", "conllu")
    words = {row[0] for row in forms(output("We saw this/that. It is in notes.txt, I think."))}
    assert {"saw", "think"} <= words


def test_bytes_that_are_not_utf8_have_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"Kids love caf\xe9.\n")
    assert f"{path}: byte 13 (counting from 0) is not UTF-8\nhint: " in refusal("parse", path)
    late = b"Kids love candy.\n" * 10_000
    assert "<stdin>: byte 170000 " in refusal("parse", "-o", tmp_path / "out", stdin=late + b"\xff")
    assert not (tmp_path / "out").exists()
    assert "<stdin>: byte 0 " in refusal("parse", stdin=b"\xed\xa0\x80")  # a lone surrogate


def test_models_that_lack_something_say_so(without_segmenter: Path, reads_tags: Path) -> None:
    for source in ("Kids love candy.", "-"):
        message = refusal("parse", "-m", without_segmenter, source, stdin=TEXT)
        assert "trained without a segmenter" in message
        assert "--input tokens" in message
    for source, form in (("-", "auto"), ("-", "tokens"), ("Kids love candy.", "auto")):
        message = refusal("parse", "-m", reads_tags, source, "--input", form, stdin=TEXT)
        assert "this model reads the column XPOS, and text has no tags\nhint: " in message


def test_flags_that_do_not_fit(tiny_run: Path) -> None:
    for flags in (["--format", "conllx"], ["-o", "never-written.conllx"]):
        assert "only written from CoNLL-X" in refusal("parse", "Kids", *flags)
    assert "is CoNLL-X" in refusal("parse", CONLLX, "--input", "conllx", "--format", "conllu")
    message = refusal("parse", "Kids", "-m", "nowhere")
    assert "nowhere: there is no such model" in message
    refused = refusal("parse", SAMPLE, "-m", "en", "-m", tiny_run, "--no-keep-tags")
    assert f"--no-keep-tags: model {tiny_run} reads the column XPOS" in refused
    message = refusal("parse", "--precision", "float32", "Hi.")
    assert "this model has no float32\nhint: it has int8 only" in message
    message = refusal("parse", "--device", "gpu", "Hi.")
    assert "device gpu: no such device\nhint: auto, cpu, cuda or cuda:N" in message
    for arguments in (["Kids", "--input", "speech"], ["-5 degrees"]):
        refusal("parse", *arguments, code=2)
    assert forms(output("--", "-5 degrees"))[-1][0] == "degrees"


def test_a_terminal_gets_a_tree_in_colour_and_nothing_else() -> None:
    shown = on_terminal("parse", "Kids love candy.")
    assert shown.startswith(" ╭──► Kids   \x1b[2mNOUN\x1b[0m   nsubj")
    assert shown.count("\n") == 4
    assert "\r" not in shown
    assert "words/s" not in shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_may_want_no_colour(environment: dict[str, str]) -> None:
    shown = on_terminal("parse", "Kids love candy.", **environment)
    assert "╭──► Kids   NOUN   nsubj" in shown
    assert "\x1b" not in shown


def test_a_terminal_can_be_narrow_or_ascii() -> None:
    shown = on_terminal("parse", "Kids love candy.", width=24, PYTHONIOENCODING="ascii")
    assert ",--> Kids" in shown or ",-> Kids" in shown
    assert max(len(line) for line in shown.replace("\x1b[2m", "").splitlines()) <= 40
    assert shown.isascii()


def test_other_formats_on_a_terminal_have_a_summary_after_them() -> None:
    shown = on_terminal("parse", "Kids love candy.", "--format", "conllu")
    assert shown.startswith("# newpar\n")
    assert shown.splitlines()[-1].startswith("1 sentence, 4 words")
    assert "1 sentence" not in on_terminal("parse", "Kids", "--format", "conllu", "--quiet")
