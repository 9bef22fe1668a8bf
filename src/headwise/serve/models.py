"""The parsers of a server, by name, and which of them a request means.

A name may be given as UDPipe's clients do: the name of a model, the start of one, a language or its
ISO 639 code, or any of UDPipe's own names, which start with a language (`english-ewt-ud-2.15`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from headwise.errors import ConfigError
from headwise.loading import load_parser
from headwise.model.bundle import find_model, load_bundle
from headwise.runtime.parser import Parser
from headwise.serve.limits import Refusal
from headwise.settings.choices import Decoder

LANGUAGES = {
    "english": "en", "eng": "en",
    "german": "de", "deu": "de", "ger": "de",
    "czech": "cs", "ces": "cs", "cze": "cs",
    "portuguese": "pt", "por": "pt",
    "chinese": "zh", "zho": "zh", "chi": "zh",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BETWEEN_WORDS = re.compile(r"[-_.]")


@dataclass(frozen=True, slots=True)
class Models:
    """Parsers by name; the first is the default."""

    parsers: Mapping[str, Parser]

    @property
    def default(self) -> str:
        """The model of those who name none."""
        return next(iter(self.parsers))

    def choose(self, asked: str | None) -> str:
        """Find the name of the model that is meant."""
        if not asked:
            return self.default
        if asked in self.parsers:
            return asked
        start = asked.lower()
        first = _BETWEEN_WORDS.split(start)[0]
        language = LANGUAGES.get(first, first)
        if language in self.parsers:
            return language
        for name in self.parsers:
            if name.lower().startswith(start) and _BETWEEN_WORDS.match(name, len(start)):
                return name
        raise Refusal(404, f"no model {asked[:40]!r}", f"there are: {', '.join(self.parsers)}")

    def components(self) -> dict[str, list[str]]:
        """Say what each model can do, in the words of UDPipe."""
        return {
            name: [
                *(["tokenizer"] if parser.segmenter else []),
                *(["tagger"] if parser.vocab.predicted else []),
                "parser",
            ]
            for name, parser in self.parsers.items()
        }


def with_settings(parser: Parser, decoder: Decoder | None, keep_tags: bool) -> Parser:
    """Make a parser that shares its network with another, and makes its trees another way."""
    decode = parser.settings.decode
    if decoder is not None:
        decode = msgspec.structs.replace(decode, decoder=decoder)
    return parser.with_settings(
        msgspec.structs.replace(parser.settings, decode=decode, keep_tags=keep_tags)
    )


def load_models(given: Sequence[str]) -> Models:
    """Load models by name or folder; `NAME=FOLDER` gives a folder another name than its own."""
    parsers: dict[str, Parser] = {}
    for one in given:
        name, _, place = one.rpartition("=")
        path = find_model(place)
        name = name or _name_of(path)
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"--model {one}: {name!r} is no name for a model", "give one: NAME=FOLDER"
            )
        if name in parsers:
            raise ConfigError(f"--model {one}: there is a model {name} already", "NAME=FOLDER")
        parsers[name] = load_parser([load_bundle(path)])
    return Models(parsers)


def _name_of(path: Path) -> str:
    resolved = path.resolve()
    return resolved.parent.name if resolved.name == "model" else resolved.name
