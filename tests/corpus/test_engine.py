"""Any number of workers makes the same bytes, even if workers or the driver are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bench.corpus import descendants, is_worker
from headwise.corpus.dataset import TABLE_SCHEMA, parse_dataset
from headwise.corpus.engine import Engine, UnitWorker, open_ray
from headwise.corpus.plan import CorpusPlan, save_plan
from headwise.corpus.run import MANIFEST_FILE, plan_corpus, read_manifest, run_plan
from headwise.corpus.units import UnitResult
from headwise.errors import ConfigError
from tests.corpus.conftest import FAULT, POISON, JobFor, read_tree

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.mark.slow
def test_several_workers_of_which_one_is_killed_make_the_same_bytes_as_one(
    ray: None, plan: CorpusPlan, expected: dict[str, bytes], tmp_path: Path
) -> None:
    results = run_plan(plan, tmp_path / "out", Engine(workers=3))
    units = [next(results).unit]
    victim = next(process for process in descendants(os.getpid()) if is_worker(process))
    os.kill(victim, signal.SIGKILL)
    units += [result.unit for result in results]
    assert sorted(units) == list(range(len(units)))
    assert read_tree(tmp_path / "out") == expected


@pytest.mark.slow
def test_a_document_that_kills_is_quarantined_and_one_that_fails_once_is_not(
    ray: None, sabotage: Path, job_for: JobFor, texts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    documents = [*texts[:15], FAULT, *texts[15:30], POISON, *texts[30:39]]
    path.write_text("\n\n".join(documents), encoding="utf-8")
    (sabotage / "faults").write_text("1")
    plan = plan_corpus([str(path)], None, job_for())
    list(run_plan(plan, tmp_path / "out", Engine(workers=1)))
    totals = read_manifest(tmp_path / "out").totals
    assert (totals.n_documents, totals.n_quarantined) == (40, 1)
    assert (sabotage / "faults").read_text() == "0"
    quarantine = (tmp_path / "out" / "_quarantine.jsonl").read_text()
    assert "the process that parsed it was killed by SIGKILL" in quarantine


@pytest.mark.slow
def test_a_run_continues_after_its_driver_was_killed(
    ray: None, plan: CorpusPlan, corpus: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    unit_size = plan.job.unit_bytes / 2**20
    command = [sys.executable, "-m", "headwise", "corpus", str(corpus), "--output", str(output)]
    command += ["--workers", "1", "--unit-size", str(unit_size)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as driver:
        while len(list(output.glob("_records/*.json"))) < 2:
            assert driver.poll() is None
            time.sleep(0.01)
        driver.kill()
    assert not (output / MANIFEST_FILE).exists()
    results = list(run_plan(plan, output, Engine(workers=2)))
    assert sum(not result.is_new for result in results) >= 2
    assert read_tree(output) == expected


@pytest.mark.slow
def test_a_dataset_of_documents_becomes_one_of_sentences(ray: None, texts: list[str]) -> None:
    import ray.data

    rows = [{"body": text, "key": f"k{i}", "year": 2026} for i, text in enumerate(texts[:10])]
    data = parse_dataset(ray.data.from_items(rows), text_column="body", id_column="key")
    parsed = data.take_all()
    assert {row["document_id"] for row in parsed} == {f"k{i}" for i in range(10)}
    assert all(row["metadata"] == '{"year":2026}' for row in parsed)
    assert all(row["error"] is None for row in parsed)
    assert list(parsed[0]) == TABLE_SCHEMA.names


@pytest.mark.slow
def test_gpus_that_are_not_there(ray: None) -> None:
    import ray

    if ray.cluster_resources().get("GPU"):  # type: ignore[no-untyped-call]
        pytest.skip("there is a GPU")
    with pytest.raises(ConfigError, match="Ray finds no GPU"), open_ray(Engine(2), 2, "cuda"):
        pass


def batch_of(plan: CorpusPlan) -> dict[str, Any]:
    return {"unit": np.array([msgspec.json.encode(next(plan.units())).decode()])}


def test_a_ray_worker_takes_and_gives_json(plan: CorpusPlan, tmp_path: Path) -> None:
    """Run what runs in an actor, without Ray."""
    (blind,) = UnitWorker(plan.job, tmp_path)(batch_of(plan))["result"]
    assert "a worker does not see this folder" in blind
    save_plan(plan, tmp_path)
    (done,) = UnitWorker(plan.job, tmp_path)(batch_of(plan))["result"]
    assert msgspec.json.decode(done, type=UnitResult).record is not None


@pytest.mark.parametrize(
    ("address", "cause", "message"),
    [
        ("auto", "RPC error: InvalidAuthToken: missing", "Failed\nhint: .* needs a token"),
        ("auto", "gone", "Failed\nhint: check that Ray is running"),
        (None, "gone", r"Ray does not start: Failed\nhint: .*ulimit -n is \d+"),
    ],
)
def test_why_ray_cannot_be_joined_or_started(
    address: str | None, cause: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("Failed\nMore.") from RuntimeError(cause)

    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(ConfigError, match=message), open_ray(Engine(address=address), 1):
        pass


def test_a_ray_worker_exits_after_an_unexpected_exception(
    plan: CorpusPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ExitCalled(BaseException):
        pass

    def exit_process(code: int) -> None:
        raise ExitCalled(code)

    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error")

    save_plan(plan, tmp_path)
    worker = UnitWorker(plan.job, tmp_path)
    monkeypatch.setattr("os._exit", exit_process)
    monkeypatch.setattr("headwise.corpus.engine.make_shard", fail)
    with pytest.raises(ExitCalled):
        worker(batch_of(plan))
    assert (tmp_path / "_attempts" / "00000000").read_bytes() == b"."
