"""A whole corpus in one process: output, continued and concurrent runs, faults, a full disk."""

import errno
import lzma
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import msgspec
import pandas as pd
import pyarrow.parquet as pq
import pytest

from headwise.corpus.documents import Rejected
from headwise.corpus.engine import Engine
from headwise.corpus.plan import CorpusPlan, save_plan
from headwise.corpus.run import MANIFEST_FILE, QUARANTINE_FILE, plan_corpus, read_manifest, run_plan
from headwise.corpus.shards import SCHEMA
from headwise.corpus.units import ATTEMPTS_FOLDER
from headwise.errors import ConfigError, DataError, HeadwiseError, ModelError
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import BatchScorer, Selection
from headwise.treebank.conllu import read_conllu
from headwise.treebank.sentence import Sentence
from tests.corpus.conftest import JobFor, read_tree

HERE = Engine(workers=0)


def run(plan: CorpusPlan, output: Path) -> list[bool]:
    return [result.is_new for result in run_plan(plan, output, HERE)]


def joined_shards(output: Path) -> bytes:
    return b"".join(lzma.decompress(path.read_bytes()) for path in sorted(output.glob("shard-*")))


def test_a_corpus_is_complete_and_described(plan: CorpusPlan, tmp_path: Path) -> None:
    output = tmp_path / "out"
    is_new = run(plan, output)
    assert len(is_new) > 8
    manifest = read_manifest(output)
    assert manifest.totals.n_shards == len(manifest.shards) == len(is_new)
    assert manifest.totals.n_documents == 48
    assert manifest.totals.n_words == sum(shard.n_words for shard in manifest.shards)
    (line,) = (output / QUARANTINE_FILE).read_bytes().splitlines()
    assert list(msgspec.json.decode(line)) == ["document", "source", "position", "error"]
    assert msgspec.json.decode(line, type=Rejected).id.startswith("b.jsonl:")
    assert manifest.totals.n_quarantined == 1
    names = {path.name for path in output.iterdir() if not path.name.startswith("_")}
    assert names == {shard.shard for shard in manifest.shards}
    assert not (output / ATTEMPTS_FOLDER).exists()


def test_a_treebank_is_written_as_by_parse(
    corpus: Path, job_for: JobFor, parser: Parser, tmp_path: Path
) -> None:
    plan = plan_corpus([str(corpus / "c.conllu")], None, job_for(unit_bytes=5_000))
    assert len(run(plan, tmp_path)) > 2
    items = parser.annotate(read_conllu(corpus / "c.conllu"))
    assert joined_shards(tmp_path) == b"".join(item.data for item, _ in items)


def test_the_size_of_units_does_not_change_the_output(
    corpus: Path, job_for: JobFor, tmp_path: Path
) -> None:
    joined = set()
    for size in (1_000, 7_777, 10**9):
        run(plan_corpus([str(corpus)], None, job_for(unit_bytes=size)), tmp_path / str(size))
        joined.add(joined_shards(tmp_path / str(size)))
    assert len(joined) == 1


def test_an_interrupted_run_continues(
    plan: CorpusPlan, expected: dict[str, bytes], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    results = run_plan(plan, output, HERE)
    for _ in range(3):
        next(results)
    results.close()
    assert not (output / MANIFEST_FILE).exists()
    (output / ".shard-00000003.conllu.xz.abc").write_text("half")
    (output / "_records" / ".00000003.json.abc").write_text("half")
    assert run(plan, output).count(False) == 3
    assert read_tree(output) == expected
    assert not any(run(plan, output))


def test_a_second_run_in_the_same_folder_is_refused(plan: CorpusPlan, tmp_path: Path) -> None:
    first = run_plan(plan, tmp_path, HERE)
    next(first)
    holder = f"process {os.getpid()} on "
    with pytest.raises(ConfigError, match=rf"another run is working in this folder \({holder}"):
        run(plan, tmp_path)
    first.close()
    run(plan, tmp_path)


@pytest.mark.parametrize("has_locks", [True, False])
def test_a_second_run_leaves_the_files_of_the_first_alone(
    plan: CorpusPlan, tmp_path: Path, has_locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start another run while the first one writes its plan, and one while it writes a shard."""

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    def start_second_run(half_written: Path) -> None:
        half_written.write_text("half")
        with suppress(ConfigError):
            run(plan, tmp_path)
        half_written.unlink()

    def save_plan_slowly(plan: CorpusPlan, output: Path) -> None:
        monkeypatch.setattr("headwise.corpus.run.save_plan", save_plan)
        start_second_run(output / "._plan.json.first")
        save_plan(plan, output)

    if not has_locks:
        monkeypatch.setattr("fcntl.flock", no_locks)
    monkeypatch.setattr("headwise.corpus.run.save_plan", save_plan_slowly)
    results = run_plan(plan, tmp_path, HERE)
    n_results = bool(next(results))
    start_second_run(tmp_path / ".shard-00000003.conllu.xz.first")
    assert n_results + len(list(results)) == read_manifest(tmp_path).totals.n_shards


def test_a_fault_that_passes_costs_no_document(
    corpus: Path, job_for: JobFor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_corpus([str(corpus / "a.txt")], None, job_for())
    select = BatchScorer.select
    calls = []

    def fail_sometimes(self: BatchScorer, sentences: list[Sentence]) -> list[Selection]:
        calls.append(len(sentences))
        if len(calls) in (2, 3):
            raise RuntimeError("CUDA error")
        return select(self, sentences)

    monkeypatch.setattr(BatchScorer, "select", fail_sometimes)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="CUDA error"):
            run(plan, tmp_path)
    run(plan, tmp_path)  # the third attempt is isolated
    totals = read_manifest(tmp_path).totals
    assert (totals.n_documents, totals.n_quarantined) == (15, 0)


def test_a_folder_with_other_files_is_refused(plan: CorpusPlan, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ConfigError, match=r"the folder has files but no _plan\.json"):
        run(plan, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    with pytest.raises(DataError, match="mine"):
        run(plan, tmp_path / "mine" / "out")
    (tmp_path / "other" / "_lock").mkdir(parents=True)
    with pytest.raises(DataError, match="_lock: Is a directory"):
        run(plan, tmp_path / "other")


def test_other_tools_read_the_parquet_files(corpus: Path, job_for: JobFor, tmp_path: Path) -> None:
    job = job_for(format="parquet", compression="zstd")
    run(plan_corpus([str(corpus)], None, job), tmp_path)
    totals = read_manifest(tmp_path).totals
    table = pq.read_table(tmp_path)
    assert table.schema.equals(SCHEMA)
    assert table.num_rows == totals.n_sentences
    assert sum(map(len, table["heads"].to_pylist())) == totals.n_words
    query = "select count(*), sum(len(tokens)), count(distinct document_id)"
    counts = duckdb.sql(f"{query} from '{tmp_path}/*.parquet'").fetchall()
    assert counts == [(totals.n_sentences, totals.n_words, 48)]
    frame = pd.read_parquet(tmp_path)
    assert len(frame) == totals.n_sentences
    assert (frame["heads"].map(len) == frame["tokens"].map(len)).all()


def test_impossible_plans_are_refused_first(
    corpus: Path, job_for: JobFor, model_without_segmenter: Path, tmp_path: Path
) -> None:
    for error, message, changes in (
        (ConfigError, "not possible with --format parquet", {"format": "parquet"}),
        (ModelError, "without a segmenter", {"model": str(model_without_segmenter)}),
        (ConfigError, "no column body in the first line", {"text_column": "body"}),
    ):
        with pytest.raises(error, match=message):
            plan_corpus([str(corpus)], None, job_for(**changes))
    with pytest.raises(DataError, match="check that the corpus is complete"):
        read_manifest(tmp_path)


def test_errors_of_workers_end_the_run(plan: CorpusPlan, tmp_path: Path) -> None:
    path = tmp_path / "gone.txt"
    path.write_text("Kids love candy.\n")
    gone = plan_corpus([str(path)], None, plan.job)
    path.unlink()
    with pytest.raises(HeadwiseError, match=r"gone.txt: No such file"):
        run(gone, tmp_path / "out")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount 160 KiB of memory as a disk."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("shard_format", ["conllu", "parquet"])
def test_a_run_continues_after_a_full_disk(
    corpus: Path, job_for: JobFor, small_disk: Path, tmp_path: Path, shard_format: str
) -> None:
    plan = plan_corpus([str(corpus)], None, job_for(format=shard_format, compression="zstd"))
    run(plan, tmp_path / "whole")
    filler, output = small_disk / ".filler", small_disk / "out"
    output.mkdir()
    filler.write_bytes(b"x" * (100 * 1024))
    message = r"No space left on device\nhint: .*the same command continues"
    with pytest.raises(HeadwiseError, match=message):
        run(plan, output)
    assert not any(Path(name).name.startswith(".") for name in read_tree(output))
    assert not (output / MANIFEST_FILE).exists()
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    run(plan, output)
    assert read_tree(output) == read_tree(tmp_path / "whole")
