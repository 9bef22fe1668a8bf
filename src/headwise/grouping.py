"""Group sentences into windows, chunks and batches: every rule of this kind, once.

Sentences that share a pass through a network or a chart are padded to the longest of them. Of 128
sentences in the order of a file, a ninth of the work is padding; of four times as many, half of
that. So a stream is cut into windows (`windows`), each window is sorted by length and cut into
chunks (`chunks`), and a chunk is cut into batches that share a pass (`batches`). All functions
here see lengths only; positions, or the items themselves, come back.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

_T = TypeVar("_T")
LOOK_AHEAD = 4
"""Chunks in a window."""
MEAN_WORDS = 32
"""Words per sentence, on average, after which a window ends early. A chunk ends after a share of as
many, so that chunks of short and of long sentences take about as long."""
MAX_WINDOW_CHARACTERS = 2**21
"""Characters, of all columns, after which a window ends early: words may be very long."""
PASS_SIZE = 16
"""Sentences that share a pass: more would gain little. Chunks have a multiple of it where no other
limit ends them."""
MAX_GROWTH = 1.25
"""How many times longer than the shortest of its batch a sentence may be."""


def consecutive(
    items: Iterable[_T], size_of: Callable[[_T], int], max_size: int, max_items: int = 2**31
) -> Iterator[list[_T]]:
    """Cut a stream into groups of bounded total size; a larger item is a group of its own."""
    group: list[_T] = []
    total = 0
    for item in items:
        size = size_of(item)
        if group and (total + size > max_size or len(group) == max_items):
            yield group
            group, total = [], 0
        group.append(item)
        total += size
    if group:
        yield group


def windows(
    items: Iterable[_T],
    size_of: Callable[[_T], tuple[int, int]],
    size: int,
    max_pairs: int,
    look_ahead: int = LOOK_AHEAD,
    first_window: int = 1,
) -> Iterator[tuple[list[_T], list[list[int]]]]:
    """Cut a stream into windows of `look_ahead` times `size` items, and those into `chunks`.

    `size_of` counts the words and the characters of an item. The first window has `first_window`
    times `size` items, and the next ones double, so that output starts early. Yields the items of
    each window, and the positions in it of each of its chunks.
    """
    window: list[_T] = []
    lengths: list[int] = []
    n_words, n_characters, n_chunks = 0, 0, first_window
    for item in items:
        item_words, item_characters = size_of(item)
        n_words += item_words
        n_characters += item_characters
        is_large = n_words > MEAN_WORDS * look_ahead * size or n_characters > MAX_WINDOW_CHARACTERS
        if window and (len(window) == n_chunks * size or is_large):
            yield window, chunks(lengths, size, max_pairs, look_ahead)
            window, lengths, n_chunks = [], [], min(look_ahead, 2 * n_chunks)
            n_words, n_characters = item_words, item_characters
        window.append(item)
        lengths.append(item_words)
    if window:
        yield window, chunks(lengths, size, max_pairs, look_ahead)


def chunks(
    lengths: Sequence[int], size: int, max_pairs: int, look_ahead: int = LOOK_AHEAD
) -> list[list[int]]:
    """Cut positions into chunks of at most `size` items and `max_pairs` pairs, longest first."""
    full: list[list[int]] = []
    chunk: list[int] = []
    n_words = n_pairs = 0
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[position]
        has_many_words = n_words >= MEAN_WORDS * size // look_ahead
        is_full = len(chunk) == size or (has_many_words and len(chunk) % PASS_SIZE == 0)
        if chunk and (is_full or n_pairs + length**2 > max_pairs):
            full.append(chunk)
            chunk, n_words, n_pairs = [], 0, 0
        chunk.append(position)
        n_words += length
        n_pairs += length**2
    return [chunk, *reversed(full)] if chunk else []


def batches(
    lengths: Sequence[int],
    cost: Callable[[int, int], int],
    max_cost: int,
    max_items: int = 2**31,
    max_growth: float = MAX_GROWTH,
) -> Iterator[list[int]]:
    """Cut positions into batches of similar length, shortest first.

    `cost` is what a batch takes, from its number of items and the longest of them; an item that
    costs more than `max_cost` is a batch of its own.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[position]
        if batch and (
            len(batch) == max_items
            or cost(len(batch) + 1, length) > max_cost
            or length > max_growth * lengths[batch[0]] + 1
        ):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def shuffled_batches(
    lengths: Sequence[int], size: int, window: int, rng: np.random.Generator
) -> Iterator[list[int]]:
    """Shuffle, sort each window of `window` batches by length, and cut it into batches.

    This is the order of the authors' code: the sentences of a batch have similar lengths, and yet
    every epoch mixes them differently.
    """
    order = rng.permutation(len(lengths)).tolist()
    for start in range(0, len(order), size * window):
        by_length = sorted(order[start : start + size * window], key=lengths.__getitem__)
        for first in range(0, len(by_length), size):
            yield by_length[first : first + size]


def shares(
    items: Iterable[_T],
    size_of: Callable[[_T], int],
    n_workers: int,
    *,
    min_items: int,
    max_items: int,
    max_size: int,
    max_ahead: int,
) -> Iterator[list[_T]]:
    """Cut a stream into consecutive groups for workers, each a share of what is known to be left.

    Groups start and end small, so that no worker waits long for its first group, nor for another's
    last. A group holds `min_items` to `max_items`, and less where it would exceed `max_size`; at
    most `max_ahead` is read ahead. An error of the stream is raised after all that came before it.
    """
    errors: list[Exception] = []
    source = defer_exception(items, errors)
    ahead: deque[_T] = deque()

    def read_ahead(n_items: int, max_total: int) -> int:
        """Read ahead up to `n_items` or `max_total`; return the total size."""
        total = sum(map(size_of, ahead))
        while (
            len(ahead) < n_items and total < max_total and (item := next(source, None)) is not None
        ):
            ahead.append(item)
            total += size_of(item)
        return total

    def take(share: int) -> list[_T]:
        """Take a group of size `share`; more, if that is less than `min_items`."""
        group = [ahead.popleft()]
        total = size_of(group[0])
        while ahead and len(group) < max_items:
            total += size_of(ahead[0])
            if total > (share if len(group) >= min_items else max_size):
                break
            group.append(ahead.popleft())
        return group

    for _ in range(n_workers):
        if size := read_ahead(min_items, max_size):
            yield take(size)
    n_shares, n_ahead = 2 * n_workers, min_items
    while size := read_ahead(n_shares * n_ahead, min(n_shares * max_size, max_ahead)):
        yield take(min(size // n_shares, max_size))
        n_ahead = min(2 * n_ahead, max_items)
    if errors:
        raise errors[0]


def in_order(parts: Iterable[tuple[Sequence[int], Sequence[_T]]]) -> list[_T]:
    """Put the results of groups back in the order of the positions that were grouped."""
    results: dict[int, _T] = {}
    for positions, group in parts:
        results.update(zip(positions, group, strict=True))
    return [results[position] for position in range(len(results))]


def defer_exception(items: Iterable[_T], errors: list[Exception]) -> Iterator[_T]:
    """Pass items on; an exception that ends them early is kept in `errors`, to raise later."""
    try:
        yield from items
    except Exception as error:
        errors.append(error)
