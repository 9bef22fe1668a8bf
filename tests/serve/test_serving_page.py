"""The commands and answers in `docs/serve.md` are real ones."""

import json
import re
import subprocess
from pathlib import Path

import httpx

PAGE = (Path(__file__).parent.parent.parent / "docs" / "serve.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```sh\n(.*?)```(?:\n\n```json\n(.*?)```)?", re.DOTALL)


def test_examples_answer_as_shown(client: httpx.Client) -> None:
    n_shown = 0
    for command, shown in BLOCK.findall(PAGE):
        here = command.replace("http://127.0.0.1:8080", str(client.base_url).rstrip("/"))
        done = subprocess.run(["bash", "-ec", here], capture_output=True, check=True, text=True)
        assert done.stdout
        assert '"error"' not in done.stdout
        if shown:
            n_shown += 1
            assert json.loads(done.stdout) == json.loads(shown)
    assert n_shown == 2


def test_every_route_and_counter_is_on_the_page(client: httpx.Client) -> None:
    for path in client.get("/openapi.json").json()["paths"]:
        assert f"`{path}`" in PAGE
    for name in re.findall(r"# TYPE (headwise_\w+)", client.get("/metrics").text):
        assert name in PAGE or name == "headwise_info"
