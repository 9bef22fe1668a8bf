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
    text = evaluate(*both).stdout
    assert "Paired bootstrap over 1 sentences" in text
    assert text.startswith(f"{files['same']}\n\nUAS")
    assert f"\n{files['gold']}\n\nUAS" in text
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


@pytest.mark.parametrize("flag", ["--punctuation ud", "--details"])
def test_align_refuses_what_it_does_not_do(files: dict[str, Path], flag: str) -> None:
    done = evaluate(files["gold"], files["same"], *flag.split(), "--align")
    assert done.exit_code == 1
    assert f"--align and {flag} do not go together" in done.stderr


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


def test_diff_lists_words_and_confusions(files: dict[str, Path], tmp_path: Path) -> None:
    moved = tmp_path / "moved.conllu"
    moved.write_text(GOLD.replace("2\tcase", "0\troot").replace("X", "Y", 1), encoding="utf-8")
    done = evaluate("--diff", files["gold"], moved)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("# 1 (")
    assert lines[1] == "to day"
    assert [line.split() for line in lines[2:5]] == [
        ["1", "to", "HEAD", "2", "day", "0", "ROOT"],
        ["1", "to", "DEPREL", "case", "root"],
        ["1", "to", "UPOS", "X", "Y"],
    ]
    assert lines[5] == ""
    assert "1 word in 1 sentence differ, of 2 words in 1 sentence." in done.stdout
    assert ["1", "case", "root"] in [line.split() for line in lines]
    assert evaluate("--diff", files["gold"], files["gold"]).stdout.splitlines()[-1].startswith("0 ")


def test_diff_as_json_and_with_all_columns(files: dict[str, Path], tmp_path: Path) -> None:
    lemma = tmp_path / "lemma.conllu"
    lemmas = GOLD.replace("to\t_", "to\ta"), GOLD.replace("to\t_", "to\tb")
    files["gold"].write_text(lemmas[0], encoding="utf-8")
    lemma.write_text(lemmas[1], encoding="utf-8")
    plain = json.loads(evaluate("--diff", files["gold"], lemma, "--format", "json").stdout)
    assert plain["words"] == []
    assert plain["agreement"]["las"] == 100.0
    done = evaluate("--diff", files["gold"], lemma, "--format", "json", "--details")
    (word,) = json.loads(done.stdout)["words"]
    assert (word["first"], word["second"]) == ({"lemma": "a"}, {"lemma": "b"})


def test_diff_shows_the_most_frequent_confusions(tmp_path: Path) -> None:
    paths = tmp_path / "a.conllu", tmp_path / "b.conllu"
    for path, label in zip(paths, ("a", "b"), strict=True):
        rows = [WORD.format(i, "w", i - 1, f"{label}{i}") for i in range(1, 26)]
        path.write_text("".join(rows) + "\n", encoding="utf-8")
    assert "5 more pairs: --format json" in evaluate("--diff", *paths).stdout


def test_diff_refuses_what_does_not_go_with_it(files: dict[str, Path]) -> None:
    both = files["gold"], files["same"]
    for more in ([files["gold"]], ["--align"]):
        refused = evaluate("--diff", *both, *more)
        assert refused.exit_code == 1
        assert "do not go together" in refused.stderr
    assert "--diff and stdin do not go together" in evaluate("--diff", "-", files["gold"]).stderr
    assert "--diff do not go together" in evaluate("--calibration", "--diff", *both).stderr


def test_align_compares_two_predictions(files: dict[str, Path]) -> None:
    three = files["gold"], files["merged"], files["gold"]
    text = evaluate("--align", *three).stdout
    assert "F1, paired bootstrap over 1 passages, 10000 samples, seed 1." in text
    assert text.count("Precision") == 2
    assert text.startswith(f"{files['merged']}\n\n  ")
    found = json.loads(evaluate("--align", *three, "--format", "json").stdout)
    assert found["difference"]["words"]["points"] == 100.0
    assert found["predicted"]["words"]["f1"] == 0.0
    assert "per_passage" not in found["predicted"]
