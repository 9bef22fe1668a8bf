"""Which sentences of a stream are parsed together: those of similar length, of a window of it.

Sentences that share a pass are padded to the longest of them. Of 128 sentences as they come, a
ninth of what is computed is padding; of four times as many, half of that, and more of them find
company. So a stream is cut into windows, and each window, sorted by length, into chunks. The
answers go back to the places of the sentences; who reads them sees a stream in its order.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from headwise.treebank.conllu import Malformed
from headwise.treebank.sentence import Sentence

Item = Sentence | Malformed
Places = list[int]
"""Positions in a window."""
Answer = TypeVar("Answer")
Given = TypeVar("Given")

AHEAD = 4
"""Chunks in a window. The first window has one and the next two: what comes out begins early."""
WORDS = 32
"""Words for each sentence, in the mean, after which a window ends early. A chunk ends after a share
of as many, so that all are much alike, those of short sentences and those of long ones."""
CHARACTERS = 2**21
"""Characters after which a window ends early, the other columns' too: words may be very long."""
STEP = 16
"""Sentences that share a pass: chunks have a multiple of that, if nothing else ends them."""


def windows(items: Iterable[Item], size: int, ahead: int = AHEAD) -> Iterator[list[Item]]:
    """Cut a stream into windows of `ahead` times `size` items; 1 where the scorer sorts."""
    window: list[Item] = []
    n_words, n_characters, n_ahead = 0, 0, 1
    for item in items:
        n_words += n_words_of(item)
        n_characters += n_characters_of(item)
        is_large = n_words > WORDS * ahead * size or n_characters > CHARACTERS
        if window and (len(window) == n_ahead * size or is_large):
            yield window
            window, n_ahead = [], min(ahead, 2 * n_ahead)
            n_words, n_characters = n_words_of(item), n_characters_of(item)
        window.append(item)
    if window:
        yield window


def chunks(window: Sequence[Item], size: int, most_pairs: int, ahead: int = AHEAD) -> list[Places]:
    """Cut a window into chunks of at most `size` items and `most_pairs` pairs, longest first."""
    lengths = list(map(n_words_of, window))
    found: list[Places] = []
    chunk: Places = []
    n_words = n_pairs = 0
    for place in sorted(range(len(window)), key=lengths.__getitem__):
        own = lengths[place]
        has_many_words = n_words >= WORDS * size // ahead
        is_full = len(chunk) == size or (has_many_words and len(chunk) % STEP == 0)
        if chunk and (is_full or n_pairs + own**2 > most_pairs):
            found.append(chunk)
            chunk, n_words, n_pairs = [], 0, 0
        chunk.append(place)
        n_words += own
        n_pairs += own**2
    return [chunk, *reversed(found)] if chunk else []


def in_order(parts: Iterable[tuple[Places, Sequence[Answer]]]) -> list[Answer]:
    """Put the answers for the chunks of a window in the order of its items."""
    answers = {
        place: answer for places, own in parts for place, answer in zip(places, own, strict=True)
    }
    return [answers[place] for place in range(len(answers))]


def finished(parts: Iterable[tuple[Places, Future[list[Answer]]]]) -> list[Answer]:
    """Wait for the answers for the chunks of a window: in the order of its items."""
    return in_order((places, future.result()) for places, future in parts)


def until_error(items: Iterable[Given], errors: list[Exception]) -> Iterator[Given]:
    """Give items; what ends them before their time is put aside until all answers are there."""
    try:
        yield from items
    except Exception as error:
        errors.append(error)


def n_characters_of(item: Item) -> int:
    """Count the characters of all lines, or the bytes of what is no sentence."""
    return sum(map(len, item.lines)) if isinstance(item, Sentence) else len(item.data)


def n_words_of(item: Item) -> int:
    """Count the words of what may be no sentence."""
    return len(item) if isinstance(item, Sentence) else 0
