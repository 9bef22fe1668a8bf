from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headwise.corpus.documents import Rejected, SourceDocument
from headwise.corpus.parsing import (
    BadDocumentError,
    ParsedDocument,
    check_model,
    load_job_parser,
    parse_documents,
)
from headwise.errors import ModelError
from headwise.model.bundle import Bundle, load_bundle
from headwise.runtime.parser import Parser
from tests.corpus.conftest import JobFor

BAD = b"1\tHi\t_\n\n"


def document(i: int, content: str | bytes) -> SourceDocument:
    return SourceDocument(f"d{i}", "source", i, content)


def sentences(items: Iterator[ParsedDocument | Rejected]) -> list[list[str] | str]:
    return [
        item.error if isinstance(item, Rejected) else [s.conllu for s, _ in item.sentences]
        for item in items
    ]


def test_parses_do_not_depend_on_what_shares_a_stream(parser: Parser, texts: list[str]) -> None:
    documents = [document(i, " ".join(texts[i : i + 3])) for i in range(0, 30, 3)]
    documents[4:4] = [document(99, ""), document(98, "")]
    documents.append(document(97, ""))
    expected = [[s.conllu for s, _ in parser.annotate_text(str(d.content))] for d in documents]
    assert expected[4] == []
    for n_together in (1, 3, 1024):
        for small_size in (0, 200, 10**6):
            done = parse_documents(parser, documents, n_together, small_size)
            assert sentences(done) == expected


def test_one_by_one_reads_no_further_than_it_must(parser: Parser) -> None:
    read = []

    def documents() -> Iterator[SourceDocument]:
        for i in range(3):
            read.append(i)
            yield document(i, "Hi.")

    next(parse_documents(parser, documents(), n_together=1))
    assert read == [0]


def test_a_bad_document_costs_only_itself(parser: Parser) -> None:
    rejected = Rejected("r", "source", 5, "no text")
    items = [document(0, "Kids love candy."), document(1, BAD), rejected, document(2, "So do I.")]
    done = list(parse_documents(parser, items))
    assert [isinstance(item, Rejected) for item in done] == [False, True, True, False]
    assert "source, byte 1, line:1: 3 columns where 10 are needed" in str(done[1])
    assert done[2] is rejected


@pytest.mark.parametrize("small_size", [0, 10**6])
def test_other_exceptions_are_not_blamed_on_a_document(
    parser: Parser, small_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error")

    monkeypatch.setattr(parser.scorer, "select", fail)
    items = parse_documents(parser, [document(0, "Hi.")], small_size=small_size)
    with pytest.raises(RuntimeError, match="CUDA error"):
        sentences(items)


def test_a_large_document_is_parsed_while_it_is_read(parser: Parser) -> None:
    good = b"1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    (item,) = parse_documents(parser, [document(7, good * 100 + BAD)], small_size=1_000)
    assert isinstance(item, ParsedDocument)
    assert not isinstance(item.sentences, list)
    with pytest.raises(BadDocumentError, match="3 columns") as caught:
        list(item.sentences)
    assert caught.value.document.id == "d7"


def test_models_that_cannot_parse_text(bundle: Bundle, model_without_segmenter: Path) -> None:
    check_model(bundle, has_text=True)
    reads_tags = replace(bundle, vocab=replace(bundle.vocab, tag_column="xpos"))
    for model, message in (
        (reads_tags, "reads the column XPOS"),
        (load_bundle(model_without_segmenter), "without a segmenter"),
    ):
        check_model(model, has_text=False)
        with pytest.raises(ModelError, match=message):
            check_model(model, has_text=True)


def test_the_parser_is_that_of_the_job(model_without_segmenter: Path, job_for: JobFor) -> None:
    with pytest.raises(ModelError, match="not the model that this corpus was started with"):
        load_job_parser(job_for(model=str(model_without_segmenter)))
    with pytest.raises(ModelError, match="weights"):
        load_job_parser(job_for(device="cpu:0"))  # a device of PyTorch
