"""What is fuzzed in one process: readers, the segmenter, the model loader, bodies of requests.

A target makes inputs, which are bytes so that they can be kept in a file, and checks one. A check
fails with an exception: a crash, or an `AssertionError` that names the promise that was broken.
"""

import base64
import gzip
import hashlib
import io
import json
import lzma
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import headwise
from fuzz.mutate import change_bytes, change_json, change_list, change_string, nested
from headwise.errors import DataError, HeadwiseError
from headwise.runtime.parser import Parser
from headwise.serve.requests import Refusal, read_json, read_multipart, read_query
from headwise.serve.schema import ParseRequest
from headwise.treebank.conllu import Malformed, read_conllu
from headwise.treebank.records import to_json
from headwise.treebank.sentence import Sentence
from headwise.trees.tree import is_tree
from headwise.vocabulary.encode import heads_array
from tests.text.referee import HARD_TEXTS, check_segmentation

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
CACHE = ROOT / ".cache" / "fuzz"


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to fuzz."""

    name: str
    make: Callable[[random.Random], bytes]
    check: Callable[[bytes], None]


@cache
def blocks() -> list[list[str]]:
    """Split real treebanks into sentences, each a list of lines."""
    paths = sorted(FIXTURES.glob("*.conllu"))
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    return [block.split("\n") for block in text.replace("\r\n", "\n").split("\n\n") if block]


def make_conll(rng: random.Random) -> bytes:
    """Change columns, lines and bytes of some sentences, and sometimes pack them."""
    sentences = [list(rng.choice(blocks())) for _ in range(rng.choice((1, 1, 2, 3)))]

    def change_line(line: str) -> str:
        if line.startswith("#"):
            return change_string(rng, line)
        return "\t".join(change_list(rng, line.split("\t"), lambda cell: change_string(rng, cell)))

    at = rng.randrange(len(sentences))
    sentences[at] = change_list(rng, sentences[at], change_line)
    end = rng.choice(("\n", "\n", "\n", "\r\n"))
    text = (end * 2).join(end.join(lines) for lines in sentences) + end * rng.choice((0, 1, 2, 5))
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.2:
        data = change_bytes(rng, data)
    if rng.random() < 0.2:
        pack = rng.choice((gzip.compress, lzma.compress))
        data = pack(data) + rng.choice((b"", b"", b"\0" * 8, pack(data), b"x"))
        data = change_bytes(rng, data) if rng.random() < 0.5 else data
    return data


def check_conll(data: bytes) -> None:
    """No byte is lost, and every value of a sentence can be read."""
    for form in ("conllu", "conllx"):
        with suppress(DataError):
            items = list(read_conllu(io.BytesIO(data), form, on_error="skip"))
            assert b"".join(item.data for item in items) == unpack(data), "bytes were lost"
            for item in items:
                if isinstance(item, Malformed):
                    continue
                to_json(item)
                assert len(item.tokens) <= len(item.words), "more tokens than words"
                assert item.with_words(item.words) == item, "writing changes a sentence"


def unpack(data: bytes) -> bytes:
    """Unpack by the standard library; our reader may be stricter, never more lenient."""
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.decompress(data.rstrip(b"\0") + b"\0" * (-len(data.rstrip(b"\0")) % 4))
    return data


def make_text(rng: random.Random) -> bytes:
    """Mix real sentences, hard texts of many scripts, and odd characters."""
    words = " ".join(line.split("\t")[1] for line in rng.choice(blocks()) if line[:1].isdigit())
    parts = [words, rng.choice(list(HARD_TEXTS.values()))[:400]]
    rng.shuffle(parts)
    parts = change_list(rng, parts, lambda part: change_string(rng, part)[:3_000])
    text = rng.choice((" ", "\n", "\n\n", "")).join(parts)
    return text.encode("utf-8", "surrogatepass")


@cache
def parser() -> Parser:
    """Load the model inside the package."""
    return headwise.load()


def check_text(data: bytes) -> None:
    """Every visible character is in one token, and every sentence gets a tree."""
    text = data.decode("utf-8", "surrogatepass")
    found = list(parser().annotate_text(text))
    check_segmentation(text, [sentence for sentence, _ in found])
    for sentence, _ in found:
        assert is_tree(heads_array(sentence)), "not a tree"


@cache
def tiny_model() -> Path:
    """Train a tiny model once, and keep it for later runs."""
    run = CACHE / f"run-{hashlib.sha256((ROOT / 'fuzz/tiny.toml').read_bytes()).hexdigest()[:8]}"
    sample = str(FIXTURES / "ewt-dev-100.conllu")
    if not (run / "model" / "model.json").exists():
        command = [sys.executable, "-m", "headwise", "train", str(ROOT / "fuzz/tiny.toml")]
        command += ["--train", sample, "--dev", sample, "--device", "cpu", "--out", str(run)]
        subprocess.run(command, check=True, capture_output=True)
    return run / "model"


def make_model(rng: random.Random) -> bytes:
    """Change one file of a model folder, with checksums that fit, or how it lies on the disk."""
    folder = tiny_model()
    names = sorted(path.name for path in folder.iterdir())
    name = rng.choice([*names, "model.json", "vocab.json", "lexicon.json.xz", "segment.json"])
    data = (folder / name).read_bytes()
    action = rng.random()
    if action < 0.1:
        return json.dumps(
            {"name": name, "link": rng.choice(("/dev/zero", "/etc/passwd", "."))}
        ).encode()
    if action < 0.15:
        changed = nested(rng)
    elif name.endswith((".json", ".json.xz")) and action < 0.9:
        is_packed = name.endswith(".xz")
        held = json.loads(lzma.decompress(data) if is_packed else data)
        text = json.dumps(change_json(rng, held), ensure_ascii=rng.random() < 0.5)
        changed = text.encode("utf-8", "surrogatepass")
        changed = lzma.compress(changed) if is_packed else changed
    else:
        changed = change_bytes(rng, data)
    packed = base64.b64encode(zlib.compress(changed)).decode()
    return json.dumps({"name": name, "data": packed, "signed": rng.random() < 0.9}).encode()


def check_model(data: bytes) -> None:
    """A changed folder is refused by a `HeadwiseError`, or it parses to trees."""
    edit = json.loads(data)
    with TemporaryDirectory(prefix="headwise-fuzz-") as place:
        folder = Path(place) / "model"
        shutil.copytree(tiny_model(), folder)
        path = folder / edit["name"]
        path.unlink()
        if "link" in edit:
            path.symlink_to(edit["link"])
        else:
            path.write_bytes(zlib.decompress(base64.b64decode(edit["data"])))
            if edit["signed"] and edit["name"] != "model.json":
                sign(folder, path)
        with suppress(HeadwiseError):
            loaded = headwise.load(folder)
            for sentence, _ in loaded.annotate_text("Kids love candy. So do I!"):
                assert is_tree(heads_array(sentence)), "not a tree"
                again = list(read_conllu(io.BytesIO(sentence.conllu.encode())))
                assert again and isinstance(again[0], Sentence), "the output is not CoNLL-U"


def sign(folder: Path, path: Path) -> None:
    """Write the size and checksum of a changed file into the manifest, as an attacker would."""
    manifest = json.loads((folder / "model.json").read_text())
    content = path.read_bytes()
    manifest["files"][path.name] = {
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / "model.json").write_text(json.dumps(manifest))


REQUESTS: tuple[dict[str, object], ...] = (
    {"text": "Kids love candy.", "format": "json", "distribution": True},
    {"tokens": [["Kids", "love", "candy"], ["So", "do", "I"]], "format": "conllu"},
    {"conllu": "1\tKids\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "decoder": "eisner", "keep_tags": True},
    {
        "conllu": "1\tKids\t_\t_\t_\t_\t2\t_\t_\tA=1\n2\tsing\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
        "keep": ["heads", "labels", "feats"],
        "probabilities": True,
        "format": "conllu",
    },
    {"text": "Kids love candy.", "model": "en", "pictures": True},
)


def make_body(rng: random.Random) -> bytes:
    """Make a kind of body, a line feed, and the body: JSON, a form, or a multipart form."""
    kind = rng.choice((b"json", b"query", b"multipart"))
    if kind == b"json":
        body = json.dumps(change_json(rng, rng.choice(REQUESTS))).encode()
        body = nested(rng) if rng.random() < 0.05 else body
    elif kind == b"query":
        fields = [
            "data=Kids love candy.",
            "model=en",
            "tokenizer",
            "tagger=",
            "parser",
            "input=horizontal",
        ]
        joined = "&".join(change_list(rng, fields, lambda field: change_string(rng, field)))
        body = joined.replace(" ", "+").encode("utf-8", "surrogatepass")
    else:
        body = make_multipart(rng)
    if rng.random() < 0.3:
        body = change_bytes(rng, body)
    return kind + b"\n" + body


def make_multipart(rng: random.Random) -> bytes:
    """Make a multipart form with odd headers, boundaries and parts."""
    disposition = 'Content-Disposition: form-data; name="data"'
    extras = (
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: base64",
        "Content-Disposition: form-data; name=\"a\"; filename*=utf-8''%e2%82%ac",
        'X: "' + ";" * rng.choice((1, 100, 3_000)),
    )
    parts = []
    for name in ("data", "model", "parser"):
        headers = [disposition.replace("data", name, 1), *rng.sample(extras, rng.randrange(2))]
        headers = change_list(rng, headers, lambda header: change_string(rng, header))
        parts.append("--x\r\n" + "\r\n".join(headers) + "\r\n\r\nKids love candy.\r\n")
    parts = change_list(rng, parts, lambda part: change_string(rng, part))
    return ("".join(parts) + rng.choice(("--x--\r\n", "--x--", ""))).encode(
        "utf-8", "surrogatepass"
    )


def check_body(data: bytes) -> None:
    """A body is read, or refused with a status that blames the client."""
    kind, _, body = data.partition(b"\n")
    try:
        if kind == b"json":
            read_json(body, ParseRequest)
        elif kind == b"query":
            read_query(body)
        else:
            read_multipart(body, "multipart/form-data; boundary=x")
    except Refusal as refusal:
        assert 400 <= refusal.status < 500, f"status {refusal.status}"


TARGETS = (
    Target("conll", make_conll, check_conll),
    Target("text", make_text, check_text),
    Target("model", make_model, check_model),
    Target("body", make_body, check_body),
)
