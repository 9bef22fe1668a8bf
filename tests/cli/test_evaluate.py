"""`headwise evaluate` as a user runs it: one file, two files, and files aligned by characters."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headwise.cli.main import main

WORD = "{}\t{}\t_\tX\t_\t_\t{}\t{}\t_\t_\n"
GOLD = WORD.format(1, "to", 2, "case") + WORD.format(2, "day", 0, "root") + "\n"
MERGED = WORD.format(1, "today", 0, "root") + "\n"
SAME_WORDS = WORD.format(1, "to", 2, "case:x") + WORD.format(2, "day", 0, "root") + "\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"gold": GOLD, "merged": MERGED, "same": SAME_WORDS, "other": "1\tyes" + MERGED[7:]}
    paths = {name: tmp_path / f"{name}.conllu" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text, encoding="utf-8")
    return paths


def evaluate(*arguments: object, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)], input=stdin)


def test_one_prediction_is_scored(files: dict[str, Path]) -> None:
    text = evaluate(files["gold"], files["same"], "--details").stdout
    assert "LAS      50.00" in text
    assert "Length up to" in text
    done = evaluate(files["gold"], files["same"], "--universal", "--format", "json")
    assert json.loads(done.stdout)["las"] == 100.0


def test_two_predictions_are_compared(files: dict[str, Path]) -> None:
    both = files["gold"], files["same"], files["gold"]
    assert "Paired bootstrap over 1 sentences" in evaluate(*both).stdout
    found = json.loads(evaluate(*both, "--format", "json").stdout)
    assert found["difference"]["las"]["points"] == 50.0
    refused = evaluate("-", files["same"], files["gold"])
    assert refused.exit_code == 1
    assert "stdin can be read only once" in refused.stderr


def test_align_prints_a_table(files: dict[str, Path]) -> None:
    done = evaluate(files["gold"], files["merged"], "--align")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == ["Precision", "Recall", "F1", "Aligned"]
    assert "Sentences     100.00  100.00  100.00" in done.stdout
    assert "Words           0.00    0.00    0.00" in done.stdout
    assert not done.stdout.endswith("\n\n")
    assert done.stderr == ""


def test_align_compares_labels_in_full_unless_universal(files: dict[str, Path]) -> None:
    found = []
    for flags in ([], ["--universal"]):
        done = evaluate(files["gold"], "-", "--align", "--format", "json", *flags, stdin=SAME_WORDS)
        found.append(json.loads(done.stdout))
    assert [scores["las"]["f1"] for scores in found] == [50.0, 100.0]
    assert [scores["universal_labels"] for scores in found] == [False, True]


def test_differences_between_the_files_name_both(files: dict[str, Path]) -> None:
    done = evaluate(files["gold"], files["merged"])
    assert done.exit_code == 1
    assert "has 2 words here and 1 in" in done.stderr
    assert "headwise evaluate --align" in done.stderr
    done = evaluate(files["gold"], files["other"], "--align", "--input", "conllx")
    assert done.exit_code == 1
    assert f"{files['gold']}:1: the characters differ" in done.stderr
    assert f"in {files['other']}:1" in done.stderr


@pytest.mark.parametrize("flag", ["{same}", "--punctuation ud", "--details"])
def test_align_refuses_what_it_does_not_do(files: dict[str, Path], flag: str) -> None:
    done = evaluate(files["gold"], files["same"], *flag.format(**files).split(), "--align")
    assert done.exit_code == 1
    name = "PREDICTED2" if flag == "{same}" else flag
    assert f"--align and {name} do not go together" in done.stderr


def test_calibration_is_shown_in_place_of_scores(files: dict[str, Path], tmp_path: Path) -> None:
    likely = tmp_path / "likely.conllu"
    likely.write_text(SAME_WORDS.replace("\t_\n", "\tHeadProb=0.9|LabelProb=0.6\n"))
    done = evaluate(files["gold"], likely, "--calibration", "--details")
    assert done.exit_code == 0, done.stderr
    assert "Heads       2  100.00        90.00  10.00" in done.stdout
    assert "50% to 70%  100.00" in done.stdout
    found = json.loads(evaluate(files["gold"], likely, "--calibration", "--format", "json").stdout)
    assert (found["labels"]["accuracy"], found["labels"]["error"]) == (50.0, 10.0)
    refused = evaluate(files["gold"], files["same"], "--calibration")
    assert refused.exit_code == 1
    assert "hint: write them with: headwise parse --probabilities" in refused.stderr


@pytest.mark.parametrize("flag", ["{same}", "--universal", "--align"])
def test_calibration_refuses_what_it_does_not_do(files: dict[str, Path], flag: str) -> None:
    done = evaluate(files["gold"], files["same"], flag.format(**files), "--calibration")
    assert done.exit_code == 1
    name = "PREDICTED2" if flag == "{same}" else flag
    assert f"--calibration and {name} do not go together" in done.stderr
