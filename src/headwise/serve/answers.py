"""From sentences to the bytes of an answer, in turns.

Each function makes a piece of work for `queue`: a generator that parses some sentences a turn and
returns the whole answer. What is kept between turns are bytes, not parses.
"""

import math
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace

import msgspec
import numpy as np

from headwise.arrays import FloatArray
from headwise.grouping import consecutive
from headwise.render.arcs import percent
from headwise.render.svg import DrawnTree, draw_tree
from headwise.runtime.parser import Parser
from headwise.serve.limits import Refusal
from headwise.serve.queue import Turn, Work
from headwise.treebank.conllu import as_bytes
from headwise.treebank.records import to_record
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.decode import greedy

TURN_WORDS = 256
"""Words after which a turn ends: some hundredths of a second."""
MAX_PROBABILITIES = 1_000_000
"""In one answer; a megabyte holds about 100,000."""
MAX_DRAWN_WORDS = 20_000
"""In the pictures of one answer; a megabyte holds about 2,000."""
DECIMALS = 6
Write = Callable[[Sentence, Parse, FloatArray], bytes]
Finish = Callable[[bytes], bytes]


def answer_json(
    name: str,
    sentences: Iterable[Sentence],
    parser: Parser,
    with_distribution: bool,
    with_pictures: bool = False,
) -> Work:
    """Answer with records; a sentence without words has none."""
    n_probabilities = n_drawn_words = 0

    def write(sentence: Sentence, parse: Parse, head_log_probs: FloatArray) -> bytes:
        nonlocal n_probabilities, n_drawn_words
        record = _record(sentence, parse, head_log_probs)
        if with_distribution:
            n_probabilities += head_log_probs.size
            _check_room(n_probabilities)
            record["distribution"] = _distribution(head_log_probs)
        if with_pictures and n_drawn_words + len(sentence) <= MAX_DRAWN_WORDS:
            n_drawn_words += len(sentence)
            record |= draw_pictures(sentence.with_parse(parse), parse, head_log_probs)
        return msgspec.json.encode(record)

    parts = yield from _in_turns((s for s in sentences if len(s)), parser, write)
    start = b'{"model":' + msgspec.json.encode(name) + b',"sentences":['
    return start + b",".join(parts) + b"]}"


def answer_conllu(sentences: Iterable[Sentence], parser: Parser) -> Work:
    """Answer with the bytes that the command line writes."""
    parts = yield from _in_turns(sentences, parser, _as_conllu)
    return b"".join(parts)


def _as_conllu(sentence: Sentence, parse: Parse, _: FloatArray) -> bytes:
    return as_bytes(sentence.with_parse(parse))


def answer_text(
    sentences: Iterable[Sentence], parser: Parser, write: Write, finish: Finish
) -> Work:
    """Answer with what `write` makes of each sentence, put together by `finish`."""
    parts = yield from _in_turns(sentences, parser, write)
    return finish(b"".join(parts))


def _in_turns(
    sentences: Iterable[Sentence], parser: Parser, write: Write
) -> Generator[Turn, None, list[bytes]]:
    """Parse and write some sentences a turn; finding them in text is part of the turn."""
    parts: list[bytes] = []
    for chunk in consecutive(sentences, len, TURN_WORDS):
        parsed = parser.parse_with_distributions(chunk)
        for sentence, (parse, head_log_probs) in zip(chunk, parsed, strict=True):
            parts.append(write(sentence, parse, head_log_probs))
        n_repaired = sum(parse.how != "greedy" for parse, _ in parsed)
        yield Turn(sum(map(bool, chunk)), sum(map(len, chunk)), n_repaired)
    return parts


def _record(sentence: Sentence, parse: Parse, head_log_probs: FloatArray) -> dict[str, object]:
    record = msgspec.structs.asdict(to_record(sentence.with_parse(parse), parse))
    shown = {key: value for key, value in record.items() if value is not None and value != []}
    if parse.how != "greedy":
        shown["greedy"] = greedy(head_log_probs)[1:].tolist()
    return shown


def draw_pictures(
    sentence: Sentence, parse: Parse, head_log_probs: FloatArray
) -> dict[str, DrawnTree]:
    """Draw the tree and, if a repair changed it, the heads that the words chose (Eq. 8).

    Only arcs of the tree have labels; the others show their probability in its place.
    """
    pictures = {"picture": draw_tree(sentence, parse)}
    heads: list[int] = greedy(head_log_probs)[1:].tolist()
    if parse.how != "greedy" and heads != list(parse.heads):
        log_probs = [float(head_log_probs[word, head]) for word, head in enumerate(heads, 1)]
        labels = [
            label if head == kept else percent(math.exp(log_prob))
            for label, head, kept, log_prob in zip(
                parse.labels, heads, parse.heads, log_probs, strict=True
            )
        ]
        chosen = replace(
            parse, heads=tuple(heads), labels=tuple(labels), head_log_probs=tuple(log_probs)
        )
        pictures["greedy_picture"] = draw_tree(sentence, chosen)
    return pictures


def _distribution(head_log_probs: FloatArray) -> list[list[float]]:
    """Give P_head of each word, Eq. 5: a row each, [N, N+1], that sums to one."""
    probabilities = np.exp(head_log_probs[1:].astype(np.float64))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    rows: list[list[float]] = probabilities.round(DECIMALS).tolist()
    return rows


def _check_room(n_probabilities: int) -> None:
    if n_probabilities > MAX_PROBABILITIES:
        raise Refusal(
            413,
            f"a distribution of more than {MAX_PROBABILITIES:,} probabilities",
            "ask for fewer or shorter sentences at a time, or without distribution",
        )
