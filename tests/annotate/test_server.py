"""The workbench as a process: what it answered is there after a kill, and text becomes a file."""

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from headwise import ConfigError, DataError
from headwise.annotate.server import text_to_conllu
from headwise.runtime.parser import Parser
from headwise.treebank.conllu import read_sentences
from tests.annotate.made_blocks import make_block
from tests.serve.made_servers import wait_until

BLOCK = make_block("Kids", "love", "candy")


@contextmanager
def running(
    *arguments: str, browser: str = ""
) -> Iterator[tuple[httpx.Client, "subprocess.Popen[str]"]]:
    """Run `headwise annotate`, perhaps with a browser; give a client with its token."""
    command = [sys.executable, "-m", "headwise", "annotate", *arguments]
    environment = os.environ | {"BROWSER": browser, "DISPLAY": ":0"}
    with subprocess.Popen(
        command if browser else [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        address = re.fullmatch(
            r"(http://127\.0\.0\.1:[0-9]+)/annotate#token=(\S{32})\n", process.stdout.readline()
        )
        assert address is not None
        headers = {"authorization": f"Bearer {address[2]}"}
        try:
            with httpx.Client(base_url=address[1], headers=headers, trust_env=False) as client:
                yield client, process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    path = tmp_path / "file.conllu"
    path.write_text(BLOCK)
    with running(str(path)) as (client, process):
        for seq in range(20):
            form = make_block(f"edit{seq}")
            body = {"seq": seq, "at": seq, "remove": 0, "insert": [form]}
            assert client.post("/annotate/edit", json=body).json() == {"seq": seq + 1}
        process.send_signal(signal.SIGKILL)
    with running(str(path)) as (client, process):
        answer = client.get("/annotate/sentences?count=100").json()
        assert answer["seq"] == 20
        assert answer["sentences"] == [*(make_block(f"edit{n}") for n in range(20)), BLOCK]
        assert client.post("/annotate/undo", json={"seq": 20}).json()["at"] == 19
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert "open this address in a browser" in errors
    assert path.read_text() == "".join(make_block(f"edit{n}") for n in range(19)) + BLOCK


@pytest.mark.slow
def test_an_unsaved_file_is_reported_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file.conllu"
    path.write_text(BLOCK)
    with running(str(path), "--quiet") as (client, process):
        client.post(
            "/annotate/edit", json={"seq": 0, "at": 0, "remove": 1, "insert": [make_block("mine")]}
        )
        path.write_text(make_block("theirs"))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "was not saved: it was changed by another program; all edits are in its jou" in errors
    assert path.read_text() == make_block("theirs")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_token_is_not_in_the_command_line_of_the_browser(
    tmp_path: Path, how: signal.Signals
) -> None:
    path, log = tmp_path / "a file.conllu", tmp_path / "opened"
    path.write_text(BLOCK)
    page = tmp_path / "a file.conllu.headwise-open.html"
    page.symlink_to(tmp_path / "elsewhere")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {log}.part && mv {log}.part {log}\n')
    browser.chmod(0o700)
    with running(str(path), browser=f"{browser} %s") as (client, process):
        assert client.get("/annotate/document").json()["name"] == path.name
        wait_until(log.exists, 30)
        assert log.read_text() == page.as_uri() + "\n"
        assert page.lstat().st_mode == stat.S_IFREG | 0o600
        token = client.headers["authorization"].removeprefix("Bearer ")
        address = f"{str(client.base_url).rstrip('/')}/annotate#token={token}"
        assert page.read_text().count(f'{address}"') == 2
        process.send_signal(how)
        process.communicate(timeout=30)
    assert not os.path.lexists(page)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
def test_text_is_annotated_beside_itself(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Kids love candy. Dogs bark.")
    for _ in range(2):
        with running(str(path)) as (client, process):
            document = client.get("/annotate/document").json()
            assert (document["name"], document["n_sentences"]) == ("story.conllu", 2)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)


def test_a_text_becomes_a_file_once(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Kids love candy. Dogs bark.")
    made = text_to_conllu(path, parser)
    assert [len(sentence) for sentence in read_sentences(made)] == [4, 3]
    with pytest.raises(ConfigError, match=r"story\.conllu already exists"):
        text_to_conllu(path, parser)
    made.with_name("story.conllu.headwise-journal").touch()
    assert text_to_conllu(path, parser) == made


def test_a_text_is_not_written_through_a_link(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Kids love candy.")
    path.with_suffix(".conllu").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "story.conllu.headwise-journal").touch()
    with pytest.raises(ConfigError, match=r"story\.conllu already exists"):
        text_to_conllu(path, parser)
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "elsewhere").touch()
    with pytest.raises(ConfigError, match=r"story\.conllu already exists"):
        text_to_conllu(path, parser)


def test_who_may_not_read_a_text_may_not_read_its_trees(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Kids love candy.")
    path.chmod(0o600)
    assert text_to_conllu(path, parser).stat().st_mode & 0o777 == 0o600


def test_a_text_without_sentences_leaves_nothing(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "story.txt"
    path.write_text("  \n")
    with pytest.raises(DataError, match="there are no sentences"):
        text_to_conllu(path, parser)
    assert list(tmp_path.iterdir()) == [path]
