"""The workbench over HTTP, as the page uses it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from headwise import Sentence
from headwise.annotate.comparison import OtherFile
from headwise.annotate.file.saved import AnnotatedFile
from headwise.annotate.routes import make_workbench_app
from headwise.annotate.workbench import Workbench
from headwise.serve.models import Models
from headwise.settings.serving import ServeConfig
from headwise.treebank.sentence import sentence_from_words
from tests.annotate.made_blocks import fix, make_block
from tests.serve.made_servers import serving_app, wait_until

FIXTURES = Path(__file__).parents[1] / "fixtures"
TOKEN = "a-secret"
BLOCK = make_block("Kids", "love", "candy")


@contextmanager
def working(path: Path, models: Models, keep: bool | None = None) -> Iterator[httpx.Client]:
    """Serve the workbench for a file; give a client with the token."""
    bench = Workbench(AnnotatedFile(path), models.parsers["en"], "en", "en", keep)
    config = ServeConfig(token=TOKEN)
    with serving_app(make_workbench_app(config, models, bench), config) as client:
        client.headers["authorization"] = f"Bearer {TOKEN}"
        yield client


@pytest.fixture
def client(treebank: Path, models: Models) -> Iterator[httpx.Client]:
    """Ask a workbench that a test may change."""
    with working(treebank, models, keep=False) as client:
        yield client


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, models: Models) -> Iterator[httpx.Client]:
    """Ask a workbench whose file no test changes."""
    path = tmp_path_factory.mktemp("reader") / "ewt.conllu"
    path.write_bytes((FIXTURES / "ewt-dev-100.conllu").read_bytes())
    with working(path, models) as client:
        yield client


def test_the_document_says_what_a_page_needs(reader: httpx.Client) -> None:
    answer = reader.get("/annotate/document").json()
    assert answer["name"] == "ewt.conllu"
    assert (answer["seq"], answer["n_sentences"]) == (0, 100)
    assert (answer["model"], answer["language"], answer["direction"]) == ("en", "en", "ltr")
    assert not answer["can_undo"]
    assert not answer["can_redo"]
    assert answer["saved"]
    assert not answer["conflict"]
    assert answer["keep"]  # gold trees are not what the model would say
    columns = answer["columns"]
    assert "nsubj" in columns["labels"]
    assert "VERB" in columns["upos"]
    assert "NNS" in columns["xpos"]
    assert "Plur" in columns["feats"]["Number"]
    assert "_" not in columns["upos"]
    assert answer["label_help"]["nsubj"].lower().startswith("nominal subject")


def test_every_common_label_is_explained(reader: httpx.Client) -> None:
    answer = reader.get("/annotate/document").json()
    assert set(answer["columns"]["labels"][:45]) <= answer["label_help"].keys()


def test_the_overview_has_a_row_for_each_sentence(
    reader: httpx.Client, sentences: list[Sentence]
) -> None:
    answer = reader.get("/annotate/overview").json()
    assert answer["n_sentences"] == len(answer["sentences"]) == 100
    for row, sentence in zip(answer["sentences"], sentences, strict=True):
        assert row["text"] == sentence.text[:120]
        assert row["n_words"] == len(sentence)
        assert row["status"] == "new"
    wait_until(lambda: reader.get("/annotate/overview").json()["pending"] == 0, 60)
    done = reader.get("/annotate/overview").json()
    assert all(0 < row["certainty"] <= 1 for row in done["sentences"])
    later = reader.get(f"/annotate/overview?since={answer['version']}").json()
    assert "sentences" not in later
    for index, row in later["changed"]:
        assert row == done["sentences"][index]
    nothing = reader.get(f"/annotate/overview?since={done['version']}").json()
    assert nothing["changed"] == []
    part = reader.get("/annotate/overview?start=98&count=5").json()
    assert part["sentences"] == done["sentences"][98:]


def test_sentences_are_as_they_stand(reader: httpx.Client, sentences: list[Sentence]) -> None:
    answer = reader.get("/annotate/sentences?start=2&count=3").json()
    assert answer["sentences"] == [sentence.conllu for sentence in sentences[2:5]]
    assert reader.get("/annotate/sentences?start=100&count=3").json()["sentences"] == []
    assert reader.get("/annotate/sentences?count=201").status_code == 413


@pytest.mark.parametrize("query", ["start=-1", "start=x", "count=1e3", "start=" + 20 * "9"])
def test_numbers_are_checked(reader: httpx.Client, query: str) -> None:
    answer = reader.get(f"/annotate/sentences?{query}")
    assert answer.status_code == 400
    assert "not a number" in answer.json()["error"]["message"]


def test_decode_answers_with_the_number_of_the_request(reader: httpx.Client) -> None:
    body = {"request": 17, "conllu": BLOCK, "k": 2}
    answer = reader.post("/annotate/decode", json=body).json()
    assert answer["request"] == 17
    assert "2\tlove\t_\tVERB\tVBP\t_\t0\troot" in answer["conllu"]
    assert len(answer["words"]) == 3
    assert answer["words"][0]["heads"][0][0] == 2
    assert answer["trees"][0]["heads"] == [2, 0, 2]
    assert 0 < answer["probability"] <= 1
    assert answer["changed"] == []


def test_a_contradiction_has_a_reason_and_a_remedy(reader: httpx.Client) -> None:
    sentence = sentence_from_words([("Kids",), ("love",), ("candy",)], ["form"])
    body = {"request": 1, "conllu": fix(sentence, {1: 2, 2: 1}).conllu, "word": 1}
    answer = reader.post("/annotate/decode", json=body)
    assert answer.status_code == 422
    conflict = {"message": "1 would head itself through 2", "unfix": [2]}
    assert answer.json()["conflict"] == conflict
    assert answer.json()["error"]["message"] == conflict["message"]


@pytest.mark.parametrize(
    ("conllu", "status", "what"),
    [
        ("1\tKids\n\n", 400, "line 1: 2 columns"),
        ("", 400, "there is no sentence"),
        (BLOCK * 2, 400, "2 sentences, not one"),
        (make_block(*["word"] * 2_001), 413, "2,000 words"),
        ("# " + "x" * 2**20 + "\n" + BLOCK, 413, "bytes"),
        (BLOCK.replace("candy\t_\t_\t_\t_\t_", "candy\t_\t_\t_\t_\t9"), 400, "line 3: HEAD is 9"),
    ],
)
def test_a_bad_sentence_is_refused(
    reader: httpx.Client, conllu: str, status: int, what: str
) -> None:
    for path, body in [
        ("decode", {"request": 1, "conllu": conllu}),
        ("edit", {"seq": 0, "at": 0, "remove": 1, "insert": [conllu]}),
    ]:
        answer = reader.post(f"/annotate/{path}", json=body)
        assert answer.status_code == status
        assert what in answer.json()["error"]["message"]
    assert reader.get("/annotate/document").json()["seq"] == 0


def test_edits_undo_and_redo(client: httpx.Client, sentences: list[Sentence]) -> None:
    def post(path: str, **body: object) -> httpx.Response:
        return client.post(f"/annotate/{path}", json=body)

    def first() -> str:
        answer = client.get("/annotate/sentences?start=0&count=1").json()
        return str(answer["sentences"][0])

    assert post("edit", seq=0, at=0, remove=1, insert=[BLOCK], tag="x").json() == {"seq": 1}
    assert first() == BLOCK
    stale = post("edit", seq=0, at=0, remove=1, insert=[BLOCK])
    assert (stale.status_code, stale.json()["seq"]) == (409, 1)
    undone = post("undo", seq=1).json()
    original = sentences[0].conllu
    assert undone == {"seq": 2, "at": 0, "remove": 1, "insert": [original]}
    assert first() == original
    assert post("undo", seq=2).status_code == 409
    assert post("redo", seq=2).json() == {"seq": 3, "at": 0, "remove": 1, "insert": [BLOCK]}
    # Splitting a sentence is a splice too, and moves the rows.
    version = client.get("/annotate/overview").json()["version"]
    assert post("edit", seq=3, at=0, remove=1, insert=[BLOCK, BLOCK]).json() == {"seq": 4}
    overview = client.get(f"/annotate/overview?since={version}").json()
    assert len(overview["sentences"]) == 101
    assert client.get("/annotate/document").json()["can_undo"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"at": 100, "remove": 1, "insert": []}, "only 100 sentences"),
        ({"at": 101, "remove": 0, "insert": []}, "only 100 sentences"),
        ({"at": 0, "remove": 1, "insert": [BLOCK.rstrip("\n") + "\n"]}, "end with a blank line"),
        ({"at": 0, "remove": 0, "insert": ["\n"]}, "end with a blank line"),
        ({"at": -1, "remove": 0, "insert": []}, "not a valid request"),
        ({"at": 0, "remove": 0, "insert": [], "file": "/etc/passwd"}, "not a valid request"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(
    reader: httpx.Client, body: dict[str, object], what: str
) -> None:
    answer = reader.post("/annotate/edit", json={"seq": 0, **body})
    assert answer.status_code == 400
    assert what in answer.json()["error"]["message"]


def test_too_many_sentences_are_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.annotate.routes.MAX_SENTENCES", 100)
    body = {"seq": 0, "at": 0, "remove": 0, "insert": [BLOCK]}
    assert client.post("/annotate/edit", json=body).status_code == 413


def test_a_full_disk_is_reported(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    body = {"seq": 0, "at": 0, "remove": 1, "insert": [BLOCK]}
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        answer = client.post("/annotate/edit", json=body)
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]["message"]
    assert client.post("/annotate/edit", json=body).json() == {"seq": 1}


def test_a_file_that_others_changed_is_asked_about(client: httpx.Client, treebank: Path) -> None:
    client.post("/annotate/edit", json={"seq": 0, "at": 0, "remove": 1, "insert": [BLOCK]})
    theirs = make_block("Theirs")
    treebank.write_text(theirs)
    described = client.get("/annotate/document").json()
    assert described["conflict"]
    assert described["differing"][0] == 1
    answer = client.post("/annotate/resolve", json={"keep": "theirs"}).json()
    assert answer == {"seq": 2, "copy": "ewt.conllu.headwise-mine-1"}
    assert client.get("/annotate/sentences").json() == {"seq": 2, "sentences": [theirs]}
    document = client.get("/annotate/document").json()
    assert not document["conflict"]
    assert document["differing"] is None
    assert document["saved"]
    assert client.post("/annotate/resolve", json={"keep": "mine"}).json()["copy"] is None
    assert client.post("/annotate/resolve", json={"keep": "both"}).status_code == 400


GETS = ["document", "overview", "sentences", "search", "compare", "compare/sentence", "export"]
POSTS = ["decode", "edit", "undo", "redo", "resolve", "teach", "teach/switch"]


@pytest.mark.parametrize("name", [*GETS, *POSTS])
def test_the_checks_of_the_server_hold(reader: httpx.Client, name: str) -> None:
    path = f"/annotate/{name}"
    method = "GET" if name in GETS else "POST"

    def status(**headers: str) -> int:
        url = reader.base_url.join(path)
        with httpx.Client(trust_env=False) as other:
            content = None if method == "GET" else b"{}"
            return other.request(method, url, headers=headers, content=content).status_code

    right = f"Bearer {TOKEN}"
    assert status() == 401
    assert status(authorization="Bearer wrong") == 401
    assert status(authorization=right, host="evil.example") == 421
    assert status(authorization=right, origin="http://evil.example") == 403
    assert status(**{"authorization": right, "sec-fetch-site": "cross-site"}) == 403
    assert method == "GET" or status(authorization=right) == 415


def test_a_body_that_is_too_large_is_refused(reader: httpx.Client) -> None:
    body = {"seq": 0, "at": 0, "remove": 0, "insert": [BLOCK * 60_000]}
    assert reader.post("/annotate/edit", json=body).status_code == 413


def test_the_page_needs_no_token(reader: httpx.Client) -> None:
    url = reader.base_url.join("/annotate")
    answer = httpx.get(url, trust_env=False)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/annotate/../../etc/passwd",
        "/annotate/%2e%2e/ewt.conllu",
        "/static/annotate/../routes.py",
        "/static/annotate/%2e%2e%2froutes.py",
        "/annotate/ewt.conllu",
        "/annotate/ewt.conllu.headwise-journal",
    ],
)
def test_no_file_can_be_reached_by_its_name(reader: httpx.Client, path: str) -> None:
    request = reader.build_request("GET", "/")
    request.url = reader.base_url.copy_with(raw_path=path.encode())
    assert reader.send(request).status_code == 404


def test_trees_of_the_parser_are_its_guesses(tmp_path: Path, models: Models) -> None:
    parser = models.parsers["en"]
    text = "Kids love candy. The old man saw a dog with a telescope."
    path = tmp_path / "parsed.conllu"
    path.write_text("".join(s.conllu for s, _ in parser.annotate_text(text)))
    with working(path, models) as client:
        assert not client.get("/annotate/document").json()["keep"]
    path.write_text(BLOCK)
    with working(path, models) as client:
        assert not client.get("/annotate/document").json()["keep"]
    with working(path, models, keep=True) as client:
        assert client.get("/annotate/document").json()["keep"]


def test_text_from_right_to_left_is_told(tmp_path: Path, models: Models) -> None:
    path = tmp_path / "hebrew.conllu"
    path.write_text(make_block("ילדים", "אוהבים", "Bonbons", "."), encoding="utf-8")
    with working(path, models) as client:
        assert client.get("/annotate/document").json()["direction"] == "rtl"


def test_broken_sentences_of_the_file_are_shown_and_can_be_mended(
    tmp_path: Path, models: Models
) -> None:
    path = tmp_path / "odd.conllu"
    odd = "\n# only a comment\n\n1\tKids\n\n"
    path.write_text(odd + BLOCK)
    with working(path, models) as client:
        wait_until(lambda: client.get("/annotate/overview").json()["pending"] == 0)
        rows = client.get("/annotate/overview").json()["sentences"]
        assert [row["n_words"] for row in rows] == [0, 0, 1, 3]
        assert [row["certainty"] is None for row in rows] == [True, True, False, False]
        assert [row["n_checks"] for row in rows] == [0, 0, 1, 0]
        body = {"seq": 0, "at": 2, "remove": 1, "insert": [BLOCK]}
        assert client.post("/annotate/edit", json=body).json() == {"seq": 1}
    assert path.read_text() == "\n# only a comment\n\n" + BLOCK * 2


def test_words_are_searched_for(reader: httpx.Client, sentences: list[Sentence]) -> None:
    answer = reader.get(
        "/annotate/search", params={"q": "deprel:root upos:VERB", "limit": 3}
    ).json()
    assert len(answer["hits"]) == 3
    assert answer["more"]
    for hit in answer["hits"]:
        word = sentences[hit["sentence"]].words[hit["words"][0] - 1]
        assert (word.deprel, word.upos) == ("root", "VERB")
    nothing = reader.get("/annotate/search", params={"q": "zzzzz"}).json()
    assert nothing == {"hits": [], "more": False}
    assert reader.get("/annotate/search").status_code == 400
    assert reader.get("/annotate/search?q=colour:red").status_code == 400


def test_checks_come_with_a_decode(reader: httpx.Client) -> None:
    block = make_block("Kids", "love", "candy", comments=("# sent_id = 1", "# text = Kids love"))
    answer = reader.post("/annotate/decode", json={"request": 1, "conllu": block}).json()
    assert any(check["level"] == 2 for check in answer["checks"])
    assert answer["checks"][0].keys() >= {"level", "word", "column", "message"}


def test_two_files_are_compared(treebank: Path, tmp_path: Path, models: Models) -> None:
    other = tmp_path / "other.conllu"
    other.write_bytes(treebank.read_bytes())
    parser = models.parsers["en"]
    bench = Workbench(AnnotatedFile(treebank), parser, "en", keep=True, compare=OtherFile(other))
    config = ServeConfig(token=TOKEN)
    with serving_app(make_workbench_app(config, models, bench), config) as client:
        client.headers["authorization"] = f"Bearer {TOKEN}"
        assert client.get("/annotate/document").json()["compare"] == "other.conllu"
        answer = client.get("/annotate/compare").json()
        assert (answer["summary"]["las"], answer["sentences"]) == (100.0, [])
        block = client.get("/annotate/sentences?start=5").json()["sentences"][0]
        changed = block.replace("\tpunct\t", "\tdep\t")
        body = {"seq": 0, "at": 5, "remove": 1, "insert": [changed]}
        assert client.post("/annotate/edit", json=body).status_code == 200
        answer = client.get("/annotate/compare").json()
        assert answer["summary"]["las"] < 100
        assert answer["confusions"][0][:2] == ["dep", "punct"]
        assert [one["sentence"] for one in answer["sentences"]] == [5]
        pair = client.get("/annotate/compare/sentence?index=5").json()
        assert pair == {"mine": changed, "theirs": block}
        assert client.get("/annotate/compare/sentence?index=100").status_code == 404


def test_without_another_file_there_is_nothing_to_compare(reader: httpx.Client) -> None:
    for path in ("compare", "compare/sentence?index=0"):
        answer = reader.get(f"/annotate/{path}")
        assert answer.status_code == 404
        assert answer.json()["error"]["hint"] == "start it with --compare OTHER"


def test_the_file_is_exported_with_or_without_marks(client: httpx.Client, treebank: Path) -> None:
    original = treebank.read_text()
    first = client.get("/annotate/sentences").json()["sentences"][0]
    marked = "# status = done\n" + first
    client.post("/annotate/edit", json={"seq": 0, "at": 0, "remove": 1, "insert": [marked]})
    whole = client.get("/annotate/export")
    assert whole.text == marked + original.removeprefix(first)
    assert whole.headers["content-disposition"].endswith("ewt.conllu")
    assert client.get("/annotate/export?clean=1").text == original


def test_an_export_of_many_sentences_is_whole(tmp_path: Path, models: Models) -> None:
    path = tmp_path / "many ü.conllu"
    text = BLOCK * 600 + BLOCK.rstrip("\n")
    path.write_text(text)
    with working(path, models, keep=False) as client:
        answer = client.get("/annotate/export")
        assert answer.text == text
        assert "many%20%C3%BC.conllu" in answer.headers["content-disposition"]


def test_teaching_needs_finished_sentences(reader: httpx.Client) -> None:
    assert reader.get("/annotate/teach").json()["state"] == "idle"
    answer = reader.post("/annotate/teach", json={})
    assert answer.status_code == 400
    assert "only 0 sentences are finished" in answer.json()["error"]["message"]
    answer = reader.post("/annotate/teach/switch", json={})
    assert "no new model" in answer.json()["error"]["message"]
    assert reader.post("/annotate/teach", json={"epochs": 0}).status_code == 400
