"""Any text at all: well-formed CoNLL-U, true offsets, nothing lost, whatever the chunks."""

import io
import re
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.errors import ModelError
from headwise.model.bundle import FILE_NAME
from headwise.text.segmenter import GRAPH, SETTINGS, Segmenter, read_tokens
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence
from tests.text.referee import incidents

FIXED = settings(max_examples=150, deadline=None, derandomize=True, database=None)
ODD = st.sampled_from(
    list(" \t\r\n\x0b\x1c\x85\xa0\u2028\u2029\u3000\ufeff\x00\x1b\u0301\u1161\u1100_#|=ab.do😀אع語")
)
TEXT = st.text(ODD | st.characters(), max_size=60)
HARD = [
    "",
    "😀",
    "\u0301\u0301",
    "a\r\rb\r\n\r\nc\n\nd",
    "\x00\x01",
    "\u202eabc",
    "\ufeffx",
    "_ # \u00a0",
    "\ud800\ufffd",
    "\u1100\u1161\u11a8",
]


def segmented(segmenter: Segmenter, text: str) -> str:
    return "".join(sentence.conllu for sentence in segmenter.segment(text))


def ranges(sentence: Sentence) -> list[tuple[str, int, int]]:
    """Give form, start and end of each token: of the range line where there is one."""
    found, last = [], 0
    for line in sentence.lines:
        columns = line.rstrip("\n").split("\t")
        if len(columns) != 10 or (columns[0].isdigit() and int(columns[0]) <= last):
            continue
        if "-" in columns[0]:
            last = int(columns[0].split("-")[1])
        span = re.search(r"TokenRange=(\d+):(\d+)$", columns[9])
        assert span is not None
        found.append((columns[1], int(span[1]), int(span[2])))
    return found


def cleaned(raw: str) -> str:
    text = re.sub(r"\s+", " ", raw)
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]", "\u25a1", text)
    return unicodedata.normalize("NFC", text)


def check_offsets(text: str, sentences: list[Sentence]) -> None:
    """Tokens are what stands at their offsets, and nothing but white space stands between."""
    tokens = [token for sentence in sentences for token in ranges(sentence)]
    assert all(cleaned(text[start:end]) == form for form, start, end in tokens)
    edges = [0, *(edge for _, start, end in tokens for edge in (start, end)), len(text)]
    assert edges == sorted(edges)
    assert not "".join(text[i:j] for i, j in zip(edges[::2], edges[1::2], strict=True)).strip()


def test_the_validator_is_awake() -> None:
    conllu = "# sent_id = 1\n# text = e\u0301\n1\te\u0301\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert incidents(conllu)


@FIXED
@given(TEXT)
@example(HARD[3])
def test_any_text_becomes_conllu(segmenter: Segmenter, text: str) -> None:
    found = list(segmenter.segment(text))
    check_offsets(text, found)
    conllu = "".join(sentence.conllu for sentence in found)
    again = list(read_sentences(io.BytesIO(conllu.encode())))
    assert [sentence.words for sentence in again] == [sentence.words for sentence in found]
    if found:
        assert incidents(conllu) == []


@FIXED
@given(TEXT, st.lists(st.integers(0, 60), max_size=5))
def test_chunks_change_nothing(segmenter: Segmenter, text: str, cuts: list[int]) -> None:
    chunks = [text[i:j] for i, j in pairwise([0, *sorted(cuts), len(text)])]
    assert list(segmenter.segment(chunks)) == list(segmenter.segment(text))


@FIXED
@given(TEXT)
def test_lines_and_tokens_stay_what_they_are(segmenter: Segmenter, text: str) -> None:
    n_lines = len([line for line in re.split("\r\n|[\r\n\x85\u2028\u2029]", text) if line.strip()])
    for found in (list(segmenter.read_lines(text)), list(read_tokens(text))):
        assert len(found) == n_lines
        check_offsets(text, found)
        if found:
            assert incidents("".join(sentence.conllu for sentence in found)) == []
    forms = [word.form for sentence in read_tokens(text) for word in sentence.words]
    assert forms == [cleaned(part) for part in text.split()]


@pytest.mark.parametrize("text", HARD)
def test_hard_texts(segmenter: Segmenter, text: str) -> None:
    found = list(segmenter.segment(text))
    check_offsets(text, found)
    assert not found or incidents("".join(sentence.conllu for sentence in found)) == []


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "word " * 10_000, "\u0301" * 5_000, "a\n\n" * 3_000]
)
def test_long_texts_have_bounded_sentences(segmenter: Segmenter, text: str) -> None:
    found = list(segmenter.segment(text))
    check_offsets(text, found)
    assert max(len(ranges(sentence)) for sentence in found) <= 1_000
    assert max(end - start for one in found for _, start, end in ranges(one)) <= 1_000
    assert incidents("".join(sentence.conllu for sentence in found[:50])) == []


def test_a_stream_is_not_held_whole(segmenter: Segmenter) -> None:
    """The first sentence comes before the stream has ended."""
    n_read = 0

    def endless() -> Iterator[str]:
        nonlocal n_read
        while True:
            n_read += 1
            yield "Kids love candy.\n\n" * 100

    assert next(iter(segmenter.segment(endless()))).words[0].id == "1"
    assert n_read < 200


def test_threads_change_nothing(segmenter: Segmenter) -> None:
    texts = [f"The {i}th sentence. And so on, {i} times?\n\nIt's over." for i in range(40)]
    expected = [segmented(segmenter, text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: segmented(segmenter, text), texts)) == expected


def test_tokens_are_read_as_they_stand() -> None:
    first, second = read_tokens(["John 's dog\n", "barks ."])
    assert [word.form for word in first.words] == ["John", "'s", "dog"]
    assert first.lines[:3] == ("# newpar\n", "# sent_id = 1\n", "# text = John 's dog\n")
    assert second.words[1].misc == "TokenRange=18:19"


def changed(files: dict[str, bytes], **values: object) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(files[SETTINGS]) | values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"characters": "aa"}, "a character is listed twice"),
        ({"reach": 0}, "reach"),
        ({"more": 1}, "unknown field"),
        ({"characters": "abc" + "".join(map(chr, range(500, 900)))}, "does not fit"),
        ({"reach": 4}, "does not fit"),
        ({"reach": 40}, "does not fit"),
        ({"expansions": {"whole": {"a": ["b"]}}}, "'a' has no sound expansion"),
        ({"expansions": {"whole": {"a": ["b", ""]}}}, "no sound"),
        ({"expansions": {"whole": {"a": ["b", "c\td"]}}}, "no sound"),
        ({"expansions": {"endings": {"": ["b", "c"]}}}, "no sound"),
        ({"expansions": {"endings": {"a": ["b", ""]}}}, "no sound"),
        ({"expansions": {"beginnings": {"a": ["", "b"]}}}, "no sound"),
    ],
)
def test_settings_are_checked(
    files: dict[str, bytes], values: dict[str, object], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        Segmenter(files[GRAPH], changed(files, **values), "models/xx")


def test_damaged_files_are_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(ModelError, match=r"models/xx/segment\.onnx: ONNX Runtime refuses it"):
        Segmenter(files[GRAPH][:200], files[SETTINGS], "models/xx")
    with pytest.raises(ModelError, match=r"models/xx/segment\.json: "):
        Segmenter(files[GRAPH], files[SETTINGS][:20], "models/xx")


def test_file_names_fit_a_model_folder(files: dict[str, bytes]) -> None:
    assert all(FILE_NAME.fullmatch(name) for name in files)
    assert sorted(files) == [SETTINGS, GRAPH]


def test_graph_and_network_agree(files: dict[str, bytes], rng: np.random.Generator) -> None:
    import onnxruntime as ort

    session = ort.InferenceSession(files[GRAPH], providers=["CPUExecutionProvider"])
    reach = msgspec.json.decode(files[SETTINGS])["reach"]
    ids = rng.integers(0, 60, 200).astype(np.int32)
    whole = session.run(None, {"ids": ids})[0]
    assert whole.shape == (200 - 2 * reach, 5)
    part = session.run(None, {"ids": ids[50:120]})[0]
    np.testing.assert_allclose(part, whole[50 : 50 + len(part)], atol=1e-5)
