"""From sentences to the bytes of a response, in steps.

Each function makes the steps of an answer for `queue`: a generator that parses some sentences a
step and returns the whole response. Bytes, not parses, are kept between steps.
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
from headwise.serve.queue import LIGHT_COST, AnswerSteps, StepResult
from headwise.serve.requests import Refusal
from headwise.settings.choices import Decoder
from headwise.treebank.records import to_record
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.decode import greedy

STEP_WORDS = 256
"""Words after which a step ends: some hundredths of a second."""
MAX_PROBABILITIES = 1_000_000
"""In one response; a megabyte holds about 100,000."""
MAX_DRAWN_WORDS = 20_000
"""In the pictures of one response; a megabyte holds about 2,000."""
_DECIMALS = 6
WriteSentence = Callable[[Sentence, Parse, FloatArray], bytes]


def answer_json(
    name: str,
    sentences: Iterable[Sentence],
    parser: Parser,
    with_distribution: bool = False,
    with_pictures: bool = False,
    max_probabilities: int = MAX_PROBABILITIES,
    max_drawn_words: int = MAX_DRAWN_WORDS,
) -> AnswerSteps:
    """Answer with records; a sentence without words has none."""
    n_probabilities = n_drawn_words = 0

    def write(sentence: Sentence, parse: Parse, head_log_probs: FloatArray) -> bytes:
        nonlocal n_probabilities, n_drawn_words
        values = msgspec.structs.asdict(to_record(sentence.with_parse(parse), parse))
        record = {key: value for key, value in values.items() if value not in (None, [])}
        if parse.how != "greedy":
            record["greedy"] = greedy(head_log_probs)[1:].tolist()
        if with_distribution:
            n_probabilities += head_log_probs.size
            if n_probabilities > max_probabilities:
                what = f"a distribution of more than {max_probabilities:,} probabilities"
                hint = "ask for fewer or shorter sentences at a time, or without distribution"
                raise Refusal(413, what, hint)
            # P_head of each word, Eq. 5: a row each, [N, N+1], that sums to one.
            probabilities = np.exp(head_log_probs[1:].astype(np.float64))
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            record["distribution"] = probabilities.round(_DECIMALS).tolist()
        if with_pictures and n_drawn_words + len(sentence) <= max_drawn_words:
            n_drawn_words += len(sentence)
            record |= draw_pictures(sentence.with_parse(parse), parse, head_log_probs)
        return msgspec.json.encode(record)

    nonempty = (sentence for sentence in sentences if len(sentence))
    parts = yield from in_steps(nonempty, parser, write, with_distribution)
    start = b'{"model":' + msgspec.json.encode(name) + b',"sentences":['
    return start + b",".join(parts) + b"]}"


def answer_conllu(sentences: Iterable[Sentence], parser: Parser) -> AnswerSteps:
    """Answer with the bytes that the command line writes."""
    parts = yield from in_steps(sentences, parser, lambda s, parse, _: s.with_parse(parse).data)
    return b"".join(parts)


def in_steps(
    sentences: Iterable[Sentence],
    parser: Parser,
    write: WriteSentence,
    with_distribution: bool = False,
) -> Generator[StepResult, None, list[bytes]]:
    """Parse and write some sentences a step; finding them in text is part of the step."""
    parts: list[bytes] = []
    for batch in consecutive(sentences, len, STEP_WORDS):
        decoder = parser.settings.decode.decoder
        cost = sum(cost_of(len(sentence), decoder, with_distribution) for sentence in batch)
        if cost > LIGHT_COST:
            yield StepResult(next_cost=cost)
        parsed = parser.parse_with_distributions(batch)
        for sentence, (parse, head_log_probs) in zip(batch, parsed, strict=True):
            parts.append(write(sentence, parse, head_log_probs))
        n_repaired = sum(parse.how != "greedy" for parse, _ in parsed)
        yield StepResult(sum(map(bool, batch)), sum(map(len, batch)), n_repaired)
    return parts


def cost_of(n_words: int, decoder: Decoder, with_distribution: bool = False) -> int:
    """Estimate the time to parse a sentence, in words of a sentence of ordinary length.

    Time grows with the square of the length, with Eisner's algorithm with the cube; measured on
    sentences of 100 to 1,500 words.
    """
    cost = n_words + n_words**2 // 2_000
    if decoder == "eisner":
        cost += n_words**3 // 100_000
    if with_distribution:
        cost += n_words**2 // 500
    return cost


def draw_pictures(
    sentence: Sentence, parse: Parse, head_log_probs: FloatArray
) -> dict[str, DrawnTree]:
    """Draw the tree and, if a repair changed it, the heads that the words selected (Eq. 8).

    Arcs that are not in the tree have no label; they show their probability instead.
    """
    pictures = {"picture": draw_tree(sentence, parse)}
    if parse.how == "greedy":
        return pictures
    heads = tuple(greedy(head_log_probs)[1:].tolist())
    log_probs = tuple(float(row[h]) for row, h in zip(head_log_probs[1:], heads, strict=True))
    columns = zip(heads, parse.heads, parse.labels, log_probs, strict=True)
    labels = tuple(
        label if head == in_tree else percent(math.exp(log_prob))
        for head, in_tree, label, log_prob in columns
    )
    selected = replace(parse, heads=heads, labels=labels, head_log_probs=log_probs)
    return pictures | {"greedy_picture": draw_tree(sentence, selected)}
