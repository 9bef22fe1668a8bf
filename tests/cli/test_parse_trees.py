"""`headwise parse --k-best` and `--marginals` as a user runs them."""

import json
from pathlib import Path

from invoked import headwise, refusal

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"
TEXT = "I saw the man with the telescope."


def records(*arguments: object) -> list[dict]:
    done = headwise("parse", "--quiet", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_both_readings_of_a_sentence_are_among_the_best_trees() -> None:
    (record,) = records("--k-best", 3, TEXT)
    assert len(record["trees"]) == 3
    first, second = record["trees"][:2]
    assert {first["labels"][6], second["labels"][6]} == {"obl", "nmod"}
    assert {first["heads"][6], second["heads"][6]} == {2, 4}
    assert first["heads"] == [word["head"] for word in record["words"]]
    assert first["probability"] > second["probability"] > record["trees"][2]["probability"]
    assert "entropy" not in record
    assert all("marginal" not in word for word in record["words"])


def test_marginals_are_those_of_the_tree() -> None:
    (record,) = records("--marginals", "--k-best", 1, TEXT)
    marginals = [word["marginal"] for word in record["words"]]
    assert all(0 < marginal <= 1 for marginal in marginals)
    assert record["entropy"] > 0
    assert min(marginals) >= record["trees"][0]["probability"] - 1e-4
    # The uncertain word is the one with two readings.
    assert min(record["words"], key=lambda word: word["marginal"])["form"] == "telescope"


def test_threads_and_processes_change_nothing() -> None:
    asked = ("--k-best", 2, "--marginals", SAMPLE)
    one = records(*asked)
    assert len(one) == 100
    assert records(*asked, "--processes", 2) == one
    assert records(*asked, "--threads", 2) == one


def test_kept_heads_are_in_all_trees(tmp_path: Path) -> None:
    rows = [f"{i}\t{form}\t_\t_\t_\t_\t{'4' if i == 7 else '_'}\t_\t_\t_\n"
            for i, form in enumerate(TEXT.replace(".", " .").split(), 1)]  # fmt: skip
    path = tmp_path / "half.conllu"
    path.write_text("".join(rows) + "\n")
    (record,) = records("--k-best", 5, "--keep", "heads", path)
    assert {tree["heads"][6] for tree in record["trees"]} == {4}


def test_other_formats_and_counts_are_refused() -> None:
    message = "headwise: --k-best, --marginals: not in {}, only in JSON\nhint: use --format json\n"
    for flags, form in ((("--k-best", 2), "conllu"), (("--marginals",), "tree")):
        assert refusal("parse", *flags, "--format", form, TEXT) == message.format(form)
    assert refusal("parse", "--marginals", "-o", "x.conllu.gz", TEXT) == message.format("conllu")
    assert "0 is not in the range 1<=x<=100" in refusal("parse", "--k-best", 0, TEXT, code=2)
