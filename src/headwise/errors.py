"""Exception hierarchy.

Every message says what is wrong, where (`file:line`) and, if there is a remedy, what to do next on
a second line that starts with `hint:`.

    HeadwiseError
    ├── DataError      a treebank, a text or word vectors; carries `source` and `line`
    ├── ConfigError    a TOML file, a flag or a combination of settings
    └── ModelError     a model folder: missing, damaged, or of another release
"""

import errno
import re
from collections.abc import Iterator

_UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal or the order of letters, except for tab and newline."""

_NO_MEMORY = re.compile(
    r"bad_alloc|allocate memory|map segment|start new thread|create a primitive"
)
"""In messages of libraries that do not raise a `MemoryError`."""
_NO_DESCRIPTORS = re.compile(r"Too many open files")


class HeadwiseError(Exception):
    r"""The root of all errors that headwise raises on purpose.

    Messages may quote input, so control characters are shown as escapes (`\x1b`).
    """

    def __init__(self, what: str, hint: str | None = None) -> None:
        """Keep the message and the hint apart, so that callers can show either."""
        self.what = escape_controls(what)
        self.hint = None if hint is None else escape_controls(hint)
        super().__init__(self.what if hint is None else f"{self.what}\nhint: {self.hint}")


class DataError(HeadwiseError):
    """Input that cannot be read, or output that cannot be written."""

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


def escape_controls(text: str) -> str:
    r"""Show control characters as escapes (`\x1b`), so that they cannot steer a terminal."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def causes(error: BaseException) -> Iterator[BaseException]:
    """List an exception and what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def explain_shortage(error: BaseException) -> HeadwiseError | None:
    """Explain an exception that comes from a lack of memory or of file descriptors.

    Returns None if it has another reason.
    """
    for cause in causes(error):
        number = cause.errno if isinstance(cause, OSError) else None
        is_memory = isinstance(cause, MemoryError) or number == errno.ENOMEM
        if is_memory or _NO_MEMORY.search(str(cause)):
            what, hint = "there is not enough memory", "close other programs or do less at a time"
        elif number in (errno.EMFILE, errno.ENFILE) or _NO_DESCRIPTORS.search(str(cause)):
            what, hint = "too many files are open", "raise the limit, for example: ulimit -n 1024"
        else:
            continue
        if isinstance(error, HeadwiseError):
            return HeadwiseError(error.what, f"{what}; {hint}")
        return HeadwiseError(what, hint)
    return None


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: `1 word`, `2,000 words`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


CPU_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
"""The command for PyTorch without CUDA, a twentieth of the size."""


def install(extra: str) -> str:
    """Write the command that installs an extra; for training, PyTorch for a CPU comes first."""
    command = f"pip install 'headwise[{extra}]', or in a clone '.[{extra}]'"
    if extra.startswith("train"):
        return f"without a GPU first: {CPU_TORCH}\nhint: then, or with a GPU: {command}"
    return command


def how_to_convert(encoding: str) -> str:
    """Write the command that turns a file in another encoding into UTF-8."""
    return f"iconv -f {encoding} -t UTF-8 FILE > NEW_FILE"


def refuse(value: object, types: tuple[type, ...], message: str) -> None:
    """Raise a `TypeError` if a value has one of the types that are often passed by mistake."""
    if isinstance(value, types):
        raise TypeError(message)
