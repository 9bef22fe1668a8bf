"""UDPipe 1 on the treebanks of a plan, with as little training as possible."""

import json
import lzma
from pathlib import Path

import pytest

pytest.importorskip("ufal.udpipe")

from bench.languages.udpipe import main
from headwise import Sentence

PLAN = """
seeds = [1]
recipe = "configs/columns.toml"
epochs = { words = 400, least = 1, most = 2 }
[variants.alone]
title = "from scratch"
[treebanks.en]
title = "EWT"
language = "English"
words = 800
"""
QUICK = [
    *("--tokenizer", "epochs=1;dimension=24"),
    *("--tagger", "models=1;iterations=1"),
    *("--parser", "iterations=1;hidden_layer=10;structured_interval=0;single_root=1"),
]


def test_a_model_is_trained_once_and_scored(
    ewt_sentences: list[Sentence], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out, folder = tmp_path / "plan.toml", tmp_path / "out", tmp_path / "languages" / "en"
    plan.write_text(PLAN)
    folder.mkdir(parents=True)
    for name, some in (("train", ewt_sentences[:60]), ("dev", ewt_sentences[60:80])):
        text = "".join(sentence.conllu for sentence in some)
        (folder / f"{name}.conllu.xz").write_bytes(lzma.compress(text.encode()))
    flags = ["--plan", str(plan), "--data", str(tmp_path), "--out", str(out), *QUICK]
    main([*flags, "en"])
    found = json.loads((out / "en.json").read_text())
    assert found["treebank"] == "EWT"
    assert found["gold"]["words"] == 100 > found["raw"]["words"] > 40
    assert found["gold"]["upos"] > 50
    assert found["gold"]["las"] > found["raw"]["las"] > 0
    report = (out / "report.md").read_text()
    assert f"| EWT | {found['gold']['upos']:.2f} |" in report
    made = (out / "en.udpipe").stat().st_mtime_ns
    capsys.readouterr()
    main([*flags, "en"])
    assert (out / "en.udpipe").stat().st_mtime_ns == made
    assert capsys.readouterr().out.strip() == report.strip()


def test_an_unknown_treebank_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path), "--out", str(tmp_path), "xx"])
    assert "languages.toml: xx" in capsys.readouterr().err
