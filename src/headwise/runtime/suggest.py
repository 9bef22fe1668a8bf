"""Which words to ask an annotator about: those whose arc is most probably wrong.

Words are ranked by the probability of their arc over all trees with the heads given so far, times
that of its label. A sentence with a chosen word counts less for further words: the answer for one
word changes the others, and other sentences teach more. The chosen words are marked in MISC:

    Ask=Yes|Guess=3:nsubj|GuessProb=0.4312

HEAD stays blank, so that the file can be trained on as it is (blanks are ignored), filled in by
a person or a tool, and given back for more questions.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from headwise.errors import ConfigError
from headwise.runtime.parser import Parser
from headwise.settings.choices import Column
from headwise.treebank.probabilities import DECIMALS
from headwise.treebank.sentence import BLANK, Parse, Sentence, Word

SPREAD = 0.8
"""What the chance of a mistake is multiplied by for each word of its sentence that comes before."""
_GIVEN: tuple[Column, ...] = ("lemma", "upos", "xpos", "feats", "heads", "labels")
_OURS = ("Ask=", "Guess=", "GuessProb=")


class Question(NamedTuple):
    """A word to ask about: where it is, what the parser would say, and how probable that is."""

    sentence: int
    position: int
    head: int
    label: str
    probability: float


def find_questions(
    parser: Parser,
    sentences: Sequence[Sentence],
    budget: int | str,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[Question]:
    """Find the words without a head that are most worth asking about, best first.

    The budget is a number of words, or a share of all words such as `10%`. Heads that are given are
    taken for right. `on_progress` gets the number of sentences that are done.
    """
    n_questions = read_budget(budget, sum(map(len, sentences)))
    by_sentence = []
    for n_done, questions in enumerate(questions_about(parser, sentences, threads), 1):
        by_sentence.append(questions)
        on_progress(n_done)
    return choose_questions(by_sentence, n_questions)


def questions_about(
    parser: Parser, sentences: Sequence[Sentence], threads: int = 1
) -> Iterator[list[Question]]:
    """List the words without a head of each sentence, the least certain first."""
    settings = msgspec.structs.replace(parser.settings, keep=_GIVEN, marginals=True)
    annotated = parser.with_settings(settings).annotate(sentences, threads)
    for number, (sentence, (_, parse)) in enumerate(zip(sentences, annotated, strict=True)):
        assert parse is not None
        yield _questions_of(number, sentence, parse)


def read_budget(budget: int | str, n_words: int) -> int:
    """Read a number of words, or a share of all words such as `10%`; at least one word."""
    text = str(budget).strip()
    is_share = text.endswith("%")
    try:
        n = float(text.removesuffix("%")) / 100 if is_share else int(text)
    except ValueError:
        n = math.nan
    if not 0 < n < math.inf:
        what = f"the budget is {text[:40]!r}, which is not a positive number of words"
        raise ConfigError(what, "give a number of words, 200, or a share of them, 10%")
    return max(1, round(min(n, 1) * n_words if is_share else n))


def _questions_of(number: int, sentence: Sentence, parse: Parse) -> list[Question]:
    """List the words of a sentence that have no head, the least certain first."""
    heads = parse.marginals or parse.probabilities
    labels = parse.column_probs.get("labels") or (1.0,) * len(parse.heads)
    questions = [
        Question(number, position, head, label, prob * (1.0 if math.isnan(of_label) else of_label))
        for position, (word, head, label, prob, of_label) in enumerate(
            zip(sentence.words, parse.heads, parse.labels, heads, labels, strict=True), 1
        )
        if word.head == BLANK
    ]
    return sorted(questions, key=lambda question: (question.probability, question.position))


def choose_questions(
    by_sentence: Iterable[Sequence[Question]], n_questions: int, spread: float = SPREAD
) -> list[Question]:
    """Choose the words that are worth most; those of a sentence are given in order."""
    worth = [
        ((1 - question.probability) * spread**rank, question)
        for questions in by_sentence
        for rank, question in enumerate(questions)
    ]
    worth.sort(key=lambda pair: (-pair[0], pair[1].sentence, pair[1].position))
    return [question for _, question in worth[:n_questions]]


def mark_questions(
    sentences: Sequence[Sentence], questions: Iterable[Question]
) -> Iterator[Sentence]:
    """Copy sentences with the questions in MISC; those of an earlier round go."""
    asked = {(question.sentence, question.position): question for question in questions}
    for number, sentence in enumerate(sentences):
        words = [
            _mark(word, asked.get((number, position)))
            for position, word in enumerate(sentence.words, 1)
        ]
        yield sentence if tuple(words) == sentence.words else sentence.with_words(words)


def _mark(word: Word, question: Question | None) -> Word:
    parts = [] if word.misc == BLANK else word.misc.split("|")
    kept = [part for part in parts if not part.startswith(_OURS)]
    if question is not None:
        kept += ["Ask=Yes", f"Guess={question.head}:{question.label}"]
        kept.append(f"GuessProb={question.probability:.{DECIMALS}f}")
    return word._replace(misc="|".join(kept) or BLANK)
