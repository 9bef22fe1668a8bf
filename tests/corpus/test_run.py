"""A whole corpus in one process: what is written, resumed, refused, and a disk that is full."""

import lzma
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import msgspec
import pandas as pd
import pyarrow.parquet as pq
import pytest

from headwise.corpus.columns import SCHEMA
from headwise.corpus.engine import Engine
from headwise.corpus.plan import Job, Plan
from headwise.corpus.run import MANIFEST, QUARANTINE, plan_corpus, read_manifest, run_plan
from headwise.corpus.work import ATTEMPTS, Quarantined
from headwise.errors import ConfigError, DataError, HeadwiseError, ModelError
from headwise.runtime.parser import Parser
from headwise.treebank.conllu import as_bytes, read_conllu

HERE = Engine(workers=0)
JobFor = Callable[..., Job]


@pytest.fixture
def plan(corpus: Path, job: Job) -> Plan:
    return plan_corpus([str(corpus)], None, job)


def run(plan: Plan, output: Path) -> list[bool]:
    return [outcome.is_new for outcome in run_plan(plan, output, HERE)]


def everything(output: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(output)): path.read_bytes()
        for path in output.rglob("*")
        if path.is_file()
    }


def test_a_corpus_is_complete_and_described(plan: Plan, tmp_path: Path) -> None:
    output = tmp_path / "out"
    news = run(plan, output)
    assert len(news) > 8
    manifest = read_manifest(output)
    assert manifest.totals.n_shards == len(manifest.shards) == len(news)
    assert manifest.totals.n_documents == 48
    assert manifest.totals.n_words == sum(shard.n_words for shard in manifest.shards)
    lines = (output / QUARANTINE).read_bytes().splitlines()
    told = [msgspec.json.decode(line, type=Quarantined) for line in lines]
    assert [item.document.partition(":")[0] for item in told] == ["b.jsonl"]
    assert manifest.totals.n_quarantined == 1
    names = {path.name for path in output.iterdir() if not path.name.startswith("_")}
    assert names == {shard.shard for shard in manifest.shards}
    assert not (output / ATTEMPTS).exists()


def test_a_treebank_comes_out_as_from_parse(
    corpus: Path, job_for: JobFor, parser: Parser, tmp_path: Path
) -> None:
    plan = plan_corpus([str(corpus / "c.conllu")], None, job_for(unit_bytes=5_000))
    assert len(run(plan, tmp_path)) > 2
    shards = sorted(tmp_path.glob("shard-*"))
    joined = b"".join(lzma.decompress(path.read_bytes()) for path in shards)
    items = parser.annotate(read_conllu(corpus / "c.conllu"))
    assert joined == b"".join(as_bytes(item) for item, _ in items)


def test_the_cut_does_not_show(corpus: Path, job_for: JobFor, tmp_path: Path) -> None:
    joined = []
    for size in (1_000, 7_777, 10**9):
        output = tmp_path / str(size)
        run(plan_corpus([str(corpus)], None, job_for(unit_bytes=size)), output)
        shards = sorted(output.glob("shard-*"))
        joined.append(b"".join(lzma.decompress(path.read_bytes()) for path in shards))
    assert joined[0] == joined[1] == joined[2]


def test_a_run_that_was_broken_off_goes_on(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path / "whole")
    output = tmp_path / "out"
    outcomes = run_plan(plan, output, HERE)
    for _ in range(3):
        next(outcomes)
    outcomes.close()
    assert not (output / MANIFEST).exists()
    (output / ".shard-00000003.conllu.xz.abc").write_text("half")
    (output / "_records" / ".00000003.json.abc").write_text("half")
    news = run(plan, output)
    assert news.count(False) == 3
    assert everything(output) == everything(tmp_path / "whole")
    assert not any(run(plan, output))


def test_one_run_at_a_time(plan: Plan, tmp_path: Path) -> None:
    first = run_plan(plan, tmp_path, HERE)
    next(first)
    with pytest.raises(ConfigError, match="another run is at work here"):
        run(plan, tmp_path)
    first.close()
    run(plan, tmp_path)


def test_parquet_is_read_by_others(corpus: Path, job_for: JobFor, tmp_path: Path) -> None:
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
    types = {
        name: str(kind)
        for name, kind, *_ in duckdb.sql(
            f"describe select * from '{tmp_path}/*.parquet'"
        ).fetchall()
    }
    assert types["heads"] == "INTEGER[]"
    assert types["probabilities"] == "FLOAT[]"
    assert types["tokens"] == "VARCHAR[]"
    assert "STRUCT" in types["multiword"]
    frame = pd.read_parquet(tmp_path)
    assert len(frame) == totals.n_sentences
    assert (frame["heads"].map(len) == frame["tokens"].map(len)).all()


def test_what_cannot_be_done_is_refused_first(
    corpus: Path, job_for: JobFor, tiny_run: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="parquet has"):
        plan_corpus([str(corpus)], None, job_for(format="parquet"))
    with pytest.raises(ModelError, match="reads the column"):
        plan_corpus([str(corpus)], None, job_for(model=str(tiny_run)))
    with pytest.raises(ConfigError, match="no body in the first line"):
        plan_corpus([str(corpus)], None, job_for(text_column="body"))
    with pytest.raises(DataError, match="is the corpus complete"):
        read_manifest(tmp_path)


def test_a_worker_that_cannot_work_says_why(plan: Plan, tmp_path: Path) -> None:
    other = msgspec.structs.replace(plan.job, model_sha256="another")
    with pytest.raises(HeadwiseError, match="not the model that this corpus was begun with"):
        run(msgspec.structs.replace(plan, job=other), tmp_path)
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


@pytest.mark.parametrize("packing", ["none", "zstd", "parquet"])
def test_a_full_disk_is_one_error_and_goes_on(
    corpus: Path, job_for: JobFor, small_disk: Path, tmp_path: Path, packing: str
) -> None:
    chosen = {"format": "parquet", "compression": "zstd"} if packing == "parquet" else {}
    plan = plan_corpus([str(corpus)], None, job_for(**({"compression": packing} | chosen)))
    run(plan, tmp_path / "whole")
    filler = small_disk / ".filler"
    output = small_disk / "out"
    output.mkdir()
    filler.write_bytes(b"x" * (100 * 1024))
    with pytest.raises(HeadwiseError, match="No space left on device") as caught:
        run(plan, output)
    assert caught.value.hint is not None
    assert "run the same command again" in caught.value.hint
    names = [name for name in everything(output) if Path(name).name.startswith(".")]
    assert names == []
    assert not (output / MANIFEST).exists()
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    run(plan, output)
    assert everything(output) == everything(tmp_path / "whole")
