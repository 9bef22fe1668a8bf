"""The parsers of a server, by name, and how a request chooses one.

A request may name a model as UDPipe's clients do: by its name, the start of its name, a language or
its ISO 639 code, or one of UDPipe's own names, which start with a language (`english-ewt-ud-2.15`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from headwise import load
from headwise.errors import ConfigError
from headwise.model.bundle import find_model, load_bundle
from headwise.runtime.parser import Parser
from headwise.serve.requests import Refusal
from headwise.settings.choices import Decoder

LANGUAGES = {
    "english": "en", "eng": "en",
    "german": "de", "deu": "de", "ger": "de",
    "czech": "cs", "ces": "cs", "cze": "cs",
    "portuguese": "pt", "por": "pt",
    "chinese": "zh", "zho": "zh", "chi": "zh",
}  # fmt: skip
_MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SEPARATOR = re.compile(r"[-_.]")
ModelComponent = Literal["tokenizer", "tagger", "parser"]


@dataclass(frozen=True, slots=True)
class Models:
    """Parsers by name; the first is the default."""

    parsers: Mapping[str, Parser]

    @property
    def default(self) -> str:
        """The model of requests that name none."""
        return next(iter(self.parsers))

    def choose(self, asked: str | None) -> str:
        """Find the name of the model that a request asks for."""
        if not asked:
            return self.default
        if asked in self.parsers:
            return asked
        start = asked.lower()
        first = _SEPARATOR.split(start, 1)[0]
        language = LANGUAGES.get(first, first)
        if language in self.parsers:
            return language
        for name in self.parsers:
            if name.lower().startswith(start) and _SEPARATOR.match(name, len(start)):
                return name
        raise Refusal(404, f"no model {asked[:40]!r}", f"one of {', '.join(self.parsers)}")

    def components(self) -> dict[str, list[ModelComponent]]:
        """List what each model can do, in the words of UDPipe."""
        components: dict[str, list[ModelComponent]] = {}
        for name, parser in self.parsers.items():
            components[name] = ["tokenizer"] if parser.segmenter else []
            components[name] += ["tagger", "parser"] if parser.vocab.predicted else ["parser"]
        return components


def with_settings(parser: Parser, decoder: Decoder | None, keep_tags: bool) -> Parser:
    """Make a parser with other settings that shares the network."""
    decode = parser.settings.decode
    if decoder is not None:
        decode = msgspec.structs.replace(decode, decoder=decoder)
    return parser.with_settings(
        msgspec.structs.replace(parser.settings, decode=decode, keep_tags=keep_tags)
    )


def load_models(specs: Sequence[str]) -> Models:
    """Load models by name or folder; `NAME=FOLDER` gives a folder another name than its own."""
    parsers: dict[str, Parser] = {}
    for spec in specs:
        name, _, source = spec.rpartition("=")
        path = find_model(source)
        folder = path.resolve()
        name = name or (folder.parent if folder.name == "model" else folder).name
        if not _MODEL_NAME.fullmatch(name):
            what = f"--model {spec}: {name!r} cannot be the name of a model"
            raise ConfigError(what, "use letters, digits, dots, hyphens: NAME=FOLDER")
        if name in parsers:
            what = f"--model {spec}: there is already a model {name}"
            raise ConfigError(what, "give it another name: NAME=FOLDER")
        parsers[name] = load(load_bundle(path))
    return Models(parsers)
