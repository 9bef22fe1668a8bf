import hashlib
from pathlib import Path

from bench.paper.plan import Plan
from bench.paper.results import read_treebank
from bench.paper.treebank import describe, main, read_part, write_plain
from headwise import Sentence, read_sentences
from headwise.treebank.conllu import read_conllu

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_a_treebank_in_figures(plan: Plan, data: Path) -> None:
    dataset = plan.datasets["english"]
    found = describe(dataset, data)
    assert [found.train.n_sentences, found.dev.n_sentences, found.test.n_sentences] == [24, 12, 8]
    assert found.dev.n_words == sum(map(len, read_part(dataset, data, "dev")))
    assert 0 < found.train.projective <= 100
    content = dataset.path(data, "dev").read_bytes()
    assert found.dev.sha256 == hashlib.sha256(content).hexdigest()


def test_plain_files_hold_the_words_alone(tmp_path: Path) -> None:
    sentences = [s for s in read_sentences(FIXTURES / "ewt-empty-nodes-6.conllu") if len(s)]
    write_plain(sentences, tmp_path / "plain.conllu")
    again = list(read_conllu(tmp_path / "plain.conllu"))
    assert [len(sentence.lines) - 1 for sentence in again if isinstance(sentence, Sentence)] == [
        len(sentence) for sentence in sentences
    ]
    assert [s.gold_heads() for s in again if isinstance(s, Sentence)] == [
        s.gold_heads() for s in sentences
    ]


def test_what_an_outside_parser_gets_has_no_trees(
    plan_path: Path, data: Path, tmp_path: Path
) -> None:
    main(str(plan_path), str(data), "english", "plain", str(tmp_path))
    for sentence in read_sentences(tmp_path / "test.input.conllu"):
        assert {(word.head, word.deprel) for word in sentence.words} == {("_", "_")}
    assert not (tmp_path / "train.input.conllu").exists()
    assert (tmp_path / "plain").exists()


def test_figures_are_written(plan_path: Path, data: Path, tmp_path: Path) -> None:
    main(str(plan_path), str(data), "english", "figures", str(tmp_path / "treebank.json"))
    found = read_treebank(tmp_path / "treebank.json")
    assert found is not None
    assert found.train.n_sentences == 24
