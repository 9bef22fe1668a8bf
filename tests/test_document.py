"""A parsed text as sentences and words: the same values as below, places in the text exact."""

import json
import sys
from collections.abc import Iterator
from html import escape
from itertools import islice, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import headwise
from headwise import ConfigError, ModelError, Parse
from headwise.document import MAX_SHOWN, ROW_KEYS, Document, make_document
from headwise.runtime.parser import Parser
from headwise.treebank.records import to_json
from headwise.treebank.sentence import sentence_from_tokens

TEXTS = [
    "Kids love candy. So do I.",
    "",
    "\ufeff  I don\u2019t\u00a0 like it.\r\n\r\nCafe\u0301s do.\tHe's \U0001f600 here.",
    " \n ",
    "The quick brown fox jumps over the lazy dog, and nobody minds.",
    "",
]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return headwise.load()


@pytest.fixture(scope="module")
def document(parser: Parser) -> Document:
    return parser("Kids love very sweet candy. So do I.")


def test_a_document_has_the_values_of_the_parse(parser: Parser, document: Document) -> None:
    pairs = list(parser.annotate_text(document.text))
    assert [(s.sentence, s.parse) for s in document] == pairs
    words = [(row, parse, i) for sentence, parse in pairs for i, row in enumerate(sentence.words)]
    for word, (row, parse, i) in zip(document.words, words, strict=True):
        assert word.row == row
        assert (word.form, word.upos, word.xpos, word.deprel) == row[1:2] + row[3:5] + row[7:8]
        assert word.id == int(row.id) == i + 1
        assert (word.head.id if word.head else 0) == parse.heads[i]
        assert word.is_root == (word.head is None)
        assert word.probability == parse.probabilities[i]
        assert word.probabilities["deprel"] == parse.column_probs["labels"][i]
        assert word.marginal is None


def test_words_know_their_neighbours_in_the_tree(document: Document) -> None:
    kids, love, very, sweet, candy, stop = document[0]
    assert kids.head == love
    assert love.children == (kids, candy, stop)
    assert candy.subtree == (very, sweet, candy)
    assert very.ancestors == (sweet, candy, love)
    assert love.subtree == document[0].words
    assert document[0].roots == (document[0].root,) == (love,)
    assert love.ancestors == very.children == ()
    assert [str(word) for word in document[1]] == ["So", "do", "I", "."]


def test_words_are_values(parser: Parser, document: Document) -> None:
    again = parser(document.text)
    assert again == document
    assert set(again.words) == set(document.words)
    assert document.words[0] == document[0][0]
    assert len(document.words) == sum(map(len, document))
    assert {again[0]: 1}[document[0]] == 1
    assert document[0][0] != document[0][1]
    assert parser("Kids love.") != document


def test_objects_say_what_they_are(document: Document) -> None:
    assert repr(document) == "<document: 2 sentences, 10 words>"
    assert repr(document[1]) == "<sentence: 4 words, 'So do I.'>"
    assert repr(document[0][0]) == "<word 1 'Kids' nsubj>"
    assert str(document) == document.text
    assert str(document[1]) == "So do I."
    assert len(document) == 2


@pytest.mark.parametrize("text", TEXTS)
def test_places_are_those_of_the_text_that_was_given(parser: Parser, text: str) -> None:
    document = parser(text)
    assert document.text == text
    end = 0
    for sentence in document:
        assert end <= sentence.start < sentence.end
        assert sentence.text == text[sentence.start : sentence.end]
        for token in sentence.tokens:
            assert token.span is not None
            assert text[end : token.span[0]].strip(" \t\r\n\u00a0\ufeff") == ""
            assert end <= token.span[0] < token.span[1]
            end = token.span[1]
    for word in document.words:
        assert word.text == text[word.start : word.end]
        assert word.form == word.text.replace("e\u0301", "\u00e9")


@settings(deadline=None, max_examples=30)
@given(text=st.text(alphabet="Kids lovn't.\n e\u0301\u00e9\u4e2d\U0001f600\x07", max_size=60))
def test_no_character_is_lost_between_tokens(parser: Parser, text: str) -> None:
    tokens = [token for sentence in parser(text) for token in sentence.tokens]
    assert "".join(text[slice(*token.span)] for token in tokens if token.span).split() == (
        "".join(text.split()).split()
    )


def test_words_that_share_the_letters_of_a_token_have_its_place() -> None:
    tokens = [
        ("Gosto", "TokenRange=1:6", ()),
        ("do", "TokenRange=7:9", (("de", "_"), ("o", "_"))),
        ("João", "SpaceAfter=No|TokenRange=10:14", ()),
        ("-me", "TokenRange=14:17", (("-", "TokenRange=14:15"), ("me", "TokenRange=15:17"))),
    ]
    sentence = sentence_from_tokens(tokens)
    parse = Parse((0, 5, 4, 5, 1, 5), ("dep",) * 6, (0.0,) * 6, "greedy")
    document = make_document(" Gosto do João-me ", [(sentence, parse)])
    assert [word.span for word in document.words] == [
        (1, 6), (7, 9), (7, 9), (10, 14), (14, 15), (15, 17)
    ]  # fmt: skip
    assert [word.text for word in document.words] == ["Gosto", "do", "do", "João", "-", "me"]
    assert [word.token.is_multi_word for word in document.words] == [
        False,
        True,
        True,
        False,
        True,
        True,
    ]
    assert document[0].text == "Gosto do João-me"


def test_features_are_a_mapping_and_blank_values_are_empty() -> None:
    row = ("Kids", "kid", "_", "NNS", "Case=Nom|Number=Plur", "TokenRange=0:4")
    columns = ["form", "lemma", "upos", "xpos", "feats", "misc"]
    sentence = headwise.sentence_from_words([row], columns)
    parse = Parse(
        (0,), ("root",), (-0.5,), "greedy", marginals=(0.25,),
        column_probs={"labels": (0.5,), "upos": (float("nan"),)},
    )  # fmt: skip
    ((word,),) = make_document("Kids", [(sentence, parse)])
    assert word.feats == {"Case": "Nom", "Number": "Plur"}
    assert (word.lemma, word.upos, word.xpos) == ("kid", "", "NNS")
    assert word.probabilities == {"deprel": 0.5}
    assert word.marginal == 0.25


def test_a_cycle_has_an_end() -> None:
    sentence = headwise.sentence_from_words([("a",), ("b",)], ["form"])
    ((one, two),) = make_document("a b", [(sentence, Parse((2, 1), ("x", "x"), (0, 0), "greedy"))])
    assert one.subtree == (one, two)
    assert one.ancestors == (two, one)


def test_documents_become_conllu_and_json(document: Document) -> None:
    assert document.to_conllu() == "".join(sentence.sentence.conllu for sentence in document)
    assert document[0].to_json() == to_json(document[0].sentence, document[0].parse)
    written = json.loads(document.to_json())
    assert written["text"] == document.text
    assert written["sentences"] == [json.loads(sentence.to_json()) for sentence in document]


def test_a_data_frame_has_a_row_for_each_word(parser: Parser, document: Document) -> None:
    frame = document.to_pandas()
    assert tuple(frame.columns) == tuple(parser("").to_pandas().columns) == ROW_KEYS
    assert frame.to_dict("records") == document.to_rows()
    assert frame["sentence"].tolist() == [1] * 6 + [2] * 4
    assert frame["head"].tolist()[:2] == [2, 0]
    assert document.text[frame["start"][4] : frame["end"][4]] == frame["form"][4] == "candy"


def test_without_pandas_the_error_says_what_to_do(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        ConfigError, match=r"to_pandas needs pandas, which is not installed"
    ) as info:
        document.to_pandas()
    assert "pip install 'headwise[pandas]'" in str(info.value.hint)


def test_notebooks_show_trees(parser: Parser, document: Document) -> None:
    html = document._repr_html_()
    assert html.count("<svg ") == 2
    assert html == document[0]._repr_html_() + document[1]._repr_html_()
    assert document[0].to_svg() in html
    assert headwise.show(document).svg == document.to_svg()
    assert headwise.show(document[0]).svg == document[0].to_svg()
    assert ">NNS<" in document.to_svg(columns=("xpos",))
    assert escape("<script>") in parser("a <script> b")._repr_html_()
    assert parser("")._repr_html_() == ""
    many = Document("", document.sentences[:1] * (MAX_SHOWN + 1))
    assert many._repr_html_().count("<svg ") == MAX_SHOWN
    assert "and 1 more sentence<" in many._repr_html_()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pipe_gives_what_each_text_gives(parser: Parser, threads: int) -> None:
    texts = TEXTS * 3
    assert list(parser.pipe(texts, threads)) == [parser(text) for text in texts]
    assert list(parser.pipe(["", " "])) == [parser(""), parser(" ")]
    assert list(parser.pipe([])) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pipe_reads_only_a_little_ahead(parser: Parser, threads: int) -> None:
    small = parser.with_settings(replace(parser.settings, chunk_size=4))
    n_read = 0

    def texts() -> Iterator[str]:
        nonlocal n_read
        while True:
            n_read += 1
            yield f"Kids love candy {n_read}."

    n_most = 4 * small.settings.look_ahead * (1 if threads == 1 else 4)
    for n_done, document in enumerate(islice(small.pipe(texts(), threads), 100), 1):
        assert document.text == f"Kids love candy {n_done}."
        assert n_read - n_done <= n_most


def test_blank_texts_do_not_pile_up(parser: Parser) -> None:
    documents = parser.pipe(repeat(""))
    assert [document.sentences for document in islice(documents, 5_000)] == [()] * 5_000


def test_documents_before_an_error_come_first(parser: Parser) -> None:
    texts: list[str] = ["Kids love candy.", b"So do I."]  # type: ignore[list-item]
    documents = parser.pipe(texts)
    assert next(documents).text == "Kids love candy."
    with pytest.raises(TypeError, match="a text is bytes, not str"):
        next(documents)


def test_what_is_passed_by_mistake_is_refused(parser: Parser) -> None:
    with pytest.raises(TypeError, match=r"pipe takes several texts: pipe\(\[text\]\)"):
        next(parser.pipe("Kids love candy."))
    with pytest.raises(TypeError, match="a text is list, not str"):
        parser(["Kids love candy."])  # type: ignore[arg-type]
    mute = Parser(parser.scorer, None, parser.settings)
    with pytest.raises(ModelError, match="cannot find words in raw text"):
        mute("Kids love candy.")
