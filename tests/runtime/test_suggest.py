"""Questions are about the least certain words, spread over sentences, within a budget."""

from pathlib import Path

import numpy as np
import pytest

import headwise
from headwise import Sentence
from headwise.errors import ConfigError
from headwise.runtime.suggest import (
    Question,
    choose_questions,
    find_questions,
    mark_questions,
    read_budget,
)
from headwise.treebank.sentence import sentence_from_words


def blanked(sentences: list[Sentence]) -> list[Sentence]:
    return [
        one.with_words([word._replace(head="_", deprel="_") for word in one.words])
        for one in sentences
    ]


@pytest.fixture(scope="module")
def parser(tiny_run: Path) -> headwise.runtime.parser.Parser:
    return headwise.load(tiny_run)


@pytest.fixture(scope="module")
def sentences(ewt_sentences: list[Sentence]) -> list[Sentence]:
    return [one for one in ewt_sentences if 4 < len(one) < 30][:30]


@pytest.mark.parametrize(
    ("budget", "n"),
    [(7, 7), ("7", 7), ("10%", 20), ("0.1%", 1), (" 2.5% ", 5), (999, 999), ("1e308%", 200)],
)
def test_a_budget_is_a_number_or_a_share(budget: int | str, n: int) -> None:
    assert read_budget(budget, 200) == n


def test_a_share_of_nothing_is_no_bad_budget() -> None:
    assert read_budget("10%", 0) == 1


@pytest.mark.parametrize("budget", [0, -1, "", "%", "x", "-1%", "nan%", "inf%", "1.5"])
def test_a_bad_budget_is_refused(budget: int | str) -> None:
    with pytest.raises(ConfigError, match=r"the budget is .*, which is not a positive"):
        read_budget(budget, 200)


def test_the_least_certain_come_first_and_a_sentence_counts_less_each_time() -> None:
    def asked(sentence: int, *probs: float) -> list[Question]:
        return [Question(sentence, i, 0, "x", prob) for i, prob in enumerate(probs, 1)]

    by_sentence = [asked(0, 0.1, 0.2, 0.3), asked(1, 0.4, 0.9), asked(2)]
    chosen = choose_questions(by_sentence, 3, spread=0.5)
    assert [(one.sentence, one.position) for one in chosen] == [(0, 1), (1, 1), (0, 2)]
    greedy = choose_questions(by_sentence, 3, spread=1.0)
    assert [(one.sentence, one.position) for one in greedy] == [(0, 1), (0, 2), (0, 3)]
    assert len(choose_questions(by_sentence, 100)) == 5


def test_questions_are_the_words_that_are_wrong_more_often(
    sentences: list[Sentence],
) -> None:
    """Among what a model is asked about, it makes at least twice as many mistakes as elsewhere."""
    parser = headwise.load()
    questions = find_questions(parser, blanked(sentences), "20%")
    assert len(questions) == round(0.2 * sum(map(len, sentences)))
    wrong = [one.head != sentences[one.sentence].heads[one.position - 1] for one in questions]
    parses = parser.parse(sentences)
    every = [
        head != gold
        for one, parse in zip(sentences, parses, strict=True)
        for head, gold in zip(parse.heads, one.heads, strict=True)
    ]
    assert np.mean(wrong) > 2 * np.mean(every) > 0
    assert len({one.sentence for one in questions}) > len(sentences) / 2


def test_given_heads_are_never_asked_about_and_change_the_others(
    parser: headwise.runtime.parser.Parser, sentences: list[Sentence]
) -> None:
    blank = blanked(sentences)
    before = find_questions(parser, blank, 20)
    first = before[0]
    words = list(blank[first.sentence].words)
    gold = sentences[first.sentence].words[first.position - 1]
    words[first.position - 1] = gold
    blank[first.sentence] = blank[first.sentence].with_words(words)
    after = find_questions(parser, blank, 20)
    assert (first.sentence, first.position) not in {(a.sentence, a.position) for a in after}
    assert after != before[1:]
    assert find_questions(parser, sentences, 20) == []


def test_marks_stand_in_misc_and_those_of_an_earlier_round_go() -> None:
    rows = [("Kids", "SpaceAfter=No"), ("run", "Ask=Yes|Guess=1:x|GuessProb=0.1|A=b"), ("!", "_")]
    sentence = sentence_from_words(rows, ["form", "misc"])
    (marked,) = mark_questions([sentence], [Question(0, 1, 2, "nsubj", 0.12344)])
    assert [word.misc for word in marked.words] == [
        "SpaceAfter=No|Ask=Yes|Guess=2:nsubj|GuessProb=0.1234",
        "A=b",
        "_",
    ]
    assert all(word.head == "_" for word in marked.words)
    (cleared,) = mark_questions([marked], [])
    assert [word.misc for word in cleared.words] == ["SpaceAfter=No", "A=b", "_"]
    assert list(mark_questions([cleared], [])) == [cleared]


def test_the_function_of_the_package_marks_sentences(
    parser: headwise.runtime.parser.Parser, sentences: list[Sentence]
) -> None:
    marked = headwise.suggest(parser, blanked(sentences), 5)
    asked = [word for one in marked for word in one.words if "Ask=Yes" in word.misc]
    assert len(asked) == 5
    assert len(marked) == len(sentences)
    with pytest.raises(TypeError, match="list of sentences"):
        headwise.suggest(parser, marked[0])  # type: ignore[arg-type]
