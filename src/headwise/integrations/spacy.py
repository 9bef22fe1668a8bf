"""`nlp.add_pipe("headwise")`: the parser as a component of a spaCy pipeline, and as its tokenizer.

    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("headwise", config={"model": "en"})
    for token in nlp("Kids love candy."):
        print(token.text, token.pos_, token.dep_, token.head.text, token._.head_probability)

spaCy finds both by the entry points of the package. A component is told everything when it is
made and changes nothing afterwards, so threads may share it; a pipeline saves its settings alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import raise_error, registry
from spacy.vocab import Vocab

from headwise.arrays import FloatArray
from headwise.errors import ConfigError, HeadwiseError, ModelError
from headwise.integrations.documents import (
    Stretch,
    declare_extensions,
    find_stretches,
    spread_distribution,
    to_sentence,
    write,
)
from headwise.integrations.surface import cover
from headwise.loading import load_parser
from headwise.model.bundle import DEFAULT_MODEL, find_model, load_bundle
from headwise.settings.decoding import DecodeConfig
from headwise.text.segmenter import NO_SEGMENTER, load_segmenter
from headwise.treebank.sentence import Parse, Sentence

MAX_THREADS = 256
BATCH = 128
"""Documents parsed together where the pipeline does not say how many."""
ErrorHandler = Callable[[str, "Component", list[Doc], Exception], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a pipeline may say in `config`; docs/spacy.md explains each."""

    model: str = DEFAULT_MODEL
    threads: int = 1
    keep_sentences: bool = True
    keep_tags: bool = False
    distributions: bool = False

    def __post_init__(self) -> None:
        """Refuse a number of threads that cannot be meant."""
        if not 1 <= self.threads <= MAX_THREADS:
            raise ConfigError(f"threads is {self.threads}; 1 to {MAX_THREADS} are possible")


class Component:
    """Parses documents in place."""

    def __init__(self, name: str, settings: Settings) -> None:
        """Load the model."""
        declare_extensions()
        bundle = load_bundle(find_model(settings.model))
        self.name = name
        self.settings = settings
        self.parser = load_parser(
            [bundle], decode=_for_spacy(bundle.manifest.decode), keep_tags=settings.keep_tags
        )
        self._handle_error: ErrorHandler = raise_error

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH) -> Iterator[Doc]:
        """Parse documents, the sentences of `batch_size` of them together."""
        docs_left = iter(stream)
        while docs := list(islice(docs_left, max(1, batch_size))):
            try:
                self._annotate(docs)
            except HeadwiseError:
                yield from self._one_by_one(docs)
            else:
                yield from docs

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Find the document that cannot be parsed, and let the pipeline decide what is to be."""
        for doc in docs:
            try:
                self._annotate([doc])
            except HeadwiseError as error:
                self._handle_error(self.name, self, [doc], error)
            else:
                yield doc

    def set_error_handler(self, handler: ErrorHandler) -> None:
        """Take the pipeline's way with errors, `nlp.set_error_handler`; the default raises."""
        self._handle_error = handler

    def get_error_handler(self) -> ErrorHandler:
        """Say what happens to errors."""
        return self._handle_error

    def _annotate(self, docs: Sequence[Doc]) -> None:
        segmenter = self.parser.segmenter
        segment = None if segmenter is None else segmenter.segment
        cut = find_stretches(docs, segment, self.settings.keep_sentences)
        pairs = zip(docs, cut, strict=True)
        sentences = [to_sentence(doc, stretch) for doc, own in pairs for stretch in own]
        # All are parsed before the first is written: an error leaves every document as it was.
        parsed = iter(self._parse(sentences))
        for doc, own in zip(docs, cut, strict=True):
            if own:
                self._write(doc, own, [next(parsed) for _ in own])

    def _write(
        self, doc: Doc, own: Sequence[Stretch], parsed: Sequence[tuple[Parse, FloatArray | None]]
    ) -> None:
        write(doc, own, [parse for parse, _ in parsed])
        if self.settings.distributions:
            doc._.head_distributions = [
                spread_distribution(stretch, log_probs)
                for stretch, (_, log_probs) in zip(own, parsed, strict=True)
                if log_probs is not None
            ]

    def _parse(self, sentences: Sequence[Sentence]) -> Sequence[tuple[Parse, FloatArray | None]]:
        threads = self.settings.threads
        if not self.settings.distributions:
            parses = (parse for _, parse in self.parser.annotate(sentences, threads))
            return [(parse, None) for parse in parses if parse is not None]
        size = self.parser.settings.chunk_size
        chunks = [sentences[i : i + size] for i in range(0, len(sentences), size)]
        with ThreadPoolExecutor(threads) as pool:
            return list(chain.from_iterable(pool.map(self.parser.parse_with_distributions, chunks)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process load the model itself: `nlp.pipe(..., n_process=2)`."""
        return Component, (self.name, self.settings)


def _for_spacy(decode: DecodeConfig) -> DecodeConfig:
    """Ask for trees with one root: in spaCy, two roots are two sentences, and a circle is fatal."""
    decoder = "mst" if decode.decoder == "greedy" else decode.decoder
    return msgspec.structs.replace(decode, decoder=decoder, single_root=True)


def make_component(
    nlp: Language,
    name: str,
    model: str,
    threads: int,
    keep_sentences: bool,
    keep_tags: bool,
    distributions: bool,
) -> Component:
    """Make the component that `nlp.add_pipe("headwise")` asks for."""
    return Component(name, Settings(model, threads, keep_sentences, keep_tags, distributions))


class Tokenizer:
    """Finds sentences and words in text, instead of spaCy's own rules: `nlp.tokenizer`.

    `doc.text` is the text, character by character. The words of a multi-word token are tokens
    without a space between them; one that is spelt otherwise than its share of the text has its
    form in `token._.word_form`.
    """

    def __init__(self, vocab: Vocab, model: str = DEFAULT_MODEL) -> None:
        """Load the part of a model that finds words."""
        declare_extensions()
        segmenter = load_segmenter(load_bundle(find_model(model)))
        if segmenter is None:
            raise ModelError(f"{model}: {NO_SEGMENTER}", "choose another model, or spaCy's tokens")
        self.vocab = vocab
        self.model = model
        self._segmenter = segmenter

    def __call__(self, text: str) -> Doc:
        """Make a document of a text."""
        tokens = list(cover(text, self._segmenter.segment(text)))
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

    def pipe(self, texts: Iterable[str], batch_size: int = BATCH) -> Iterator[Doc]:
        """Make documents of texts; they are not batched, and need not be."""
        return map(self, texts)

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write nothing: the config of the pipeline names the model."""

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> "Tokenizer":
        """Read nothing."""
        return self

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Give nothing: the config of the pipeline names the model."""
        return b""

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> "Tokenizer":
        """Take nothing."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process load the model itself."""
        return Tokenizer, (self.vocab, self.model)


def make_tokenizer(model: str = DEFAULT_MODEL) -> Callable[[Language], Tokenizer]:
    """Give a pipeline the tokenizer that its config calls `headwise.Tokenizer.v1`."""

    def make(nlp: Language) -> Tokenizer:
        return Tokenizer(nlp.vocab, model)

    return make


# spaCy wants its components registered when their module is imported; it does so by entry point.
Language.factory(
    "headwise",
    default_config={
        "model": DEFAULT_MODEL,
        "threads": 1,
        "keep_sentences": True,
        "keep_tags": False,
        "distributions": False,
    },
    assigns=[
        *("token.head", "token.dep", "token.pos", "token.tag", "token.is_sent_start"),
        *("doc.sents", "token._.head_probability", "doc._.head_distributions"),
    ],
    func=make_component,
)
registry.tokenizers("headwise.Tokenizer.v1", func=make_tokenizer)
