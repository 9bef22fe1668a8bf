"""What can go wrong, by whose hand it is mended.

Every message says what, where (`file:line`) and, when there is a remedy, what to do next on a
second line that starts with `hint:`.

    HeadwiseError
    ├── DataError      a treebank, a text or word vectors; carries `source` and `line`
    ├── ConfigError    a TOML file, a flag or a combination of settings
    └── ModelError     a model folder: missing, damaged, or of another release
"""


class HeadwiseError(Exception):
    """The root of all errors that headwise raises on purpose."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        """Keep the message and its remedy apart, so that callers can show either."""
        super().__init__(what if hint is None else f"{what}\nhint: {hint}")
        self.what = what
        self.hint = hint


class DataError(HeadwiseError):
    """Input that cannot be read as what it claims to be."""

    def __init__(
        self, what: str, source: str, line: int | None = None, hint: str | None = None
    ) -> None:
        """Put `source:line` in front of the message."""
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {what}", hint)
        self.source = source
        self.line = line


class ConfigError(HeadwiseError):
    """A setting that is unknown, of the wrong type, or impossible."""


class ModelError(HeadwiseError):
    """A model folder that cannot be used."""


def plural(count: int, noun: str) -> str:
    """Count things for people: `1 word`, `2,000 words`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def install(extra: str) -> str:
    """Say how to install what an extra brings."""
    return f"pip install 'headwise[{extra}]', or in a clone '.[{extra}]'"


def refuse(given: object, kinds: tuple[type, ...], instead: str) -> None:
    """Say what to give instead of an object of one of these kinds, which is easily given."""
    if isinstance(given, kinds):
        raise TypeError(instead)
