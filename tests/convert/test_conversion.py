"""Whole files, from each format to each."""

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from headwise.convert.conversion import Conversion, convert_file
from headwise.convert.heads import load_rules
from headwise.errors import ConfigError

ENGLISH = load_rules("english")
FIXTURES = Path(__file__).parent.parent / "fixtures"
TREES = b"((S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (-NONE- *T*)))))\n((S (-NONE- *)))\n"


def converted(source: Path | bytes, conversion: Conversion) -> tuple[bytes, int, Counter[str]]:
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    pieces = list(convert_file(stream, conversion))
    lost: Counter[str] = sum((piece.lost for piece in pieces), Counter())
    return b"".join(piece.data for piece in pieces), sum(piece.n_words for piece in pieces), lost


def test_trees_to_conllu_and_conllx() -> None:
    data, n_words, lost = converted(TREES, Conversion("penn", "conllu", ENGLISH))
    assert data.startswith(b"# sent_id = stream.1\n1\tKids\t_\t_\tNNS\t_\t2\tSUB\t_\t_\n")
    assert (n_words, lost) == (2, Counter({"trees without words": 1}))
    data, _, _ = converted(TREES, Conversion("penn", "conllx", ENGLISH))
    assert data.startswith(b"1\tKids\t_\tNNS\tNNS\t_\t2\tSUB\t_\t_\n")


def test_trees_to_trees_keep_their_traces() -> None:
    data, n_words, lost = converted(TREES, Conversion("penn", "penn"))
    assert data == TREES.replace(b"((", b"( (")
    assert (n_words, lost) == (2, Counter())


def test_the_name_of_a_file_is_in_the_sentence_id(tmp_path: Path) -> None:
    path = tmp_path / "wsj 1\n.mrg.x"
    path.write_bytes(TREES)
    data, _, _ = converted(path, Conversion("penn", "conllu", ENGLISH))
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("conllu", "penn"), "conllu to penn: dependencies have no phrases"),
        (("penn", "conllx"), "none are given\nhint: --rules english"),
        (("conllx", "conllu", ENGLISH), "conllx to conllu takes no head rules"),
        (("penn", "penn", None, "utf-8", False, True), "penn to penn .* changes no words"),
        (("conllx", "conllu", None, "latin-1"), "CoNLL files are UTF-8"),
        (("conllx", "conllu", None, "utf-8", True), "a word may have spaces"),
        (("penn", "conllx", ENGLISH, "utf-8", False, False, True), "penn to conllx drops nothing"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(settings: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Conversion(*settings)
