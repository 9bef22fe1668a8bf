"""JSON: the documented keys, nothing lost, the same line for the same sentence."""

import json
import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from render.made_sentences import parse_of, parsed_sentences, sentence

from headwise import Parse, Sentence, read_sentences, sentence_from_words
from headwise.treebank.records import (
    EmptyRecord,
    ProbabilitiesRecord,
    SentenceRecord,
    TokenRecord,
    WordRecord,
    to_json,
    to_record,
)

FIXTURES = Path(__file__).parent.parent / "fixtures"
DOCS = Path(__file__).parents[2] / "docs"


def test_one_line_word_for_word() -> None:
    made = sentence("Go/VERB/0/root")
    words = '{"text":"Go","words":[{"id":1,"form":"Go","upos":"VERB","head":0,"deprel":"root"'
    parse = parse_of(made, [0.123456])
    assert to_json(made) == words + "}]}"
    assert to_json(made, parse) == words + ',"probability":0.1235}],"how":"greedy"}'


def test_probabilities_have_the_keys_of_their_values() -> None:
    made = sentence("Go/VERB/0/root on/ADV/1/advmod")
    probs = {"labels": (0.99999, math.nan), "upos": (0.12345, math.nan), "lemma": (0.0, math.nan)}
    parse = replace(parse_of(made, [0.5, 0.25]), column_probs=probs)  # type: ignore[arg-type]
    first, second = json.loads(to_json(made, parse))["words"]
    assert first["probability"] == 0.5
    assert first["probabilities"] == {"lemma": 0.0, "upos": 0.1235, "deprel": 1.0}
    assert list(first)[-2:] == ["probability", "probabilities"]
    assert second["probability"] == 0.25
    assert "probabilities" not in second  # all were kept from the input


def test_comments_ranges_and_empty_nodes_are_kept() -> None:
    first, second, *_ = read_sentences(FIXTURES / "hand-made.conllu")
    record = json.loads(to_json(first))
    assert (record["sent_id"], record["text"]) == ("1", "¿Vámonos al mar?")
    assert record["comments"][0] == "newdoc id = hand-made"
    assert not any(comment.startswith(("sent_id", "text")) for comment in record["comments"])
    assert record["tokens"] == [
        {"first": 2, "last": 3, "form": "Vámonos"},
        {"first": 4, "last": 5, "form": "al", "misc": "Note=contracted"},
    ]
    assert "empty_nodes" not in record
    nodes = json.loads(to_json(second))["empty_nodes"]
    assert [node["id"] for node in nodes] == ["0.1", "0.2", "3.1", "3.2"]
    assert nodes[1] == {"id": "0.2", "deps": "0:root|1:dep"}


def test_spans_are_start_and_end_and_the_lemma_of_an_underscore_is_not_blank() -> None:
    words = [("_", "_", "TokenRange=5:9"), ("a", "_", "_")]
    made = sentence_from_words(words, ["form", "lemma", "misc"])
    found = [(word.start, word.end, word.lemma) for word in to_record(made).words]
    assert found == [(5, 9, "_"), (None, None, None)]


@pytest.mark.parametrize("name", ["hand-made", "coptic-20", "ewt-empty-nodes-6", "ewt-dev-100"])
def test_records_are_read_back_the_same(name: str) -> None:
    for made in read_sentences(FIXTURES / f"{name}.conllu"):
        line = to_json(made)
        assert "\n" not in line
        record = msgspec.json.decode(line, type=SentenceRecord)
        assert record == to_record(made)
        assert [word.form for word in record.words] == [word.form for word in made.words]
        n_lines = len(record.words) + len(record.tokens) + len(record.empty_nodes)
        assert n_lines == sum(line[0].isdigit() for line in made.lines)


@settings(deadline=None)
@given(parsed_sentences())
def test_any_sentence_is_one_line_of_json(drawn: tuple[Sentence, Parse]) -> None:
    line = to_json(*drawn)
    assert "\n" not in line
    record = json.loads(line)
    assert [word["head"] for word in record["words"]] == list(drawn[1].heads)
    assert all(0 <= word["probability"] <= 1 for word in record["words"])


@pytest.mark.parametrize(
    "kind", [SentenceRecord, WordRecord, ProbabilitiesRecord, TokenRecord, EmptyRecord]
)
def test_every_key_is_documented(kind: type[msgspec.Struct]) -> None:
    schema = (DOCS / "output.md").read_text(encoding="utf-8").partition("\n## json\n")[2]
    first_columns = " ".join(line.split("|")[1] for line in schema.split("\n") if "|" in line[:1])
    assert [key for key in kind.__struct_fields__ if f"`{key}`" not in first_columns] == []
