"""Corpora of a few sentences, and the model inside to parse them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headwise import read_sentences
from headwise.corpus.annotate import load_for
from headwise.corpus.plan import Job, fingerprint
from headwise.model.bundle import Bundle, find_model, load_bundle
from headwise.runtime.parser import Parser

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return load_bundle(find_model("en"))


@pytest.fixture(scope="session")
def job_for(bundle: Bundle) -> Callable[..., Job]:
    """Make a job of the model inside; keywords change it."""

    def make(**changes: object) -> Job:
        settings = {"model": "en", "decode": bundle.manifest.decode, "unit_bytes": 2_000} | changes
        return Job(model_sha256=fingerprint(bundle), **settings)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def job(job_for: Callable[..., Job]) -> Job:
    return job_for()


@pytest.fixture(scope="session")
def parser(job: Job) -> Parser:
    return load_for(job)


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Give the sentences of a treebank."""
    return [sentence.text for sentence in read_sentences(SAMPLE)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    """Make a folder of all forms, a document in it that is none; 10 units of 2,000 bytes."""
    folder = tmp_path_factory.mktemp("inputs")
    paragraphs = [" ".join(texts[i : i + 4]) for i in range(0, 60, 4)]
    (folder / "a.txt").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    lines = [json.dumps({"text": text, "url": f"u{i}"}) for i, text in enumerate(texts[60:90])]
    lines.insert(3, '{"text": ')
    (folder / "b.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    blocks = SAMPLE.read_bytes().split(b"\n\n")[:12]
    (folder / "c.conllu").write_bytes(b"\n\n".join(blocks) + b"\n\n")
    return folder


POISON = "Arsenic and old lace."
"""A text that kills whoever segments it, where `deadly` is on the path of Python."""
_DEADLY = f"""
import os, signal, sys
from importlib.machinery import PathFinder

class Finder:
    def find_spec(self, name, path, target=None):
        if name != "headwise.text.segmenter":
            return None
        spec = PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            segment = module.Segmenter.segment

            def deadly(self, chunks):
                if isinstance(chunks, str) and {POISON!r} in chunks:
                    os.kill(os.getpid(), signal.SIGKILL)
                return segment(self, chunks)

            module.Segmenter.segment = deadly

        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="session")
def deadly(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a folder for PYTHONPATH with which a certain text is as bad as a crash in a library."""
    folder = tmp_path_factory.mktemp("deadly")
    (folder / "sitecustomize.py").write_text(_DEADLY)
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
