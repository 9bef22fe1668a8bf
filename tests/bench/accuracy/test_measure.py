from pathlib import Path

import headwise
from bench.accuracy.measure import DECODE, measure, score_file
from bench.accuracy.plan import Plan
from headwise.evaluate.scores import score
from headwise.model.bundle import load_bundle


def test_a_row_is_measured_on_its_own_files_and_on_others(plan: Plan) -> None:
    found = plan.measured_files("both", Path("/data"))
    assert {name: str(path) for name, path in found.items()} == {
        "dev": "/data/ud/English/dev.conllu",
        "test": "/data/ud/English/test.conllu",
        "more": "/data/ud/More/test.conllu",
    }


def test_every_word_counts_and_a_known_treebank_is_used(
    two_treebanks: tuple[Path, Path], marked_run: Path
) -> None:
    path = two_treebanks[1] / "dev.conllu"
    main = headwise.load(marked_run, decode=DECODE)
    found = score_file(main, path, threads=2)
    gold = list(headwise.read_sentences(path))
    parses = headwise.load(marked_run, decode=DECODE, treebank="second").parse(gold)
    parsed = [s.with_parse(p) for s, p in zip(gold, parses, strict=True)]
    expected = score(gold, parsed)
    assert (found.uas, found.las) == (round(expected.uas, 4), round(expected.las, 4))
    assert found.n_words == sum(map(len, gold))
    assert main.vocab.treebank == "first"


def test_both_runtimes_are_measured(two_treebanks: tuple[Path, Path], marked_run: Path) -> None:
    bundle = load_bundle(marked_run / "model")
    scores = measure({"dev": two_treebanks[0] / "dev.conllu"}, [bundle], "cpu", 1)
    assert abs(scores.torch["dev"].uas - scores.int8["dev"].uas) < 2
    assert scores.machine == "unknown"
    assert 10_000 < scores.n_bytes < 10_000_000
