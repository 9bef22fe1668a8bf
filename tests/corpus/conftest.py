"""Small corpora, the built-in model to parse them, and texts that crash a worker."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headwise import read_sentences
from headwise.corpus.engine import Engine, open_ray
from headwise.corpus.parsing import load_job_parser
from headwise.corpus.plan import CorpusJob, CorpusPlan, model_fingerprint
from headwise.corpus.run import plan_corpus, run_plan
from headwise.model.bundle import Bundle, load_bundle
from headwise.model.find import find_model
from headwise.runtime.parser import Parser

JobFor = Callable[..., CorpusJob]
SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return load_bundle(find_model("en"))


@pytest.fixture(scope="session")
def job_for(bundle: Bundle) -> JobFor:
    """Make a job of the built-in model; keywords change it."""

    def make(**changes: object) -> CorpusJob:
        settings = {"model": "en", "decode": bundle.manifest.decode, "unit_bytes": 2_000} | changes
        return CorpusJob(model_sha256=model_fingerprint(bundle), **settings)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def job(job_for: JobFor) -> CorpusJob:
    return job_for()


@pytest.fixture(scope="session")
def parser(job: CorpusJob) -> Parser:
    return load_job_parser(job)


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Give the texts of the sentences of a treebank."""
    return [sentence.text for sentence in read_sentences(SAMPLE)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    """Make a folder of text, JSONL (one line is bad) and CoNLL-U: 10 units of 2,000 bytes."""
    folder = tmp_path_factory.mktemp("inputs")
    paragraphs = [" ".join(texts[i : i + 4]) for i in range(0, 60, 4)]
    (folder / "a.txt").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    lines = [json.dumps({"text": text, "url": f"u{i}"}) for i, text in enumerate(texts[60:90])]
    lines.insert(3, '{"text": ')
    (folder / "b.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    blocks = SAMPLE.read_bytes().split(b"\n\n")[:12]
    (folder / "c.conllu").write_bytes(b"\n\n".join(blocks) + b"\n\n")
    return folder


@pytest.fixture(scope="session")
def plan(corpus: Path, job: CorpusJob) -> CorpusPlan:
    return plan_corpus([str(corpus)], None, job)


@pytest.fixture(scope="session")
def expected(plan: CorpusPlan, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Parse in a single process."""
    output = tmp_path_factory.mktemp("single") / "out"
    list(run_plan(plan, output, Engine(workers=0)))
    return read_tree(output)


POISON = "Arsenic and old lace."
"""A text that kills the process that segments it, with `sabotage` on the path of Python."""
FAULT = "The device fails here."
"""A text that raises an exception as often as the file `faults` in `sabotage` says."""
_SABOTAGE = f"""
import os, signal, sys
from importlib.machinery import PathFinder
from pathlib import Path

class Finder:
    def find_spec(self, name, path, target=None):
        if name != "headwise.text.segmenter":
            return None
        spec = PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            segment = module.Segmenter.segment

            def sabotaged(self, chunks):
                if isinstance(chunks, str) and {POISON!r} in chunks:
                    os.kill(os.getpid(), signal.SIGKILL)
                faults = Path(__file__).with_name("faults")
                n_left = int(faults.read_text())
                if isinstance(chunks, str) and {FAULT!r} in chunks and n_left:
                    faults.write_text(str(n_left - 1))
                    raise RuntimeError("CUDA error")
                return segment(self, chunks)

            module.Segmenter.segment = sabotaged

        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="session")
def sabotage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for PYTHONPATH with which some texts crash, as in a faulty library."""
    folder = tmp_path_factory.mktemp("sabotage")
    (folder / "sitecustomize.py").write_text(_SABOTAGE)
    (folder / "faults").write_text("0")
    return folder


def python_path(folder: Path) -> str:
    """Put a folder before the others on PYTHONPATH."""
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="session")
def ray(sabotage: Path) -> Iterator[None]:
    """Start one Ray with sabotaged workers for the whole session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(sabotage))
        with open_ray(Engine(workers=3), 3):
            yield


@pytest.fixture(scope="session")
def model_without_segmenter(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "words"
    shutil.copytree(bundle.path, folder, ignore=shutil.ignore_patterns("segment.*"))
    description = json.loads((folder / "model.json").read_bytes())
    for name in [name for name in description["files"] if name.startswith("segment.")]:
        del description["files"][name]
    (folder / "model.json").write_text(json.dumps(description))
    return folder


def read_tree(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
