"""What one tries first, and gets wrong: an answer that helps."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import headwise
from headwise.cli.main import main
from headwise.treebank.sentence import Parse

FIXTURE = Path(__file__).parents[1] / "fixtures/ewt-dev-100.conllu"


def said(*arguments: object, code: int = 1) -> str:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(("name", "start"), [("a.svg", "<svg"), ("a.json", "{"), ("a.JSONL", "{")])
def test_the_format_is_that_of_the_name(name: str, start: str, tmp_path: Path) -> None:
    said("parse", "Kids love candy.", "-o", tmp_path / name, "--quiet", code=0)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    said("parse", "Kids love candy.", "-o", tmp_path / name, "--format", "conllu", code=0)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("# newpar")


def test_a_model_that_is_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "by name: en (names are also looked up in models/" in said(
        "parse", "--model", "de", "Hi."
    )


def test_a_precision_that_the_model_has_not() -> None:
    told = said("parse", "--precision", "float32", "Hi.")
    assert "this model has no float32\nhint: it has int8 only" in told


def test_a_device_that_is_none() -> None:
    told = said("parse", "--device", "gpu", "Hi.")
    assert "device gpu: no such device\nhint: auto, cpu, cuda or cuda:N" in told


def test_a_port_that_is_none() -> None:
    assert "is not in the range" in said("serve", "--port", "99999", code=2)


def test_convert_tells_formats_by_names(tmp_path: Path) -> None:
    assert "100 sentences" in said("convert", FIXTURE, "--to", "conllx", "--drop", code=0)
    assert "nofile: No such file or directory" in said("convert", "nofile")
    one = tmp_path / "one.conllx"
    one.write_text("1\tHi\thi\tUH\tUH\t_\t0\troot\t_\t_\n\n")
    assert "1 sentence, 1 word\n" in said("convert", one, code=0)


def test_a_setting_that_is_none_is_named(tmp_path: Path) -> None:
    recipe = Path(__file__).parents[2] / "configs/paper-ewt.toml"
    told = said("train", recipe, "--set", "model.foo=3", "--out", tmp_path / "run")
    assert f"{recipe} --set model.foo=3: Object contains unknown field `foo`" in told


def test_a_training_that_cannot_start_leaves_nothing(tmp_path: Path) -> None:
    recipe = Path(__file__).parents[2] / "configs/paper-ewt.toml"
    paths = ("--train", tmp_path / "none.conllu", "--dev", FIXTURE)
    said("train", recipe, *paths, "--out", tmp_path / "runs/one")
    assert not (tmp_path / "runs/one").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    said("train", recipe, *paths, "--out", tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_what_is_given_in_place_of_sentences_is_told() -> None:
    parser = headwise.load()
    ((sentence, _),) = parser.annotate_text("Kids love candy.")
    for wrong in ("Kids love candy.", sentence):
        with pytest.raises(TypeError, match=r"for text there is annotate_text"):
            next(parser.annotate(wrong))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="decode bytes first"):
        next(parser.annotate_text(b"Kids"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"parse\(\[sentence\]\)"):
        parser.parse(sentence)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="show takes a sentence"):
        headwise.show("Kids")  # type: ignore[arg-type]


def test_probabilities_are_those_of_the_arcs() -> None:
    parse = Parse((2, 0), ("nsubj", "root"), (math.log(0.25), 1e-9), "greedy")
    assert parse.probabilities == pytest.approx((0.25, 1.0))
    assert max(parse.probabilities) <= 1
    told = json.loads(said("parse", "Kids love candy.", "--format", "json", "--quiet", code=0))
    ((_, found),) = headwise.load().annotate_text("Kids love candy.")
    shown = [word["probability"] for word in told["words"]]
    assert shown == pytest.approx(found.probabilities, abs=1e-4)
