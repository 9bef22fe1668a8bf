from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from headwise.corpus import annotate as annotating
from headwise.corpus.annotate import Parsed, PoisonedError, annotate, check_model, load_for
from headwise.corpus.documents import Document, Refused
from headwise.corpus.plan import Job, fingerprint
from headwise.errors import ModelError
from headwise.model.bundle import Bundle, load_bundle, slim
from headwise.runtime.parser import Parser

BAD = b"1\tHi\t_\n\n"


def document(i: int, content: str | bytes) -> Document:
    return Document(f"d{i}", "source", i, content)


def sentences(items: list[Parsed | Refused]) -> list[list[str] | str]:
    return [
        item.error if isinstance(item, Refused) else [s.conllu for s, _ in item.sentences]
        for item in items
    ]


def test_together_or_one_by_one_the_parses_are_the_same(parser: Parser, texts: list[str]) -> None:
    documents = [document(i, " ".join(texts[i : i + 3])) for i in range(0, 30, 3)]
    documents.insert(4, document(99, ""))
    together = sentences(list(annotate(parser, documents)))
    assert together == sentences(list(annotate(parser, documents, one_by_one=True)))
    assert together[4] == []
    streamed = [[s.conllu for s, _ in parser.annotate_text(str(d.content))] for d in documents]
    assert together == streamed


def test_one_by_one_reads_no_further_than_it_must(parser: Parser) -> None:
    read = []

    def documents() -> Iterator[Document]:
        for i in range(3):
            read.append(i)
            yield document(i, "Hi.")

    items = annotate(parser, documents(), one_by_one=True)
    next(items)
    assert read == [0]


def test_what_fails_alone_fails_alone(parser: Parser) -> None:
    refused = Refused("r", "source", 5, "no text")
    items = [document(0, "Kids love candy."), document(1, BAD), refused, document(2, "So do I.")]
    done = list(annotate(parser, items))
    assert [isinstance(item, Refused) for item in done] == [False, True, True, False]
    assert "source, byte 1, line:1: 3 columns where 10 are needed" in str(sentences(done)[1])
    assert done[2] is refused


def test_any_exception_is_told(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> Iterator[object]:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(parser.segmenter, "segment", broken)
    (item,) = annotate(parser, [document(0, "Hi.")])
    assert isinstance(item, Refused)
    assert item.error == "ZeroDivisionError: by zero"


def test_a_large_document_is_streamed(
    parser: Parser, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotating, "SMALL", 500)
    monkeypatch.setattr(annotating, "GROUP", 600)
    large = " ".join(texts[:20])
    items = [document(0, texts[0]), document(1, large), document(2, texts[1])]
    small, streamed, last = annotate(parser, items)
    assert isinstance(small, Parsed)
    assert isinstance(streamed, Parsed)
    assert not isinstance(streamed.sentences, list)
    expected = [sentence.conllu for sentence, _ in parser.annotate_text(large)]
    assert [sentence.conllu for sentence, _ in streamed.sentences] == expected
    assert isinstance(last, Parsed)
    good = b"1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    (poisoned,) = annotate(parser, [document(7, good * 100 + BAD)])
    assert isinstance(poisoned, Parsed)
    with pytest.raises(PoisonedError, match="3 columns") as caught:
        list(poisoned.sentences)
    assert caught.value.document.id == "d7"


def test_models_that_cannot_do_it(
    bundle: Bundle, tiny_run: Path, tmp_path: Path, job_for: Callable[..., Job]
) -> None:
    check_model(bundle, has_text=True)
    tagged = load_bundle(tiny_run / "model")
    check_model(tagged, has_text=False)
    with pytest.raises(ModelError, match="reads the column XPOS"):
        check_model(tagged, has_text=True)
    slim(tiny_run / "model", tmp_path / "other", "int8")
    with pytest.raises(ModelError, match="not the model that this corpus was begun with"):
        load_for(job_for(model=str(tmp_path / "other")))


def test_in_batches_on_a_device_of_torch(full_run: Path, texts: list[str], job: Job) -> None:
    trained = load_bundle(full_run / "model")
    changed = msgspec.structs.replace(
        job, model=str(full_run), model_sha256=fingerprint(trained), device="cpu:0"
    )
    documents = [document(i, text) for i, text in enumerate(texts[:5])]
    done = list(annotate(load_for(changed), documents))
    assert all(isinstance(item, Parsed) for item in done)


def test_a_model_without_segmenter_reads_no_text(bundle: Bundle) -> None:
    files = {name: entry for name, entry in bundle.manifest.files.items() if "segment" not in name}
    manifest = msgspec.structs.replace(bundle.manifest, files=files)
    words = Bundle(bundle.path, manifest, bundle.vocab)
    check_model(words, has_text=False)
    with pytest.raises(ModelError, match="without a segmenter"):
        check_model(words, has_text=True)
