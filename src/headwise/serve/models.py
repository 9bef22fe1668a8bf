"""The parsers of a server, by name, and how a request chooses one.

A request may name a model as UDPipe's clients do: by its name, the start of its name, a language or
its ISO 639 code, or one of UDPipe's own names, which start with a language (`english-ewt-ud-2.15`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from headwise import load
from headwise.errors import ConfigError, ModelError
from headwise.model.bundle import load_bundle
from headwise.model.find import AUTO, find_model, folder_name, name_of
from headwise.model.languages import language_code, language_name, model_name
from headwise.runtime.lemmas import read_lemmas
from headwise.runtime.parser import Parser
from headwise.serve.requests import Refusal
from headwise.settings.choices import Column, Decoder
from headwise.text.choose import choose_model, other_language
from headwise.text.identify import load_identifier

_MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SEPARATOR = re.compile(r"[-_.]")
ModelComponent = Literal["tokenizer", "tagger", "parser"]


class LanguageHint(msgspec.Struct, frozen=True):
    """A text is clearly in another language than that of its model."""

    code: str
    name: str
    model: str | None
    """A model of this server for it."""


class ModelLanguage(msgspec.Struct, frozen=True):
    """The language of a model, by its code and its name."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Models:
    """Parsers by name, the first is the default; and the languages of those that have one."""

    parsers: Mapping[str, Parser]
    languages: Mapping[str, str] = field(default_factory=dict)

    @property
    def default(self) -> str:
        """The model of requests that name none."""
        return next(iter(self.parsers))

    def choose(self, asked: str | None, text: str = "") -> str:
        """Find the name of the model that a request asks for; `auto` is that of the text."""
        if not asked:
            return self.default
        if asked == AUTO:
            return self._choose_by_text(text)
        if asked in self.parsers:
            return asked
        start = asked.lower()
        first = _SEPARATOR.split(start, 1)[0]
        for known in (model_name(start), language_code(first)):
            if known is not None and known in self.parsers:
                return known
        for name in self.parsers:
            if name.lower().startswith(start) and _SEPARATOR.match(name, len(start)):
                return name
        raise Refusal(404, f"no model {asked[:40]!r}", f"one of {', '.join(self.parsers)}")

    def _choose_by_text(self, text: str) -> str:
        try:
            name = choose_model(text, dict(self.languages))
        except ModelError as error:
            raise Refusal(404, error.what, f"one of {', '.join(self.parsers)}") from error
        return name if name in self.parsers else self.default

    def hint_at_language(self, name: str, text: str) -> LanguageHint | None:
        """Say so if a text is clearly in another language than that of its model."""
        other = other_language(text, self.languages.get(name, ""))
        if other is None:
            return None
        better = (one for one, language in self.languages.items() if language == other)
        return LanguageHint(other, language_name(other), next(better, None))

    def named_languages(self) -> dict[str, ModelLanguage]:
        """Name the languages of the models that have one."""
        return {
            model: ModelLanguage(code, language_name(code))
            for model, code in self.languages.items()
        }

    def components(self) -> dict[str, list[ModelComponent]]:
        """List what each model can do, in the words of UDPipe."""
        components: dict[str, list[ModelComponent]] = {}
        for name, parser in self.parsers.items():
            components[name] = ["tokenizer"] if parser.segmenter else []
            components[name] += ["tagger", "parser"] if parser.vocab.outputs else ["parser"]
        return components


def with_settings(
    parser: Parser,
    decoder: Decoder | None,
    keep: tuple[Column, ...],
    probabilities: bool = False,
    k_best: int = 0,
    marginals: bool = False,
) -> Parser:
    """Make a parser with other settings that shares the network."""
    settings = parser.settings
    decode = settings.decode
    if decoder is not None:
        decode = msgspec.structs.replace(decode, decoder=decoder)
    return parser.with_settings(
        msgspec.structs.replace(
            settings,
            decode=decode,
            keep=keep,
            probabilities=probabilities,
            k_best=k_best,
            marginals=marginals,
        )
    )


def load_models(specs: Sequence[str], lemmas: str = "") -> Models:
    """Load models by name or folder; `NAME=FOLDER` gives a folder another name than its own.

    The lemmas of a file win over those of every model.
    """
    parsers: dict[str, Parser] = {}
    languages: dict[str, str] = {}
    load_identifier()  # once, before there are requests
    table = read_lemmas(lemmas) if lemmas else None
    for spec in specs:
        name, _, source = spec.rpartition("=")
        path = find_model(source)
        name = name or name_of(path) or folder_name(path)
        if not _MODEL_NAME.fullmatch(name):
            what = f"--model {spec}: {name!r} cannot be the name of a model"
            raise ConfigError(what, "use letters, digits, dots, hyphens: NAME=FOLDER")
        if name in parsers:
            what = f"--model {spec}: there is already a model {name}"
            raise ConfigError(what, "give it another name: NAME=FOLDER")
        bundle = load_bundle(path)
        parsers[name] = load(bundle, lemmas=table)
        if bundle.manifest.about.language:
            languages[name] = bundle.manifest.about.language
    return Models(parsers, languages)
