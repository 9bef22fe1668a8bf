"""The commands as a user runs them: output, exit codes; real processes where pipes matter."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from invoked import headwise
from made_encoders import N_IDS

FIXTURES = Path(__file__).parent.parent / "fixtures"
SAMPLE = FIXTURES / "ewt-dev-100.conllu"
RECIPE = FIXTURES.parent.parent / "configs" / "paper-ewt.toml"


def in_new_process(
    *arguments: object, modules: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, which finds `modules` before any others."""
    path = os.pathsep.join(filter(None, [str(modules or ""), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "headwise", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, check=False, env=environment)


@pytest.fixture(scope="module")
def parsed(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parsed") / "out.conllu"
    done = headwise("parse", SAMPLE, "-m", tiny_run, "-o", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert b"100 sentences" in done.stderr
    return path


@pytest.mark.parametrize(
    "command", [[], ["train"], ["parse"], ["evaluate"], ["info"], ["convert"], ["corpus"]]
)
def test_help_shows_an_example(command: list[str]) -> None:
    done = headwise(*command, "--help")
    assert done.returncode == 0
    assert b"Example" in done.stdout
    assert b"headwise " in done.stdout.split(b"Example")[1]


def test_parse_reads_stdin_and_writes_stdout(parsed: Path, tiny_run: Path) -> None:
    done = headwise("parse", "-m", tiny_run, "--quiet", "--threads", 2, stdin=SAMPLE.read_bytes())
    assert done.returncode == 0
    assert done.stdout == parsed.read_bytes()
    assert done.stderr == b""


def test_decoders_and_roots(parsed: Path, tiny_run: Path) -> None:
    outputs = {}
    for flags in (["--decoder", "greedy"], ["--decoder", "eisner", "--single-root"]):
        done = headwise("parse", SAMPLE, "-m", tiny_run, *flags)
        assert done.returncode == 0
        outputs[flags[1]] = done.stdout
    assert outputs["greedy"] != outputs["eisner"] != parsed.read_bytes()
    assert outputs["eisner"].count(b"\t0\t") == 100


def test_info_tells_what_a_model_is(tiny_run: Path) -> None:
    done = headwise("info", tiny_run)
    assert done.returncode == 0
    assert b"XPOS" in done.stdout
    assert b"whole" in done.stdout
    manifest = json.loads(headwise("info", tiny_run, "--format", "json").stdout)
    assert manifest["model"]["hidden_size"] == 32
    assert headwise("info").returncode == 0


def test_info_shows_no_control_characters(tiny_run: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny_run / "model", tmp_path / "model"))
    manifest = json.loads((model / "model.json").read_text())
    manifest["provenance"] = {"data": "\x1b[31mred\x07"}
    (model / "model.json").write_text(json.dumps(manifest))
    shown = headwise("info", model).stdout.decode()
    assert "\\x1b[31mred\\x07" in shown
    assert not {"\x1b", "\x07"} & set(shown)


def test_ctrl_c_during_imports_gives_no_traceback() -> None:
    code = (
        "import runpy, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'headwise.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('headwise', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"\nheadwise: interrupted\n")


def test_info_tells_of_a_transformer(encoder_run: Path) -> None:
    rows = headwise("info", encoder_run).stdout.decode().splitlines()
    (told,) = (row for row in rows if row.startswith("transformer "))
    assert told.endswith(f"bert, {N_IDS} subwords, states of 16, windows of 39")


def fails(code: int, message: bytes, *arguments: object, stdin: bytes = b"") -> None:
    done = headwise(*arguments, stdin=stdin)
    assert done.returncode == code
    assert message in done.stderr
    assert b"Traceback" not in done.stderr


def test_errors_have_one_message_and_an_exit_code(tiny_run: Path, tmp_path: Path) -> None:
    parse = ["parse", "-m", tiny_run]
    fails(1, b"<stdin>:1: 1 column where 10", *parse, "--input", "conllu", stdin=b"what\n\n")
    fails(1, b"No such file", *parse, tmp_path / "missing.conllu")
    fails(1, b"not a model folder", "parse", "-m", tmp_path, SAMPLE)
    fails(1, b"it needs --input conllx", *parse, SAMPLE, "--format", "conllx")
    fails(1, b"reads the column XPOS", *parse, SAMPLE, "--no-keep-tags")
    fails(2, b"Usage", "parse", "--threads", "0")
    fails(2, b"Usage", "evaluate", SAMPLE, SAMPLE, SAMPLE, "--seed", "-1")
    fails(1, b"stdin can be read only once", "evaluate", "-", SAMPLE, SAMPLE)
    fails(2, b"No such command", "sing")


def test_on_error_skip_reports_and_passes_through(tiny_run: Path) -> None:
    first = SAMPLE.read_bytes().split(b"\n\n")[0] + b"\n\n"
    done = headwise(
        "parse", "-m", tiny_run, "--on-error", "skip", stdin=first + b"what\n\n" + first
    )
    assert done.returncode == 0
    assert b"what\n\n" in done.stdout
    assert b"passed through unparsed: <stdin>:" in done.stderr
    assert b"1 unparsed" in done.stderr
    halves = done.stdout.split(b"what\n\n")
    assert halves[0] == halves[1]
    done = headwise(
        "parse", "-m", tiny_run, "--on-error", "skip", "--format", "json", stdin=first + b"what\n\n"
    )
    assert b"headwise: left out: <stdin>:" in done.stderr
    assert done.stdout.count(b"\n") == 1


def test_output_appears_whole_or_not_at_all(tiny_run: Path, tmp_path: Path) -> None:
    broken = SAMPLE.read_bytes() + b"what\n\n"
    done = headwise("parse", "-m", tiny_run, "-o", tmp_path / "out.conllu", stdin=broken)
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_reader_that_goes_away_is_no_traceback(tiny_run: Path) -> None:
    command = [sys.executable, "-m", "headwise", "parse", "-m", str(tiny_run)]
    data = SAMPLE.read_bytes() * 20
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stdin and process.stderr  # noqa: PT018
        process.stdout.close()
        try:
            process.stdin.write(data)
            process.stdin.close()
        except BrokenPipeError:
            pass
        message = process.stderr.read()
        assert process.wait(60) == 128 + signal.SIGPIPE
    assert message == b""


def test_full_disk_is_one_clear_error(tiny_run: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "headwise", "parse", "-m", str(tiny_run), str(SAMPLE)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_training_into_a_file_is_refused(tiny_treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    files = ("--train", tiny_treebank, "--dev", tiny_treebank)
    done = headwise("train", RECIPE, *files, "--out", tmp_path / "taken", "--device", "cpu")
    assert done.returncode == 1
    assert done.stderr.endswith(b"taken: File exists\nhint: can a folder be created there?\n")


def test_train_shows_progress_and_resumes_after_a_kill(tiny_treebank: Path, tmp_path: Path) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(
        "[model]\nword_size = 8\ntag_size = 4\nhidden_size = 8\nlabel_size = 8\n"
        "[train]\nadam_epochs = 3\nsgd_epochs = 1\npatience = 9\n[label]\nepochs = 2\n"
    )
    command = [sys.executable, "-m", "headwise", "train", config, "--out", tmp_path / "run"]
    command += ["--train", tiny_treebank, "--dev", tiny_treebank, "--seed", "5", "--device", "cpu"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            if line.startswith("adam   2"):
                process.kill()
    assert not (tmp_path / "run" / "model").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "40 sentences" in done.stderr
    assert "adam   1" not in done.stderr
    assert "label  2" in done.stderr
    assert str(tmp_path / "run" / "model") in done.stderr
    log = (tmp_path / "run" / "log.txt").read_text()
    assert [line.split()[0] for line in log.splitlines()] == ["adam"] * 3 + ["sgd"] + ["label"] * 2


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [
        ("torch", "train", ["train", RECIPE]),
        ("torch", "train", ["parse", SAMPLE, "--device", "cuda"]),
        ("pyarrow", "corpus", ["corpus", SAMPLE, "-o", "nowhere"]),
    ],
)
def test_a_missing_library_says_what_to_install(
    module: str, extra: str, arguments: list[object], tmp_path: Path
) -> None:
    error = f"raise ModuleNotFoundError('no {module}', name={module!r})\n"
    (tmp_path / f"{module}.py").write_text(error)
    done = in_new_process(*arguments, modules=tmp_path)
    assert done.returncode == 1
    assert f"pip install 'headwise[{extra}]'" in done.stderr.decode()


def test_parsing_never_imports_torch(tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch was imported')\n")
    done = in_new_process("parse", SAMPLE, "-m", tiny_run, modules=tmp_path)
    assert done.returncode == 0, done.stderr
