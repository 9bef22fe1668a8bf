"""The second network: only the words around decide, and any text is read in bounded memory."""

import re

import msgspec
import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx.numpy_helper import from_array

from headwise.errors import ModelError
from headwise.text.ends import (
    FIRST_KNOWN,
    MAX_OPEN,
    N_FEATURES,
    PADDING_ROW,
    UNKNOWN,
    EndFinder,
    EndScorer,
    EndScores,
    RowFeatures,
    RowMaker,
    number,
    outline,
    shape_of,
)
from headwise.text.scan import (
    EXPANDS,
    SENTENCE_END,
    TOKEN_END,
    WORD_END,
    Labelled,
    Scanner,
    label_by_space,
    make_alphabet,
)
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS, EndSettings, Segmenter
from headwise.text.symbols import BLOCK_SIZE, Symbols, read_symbols, to_codes
from tests.text.referee import HARD_TEXTS, check_segmentation

FIXED = settings(max_examples=100, deadline=None, derandomize=True, database=None)
REACH = 3
MAKER = RowMaker(number(["a", "b"]), number(["x", "Xx"]), number(["a", "bba"]), REACH)
ALPHABET = make_alphabet(" ab.")
TEXT = st.text(st.sampled_from("abA \n."), max_size=80)


def hashed(features: RowFeatures, given: EndScores) -> EndScores:
    """Score by a hash of everything in reach, so that any change shows."""
    n = len(given)
    assert len(features) == n + 2 * REACH
    mixed = np.zeros(n, np.uint64)
    for i in range(2 * REACH + 1):
        for column in (*features[i : i + n].T, *(given.T + 9)):
            mixed = mixed * np.uint64(1_000_003) + column.astype(np.uint64)
    shifts = np.arange(given.shape[1], dtype=np.uint64) + np.uint64(9)
    return ((mixed[:, None] >> shifts) % np.uint64(7)).astype(np.float32) - 3


def always(score: float) -> EndScorer:
    return lambda features, given: np.full(given.shape, score, np.float32)


def labelled(text: str, block_size: int = BLOCK_SIZE, by_line: bool = False) -> list[Labelled]:
    """Label the ends of tokens at white space and after full stops; scores are those of letters."""

    def score(ids: np.ndarray) -> np.ndarray:
        middle = ids[1:-1, None].astype(np.float32)
        ends = np.where(middle == ALPHABET.size - 1, 1, -1)  # a full stop has the last id
        zeros = np.zeros_like(middle)
        return np.concatenate([zeros, middle % 3 - 4, ends, middle % 5 - 2, zeros - 1], axis=1)

    scanner = Scanner(score, ALPHABET, 1, False)
    return list(scanner.label(read_symbols(text, by_line, block_size), by_line))


def find(
    text: str,
    network: EndScorer = hashed,
    window: int = 5,
    block_size: int = BLOCK_SIZE,
    splits: int = 2,
    by_line: bool = False,
) -> list[int]:
    parts = labelled(text, block_size, by_line)
    found = EndFinder(network, MAKER, splits, window).find(parts, by_line)
    return [label for part in found for label in part.labels.tolist()]


@FIXED
@given(TEXT, st.integers(1, 12), st.integers(1, 12))
@example("a b\n\n" * 9, 1, 1)
def test_windows_and_blocks_change_nothing(text: str, window: int, block_size: int) -> None:
    assert find(text, window=window, block_size=block_size) == find(text, window=10_000)


@FIXED
@given(TEXT, TEXT)
def test_paragraphs_do_not_see_their_neighbours(first: str, second: str) -> None:
    assert find(f"{first}\n\n{second}") == find(first) + find(second)


@FIXED
@given(TEXT)
def test_only_sentence_ends_change(text: str) -> None:
    before = [label for part in labelled(text) for label in part.labels.tolist()]
    n_tokens = sum(label & TOKEN_END > 0 for label in before)
    n_paragraphs = len([part for part in re.split(r"\n *\n", text) if part.strip()])
    for score, n_expected in ((1.0, n_tokens), (-1.0, n_paragraphs)):
        after = find(text, always(score), splits=0)
        assert [b & ~SENTENCE_END for b in before] == [a & ~SENTENCE_END for a in after]
        assert sum(label & SENTENCE_END > 0 for label in after) == n_expected


def test_rows_say_what_the_tokens_are() -> None:
    (part,) = labelled("Abba a.a zz\n\nb")
    rows = MAKER.make(part.codes, part.labels)
    assert rows.features[rows.is_token].tolist() == [
        [UNKNOWN, UNKNOWN, FIRST_KNOWN + 1, 2],
        [UNKNOWN, UNKNOWN, UNKNOWN, 1],
        [FIRST_KNOWN, FIRST_KNOWN, FIRST_KNOWN, 2],
        [UNKNOWN, UNKNOWN, UNKNOWN, 2],
        [FIRST_KNOWN + 1, FIRST_KNOWN, UNKNOWN, 2],
    ]
    assert np.count_nonzero(~rows.is_token) == REACH
    assert (rows.features[~rows.is_token] == PADDING_ROW).all()


@pytest.mark.parametrize(
    ("form", "shape"),
    [("Debra", "Xxx"), ("dp", "xx"), ("I", "X"), ("11/03/99", "dd/dd/dd"), ("....", ".."),
     ("語語語", "xx"), ("a@b.com", "x@x.xx"), ("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "X")],
)  # fmt: skip
def test_shapes(form: str, shape: str) -> None:
    assert shape_of(outline(to_codes(form))) == shape


def test_a_token_without_end_is_not_held() -> None:
    n_held = 0

    def endless() -> Symbols:
        nonlocal n_held
        n_held += 1
        return Symbols(np.full(10_000, ord("x"), np.uint32), np.arange(10_000))

    finder = EndFinder(hashed, MAKER, 2, 50)
    stream = label_by_space(endless() for _ in range(200))
    n_out = 0
    for part in finder.find(stream):
        n_out += len(part.codes)
        assert n_held * 10_000 - n_out <= (50 + 2 * REACH + 1) * MAX_OPEN + 10_000
    assert n_out == 2_000_000


def splitting(*scores: float) -> EndScorer:
    """Score the last words of 1, 2, ... letters; no sentence ends."""
    return lambda features, given: np.tile(np.array([-1, *scores], np.float32), (len(given), 1))


@pytest.mark.parametrize(
    ("scores", "text", "cuts"),
    [
        ((1.0, -1.0), "ab aab", [0, 4]),
        ((1.0, 2.0), "ab aab", [0, 3]),  # `ab` has no room for a last word of two letters
        ((-1.0, 2.0), "ab aab", [3]),
        ((-1.0, -1.0), "ab aab", []),
        ((1.0, 1.0), "a. a1b a-b", []),
        ((1.0, -1.0), "\u1100\u1161", []),  # a vowel belongs to the consonant before it
    ],
)
def test_last_words(scores: tuple[float, float], text: str, cuts: list[int]) -> None:
    for by_line in (False, True):
        labels = find(text, splitting(*scores), by_line=by_line)
        assert [i for i, label in enumerate(labels) if label & WORD_END] == cuts


def test_last_words_replace_those_of_the_first_network() -> None:
    (part,) = labelled("aabb aabb aabb")
    labels = part.labels.copy()
    labels[[1, 2, 5, 12]] |= WORD_END
    labels[13] |= EXPANDS
    for scores, expected in (((-1.0, -1.0), [5, 12]), ((1.0, -1.0), [2, 5, 7, 12])):
        finder = EndFinder(splitting(*scores), MAKER, 2)
        (found,) = finder.find([part.with_labels(labels)])
        assert np.flatnonzero(found.labels & WORD_END).tolist() == expected


def test_the_network_reads_the_scores_of_the_first() -> None:
    rows = []

    def score(features: RowFeatures, given: EndScores) -> EndScores:
        rows.extend(given.tolist())
        return given

    (part,) = labelled("abab b")
    find("abab b", score)
    first, second = (part.scores[3], *part.word_scores[[2, 1]]), (part.scores[5], 0, 0)
    assert rows[:2] == [list(map(float, first)), list(map(float, second))]


def test_in_lines_only_breaks_end_sentences() -> None:
    labels = find("ab ab\nab ab", by_line=True, network=always(1.0))
    assert [i for i, label in enumerate(labels) if label & SENTENCE_END] == [4, 10]
    assert [i for i, label in enumerate(labels) if label & WORD_END] == [0, 3, 6, 9]


def test_a_long_token_is_unknown_however_it_comes() -> None:
    text = "a " + "a" * (3 * MAX_OPEN) + " a. " + "a" * (MAX_OPEN - 1) + " b"
    assert find(text, block_size=100) == find(text, window=10_000)
    (part,) = labelled(text)
    rows = MAKER.make(part.codes, part.labels)
    tokens = rows.features[rows.is_token]
    assert tokens[1, :3].tolist() == [UNKNOWN] * 3
    assert len(rows.features) - len(tokens) == 3


GRAPH = """
<ir_version: 8, opset_import: ["" : 20]>
ends (int32[n, 4] features, float[m] given) => (float[m] scores) {
    numbers = Cast <to = 1> (features)
    mixed = MatMul (numbers, weights)
    line = Squeeze (mixed, last)
    middle = Slice (line, start, end)
    scores = Add (middle, given)
}
"""


@pytest.fixture(scope="module")
def ends() -> bytes:
    model = onnx.parser.parse_model(GRAPH)
    weights = np.array([[0.7], [-1.1], [0.3], [-0.2]], np.float32)
    for name, values in (
        ("weights", weights),
        ("last", np.array([1])),
        ("start", np.array([REACH])),
        ("end", np.array([-REACH])),
    ):
        model.graph.initializer.append(from_array(values, name))
    return model.SerializeToString()


LISTS = EndSettings(words=("a", "do"), shapes=("x", "xx"), endings=("a",), reach=REACH)


def with_lists(files: dict[str, bytes], **values: object) -> bytes:
    lists = msgspec.to_builtins(LISTS) | values
    return msgspec.json.encode(msgspec.json.decode(files[SEGMENTER_SETTINGS]) | {"ends": lists})


def test_any_text_becomes_conllu(files: dict[str, bytes], ends: bytes) -> None:
    segmenter = Segmenter(files[SEGMENTER_GRAPH], with_lists(files), ends=ends)
    without = Segmenter(files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS])
    n_other = 0
    for text in (*HARD_TEXTS.values(), "x" * 5_000, "word " * 5_000, "a do. " * 99):
        found = list(segmenter.segment(text))
        check_segmentation(text, found)
        assert list(segmenter.segment(list(text))) == found
        n_other += found != list(without.segment(text))
        assert list(segmenter.read_lines(text)) == list(without.read_lines(text))
    assert n_other


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"words": ["a", "a"]}, r"segment\.json: a word, shape or ending is listed twice"),
        ({"reach": 0}, "reach"),
        ({"reach": REACH + 1}, r"segment\.ends\.onnx: the graph does not fit its settings"),
        ({"more": 1}, "unknown field"),
    ],
)
def test_settings_are_checked(
    files: dict[str, bytes], ends: bytes, values: dict[str, object], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        Segmenter(files[SEGMENTER_GRAPH], with_lists(files, **values), "models/xx", ends)


def test_one_file_without_the_other_is_refused(files: dict[str, bytes], ends: bytes) -> None:
    graph, settings = files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS]
    for given_settings, given_ends in ((settings, ends), (with_lists(files), None)):
        with pytest.raises(ModelError, match="do not fit"):
            Segmenter(graph, given_settings, "models/xx", given_ends)
    with pytest.raises(ModelError, match="does not fit"):
        Segmenter(graph, with_lists(files), "models/xx", graph)


def test_features_fill_the_rows() -> None:
    assert MAKER.make(*(np.zeros(0, kind) for kind in (np.uint32, np.uint8))).features.shape == (
        0, N_FEATURES,
    )  # fmt: skip
