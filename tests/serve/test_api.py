import json
import select
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.cli.main import main
from headwise.runtime.parser import Parser
from headwise.serve.api import estimate_words
from headwise.serve.models import Models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import Gate, connect, serving, url_of, wait_until

FIXTURES = Path(__file__).parent.parent / "fixtures"
TEXT = "Kids love candy, and I don't.\n\nA man saw a hat that was on the table. Really?"


def ask(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/parse", json=body)


def command_line(*flags: str, data: str) -> bytes:
    done = CliRunner().invoke(main, ["parse", "--quiet", *flags], input=data.encode())
    assert done.exit_code == 0
    return done.stdout_bytes


def test_conllu_out_is_the_bytes_of_the_command_line(client: httpx.Client) -> None:
    treebank = (FIXTURES / "ewt-dev-100.conllu").read_text(encoding="utf-8")
    treebank = treebank[:60_000].rpartition("\n\n")[0] + "\n\n"
    tokens = [["Kids", "love", "candy"], ["So", "do", "I", "."]]
    for body, flags, data in (
        ({"text": TEXT}, ["--input", "text"], TEXT),
        ({"conllu": treebank}, ["--input", "conllu"], treebank),
        ({"conllu": treebank, "keep_tags": True, "decoder": "greedy"},
         ["--keep-tags", "--decoder", "greedy"], treebank),
        ({"conllu": treebank, "keep": ["heads", "feats", "labels"], "probabilities": True},
         ["--keep", "heads,feats,labels", "--probabilities"], treebank),
        ({"tokens": tokens}, ["--input", "tokens"], "Kids love candy\nSo do I ."),
    ):  # fmt: skip
        answer = ask(client, format="conllu", **body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.content == command_line(*flags, data=data)


def test_trees_marginals_and_constraints(client: httpx.Client) -> None:
    tokens = ["I", "saw", "the", "man", "with", "the", "telescope", "."]
    body = {"tokens": [tokens] * 2, "k_best": 3, "marginals": True}
    asked = {"heads": {"7": 4}, "labels": {"7": "nmod"}, "subtrees": [[3, 4]], "root": 2}
    answer = ask(client, **body, constraints=[asked])
    assert answer.status_code == 200, answer.text
    fixed, free = answer.json()["sentences"]
    for sentence in (fixed, free):
        assert len(sentence["trees"]) == 3
        assert sentence["entropy"] >= 0
        assert all(0 < word["marginal"] <= 1 for word in sentence["words"])
    assert {tree["heads"][6] for tree in fixed["trees"]} == {4}
    assert {tree["labels"][6] for tree in fixed["trees"]} == {"nmod"}
    assert fixed["words"][6]["marginal"] == 1
    assert {tree["heads"][6] for tree in free["trees"]} == {2, 4}
    (plain,) = ask(client, tokens=[tokens]).json()["sentences"]
    assert "trees" not in plain


def test_blank_lines_and_comments_survive_in_conllu(client: httpx.Client) -> None:
    data = "\n\n# sent_id = x\n1\tKids\t_\t_\t_\t_\t_\t_\t_\t_\r\n\n\n"
    answer = ask(client, conllu=data, format="conllu")
    assert answer.text.startswith("\n\n# sent_id = x\n1\tKids\t_\t")
    assert answer.text.endswith("\t_\r\n\n\n")
    assert len(ask(client, conllu=data).json()["sentences"]) == 1


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        (b"", 400, "is empty"),
        (b"{", 400, "not JSON"),
        (b"[]", 400, "not a valid request"),
        (b"\xff\xfe", 400, "byte 1 of the body is not UTF-8"),
        (b'{"text": "\xff"}', 400, "byte 11 of the body"),
        (b"[" * 50_000, 400, "the body is not"),
        (b'{"text":' + b'{"a":' * 15_000, 400, "the body is not"),
        (b'{"text": "\\ud800"}', 400, "not JSON"),
        (b'{"text": 1}', 400, "not a valid request"),
        (b'{"text": "a", "other": 1}', 400, "other"),
        (b'{"text": "a", "decoder": "best"}', 400, "not a valid request"),
        (b'{"text": "a", "keep": ["head"]}', 400, "not a valid request"),
        (
            b'{"conllu": "1\\ta\\t_\\t_\\t_\\t_\\t1\\t_\\t_\\t_\\n\\n", "keep": ["heads"]}',
            400,
            "<request>:1: the HEAD of word 1 ('a') is the word itself",
        ),
        (b'{"text": "a", "k_best": 101}', 400, "not a valid request"),
        (b'{"text": "a", "k_best": 2, "format": "conllu"}', 400, "not in conllu"),
        (b'{"text": "a", "constraints": [{"head": {}}]}', 400, "not a valid request"),
        (b'{"text": "a", "constraints": [{"root": 0}]}', 400, "not a valid request"),
        (b'{"text": "a", "constraints": [{"root": 2}]}', 400, "there is no word 2"),
        (
            b'{"text": "a b c", "constraints": [{"heads": {"1": 3, "3": 1}}]}',
            400,
            "words 1 and 3 cannot head each other",
        ),
        (b'{"text": "a", "constraints": [null, {}]}', 400, "constraints for 2 sentences"),
        (
            b'{"text": "a", "constraints": [{"subtrees": [['
            + b",".join(b"%d" % i for i in range(1, 12_000))
            + b"]]}]}",
            400,
            "there is no word 11999",
        ),
        (b'{"text": "a", "tokens": [["a"]]}', 400, "exactly one"),
        (b"{}", 400, "exactly one"),
        (b'{"tokens": [[]]}', 400, "sentence 1 has no tokens"),
        (b'{"tokens": [["a"], ["b c"]]}', 400, "sentence 2"),
        (b'{"tokens": [[""]]}', 400, "not a token"),
        (b'{"conllu": "1\\tKids\\n\\n"}', 400, "<request>:1: 2 columns"),
        (b'{"conllu": "\\ufeff# a\\n"}', 400, "byte order mark"),
        (b'{"text": "a", "model": "klingon"}', 404, "no model 'klingon'"),
        (b'{"text": "a", "model": "words-only"}', 400, "cannot find words in raw text"),
        (b'{"text": "' + b"x" * 200_000 + b'"}', 413, "100,000 bytes"),
        (b'{"text": "' + b"x" * 500_000 + b'"}', 413, "100,000 bytes"),
        (b'{"text": "' + b"x" * 300 + b'"}', 413, "100 characters"),
        (b'{"text": "' + b"a " * 4_000 + b'"}', 413, "words in a"),
        (b'{"text": "' + b"Hi.\\n\\n" * 200 + b'"}', 413, "150 sentences"),
        (b'{"tokens": [' + b'["a"],' * 150 + b'["a"]]}', 413, "150 sentences"),
        (b'{"tokens": [[' + b'"a",' * 3_000 + b'"a"]]}', 413, "3,000 words"),
        (b'{"tokens": [' + b'["a"],' * 15_000 + b'["a"]]}', 413, "150 sentences"),
        (b'{"tokens": [[' + b'"a",' * 20_000 + b'"a"]]}', 413, "3,000 words"),
        (b'{"tokens": [[' + b'"a",' * 20_000 + b"1]]}", 413, "3,000 words"),
        (b'{"tokens": [["' + b"x" * 80_000 + b'", 1]]}', 400, "not a valid request"),
        (b'{"tokens": [["' + b"x" * 80_000 + b'"]}', 400, "not JSON"),
        (b'{"conllu": "' + b"\\n" * 20_000 + b'"}', 413, "15,000 lines"),
    ],
)
def test_a_broken_or_large_request_is_refused(
    client: httpx.Client, body: bytes, status: int, what: str
) -> None:
    answer = client.post("/parse", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert what in error["message"]
    assert set(error) == {"message", "hint"}
    assert len(answer.content) < 1_000


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5), max_size=4))
def test_every_token_comes_back_or_the_request_is_refused(
    client: httpx.Client, tokens: list[list[str]]
) -> None:
    body = json.dumps({"tokens": tokens})
    answer = client.post("/parse", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert [len(s["words"]) for s in answer.json()["sentences"]] == list(map(len, tokens))


@pytest.mark.parametrize(
    ("kind", "encoding", "status"),
    [
        ("text/plain", "identity", 415),
        ("application/json; charset=latin-1", "identity", 415),
        ("application/json", "gzip", 415),
        ('Application/JSON; charset="UTF-8"', "identity", 200),
        ("", "identity", 415),
    ],
)
def test_types_of_bodies(client: httpx.Client, kind: str, encoding: str, status: int) -> None:
    headers = {"content-type": kind, "content-encoding": encoding}
    answer = client.post("/parse", content=b'{"text": "Hi."}', headers=headers)
    assert answer.status_code == status, answer.text


def test_long_lines_count_as_several_words() -> None:
    assert estimate_words("") == estimate_words("", 0) == 1
    assert estimate_words("a b c d e " * 10) == 21
    assert estimate_words("1\ta\n" * 10, 10) == 11
    assert estimate_words("x" * 4_000_000, 1) == 20_001


def test_models_health_metrics(client: httpx.Client) -> None:
    known = {"en": ["tokenizer", "tagger", "parser"], "words-only": ["tagger", "parser"]}
    for answer in (client.get("/models"), client.post("/models")):
        assert answer.json() == {"models": known, "default_model": "en", "languages": {}}
    assert client.get("/health").json()["status"] == "ok"
    ask(client, text="Hi.")
    text = client.get("/metrics").text
    assert 'path="/parse",status="200"' in text
    assert "headwise_words_total" in text


@contextmanager
def under_way(client: httpx.Client, n_requests: int, gate: Gate, **body: Any) -> Iterator[None]:
    """Have requests wait at the gate; it is opened at the end, and all of them are answered."""
    with ThreadPoolExecutor(n_requests) as pool:
        url = url_of(client, "/parse")
        sent = [pool.submit(httpx.post, url, json=body, timeout=30) for _ in range(n_requests)]
        wait_until(lambda: client.get("/health").json()["jobs"] == n_requests)
        yield
        gate.open.set()
        assert [answer.result().status_code for answer in sent] == [200] * n_requests


def test_a_full_queue_answers_429_and_recovers(gate: Gate, gated: Models) -> None:
    text = "a b c d " * 5
    with serving(ServeConfig(max_queue=20, workers=1), gated) as client:
        with under_way(client, 2, gate, text=text):
            for _ in range(20):
                refused = ask(client, text=text)
                assert refused.status_code == 429
                assert int(refused.headers["retry-after"]) >= 1
        assert ask(client, text="Hi.").status_code == 200


def test_long_sentences_with_eisner_do_not_starve_short_requests(parser: Parser) -> None:
    gate = Gate(parser.scorer, more_than=300)
    models = Models({"en": Parser(gate, parser.segmenter, parser.settings)})
    with (
        serving(ServeConfig(workers=1), models) as client,
        under_way(client, 8, gate, tokens=[["a"] * 400], decoder="eisner"),
    ):
        assert ask(client, text="Kids love candy.").status_code == 200
        assert client.get("/health").json()["jobs"] == 8


def test_an_answer_that_takes_too_long_is_given_up(gate: Gate, gated: Models) -> None:
    """The client need not wait for the step that is under way."""
    with serving(ServeConfig(max_seconds=0.3, workers=1), gated) as client:
        answer = ask(client, text="Kids love candy.\n\n" * 400)
        assert answer.status_code == 503
        assert "too long" in answer.json()["error"]["message"]
        gate.open.set()


def test_only_work_whose_client_has_gone_is_dropped(gate: Gate, gated: Models) -> None:
    with serving(ServeConfig(workers=1), gated) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/parse", json={"text": "Kids love candy."}, timeout=0.3)
        wait_until(lambda: 'status="499"' in client.get("/metrics").text)
        threading.Timer(1.2, gate.open.set).start()
        assert client.get("/process?tokenizer&parser&data=Kids").status_code == 200
        wait_until(lambda: client.get("/health").json()["jobs"] == 0)


def test_large_bodies_share_their_room_and_small_ones_pass(models: Models) -> None:
    n_bytes = 200_000
    head = b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(ServeConfig(max_bytes=n_bytes), models) as client:
        held = [connect(client) for _ in range(14)]
        for sock in held:
            sock.sendall(head + b"Content-Length: %d\r\n\r\n" % n_bytes + b" " * (n_bytes - 1))
        answered, _, _ = select.select(held, [], [], 10)
        assert {sock.recv(1_000)[9:12] for sock in answered} == {b"429"}
        assert ask(client, text="Hi.").status_code == 200
        for sock in held:
            sock.close()
        wait_until(lambda: ask(client, text="Hi." + " " * 150_000).status_code == 200)


GERMAN = "Die Kinder lieben die Süßigkeiten ihrer Großmutter, und sie essen sie jeden Tag gerne."


def test_an_answer_says_if_the_text_is_in_another_language(parser: Parser) -> None:
    models = Models({"en": parser, "de": parser}, {"en": "en", "de": "de"})
    words = GERMAN.replace(",", "").split()
    blanks = "\t_" * 8
    lines = [f"{i}\t{word}{blanks}" for i, word in enumerate(words, 1)]
    treebank = "\n".join([*lines, "", ""])
    with serving(ServeConfig(), models) as client:
        for body in ({"text": GERMAN}, {"tokens": [words]}, {"conllu": treebank}):
            answer = ask(client, **body).json()
            assert answer["language"] == {"code": "de", "name": "German", "model": "de"}
            answer = ask(client, model="auto", **body).json()
            assert answer["model"] == "de"
            assert "language" not in answer
        assert "language" not in ask(client, text=TEXT).json()
        query = {"data": GERMAN, "model": "auto", "tokenizer": "", "parser": ""}
        assert client.get("/process", params=query).json()["model"] == "de"
