"""Whole files, from each format to each."""

import io
from collections import Counter
from pathlib import Path

import pytest

from headwise.convert.conversion import Conversion, convert_file
from headwise.convert.heads import load_rules
from headwise.errors import ConfigError

FIXTURES = Path(__file__).parent.parent / "fixtures"
TREES = b"((S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (-NONE- *T*)))))\n((S (-NONE- *)))\n"


def converted(source: Path | bytes, conversion: Conversion) -> tuple[bytes, int, Counter[str]]:
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    pieces = list(convert_file(stream, conversion))
    lost: Counter[str] = sum((piece.lost for piece in pieces), Counter())
    return b"".join(piece.data for piece in pieces), sum(piece.n_words for piece in pieces), lost


def test_trees_to_conllu_and_conllx() -> None:
    english = load_rules("english")
    data, n_words, lost = converted(TREES, Conversion("penn", "conllu", english))
    assert data.startswith(b"# sent_id = stream.1\n1\tKids\t_\t_\tNNS\t_\t2\tSUB\t_\t_\n")
    assert (n_words, lost) == (2, Counter({"trees without words": 1}))
    data, _, _ = converted(TREES, Conversion("penn", "conllx", english))
    assert data.startswith(b"1\tKids\t_\tNNS\tNNS\t_\t2\tSUB\t_\t_\n")


def test_trees_to_trees_keep_their_traces() -> None:
    data, n_words, lost = converted(TREES, Conversion("penn", "penn"))
    assert data == TREES.replace(b"((", b"( (")
    assert (n_words, lost) == (2, Counter())


def test_the_name_of_a_file_is_in_the_sentence_id(tmp_path: Path) -> None:
    path = tmp_path / "wsj 1\n.mrg.x"
    path.write_bytes(TREES)
    data, _, _ = converted(path, Conversion("penn", "conllu", load_rules("english")))
    assert data.startswith(b"# sent_id = wsj_1_.1\n")


def test_conll_to_conll() -> None:
    path = FIXTURES / "hand-made.conllx"
    same, n_words, _ = converted(path, Conversion("conllx", "conllx"))
    assert same == path.read_bytes()
    assert n_words == 8
    as_u, _, _ = converted(path, Conversion("conllx", "conllu"))
    back, _, lost = converted(as_u, Conversion("conllu", "conllx"))
    assert back == same
    assert not lost


def test_what_cannot_be_done_is_refused_at_once() -> None:
    english = load_rules("english")
    with pytest.raises(ConfigError, match="conllu to penn: dependencies have no phrases"):
        Conversion("conllu", "penn")
    with pytest.raises(ConfigError, match="none are given\nhint: --rules english"):
        Conversion("penn", "conllx")
    with pytest.raises(ConfigError, match="conllx to conllu takes no head rules"):
        Conversion("conllx", "conllu", english)
    with pytest.raises(ConfigError, match=r"penn to penn .* changes no words"):
        Conversion("penn", "penn", unescape=True)
    with pytest.raises(ConfigError, match="CoNLL files are UTF-8"):
        Conversion("conllx", "conllu", encoding="latin-1")
    with pytest.raises(ConfigError, match="a word may have spaces"):
        Conversion("conllx", "conllu", join_words=True)
    with pytest.raises(ConfigError, match="penn to conllx drops nothing"):
        Conversion("penn", "conllx", english, drop=True)
