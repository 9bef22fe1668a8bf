import json
import re
from typing import Any

import numpy as np
import pytest

from headwise import Sentence, sentence_from_words
from headwise.render import to_json, to_svg
from headwise.runtime.parser import Parser
from headwise.serve.answers import PICTURE_COLUMNS, STEP_WORDS, answer_conllu, answer_json, cost_of
from headwise.serve.models import with_settings
from headwise.serve.queue import LIGHT_COST, AnswerSteps, StepResult
from headwise.serve.requests import Refusal
from headwise.trees.constraints import Constraints


def finish(steps: AnswerSteps) -> tuple[bytes, list[StepResult]]:
    done = []
    while True:
        try:
            done.append(next(steps))
        except StopIteration as end:
            return end.value, done


@pytest.fixture(scope="module")
def projective(parser: Parser) -> Parser:
    return with_settings(parser, "eisner", ())


@pytest.fixture(scope="module")
def records(projective: Parser, ewt_sentences: list[Sentence]) -> list[dict[str, Any]]:
    answer, _ = finish(answer_json("en", ewt_sentences, projective, with_distribution=True))
    decoded = json.loads(answer)
    assert decoded["model"] == "en"
    found: list[dict[str, Any]] = decoded["sentences"]
    return found


def test_records_are_those_of_the_command_line(
    projective: Parser, ewt_sentences: list[Sentence], records: list[dict[str, Any]]
) -> None:
    for record, sentence in zip(records, ewt_sentences, strict=True):
        (parse,) = projective.parse([sentence])
        plain = {k: v for k, v in record.items() if k not in ("greedy", "distribution")}
        assert plain == json.loads(to_json(sentence.with_parse(parse), parse))


def test_distributions_sum_to_one_and_say_what_greedy_chose(records: list[dict[str, Any]]) -> None:
    ways = set()
    for record in records:
        n_words = len(record["words"])
        rows = np.array(record["distribution"])
        assert rows.shape == (n_words, n_words + 1)
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-4)
        heads = [word["head"] for word in record["words"]]
        chosen = rows[np.arange(n_words), heads]
        np.testing.assert_allclose(chosen, [w["probability"] for w in record["words"]], atol=2e-4)
        ways.add(record["how"])
        if record["how"] == "greedy":
            assert "greedy" not in record
        else:
            picked = rows[np.arange(n_words), record["greedy"]]
            np.testing.assert_allclose(picked, rows.max(axis=1), atol=1e-6)
    assert ways == {"greedy", "eisner"}


def test_pictures_are_those_of_the_command_line(
    projective: Parser, ewt_sentences: list[Sentence]
) -> None:
    answer, _ = finish(answer_json("en", ewt_sentences, projective, with_pictures=True))
    n_repaired = 0
    for record, sentence in zip(json.loads(answer)["sentences"], ewt_sentences, strict=True):
        (parse,) = projective.parse([sentence])
        picture = record["picture"]
        assert picture["svg"] == to_svg(sentence.with_parse(parse), parse, columns=PICTURE_COLUMNS)
        assert len(picture["words"]) == len(sentence)
        assert ("greedy_picture" in record) == (record["how"] != "greedy")
        if selected := record.get("greedy_picture"):
            n_repaired += 1
            labels = re.findall('class="label"[^>]*>([^<]*)<', selected["svg"])
            for arc, label in zip(selected["arcs"], labels, strict=True):
                i = arc["dependent"] - 1
                is_changed = record["greedy"][i] != record["words"][i]["head"]
                assert label.endswith("%") == is_changed
    assert n_repaired


def test_answers_are_bounded(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    n_first = len(ewt_sentences[0])
    answer, _ = finish(
        answer_json("en", ewt_sentences[:2], parser, False, True, max_drawn_words=n_first)
    )
    assert ["picture" in record for record in json.loads(answer)["sentences"]] == [True, False]
    with pytest.raises(Refusal, match="500 probabilities"):
        finish(answer_json("en", ewt_sentences, parser, True, max_probabilities=500))
    assert finish(answer_json("en", [], parser, True)) == (b'{"model":"en","sentences":[]}', [])
    assert finish(answer_conllu([], parser)) == (b"", [])


def test_steps_are_short_and_count_everything(
    parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    _, steps = finish(answer_conllu(ewt_sentences, parser))
    assert len(steps) > 5
    assert max(step.n_words for step in steps) <= STEP_WORDS
    assert sum(step.n_words for step in steps) == sum(map(len, ewt_sentences))
    assert sum(step.n_sentences for step in steps) == len(ewt_sentences)
    assert not any(step.next_cost for step in steps)


def test_a_long_sentence_is_announced_by_its_cost(projective: Parser) -> None:
    words = [("a",)] * 300
    long, short = (sentence_from_words(part, ["form"]) for part in (words, words[:20]))
    _, steps = finish(answer_conllu([short, long, short], projective))
    assert [step.n_words for step in steps] == [20, 0, 300, 20]
    eisner, mst = projective.settings, with_settings(projective, "mst", ()).settings
    assert [step.next_cost for step in steps] == [0, cost_of(300, eisner), 0, 0]
    assert cost_of(STEP_WORDS, eisner) <= LIGHT_COST < cost_of(300, eisner)
    assert cost_of(300, mst) < cost_of(300, mst, with_distribution=True)


def test_subtrees_are_announced_by_their_cost(projective: Parser) -> None:
    long = sentence_from_words([("a",)] * 220, ["form"])
    settings = projective.settings
    asked = [Constraints(heads={1: 2}), Constraints(subtrees=[[1, 2]])]
    _, steps = finish(answer_conllu([long, long], projective, asked))
    cost = cost_of(220, settings, has_subtrees=True)
    assert [step.next_cost for step in steps if not step.n_words] == [cost]
    assert cost_of(220, settings) < LIGHT_COST < cost
    assert cost_of(1_500, settings, has_subtrees=True) > 3 * cost_of(1_500, settings)


def test_sums_over_trees_and_many_trees_are_announced_by_their_cost(parser: Parser) -> None:
    with_marginals = with_settings(parser, "mst", (), marginals=True)
    many = with_settings(parser, "mst", (), k_best=100)
    words = [("a",)] * 100
    long, short = (sentence_from_words(part, ["form"]) for part in (words, words[:10]))
    _, steps = finish(answer_json("en", [short, long], many))
    assert steps[0].next_cost == cost_of(10, many.settings) + cost_of(100, many.settings)
    assert cost_of(100, with_marginals.settings) < LIGHT_COST < cost_of(100, many.settings)
    assert cost_of(300, with_marginals.settings) > LIGHT_COST
    # A sentence that is too long has neither.
    assert cost_of(1_000, many.settings) == cost_of(1_000, parser.settings)


def test_trees_in_an_answer_are_bounded(parser: Parser, ewt_sentences: list[Sentence]) -> None:
    some = with_settings(parser, None, (), k_best=3)
    assert finish(answer_json("en", ewt_sentences[:2], some))
    with pytest.raises(Refusal, match="more than 10 words"):
        finish(answer_json("en", ewt_sentences[:2], some, max_ranked_words=10))


def test_long_labels_in_trees_are_bounded(parser: Parser) -> None:
    """A label comes once in a request and a hundred times in its answer."""
    some = with_settings(parser, None, (), k_best=3)
    sentence = sentence_from_words([("Kids",), ("love",)], ["form"])
    for n_characters, is_bounded in ((19, True), (1_000, False)):
        asked = [Constraints(labels={1: "x" * n_characters})]
        steps = answer_json("en", [sentence], some, constraints=asked, max_ranked_words=10)
        if is_bounded:
            assert len(finish(steps)[0]) < 1_000
        else:
            with pytest.raises(Refusal, match="more than 10 words"):
                finish(steps)


def test_constraints_go_to_the_first_sentences_with_words(
    parser: Parser, ewt_sentences: list[Sentence]
) -> None:
    sentences = [s for s in ewt_sentences if len(s) > 2][:40]
    asked = [Constraints(root=len(s)) if i % 2 else None for i, s in enumerate(sentences[:30])]
    empty = sentence_from_words([], [])
    answer, steps = finish(answer_json("en", [empty, *sentences], parser, constraints=asked))
    assert len(steps) > 1
    for i, record in enumerate(json.loads(answer)["sentences"]):
        (free,) = parser.parse([sentences[i]])
        heads = tuple(word["head"] for word in record["words"])
        assert heads.index(0) == len(heads) - 1 if i < 30 and i % 2 else heads == free.heads
    conllu, _ = finish(answer_conllu([empty, *sentences], parser, asked))
    assert conllu.count(b"\t0\troot\t") == 40
    with pytest.raises(Refusal, match="constraints for 30 sentences, but the input has 2"):
        finish(answer_conllu([empty, *sentences[:2]], parser, asked))
