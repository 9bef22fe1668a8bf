"""Documents in, sentences with their parses out; what fails alone fails alone.

Small documents go through the parser together, which a GPU needs and a CPU does not mind: a parse
depends on its sentence alone. Should one of them raise, they are taken one by one, and that one is
`Refused`. A large document is streamed, and never held whole with its parses; if it raises half
way, `PoisonedError` tells the caller, who has written some of it already and begins again without.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import cast

from headwise.corpus.documents import Document, Refused
from headwise.corpus.plan import Job, fingerprint
from headwise.errors import HeadwiseError, ModelError
from headwise.loading import load_parser
from headwise.model.bundle import Bundle, find_model, load_bundle
from headwise.runtime.parser import Parser
from headwise.text.segmenter import NO_SEGMENTER, SEGMENT_HINT, why_no_text
from headwise.treebank.conllu import read_stream
from headwise.treebank.sentence import Parse, Sentence

SMALL = 2**16
"""Characters (or bytes of CoNLL-U) up to which a document is small."""
GROUP = 2**17
"""Characters that go through the parser together."""
GROUP_DOCUMENTS = 1024

Annotated = tuple[Sentence, Parse]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document and its sentences; those of a large one are made while they are read."""

    document: Document
    sentences: Iterable[Annotated]


class PoisonedError(Exception):
    """A document of which some was given out already cannot be parsed to its end."""

    def __init__(self, document: Document, error: str) -> None:
        """Name the document and what was wrong."""
        super().__init__(error)
        self.document = document
        self.error = error


def annotate(
    parser: Parser, documents: Iterable[Document | Refused], one_by_one: bool = False
) -> Iterator[Parsed | Refused]:
    """Parse documents in order; with `one_by_one`, none is read before the last one is given."""
    group: list[Document] = []
    size = 0
    for item in documents:
        own = len(item.content) if isinstance(item, Document) else 0
        if isinstance(item, Document) and own <= SMALL:
            group.append(item)
            size += own
            if not (one_by_one or size > GROUP or len(group) == GROUP_DOCUMENTS):
                continue
        yield from _annotate_group(parser, group)
        group, size = [], 0
        if isinstance(item, Refused):
            yield item
        elif own > SMALL:
            yield Parsed(item, _stream(parser, item))
    yield from _annotate_group(parser, group)


def _annotate_group(parser: Parser, group: Sequence[Document]) -> list[Parsed | Refused]:
    try:
        found = [list(_sentences(parser, document)) for document in group]
        parses = iter(parser.annotate(chain.from_iterable(found)))
        return [
            Parsed(document, [cast(Annotated, next(parses)) for _ in sentences])
            for document, sentences in zip(group, found, strict=True)
        ]
    except Exception as error:  # whatever it is, it must not cost more than its document
        if len(group) == 1:
            (document,) = group
            return [Refused(document.id, document.source, document.position, _reason(error))]
    return [done for document in group for done in _annotate_group(parser, [document])]


def _stream(parser: Parser, document: Document) -> Iterator[Annotated]:
    try:
        yield from cast(Iterator[Annotated], parser.annotate(_sentences(parser, document)))
    except Exception as error:
        raise PoisonedError(document, _reason(error)) from error


def _sentences(parser: Parser, document: Document) -> Iterator[Sentence]:
    if isinstance(document.content, str):
        assert parser.segmenter
        return parser.segmenter.segment(document.content)
    name = f"{document.source}, byte {document.position}, line"
    items = read_stream(BytesIO(document.content), name, "conllu", "raise")
    return cast(Iterator[Sentence], items)


def _reason(error: Exception) -> str:
    if isinstance(error, HeadwiseError):
        return error.what
    return f"{type(error).__name__}: {error}"


def check_model(bundle: Bundle, has_text: bool) -> None:
    """Refuse a model that cannot parse what there is."""
    why = why_no_text(bundle.vocab.reads)
    if has_text and why is not None:
        raise why
    if has_text and "segment.onnx" not in bundle.manifest.files:
        raise ModelError(NO_SEGMENTER, SEGMENT_HINT)


def load_for(job: Job) -> Parser:
    """Load the parser of a job, and make sure that it is the same model here as at its start."""
    bundle = load_bundle(find_model(job.model))
    if fingerprint(bundle) != job.model_sha256:
        raise ModelError(
            f"{bundle.path}: it is not the model that this corpus was begun with",
            "every machine needs the same one",
        )
    return load_parser(
        [bundle],
        device=job.device,
        precision=job.precision,
        decode=job.decode,
        keep_tags=job.keep_tags,
    )
