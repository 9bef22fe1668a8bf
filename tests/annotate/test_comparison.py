"""Two files are compared sentence by sentence, even if one has split or joined some."""

from pathlib import Path

import pytest

from headwise import ConfigError, DataError, Sentence
from headwise.annotate.comparison import OtherFile
from headwise.evaluate.agreement import measure_agreement
from tests.annotate.made_blocks import fix, make_block


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "theirs.conllu"


def test_agreement_and_differences(path: Path, sentences: list[Sentence]) -> None:
    mine = sentences[:10]
    other_head = 1 if mine[4].heads[1] != 1 else 3
    theirs = [*mine[:4], fix(mine[4], {2: other_head}), *mine[5:]]
    path.write_text("".join(sentence.conllu for sentence in theirs))
    answer = OtherFile(path).compare([sentence.conllu for sentence in mine])
    agreed = measure_agreement(mine, theirs)
    assert answer.summary.uas == agreed.uas != 100
    assert answer.summary.kappa_heads == agreed.head_kappa
    assert answer.summary.n_unmatched == 0
    assert [(one.sentence, one.words) for one in answer.sentences] == [(4, [2])]
    assert not answer.more


def test_confusions_have_my_label_first(path: Path, sentences: list[Sentence]) -> None:
    words = [word._replace(deprel="dep") for word in sentences[0].words]
    path.write_text(sentences[0].with_words(words).conllu)
    answer = OtherFile(path).compare([sentences[0].conllu])
    assert all(one.second == "dep" for one in answer.confusions)
    assert {one.first for one in answer.confusions} == {w.deprel for w in sentences[0].words}
    assert answer.summary.labels == 0


def test_sentences_are_paired_by_their_words(path: Path, sentences: list[Sentence]) -> None:
    a, b, c = (sentence.conllu for sentence in sentences[:3])
    path.write_text(a + b + c)
    other = OtherFile(path)
    assert other.name == "theirs.conllu"
    mine = ["# comment\n\n", b, make_block("new"), "1\tbroken\n\n", b, a]
    answer = other.compare(mine)
    assert (answer.summary.n_sentences, answer.summary.n_unmatched) == (2, 4)
    assert [other.find(mine, i) for i in range(6)] == [None, b, None, None, None, a]


def test_nothing_in_common_is_said(path: Path) -> None:
    path.write_text(make_block("theirs"))
    with pytest.raises(ConfigError, match="none of these sentences"):
        OtherFile(path).compare([make_block("mine")])


def test_a_malformed_file_is_named(path: Path) -> None:
    path.write_text("1\tbroken\n\n")
    with pytest.raises(DataError, match=r"theirs\.conllu:1"):
        OtherFile(path)


def test_long_lists_are_cut(
    path: Path, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.annotate.comparison.MAX_LISTED", 1)
    changed = [s.with_words([w._replace(upos="X") for w in s.words]) for s in sentences[:3]]
    path.write_text("".join(sentence.conllu for sentence in changed))
    answer = OtherFile(path).compare([sentence.conllu for sentence in sentences[:3]])
    assert len(answer.sentences) == 1
    assert answer.more
