"""`nlp.add_pipe("headwise")`: the parser as a component of a spaCy pipeline, and a tokenizer.

    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("headwise", config={"model": "en"})
    doc = nlp("Kids love candy.")
    for token in doc:
        print(token.text, token.pos_, token.dep_, token.head.text, token._.head_probability)
    print(*doc.noun_chunks, sep=", ")

spaCy finds both by the entry points of the package. The settings of a component never change after
it is made, so threads may share it; a saved pipeline holds only the settings.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import raise_error, registry
from spacy.vocab import Vocab

from headwise import load
from headwise.arrays import FloatArray
from headwise.errors import ConfigError, HeadwiseError, ModelError
from headwise.integrations.documents import (
    declare_extensions,
    find_sentences,
    span_to_sentence,
    spread_distribution,
    write_parses,
)
from headwise.integrations.given import given_constraints
from headwise.integrations.noun_chunks import use_noun_chunks
from headwise.integrations.surface import cover_text
from headwise.model.bundle import load_bundle
from headwise.model.find import DEFAULT_MODEL, find_model
from headwise.model.languages import language_name
from headwise.settings.choices import Column
from headwise.settings.parsing import columns_to_keep
from headwise.text.segmenter import NO_SEGMENTER, load_segmenter
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.constraints import Constraints

MAX_THREADS = 256
ANY_LANGUAGE = "xx"
"""What spaCy calls a pipeline for several languages."""
BATCH_SIZE = 128
"""Documents parsed together unless the pipeline sets another number."""
ErrorHandler = Callable[[str, "ParserComponent", list[Doc], Exception], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The `config` of the component; docs/spacy.md explains each field."""

    model: str = DEFAULT_MODEL
    threads: int = 1
    keep_sentences: bool = True
    keep: tuple[Column, ...] = ()
    distributions: bool = False

    def __post_init__(self) -> None:
        """Check the number of threads."""
        if not 1 <= self.threads <= MAX_THREADS:
            raise ConfigError(f"threads is {self.threads}; choose 1 to {MAX_THREADS}")


class ParserComponent:
    """Parses documents in place."""

    def __init__(self, name: str, settings: Settings) -> None:
        """Load the model."""
        declare_extensions()
        bundle = load_bundle(find_model(settings.model))
        self.name, self.settings = name, settings
        self.language = bundle.manifest.about.language
        # To spaCy, two roots are two sentences, and a cycle is fatal.
        decode = bundle.manifest.decode
        decoder = "mst" if decode.decoder == "greedy" else decode.decoder
        decode = msgspec.structs.replace(decode, decoder=decoder, single_root=True)
        self.parser = load(bundle, decode=decode, keep=settings.keep)
        self._handle_error: ErrorHandler = raise_error

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Parse documents, `batch_size` at a time."""
        docs_left = iter(stream)
        while docs := list(islice(docs_left, max(1, batch_size))):
            try:
                self._annotate(docs)
            except HeadwiseError:
                yield from self._one_by_one(docs)
            else:
                yield from docs

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Pass a document that cannot be parsed to the error handler of the pipeline."""
        for doc in docs:
            try:
                self._annotate([doc])
            except HeadwiseError as error:
                self._handle_error(self.name, self, [doc], error)
            else:
                yield doc

    def set_error_handler(self, handler: ErrorHandler) -> None:
        """Set the error handler, as `nlp.set_error_handler` does; the default one raises."""
        self._handle_error = handler

    def get_error_handler(self) -> ErrorHandler:
        """Return the error handler."""
        return self._handle_error

    def _annotate(self, docs: Sequence[Doc]) -> None:
        segmenter = self.parser.segmenter
        segment = None if segmenter is None else segmenter.segment
        doc_spans = find_sentences(docs, segment, self.settings.keep_sentences)
        pairs = list(zip(docs, doc_spans, strict=True))
        # Parse everything before writing anything: an error leaves all documents unchanged.
        keep = self.settings.keep
        sentences = [span_to_sentence(doc, span, keep) for doc, spans in pairs for span in spans]
        constraints = [given for doc, spans in pairs for given in given_constraints(doc, spans)]
        parses = iter(self._parse(sentences, constraints))
        for doc, spans in pairs:
            if not spans:
                continue
            doc_parses = [next(parses) for _ in spans]
            write_parses(doc, spans, [parse for parse, _ in doc_parses])
            use_noun_chunks(doc)
            if self.settings.distributions:
                doc._.head_distributions = [
                    spread_distribution(span, log_probs)
                    for span, (_, log_probs) in zip(spans, doc_parses, strict=True)
                    if log_probs is not None
                ]

    def _parse(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints | None]
    ) -> Sequence[tuple[Parse, FloatArray | None]]:
        threads = self.settings.threads
        if not self.settings.distributions and not any(constraints):
            parses = (parse for _, parse in self.parser.annotate(sentences, threads))
            return [(parse, None) for parse in parses if parse is not None]
        size = self.parser.settings.chunk_size
        starts = range(0, len(sentences), size)
        chunks = [sentences[start : start + size] for start in starts]
        given = [constraints[start : start + size] for start in starts]
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(self.parser.parse_with_distributions, chunks, given)
            return list(chain.from_iterable(parts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process load the model itself: `nlp.pipe(..., n_process=2)`."""
        return ParserComponent, (self.name, self.settings)


def make_component(
    nlp: Language,
    name: str,
    model: str,
    threads: int,
    keep_sentences: bool,
    keep: str | list[str],
    keep_tags: bool,
    distributions: bool,
) -> ParserComponent:
    """Make the component for `nlp.add_pipe("headwise")`; `keep_tags` is short for UPOS and XPOS."""
    columns = columns_to_keep(keep, keep_tags)
    use_noun_chunks(nlp.vocab)
    settings = Settings(model, threads, keep_sentences, columns, distributions)
    component = ParserComponent(name, settings)
    lang = nlp.lang or ANY_LANGUAGE
    if component.language and lang not in (component.language, ANY_LANGUAGE):
        what = f"the pipeline is for {language_name(lang)}, and the model {model} is for"
        warnings.warn(f"headwise: {what} {language_name(component.language)}", stacklevel=2)
    return component


class Tokenizer:
    """Finds sentences and words in text, in place of spaCy's own rules: `nlp.tokenizer`.

    `doc.text` is the text, character by character. The words of a multi-word token are tokens
    without a space between them; if one is spelt differently from its part of the text, its form
    is in `token._.word_form`.
    """

    def __init__(self, vocab: Vocab, model: str = DEFAULT_MODEL) -> None:
        """Load the part of a model that finds words."""
        declare_extensions()
        segmenter = load_segmenter(load_bundle(find_model(model)))
        if segmenter is None:
            hint = "choose another model, or use spaCy's tokenizer"
            raise ModelError(f"{model}: {NO_SEGMENTER}", hint)
        self.vocab, self.model, self._segmenter = vocab, model, segmenter

    def __call__(self, text: str) -> Doc:
        """Turn a text into a document."""
        tokens = list(cover_text(text, self._segmenter.segment(text)))
        doc = Doc(
            self.vocab,
            words=[text[token.start : token.end] for token in tokens],
            spaces=[token.has_space for token in tokens],
            sent_starts=[token.starts_sentence for token in tokens],
        )
        for i, token in enumerate(tokens):
            if token.form is not None:
                doc[i]._.word_form = token.form
        return doc

    def pipe(self, texts: Iterable[str], batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Turn texts into documents, one by one: batches would not be faster."""
        return map(self, texts)

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write nothing, since the config of the pipeline names the model."""

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> "Tokenizer":
        """Read nothing."""
        return self

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Return nothing, since the config of the pipeline names the model."""
        return b""

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> "Tokenizer":
        """Read nothing."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process load the model itself."""
        return Tokenizer, (self.vocab, self.model)


def make_tokenizer(model: str = DEFAULT_MODEL) -> Callable[[Language], Tokenizer]:
    """Make the tokenizer that the config of a pipeline calls `headwise.Tokenizer.v1`."""

    def make(nlp: Language) -> Tokenizer:
        return Tokenizer(nlp.vocab, model)

    return make


# spaCy imports this module by its entry point, and components are registered at import.
Language.factory(
    "headwise",
    default_config=asdict(Settings()) | {"keep": [], "keep_tags": False},
    assigns=[
        *("token.head", "token.dep", "token.pos", "token.tag", "token.morph", "token.lemma"),
        *("token.is_sent_start", "doc.sents", "doc.noun_chunks"),
        *("token._.head_probability", "doc._.head_distributions"),
    ],
    func=make_component,
)
registry.tokenizers("headwise.Tokenizer.v1", func=make_tokenizer)
