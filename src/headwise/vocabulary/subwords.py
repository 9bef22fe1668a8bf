"""A sentence as subwords of a pre-trained transformer, in windows that it can read.

The transformer's own tokenizer cuts each word by itself. A transformer reads a limited number of
subwords at a time; a longer sentence is laid into several windows of one size, each of which
overlaps the one before by half or more. Every word is read in the window where the shorter side of
its context is longest. So nothing is truncated, and no window of a sentence has padding.

Only both ends of a word of more than `MAX_CHARACTERS` are cut, and only both ends of more than
`MAX_SUBWORDS` subwords are kept: that bounds the work, and a word is always whole in some window.
Only cutting words needs the package `tokenizers`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from headwise.arrays import IntArray
from headwise.errors import ConfigError, ModelError, install
from headwise.vocabulary.ngrams import WordCache

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"
SETTINGS = "encoder.json"
MAX_TOKENIZER_BYTES = 64 * 2**20
MAX_WINDOW = 512
"""More context does not help a parser, and the cost of attention grows with its square."""
MAX_CHARACTERS = 100
MAX_SUBWORDS = 16
_MAX_WINDOWS_OF_WORD = 4
"""Windows that one subword can be in: two or three, and the last one."""

Id = Annotated[int, Meta(ge=0, lt=10_000_000)]


class EncoderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`encoder.json`: what it takes to prepare the input of a transformer."""

    before: Annotated[list[Id], Meta(min_length=1, max_length=8)]
    """Ids in front of a window; the state of the first, [CLS], is ROOT's."""
    after: Annotated[list[Id], Meta(max_length=8)]
    """Ids at the end of a window."""
    unknown: Id
    """The id of a word that the tokenizer cuts into nothing."""
    n_ids: Annotated[int, Meta(ge=1, le=10_000_000)]
    """Rows of its table of subwords."""
    window: Annotated[int, Meta(ge=4, le=MAX_WINDOW)]
    """Most ids in a window, including those in front and at the end."""
    size: Annotated[int, Meta(ge=1, le=16_384)]
    """Length of its states."""
    network: dict[str, Any]
    """The `config.json` of the transformer; only PyTorch reads it."""

    def __post_init__(self) -> None:
        """Check that ids have a row, and that a window has room for two subwords."""
        if max(*self.before, *self.after, self.unknown) >= self.n_ids:
            raise ValueError("an id has no row in the table of subwords")
        if self.room < 2:
            raise ValueError("the window has no room for subwords")

    @property
    def room(self) -> int:
        """Count the subwords of words that a window has room for."""
        return self.window - len(self.before) - len(self.after)


@dataclass(frozen=True, slots=True)
class Windows:
    """A sentence as a transformer reads it: int32 ids [W, L], and int32 reads [N+1].

    `reads` are positions in the flattened ids: of the first subword of each word, and for ROOT of
    the first id of the first window.
    """

    ids: IntArray
    reads: IntArray


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Windows of several sentences: ids and mask [V, L], False for padding.

    `reads` [B, N+1] are positions in the flattened ids; those of padding are 0.
    """

    ids: IntArray
    mask: NDArray[np.bool_]
    reads: IntArray


class Subwords:
    """Cuts words with a tokenizer, which is opened on first use, and remembers them."""

    def __init__(self, settings: EncoderSettings, tokenizer: bytes, where: str) -> None:
        """Take the bytes of `tokenizer.json` of the folder `where`."""
        self.settings = settings
        self.tokenizer = tokenizer
        self._where = where
        self._opened: Tokenizer | None = None
        self._cache = WordCache(self._cut)
        room = settings.room
        self._longest = min(MAX_SUBWORDS, room - room // 2)

    def open(self) -> None:
        """Open the tokenizer now, so that a missing package or a damaged file shows early."""
        if self._opened is None:
            self._opened = open_tokenizer(self.tokenizer, self._where)
            ids = self._opened.get_vocab(with_added_tokens=True).values()
            if max(ids, default=0) >= self.settings.n_ids:
                raise ModelError(
                    f"{self._where}/{TOKENIZER}: it has more subwords than the transformer",
                    "the two are not of the same model",
                )

    def ids_of(self, form: str) -> IntArray:
        """Give the subwords of a word: int32 [k], k at least 1."""
        return self._cache.ids_of(_both_ends(form, MAX_CHARACTERS))

    def _cut(self, form: str) -> list[int]:
        self.open()
        assert self._opened is not None
        readable = form.encode("utf-8", "replace").decode("utf-8")  # no lone surrogates
        cut = self._opened.encode([readable], is_pretokenized=True, add_special_tokens=False)
        ids: list[int] = _both_ends(cut.ids, self._longest)
        return ids or [self.settings.unknown]

    def windows_of(self, forms: Sequence[str]) -> Windows:
        """Lay a sentence into windows."""
        words = [self.ids_of(form) for form in forms]
        settings = self.settings
        lengths = np.array([len(ids) for ids in words], np.int64)
        starts, width, chosen = lay_windows(lengths, settings.room)
        before, after = (
            np.tile(np.array(ids, np.int32), (len(starts), 1))
            for ids in (settings.before, settings.after)
        )
        subwords = np.concatenate([np.zeros(0, np.int32), *words])
        inside = subwords[starts[:, None] + np.arange(width)]  # [W, width]
        ids = np.concatenate([before, inside, after], axis=1)  # [W, L]
        begins = np.cumsum(lengths) - lengths
        reads = chosen * ids.shape[1] + len(settings.before) + begins - starts[chosen]
        return Windows(ids, np.concatenate([[0], reads]).astype(np.int32))


def _both_ends(values: Any, longest: int) -> Any:
    """Keep the two ends of a string or a list that is longer."""
    if len(values) <= longest:
        return values
    return values[: longest - longest // 2] + values[len(values) - longest // 2 :]


def lay_windows(
    lengths: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """Lay words of `lengths` [N] subwords into windows with room for `room` subwords.

    Returns where the windows start [W], the width of all of them, and for each word the window [N]
    in which it is whole and the shorter side of its context is longest; the first of equals. No
    word may have more subwords than two windows share, `room - room // 2`.

    For example, five words of one subword, and room for four: windows 0-3 and 1-4. The third word
    has one neighbour on its shorter side in both, and is read in the first; the fourth has none on
    its right in the first window, and is read in the second.
    """
    ends = np.cumsum(lengths)
    begins = ends - lengths
    n_subwords = int(lengths.sum())
    width = min(n_subwords, room)
    starts = np.append(np.arange(0, n_subwords - width, max(1, room // 2)), n_subwords - width)
    last = np.searchsorted(starts, begins, side="right") - 1  # [N]
    tried = np.maximum(last - np.arange(_MAX_WINDOWS_OF_WORD)[::-1, None], 0)  # [4, N]
    context = np.minimum(begins - starts[tried], starts[tried] + width - ends)
    chosen = np.take_along_axis(tried, context.argmax(axis=0)[None], axis=0)[0]
    return starts, width, chosen


def join_windows(sentences: Sequence[Windows], n_slots: int) -> WindowBatch:
    """Put the windows of sentences of at most `n_slots` slots below each other."""
    n_windows = sum(len(sentence.ids) for sentence in sentences)
    width = max(sentence.ids.shape[1] for sentence in sentences)
    ids = np.zeros((n_windows, width), np.int32)
    mask = np.zeros((n_windows, width), np.bool_)
    reads = np.zeros((len(sentences), n_slots), np.int32)
    first = 0
    for i, sentence in enumerate(sentences):
        rows = slice(first, first + len(sentence.ids))
        length = sentence.ids.shape[1]
        ids[rows, :length] = sentence.ids
        mask[rows, :length] = True
        window, position = np.divmod(sentence.reads, length)
        reads[i, : len(sentence.reads)] = (first + window) * width + position
        first = rows.stop
    return WindowBatch(ids, mask, reads)


def open_tokenizer(data: bytes, where: str) -> "Tokenizer":
    """Open `tokenizer.json` of the folder `where`; text like "[SEP]" is not a special token."""
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{where}: a model with a transformer needs tokenizers, which is not installed",
            install("encoder"),
        ) from error
    if len(data) > MAX_TOKENIZER_BYTES:
        raise ModelError(f"{where}/{TOKENIZER}: larger than {MAX_TOKENIZER_BYTES >> 20} MiB")
    try:
        opened = Tokenizer.from_buffer(data)
    except Exception as error:  # the package raises nothing more special
        raise ModelError(f"{where}/{TOKENIZER}: not a tokenizer: {error}") from error
    opened.no_truncation()
    opened.no_padding()
    opened.encode_special_tokens = True
    return opened


def subword_files(subwords: Subwords) -> dict[str, bytes]:
    """Give the two files of a tokenizer that a model folder, or a run, keeps."""
    settings = msgspec.json.format(msgspec.json.encode(subwords.settings), indent=1) + b"\n"
    return {TOKENIZER: subwords.tokenizer, SETTINGS: settings}


def read_subwords(read: Callable[[str], bytes], where: str) -> Subwords:
    """Read those files from the folder `where`, strictly."""
    try:
        settings = msgspec.json.decode(read(SETTINGS), type=EncoderSettings)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        hint = "the folder is damaged; fetch it again"
        raise ModelError(f"{where}/{SETTINGS}: {error}", hint) from error
    return Subwords(settings, read(TOKENIZER), where)
