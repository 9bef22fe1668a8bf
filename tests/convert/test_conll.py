"""CoNLL-X to CoNLL-U and back: what is carried, what is lost, what is refused."""

import io
from collections import Counter
from pathlib import Path

import pytest
from convert.made_brackets import FIXED
from hypothesis import given
from hypothesis import strategies as st

from headwise.convert.conll import to_conllu, to_conllx
from headwise.errors import DataError
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence, sentence_from_words

FIXTURES = Path(__file__).parent.parent / "fixtures"
VALUE = st.text(
    st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), min_size=1, max_size=6
) | st.sampled_from(["_", "|", "%", "%7C", "PHead=1", "PDeprel=_", "a|b", "\r"])
COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def read(text: str, form: str) -> list[Sentence]:
    return list(read_sentences(io.BytesIO(text.encode()), form))  # type: ignore[arg-type]


def test_phead_and_pdeprel_live_in_misc() -> None:
    first, second = read_sentences(FIXTURES / "hand-made.conllx", "conllx")
    text = to_conllu(first).conllu + to_conllu(second).conllu
    assert "1\t#\t#\tSYM\t#\t_\t2\tdep\t_\tPHead=2|PDeprel=dep\n" in text
    assert "2\tlachen\tlachen\tV\tVVFIN\t_\t0\tROOT\t_\t_\n" in text
    assert text.endswith("3\t#2\t#2\tSYM\tSYM\t_\t2\tMO\t_\tPHead=0|PDeprel=%7C\n\n")
    assert len(read(text, "conllu")) == 2


@FIXED
@given(st.lists(st.tuples(*[VALUE] * 9), min_size=1, max_size=4))
def test_x_to_u_to_x_is_the_same_for_any_values(rows: list[tuple[str, ...]]) -> None:
    clean = [[value.replace("\r", "?") for value in row] for row in rows]
    for row in clean:
        row[COLUMNS.index("head")] = "0"
    sentence = sentence_from_words(clean, COLUMNS)
    (as_u,) = read(to_conllu(sentence).conllu, "conllu")
    back, lost = to_conllx(as_u)
    assert back.conllu == sentence.conllu
    assert not lost


def test_a_carriage_return_in_phead_survives() -> None:
    (sentence,) = read("1\ta\t_\t_\t_\t_\t0\t_\tx\r\t_\n\n", "conllx")
    (as_u,) = read(to_conllu(sentence).conllu, "conllu")
    assert to_conllx(as_u)[0].words == sentence.words


def test_what_has_no_place_is_counted() -> None:
    text = (
        "# text = a\n# more\n1\ta\t_\tX\tY\tA=B\t0\troot\t0:root\tSpaceAfter=No|PHead=1\n"
        "2\tb\t_\tX\tY\t_\t1\tdep\t_\tPHead=|PDeprel=x\n\n"
    )
    done, lost = to_conllx(read(text, "conllu")[0])
    assert lost == Counter({"comment": 2, "DEPS": 1, "MISC": 1})
    assert done.conllu == ("1\ta\t_\tX\tY\tA=B\t0\troot\t1\t_\n2\tb\t_\tX\tY\t_\t1\tdep\t_\tx\n\n")


@pytest.mark.parametrize(
    ("line", "kind"), [("1-2\tab", "multi-word range"), ("0.1\te", "empty node")]
)
def test_ranges_and_empty_nodes_are_refused_or_dropped(line: str, kind: str) -> None:
    words = "1\ta" + "\t_" * 8 + "\n2\tb" + "\t_" * 8 + "\n\n"
    (sentence,) = read(f"# c\n{line}" + "\t_" * 8 + f"\n{words}", "conllu")
    with pytest.raises(
        DataError, match=f"<stream>:2: .* CoNLL-X cannot hold: {kind}\nhint: .*drop"
    ):
        to_conllx(sentence)
    done, lost = to_conllx(sentence, drop=True)
    assert done.conllu == words
    assert lost == Counter({"comment": 1, kind: 1})


def test_real_sentences_keep_their_first_eight_columns(ewt_sentences: list[Sentence]) -> None:
    for sentence in ewt_sentences:
        there = to_conllx(sentence, drop=True)[0]
        assert [word[:8] for word in there.words] == [word[:8] for word in sentence.words]
        assert read(there.conllu, "conllx")[0].words == there.words


def test_a_block_without_words_becomes_nothing() -> None:
    (sentence,) = read("# only a comment\n\n", "conllu")
    done, lost = to_conllx(sentence)
    assert done.conllu == ""
    assert lost == Counter({"comment": 1})
