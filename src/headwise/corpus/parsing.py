"""Documents in, sentences with their parses out; a bad document costs only itself.

Small documents share one stream through the parser, so that it can group sentences of similar
length across documents. A small document is read before its sentences enter the stream, so an
error in it rejects it and nothing else. A large document is read while it is parsed and never held
whole with its parses; an error half way raises `BadDocumentError`, and the caller, who has written
part of it already, starts the shard again without it.

Only a `DataError` is the fault of a document. Any other exception (a failing device, a full
memory, a bug) is passed on: the document may be parsed without error the next time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, groupby, islice
from typing import cast

from headwise import load
from headwise.corpus.documents import Rejected, SourceDocument
from headwise.corpus.plan import CorpusJob, model_fingerprint
from headwise.errors import ConfigError, DataError, ModelError
from headwise.model.bundle import Bundle, load_bundle
from headwise.model.find import find_model
from headwise.runtime.lemmas import Lemmas, lemmas_fingerprint, read_lemmas
from headwise.runtime.parser import Parser
from headwise.text.segmenter import NO_SEGMENTER, SEGMENT_HINT, why_no_text
from headwise.treebank.conllu import read_stream
from headwise.treebank.sentence import Parse, Sentence


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document and its sentences; those of a large document are parsed while they are read."""

    document: SourceDocument
    sentences: Iterable[tuple[Sentence, Parse]]


class BadDocumentError(Exception):
    """A document with an error, some of whose sentences have been given out already."""

    def __init__(self, document: SourceDocument, error: str) -> None:
        """Keep the document and what is wrong with it."""
        super().__init__(error)
        self.document = document
        self.error = error


def parse_documents(
    parser: Parser,
    documents: Iterable[SourceDocument | Rejected],
    n_together: int = 1024,
    small_size: int = 2**16,
) -> Iterator[ParsedDocument | Rejected]:
    """Parse documents in order.

    Documents of at most `small_size` characters (bytes of CoNLL-U) are small; up to `n_together` of
    them share a stream. With 1, no document is read before the one before it is parsed.
    """

    def is_large(item: SourceDocument | Rejected) -> bool:
        return isinstance(item, SourceDocument) and len(item.content) > small_size

    for are_large, run in groupby(documents, is_large):
        for item in run:
            if are_large:
                document = cast(SourceDocument, item)
                yield ParsedDocument(document, _parse_while_reading(parser, document))
            else:
                rest = islice(run, n_together - 1)  # noqa: B031 - the loop goes on after them
                yield from _parse_together(parser, chain([item], rest))


def _parse_together(
    parser: Parser, items: Iterable[SourceDocument | Rejected]
) -> Iterator[ParsedDocument | Rejected]:
    def read_all() -> Iterator[tuple[SourceDocument | Rejected, list[Sentence]]]:
        for item in items:
            if isinstance(item, Rejected):
                yield item, []
                continue
            try:
                yield item, list(_read_sentences(parser, item))
            except DataError as error:
                yield Rejected(item.id, item.source, item.position, error.what), []

    for item, sentences in parser.annotate_groups(read_all()):
        yield item if isinstance(item, Rejected) else ParsedDocument(item, sentences)


def _parse_while_reading(
    parser: Parser, document: SourceDocument
) -> Iterator[tuple[Sentence, Parse]]:
    try:
        yield from _parse_stream(parser, _read_sentences(parser, document))
    except DataError as error:
        raise BadDocumentError(document, error.what) from error


def _parse_stream(
    parser: Parser, sentences: Iterator[Sentence]
) -> Iterator[tuple[Sentence, Parse]]:
    return cast(Iterator[tuple[Sentence, Parse]], parser.annotate(sentences))


def _read_sentences(parser: Parser, document: SourceDocument) -> Iterator[Sentence]:
    if isinstance(document.content, str):
        assert parser.segmenter
        yield from parser.segmenter.segment(document.content)
        return
    name = f"{document.source}, byte {document.position}, line"
    for sentence in read_stream(BytesIO(document.content), name, "conllu", "raise"):
        assert isinstance(sentence, Sentence)
        parser.check(sentence)
        yield sentence


def check_model(bundle: Bundle, has_text: bool) -> None:
    """Refuse a model that cannot parse the inputs."""
    why = why_no_text(bundle.vocab.reads)
    if has_text and why is not None:
        raise why
    if has_text and "segment.onnx" not in bundle.manifest.files:
        raise ModelError(NO_SEGMENTER, SEGMENT_HINT)


def load_job_parser(job: CorpusJob) -> Parser:
    """Load the parser of a job, and check that this machine has the model it was started with."""
    bundle = load_bundle(find_model(job.model))
    if model_fingerprint(bundle) != job.model_sha256:
        raise ModelError(
            f"{bundle.path}: not the model that this corpus was started with",
            "every machine needs the same model",
        )
    return load(
        bundle,
        device=job.device,
        precision=job.precision,
        decode=job.decode,
        keep=job.keep,
        lemmas=_job_lemmas(job),
        probabilities=job.probabilities,
    )


def _job_lemmas(job: CorpusJob) -> Lemmas:
    """Read the lemmas of a job, and check that they are those it was started with."""
    if not job.lemmas:
        return {}
    lemmas = read_lemmas(job.lemmas)
    if lemmas_fingerprint(lemmas) != job.lemmas_sha256:
        raise ConfigError(
            f"{job.lemmas}: not the lemmas that this corpus was started with",
            "every machine needs the same file",
        )
    return lemmas
