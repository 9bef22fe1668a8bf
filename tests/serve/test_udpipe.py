"""The request forms of UDPipe's public documentation, over a real socket."""

import email.mime.multipart
import email.mime.text
import email.policy
import json
import urllib.request

import httpx
import pytest

from tests.serve.made_servers import url_of

ALL = {"tokenizer": "", "tagger": "", "parser": ""}
TEXT = "Kids love candy. So do I."
TREE = "# sent_id = a\n1\tKids\t_\tX\tY\t_\t_\t_\t_\t_\n2\tlove\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def process(client: httpx.Client, **fields: str) -> str:
    answer = client.post("/process", data=fields)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["model"] == "en"
    assert body["acknowledgements"]
    result: str = body["result"]
    return result


@pytest.fixture(scope="module")
def expected(client: httpx.Client) -> str:
    return client.post("/parse", json={"text": TEXT, "format": "conllu"}).text


def test_query_form_and_parts_give_the_same(client: httpx.Client, expected: str) -> None:
    query = client.get(f"/process?tokenizer&tagger&parser&data={TEXT}")
    form = client.post("/process", data=ALL | {"data": TEXT})
    file = {"data": ("input_file.txt", TEXT.encode())}
    parts = client.post("/process", data=ALL | {"model": "english"}, files=file)
    mixed = client.post("/process?tokenizer=&tagger=&parser=", data={"data": TEXT})
    empty = client.post(f"/process?tokenizer=&tagger=&parser=&data={TEXT}")
    for answer in (query, form, parts, mixed, empty):
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"] == expected


def test_parts_as_udpipes_own_client_writes_them(client: httpx.Client, expected: str) -> None:
    message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
    given = {"input": "conllu", "output": "conllu", "data": expected, "parser": "", "tagger": ""}
    for name, value in given.items():
        part = email.mime.text.MIMEText("", "plain", "utf-8", policy=email.policy.HTTP)
        part.replace_header("Content-Transfer-Encoding", "8bit")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.set_payload(value.encode().decode("ascii", "surrogateescape"))
        message.attach(part)
    body = message.as_bytes().split(b"\r\n\r\n", 1)[1]
    assert b"\r\n1\tKids" in body
    request = urllib.request.Request(
        url_of(client, "/process"),
        body,
        {"Content-Type": message["Content-Type"]},
    )
    with urllib.request.urlopen(request) as answer:
        assert json.loads(answer.read())["result"] == expected


def test_inputs_without_a_tokenizer(client: httpx.Client) -> None:
    for form, data in (
        ("horizontal", "Kids love candy .\nSo do I .\n"),
        ("vertical", "Kids\tmore\nlove\ncandy\n.\n\n\nSo\ndo\r\nI\n."),
        ("horizontal=paragraphs", "Kids love candy .\n\nSo do I ."),
        ("generic_tokenizer", TEXT),
    ):
        result = process(client, data=data, input=form, parser="", tagger="")
        forms = [line.split("\t")[1] for line in result.splitlines() if line[:1].isdigit()]
        assert forms == ["Kids", "love", "candy", ".", "So", "do", "I", "."]
        assert result.count("\troot\t") == 2
    assert "\tSo do\t" in process(client, data="So do\nI\x01", input="vertical", parser="")
    assert process(client, data="I\x01", input="vertical", output="vertical") == "I□\n\n"


def test_what_was_not_asked_for_stays(client: httpx.Client) -> None:
    parsed = process(client, data=TREE, parser="").splitlines()
    assert parsed[1].startswith("1\tKids\t_\tX\tY\t_\t2\t")
    assert parsed[2].startswith("2\tlove\t_\t_\t_\t_\t0\troot")
    tagged = process(client, data=TREE, tagger="").splitlines()
    assert tagged[1] == "1\tKids\t_\tNOUN\tNNS\t_\t_\t_\t_\t_"
    assert process(client, data=TREE) == TREE
    assert process(client, data="\n" + TREE, output="horizontal") == "Kids love\n"


def test_outputs(client: httpx.Client) -> None:
    wish = ALL | {"data": TEXT}
    assert process(client, **wish, output="horizontal") == "Kids love candy .\nSo do I .\n"
    assert process(client, **wish, output="vertical").startswith("Kids\nlove\ncandy\n.\n\nSo\n")
    assert process(client, **wish, output="plaintext") == "Kids love candy.\nSo do I.\n"
    assert process(client, **wish, output="conllu=v2").startswith("# newpar")
    lines = ALL | {"tokenizer": "ranges;presegmented", "data": "Kids love\ncandy."}
    assert process(client, **lines, output="horizontal") == "Kids love\ncandy .\n"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"data": "x", "input": "xml"}, 400),
        ({"data": "x", "output": "matxin"}, 400),
        ({"data": "x", "parser": ""}, 400),
        ({"data": "x", "tokenizer": "", "model": "german"}, 404),
        ({"data": "x", "tokenizer": "", "model": "words-only"}, 400),
        ({"data": "x" * 150_000, "tokenizer": ""}, 413),
    ],
)
def test_refusals(client: httpx.Client, fields: dict[str, str], status: int) -> None:
    answer = client.post("/process", data=fields)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


def test_other_types_are_refused(client: httpx.Client) -> None:
    assert client.post("/process", json={"data": "x"}).status_code == 415
    assert client.post("/process", content=b"x").status_code == 415
    parts = {"content-type": "multipart/form-data"}
    assert client.post("/process", content=b"x", headers=parts).status_code == 400
