"""`headwise corpus` as a user runs it; with Ray in `tests/corpus/test_engine.py`."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import headwise
from headwise.cli.main import main
from headwise.cli.terminal import ProgressLine

TEXT = "Kids love candy. So do I.\n\n" * 40


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["corpus", *map(str, arguments)])


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "some.txt"
    path.write_text(TEXT)
    return path


def test_a_corpus_is_made_and_made_only_once(text: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    flags = [text, "-o", output, "--workers", 0, "--unit-size", 0.0003]
    done = run(*flags)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert re.search(
        r"out: 40 documents, 80 sentences, 320 words, 4 shards; \d+ s, [\d,]+ words/s", done.stderr
    )
    again = run(*flags)
    assert "4 shards, 4 of them from an earlier run" in again.stderr
    assert run(*flags, "--quiet").stderr == ""
    other = run(*flags, "--multi-root")
    assert other.exit_code == 1
    assert "this corpus was started with decode = DecodeConfig(" in other.stderr
    assert "hint: choose another --output" in other.stderr


def test_columns_lemmas_and_probabilities(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(
        "1\tKids\t_\t_\t_\t_\t2\todd\t_\t_\n2\tsing\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    table = tmp_path / "lemmas.tsv"
    table.write_text("kids\t_\tkid\n")
    flags = [tmp_path / "a.conllu", "--workers", 0, "--keep", "heads,labels", "--lemmas", table]
    flags += ["--probabilities", "--compression", "none", "-o", tmp_path / "out"]
    done = run(*flags)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out" / "shard-00000000.conllu").read_text()
    assert re.match(r"1\tKids\tkid\tNOUN\tNNS\t_\t2\todd\t_\tHeadProb=0\.\d{4}\|Upos", text)
    table.write_text("kids\t_\tKID\n")
    assert "this corpus was started with lemmas_sha256 = " in run(*flags).stderr


def test_trees_are_made_around_given_heads(tmp_path: Path) -> None:
    rows = "{}\tKids\t_\t_\t_\t_\t{}\t_\t_\t_\n{}\tsing\t_\t_\t_\t_\t{}\t_\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text("# newdoc id = a\n" + rows.format(1, 0, 2, "_"))
    (tmp_path / "b.conllu").write_text("# newdoc id = b\n" + rows.format(1, 2, 2, 1))
    flags = [tmp_path, "--workers", 0, "--keep", "heads", "--compression", "none"]
    done = run(*flags, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    (sentence,) = headwise.read_sentences(tmp_path / "out" / "shard-00000000.conllu")
    assert sentence.heads == (0, 1)
    quarantined = json.loads((tmp_path / "out" / "_quarantine.jsonl").read_text())
    assert quarantined["document"] == "b"
    assert "leads back to the same words" in quarantined["error"]


def test_quarantined_documents_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "Kids love candy."}\n{"no": 1}\n')
    flags = ["-o", tmp_path / "out", "--workers", 0, "--format", "parquet"]
    done = run(tmp_path / "a.jsonl", *flags)
    assert done.exit_code == 0
    assert "1 document, 1 sentence, 4 words, 1 shard" in done.stderr
    assert "quarantined: 1 document, see " in done.stderr
    quarantined = json.loads((tmp_path / "out" / "_quarantine.jsonl").read_text())
    assert quarantined["position"] == 29
    assert (tmp_path / "out" / "shard-00000000.parquet").exists()


def test_a_corpus_without_documents_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\n")
    done = run(tmp_path / "a.txt", "-o", tmp_path / "out", "--workers", 0)
    assert done.exit_code == 1
    assert "no document could be parsed" in done.stderr


def test_errors_have_one_message(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # other tests may have started it
    output = ["-o", tmp_path / "out"]
    for message, arguments in {
        "No such file": [tmp_path / "missing", *output],
        "no such model": [text, *output, "-m", "missing"],
        "--model: headwise corpus takes one model": [text, *output, "-m", "en", "-m", "en"],
        "shards are written to folders only": [text, "-o", "s3://bucket/out"],
        "--workers 0 and --address": [text, *output, "--workers", 0, "--address", "auto"],
        "choose one of xz": [text, *output, "--compression", "snappy"],
        "--address 127.0.0.1:1: [Errno 111]": [text, *output, "--address", "127.0.0.1:1"],
    }.items():
        done = run(*arguments)
        assert done.exit_code == 1, done.output
        assert message in done.stderr
    assert run(text).exit_code == 2


def test_progress_shows_words_and_time_left(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(ProgressLine, "show", lambda self, line: shown.append(line))
    run(text, "-o", tmp_path / "out", "--workers", 0, "--unit-size", 0.0003)
    assert len(shown) == 4
    assert re.fullmatch(r"\d+%, \d+ words, [\d,]+ words/s, \d+ s left", shown[0])
    assert shown[-1].startswith("100%, 320 words")
