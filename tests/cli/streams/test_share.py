"""`headwise parse --processes`: the same output, the same messages, from several processes."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import invoked
import pytest

import headwise
from headwise.cli.streams.share import parse_in_processes

SAMPLE = Path(__file__).parents[2] / "fixtures" / "ewt-dev-100.conllu"
CONLLX = SAMPLE.with_name("hand-made.conllx")


def parse(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    given = ["parse", *map(str, arguments)]
    if "--processes" in given and given[given.index("--processes") + 1] != "1":
        command = [sys.executable, "-m", "headwise", *given]  # forks, so it needs its own process
        return subprocess.run(command, input=stdin, capture_output=True, check=False)
    return invoked.headwise(*given, stdin=stdin)


def both(*arguments: object, stdin: bytes = b"") -> list[subprocess.CompletedProcess[bytes]]:
    """Run with one process and with three."""
    return [parse(*arguments, "--processes", n, stdin=stdin) for n in (1, 3)]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a file of several chunks."""
    path = tmp_path_factory.mktemp("many") / "many.conllu"
    path.write_bytes(SAMPLE.read_bytes() * 6)
    return path


@pytest.mark.parametrize("form", ["conllu", "json"])
def test_the_output_is_that_of_one_process(many: Path, form: str) -> None:
    one, three = both("--format", form, many)
    assert one.returncode == three.returncode == 0
    assert one.stdout == three.stdout
    counts = [done.stderr.decode().split(" words/s; ")[1] for done in (one, three)]
    assert counts[0] == counts[1]
    assert b"600 sentences" in three.stderr


def test_text_is_the_same_from_stdin() -> None:
    text = b"Kids love candy. So do I.\n\nEvery word selects its head.\n" * 200
    one, three = both("--quiet", "--format", "conllu", stdin=text)
    assert one.returncode == 0
    assert one.stdout == three.stdout
    assert three.stdout.count(b"# text = So do I.\n") == 200


@pytest.mark.parametrize("arguments", [["Kids love candy."], ["--input", "conllx", CONLLX]])
def test_text_and_conllx_are_the_same(arguments: list[object]) -> None:
    one, three = both("--quiet", *arguments)
    assert (one.returncode, one.stdout) == (three.returncode, three.stdout)
    assert one.stdout


def test_malformed_input_is_reported_by_its_line_in_the_file(many: Path, tmp_path: Path) -> None:
    lines = many.read_bytes().splitlines(keepends=True)
    row = max(i for i, line in enumerate(lines) if line.startswith(b"1\t"))
    lines[row] = b"1\tbroken\n"
    broken = tmp_path / "broken.conllu"
    broken.write_bytes(b"".join(lines))
    place = f"{broken}:{row + 1}: 2 columns where 10 are needed"
    one, three = both(broken)
    assert one.returncode == three.returncode == 1
    assert one.stderr == three.stderr
    assert place in three.stderr.decode()
    assert one.stdout == three.stdout
    assert one.stdout.count(b"\n\n") == many.read_bytes().count(b"\n\n") - 1
    one, three = both(broken, "--on-error", "skip")
    assert one.stdout == three.stdout
    assert f"passed through unparsed: {place}" in three.stderr.decode()
    assert b"1 unparsed" in three.stderr


def test_a_long_sentence_is_split_as_by_one_process() -> None:
    words = b"".join(b"%d\tword%d\t_\t_\t_\t_\t_\t_\t_\t_\n" % (i, i % 50) for i in range(1, 1800))
    data = SAMPLE.read_bytes() + words + b"\n" + SAMPLE.read_bytes()
    one, three = both("--quiet", "--input", "conllu", "--memory-budget", 64, stdin=data)
    assert one.returncode == 0, one.stderr
    assert one.stdout == three.stdout


def test_the_parser_of_the_parent_stays_as_it_is(many: Path) -> None:
    parser = headwise.load(memory_budget=2**26)
    sentences = list(headwise.read_sentences(SAMPLE))[:3]
    long = headwise.sentence_from_words([(f"word{i % 50}",) for i in range(900)], ["form"])
    before = parser.parse([*sentences, long])
    parts = parse_in_processes(parser, str(many), "conllu", "conllu", 2)
    assert sum(part.counts.n_words for part in parts) > 1_000
    assert parser.parse([*sentences, long]) == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--format", "svg"], "cannot be combined with --format svg"),
        (["--format", "tree"], "cannot be combined with --format tree"),
        (["--device", "cuda"], "cannot be combined with --device cuda"),
        (["--threads", "2"], "cannot be combined"),
    ],
)
def test_what_only_one_process_can_do_is_refused(arguments: list[str], what: str) -> None:
    message = invoked.refusal("parse", "--processes", 2, *arguments, SAMPLE)
    assert f"--processes {what}" in message
    assert "hint: " in message


def test_a_damaged_file_gives_what_came_before(many: Path) -> None:
    packed = gzip.compress(many.read_bytes())[:-4]
    one, three = both("--quiet", "--input", "conllu", stdin=packed)
    assert one.returncode == three.returncode == 1
    assert one.stderr == three.stderr
    assert b"compressed data is damaged" in three.stderr
    assert one.stdout == three.stdout != b""


def test_a_file_name_that_is_not_unicode_is_escaped(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/bad\xff.conllu"
    with open(path, "wb") as stream:
        stream.write(SAMPLE.read_bytes() + b"1\tx\n\n")
    one, three = both(os.fsdecode(path), "--on-error", "skip")
    assert one.returncode == three.returncode == 0
    assert one.stdout == three.stdout
    assert all(b"bad\\udcff.conllu:" in done.stderr for done in (one, three))
