import hashlib
from pathlib import Path

from bench.paper.plan import Plan
from bench.paper.treebank import count_treebank, main, read_part, write_plain
from headwise import read_sentences

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_a_treebank_is_counted(plan: Plan, data: Path) -> None:
    dataset = plan.datasets["english"]
    found = count_treebank(dataset, data)
    assert [found.train.n_sentences, found.dev.n_sentences, found.test.n_sentences] == [24, 12, 8]
    assert found.dev.n_words == sum(map(len, read_part(dataset, data, "dev")))
    assert 0 < found.train.projective <= 100
    content = dataset.path(data, "dev").read_bytes()
    assert found.dev.sha256 == hashlib.sha256(content).hexdigest()


def test_plain_files_have_words_only(tmp_path: Path) -> None:
    sentences = [s for s in read_sentences(FIXTURES / "ewt-empty-nodes-6.conllu") if len(s)]
    write_plain(sentences, tmp_path / "plain.conllu")
    again = list(read_sentences(tmp_path / "plain.conllu"))
    assert [len(s.lines) - 1 for s in again] == [len(s) for s in sentences]
    assert [s.gold_heads() for s in again] == [s.gold_heads() for s in sentences]


def test_the_input_of_another_parser_has_no_trees(
    plan_path: Path, data: Path, tmp_path: Path
) -> None:
    main(str(plan_path), str(data), "english", str(tmp_path))
    for sentence in read_sentences(tmp_path / "test.input.conllu"):
        assert {(word.head, word.deprel) for word in sentence.words} == {("_", "_")}
    assert not (tmp_path / "train.input.conllu").exists()
    assert (tmp_path / "plain").exists()
