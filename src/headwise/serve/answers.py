"""From sentences to the bytes of a response, in steps.

Each function makes the steps of an answer for `queue`: a generator that parses some sentences a
step and returns the whole response. Bytes, not parses, are kept between steps.
"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from headwise.arrays import FloatArray
from headwise.errors import plural
from headwise.grouping import consecutive
from headwise.render.arcs import percent
from headwise.render.svg import DrawnTree, draw_tree
from headwise.runtime.parser import Parser
from headwise.runtime.tree_space import MAX_SUMMED_WORDS
from headwise.serve.models import LanguageHint
from headwise.serve.queue import LIGHT_COST, AnswerSteps, StepResult
from headwise.serve.requests import Refusal
from headwise.settings.choices import PredictedColumn
from headwise.settings.parsing import ParserSettings
from headwise.treebank.records import to_record
from headwise.treebank.sentence import Parse, RankedTree, Sentence
from headwise.trees.constraints import Constraints
from headwise.trees.decode import greedy

STEP_WORDS = 256
"""Words after which a step ends: some hundredths of a second."""
MAX_PROBABILITIES = 1_000_000
"""In one response; a megabyte holds about 100,000."""
MAX_DRAWN_WORDS = 20_000
"""In the pictures of one response; a megabyte holds about 2,000."""
MAX_RANKED_WORDS = 500_000
"""In the most probable trees of one response; a megabyte holds about 100,000."""
LONG_LABEL = 20
"""Characters of a label after which a word counts as several; a request can ask for any label."""
PICTURE_COLUMNS: tuple[PredictedColumn, ...] = ("upos", "lemma")
"""Lines below the words of a picture; there is no line for lemmas if the model has none."""
SUBTREES_COST = 4
"""How many times longer it takes to find trees if words must be a subtree; at most."""
_DECIMALS = 6
WriteSentence = Callable[[Sentence, Parse, FloatArray], bytes]


def answer_json(
    name: str,
    sentences: Iterable[Sentence],
    parser: Parser,
    with_distribution: bool = False,
    with_pictures: bool = False,
    language_hint: LanguageHint | None = None,
    constraints: Sequence[Constraints | None] = (),
    max_probabilities: int = MAX_PROBABILITIES,
    max_drawn_words: int = MAX_DRAWN_WORDS,
    max_ranked_words: int = MAX_RANKED_WORDS,
) -> AnswerSteps:
    """Answer with records; a sentence without words has none."""
    n_probabilities = n_drawn_words = n_ranked_words = 0

    def write(sentence: Sentence, parse: Parse, head_log_probs: FloatArray) -> bytes:
        nonlocal n_probabilities, n_drawn_words, n_ranked_words
        n_ranked_words += sum(map(count_labels, parse.trees))
        if n_ranked_words > max_ranked_words:
            what = f"the most probable trees have more than {max_ranked_words:,} words"
            raise Refusal(413, what, "ask for fewer sentences at a time, or with a smaller k_best")
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
    parts = yield from in_steps(nonempty, parser, write, with_distribution, constraints)
    hint = b"" if language_hint is None else b',"language":' + msgspec.json.encode(language_hint)
    start = b'{"model":' + msgspec.json.encode(name) + hint + b',"sentences":['
    return start + b",".join(parts) + b"]}"


def answer_conllu(
    sentences: Iterable[Sentence],
    parser: Parser,
    constraints: Sequence[Constraints | None] = (),
) -> AnswerSteps:
    """Answer with the bytes that the command line writes."""
    parts = yield from in_steps(
        sentences,
        parser,
        lambda s, parse, _: parser.fill_in(s, parse).data,
        constraints=constraints,
    )
    return b"".join(parts)


def in_steps(
    sentences: Iterable[Sentence],
    parser: Parser,
    write: WriteSentence,
    with_distribution: bool = False,
    constraints: Sequence[Constraints | None] = (),
) -> Generator[StepResult, None, list[bytes]]:
    """Parse and write some sentences a step; finding them in text is part of the step.

    Constraints are for the first sentences that have words; too many of them are refused.
    """
    parts: list[bytes] = []
    settings = parser.settings
    n_sentences = 0
    for batch in consecutive(sentences, len, STEP_WORDS):
        given = iter(constraints[n_sentences:])
        asked = [next(given, None) if len(sentence) else None for sentence in batch]
        cost = sum(
            cost_of(len(sentence), settings, with_distribution, bool(one and one.subtrees))
            for sentence, one in zip(batch, asked, strict=True)
        )
        if cost > LIGHT_COST:
            yield StepResult(next_cost=cost)
        n_sentences += sum(map(bool, batch))
        parsed = parser.parse_with_distributions(batch, asked if any(asked) else None)
        for sentence, (parse, head_log_probs) in zip(batch, parsed, strict=True):
            parts.append(write(sentence, parse, head_log_probs))
        n_repaired = sum(parse.how != "greedy" for parse, _ in parsed)
        yield StepResult(sum(map(bool, batch)), sum(map(len, batch)), n_repaired)
    if len(constraints) > n_sentences:
        given_for = plural(len(constraints), "sentence")
        what = f"constraints for {given_for}, but the input has {n_sentences:,}"
        raise Refusal(400, what, "give one for each sentence at most, null for a free one")
    return parts


def count_labels(tree: RankedTree) -> int:
    """Count the words of a tree; one with a long label counts as several."""
    return sum(1 + len(label) // LONG_LABEL for label in tree.labels)


def cost_of(
    n_words: int,
    settings: ParserSettings,
    with_distribution: bool = False,
    has_subtrees: bool = False,
) -> int:
    """Estimate the time to parse a sentence, in words of a sentence of ordinary length.

    Time grows with the square of the length, with Eisner's algorithm and sums over all trees with
    the cube; measured on sentences of 40 to 1,500 words. Other constraints than subtrees, and the
    number of subtrees, make no difference.
    """
    cost = n_words + n_words**2 // 2_000
    if with_distribution:
        cost += n_words**2 // 500
    of_trees = n_words**3 // 100_000 if settings.decode.decoder == "eisner" else 0
    if (settings.k_best or settings.marginals) and n_words <= MAX_SUMMED_WORDS:
        of_trees += n_words**2 // 200 + n_words**3 // 20_000
        of_trees += settings.k_best * (n_words // 7 + n_words**2 // 5_000)
    return cost + of_trees * (SUBTREES_COST if has_subtrees else 1)


def draw_pictures(
    sentence: Sentence, parse: Parse, head_log_probs: FloatArray
) -> dict[str, DrawnTree]:
    """Draw the tree and, if a repair changed it, the heads that the words selected (Eq. 8).

    Arcs that are not in the tree have no label; they show their probability instead.
    """
    pictures = {"picture": draw_tree(sentence, parse, PICTURE_COLUMNS)}
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
    return pictures | {"greedy_picture": draw_tree(sentence, selected, PICTURE_COLUMNS)}
