"""With a real Ray: any number of workers makes the same bytes, whoever is killed meanwhile."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from headwise.corpus.dataset import TABLE_SCHEMA, parse_dataset
from headwise.corpus.engine import Engine, RayWorker, Worker, open_ray
from headwise.corpus.plan import Job, Plan, save_plan
from headwise.corpus.run import MANIFEST, plan_corpus, read_manifest, run_plan
from headwise.corpus.work import Outcome
from headwise.errors import ConfigError
from tests.corpus.conftest import POISON

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
JobFor = Callable[..., Job]
OTHER_WORKER = re.compile(r"ray::MapWorker\(MapBatches\(RayWorker\)\)")


@pytest.fixture(scope="module")
def ray(deadly: str) -> Iterator[None]:
    """Start one Ray for all tests here; its processes do not survive a certain text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", deadly)
        with open_ray(Engine(workers=3), 3):
            yield


@pytest.fixture(scope="module")
def plan(corpus: Path, job_for: JobFor) -> Plan:
    return plan_corpus([str(corpus)], None, job_for())


@pytest.fixture(scope="module")
def expected(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Parse in a single process."""
    output = tmp_path_factory.mktemp("single") / "out"
    list(run_plan(plan, output, Engine(workers=0)))
    return everything(output)


def everything(output: Path) -> dict[str, bytes]:
    files = (path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): path.read_bytes() for path in files}


def process_status(pid: str) -> tuple[str, int]:
    """Give the command line of a process, and who started it."""
    command = Path(f"/proc/{pid}/cmdline").read_text()
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"PPid:\s+(\d+)", status)
    assert found
    return command, int(found[1])


def workers_of(driver: int) -> list[int]:
    """Find the workers of the Ray that a process has started."""
    found = []
    for pid in (entry for entry in os.listdir("/proc") if entry.isdigit()):
        try:
            command, raylet = process_status(pid)
            if OTHER_WORKER.match(command) and process_status(str(raylet))[1] == driver:
                found.append(int(pid))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_makes_the_same_bytes(
    workers: int, ray: None, plan: Plan, expected: dict[str, bytes], tmp_path: Path
) -> None:
    outcomes = list(run_plan(plan, tmp_path / "out", Engine(workers=workers)))
    assert all(outcome.is_new for outcome in outcomes)
    assert everything(tmp_path / "out") == expected


def test_a_worker_that_is_killed_is_replaced(
    ray: None, plan: Plan, expected: dict[str, bytes], tmp_path: Path
) -> None:
    outcomes = run_plan(plan, tmp_path / "out", Engine(workers=2))
    units = [next(outcomes).unit]
    victims = workers_of(os.getpid())
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    units += [outcome.unit for outcome in outcomes]
    assert sorted(units) == list(range(len(units)))
    assert everything(tmp_path / "out") == expected


def test_a_document_that_kills_is_isolated(
    ray: None, job_for: JobFor, texts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join([*texts[:30], POISON, *texts[30:40]]), encoding="utf-8")
    plan = plan_corpus([str(path)], None, job_for())
    list(run_plan(plan, tmp_path / "out", Engine(workers=1)))
    totals = read_manifest(tmp_path / "out").totals
    assert (totals.n_documents, totals.n_quarantined) == (40, 1)
    told = (tmp_path / "out" / "_quarantine.jsonl").read_text()
    assert "the process that parsed it was ended by SIGKILL" in told


def test_a_driver_that_is_killed_can_be_followed(
    ray: None, plan: Plan, corpus: Path, expected: dict[str, bytes], tmp_path: Path
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
    assert not (output / MANIFEST).exists()
    outcomes = list(run_plan(plan, output, Engine(workers=2)))
    assert sum(not outcome.is_new for outcome in outcomes) >= 2
    assert everything(output) == expected


def test_a_dataset_of_documents_becomes_one_of_sentences(ray: None, texts: list[str]) -> None:
    import ray.data

    rows = [{"body": text, "key": f"k{i}", "year": 2026} for i, text in enumerate(texts[:10])]
    data = parse_dataset(ray.data.from_items(rows), text_column="body", id_column="key")
    parsed = data.take_all()
    assert {row["document_id"] for row in parsed} == {f"k{i}" for i in range(10)}
    assert all(row["metadata"] == '{"year":2026}' for row in parsed)
    assert all(row["error"] is None for row in parsed)
    assert list(parsed[0]) == TABLE_SCHEMA.names


def test_gpus_that_are_not_there(ray: None) -> None:
    import ray

    if ray.cluster_resources().get("GPU"):  # type: ignore[no-untyped-call]
        pytest.skip("there is a GPU")
    with pytest.raises(ConfigError, match="Ray sees no GPU"), open_ray(Engine(2), 2, "cuda"):
        pass


def test_a_worker_of_ray_is_a_worker(plan: Plan, tmp_path: Path) -> None:
    """What runs inside an actor, without one."""
    unit = next(plan.units())
    batch = {"unit": np.array([msgspec.json.encode(unit).decode()])}
    job = msgspec.json.encode(plan.job)
    (blind,) = RayWorker(job, str(tmp_path))(batch)["outcome"]
    assert "not seen by a worker" in str(msgspec.json.decode(blind, type=Outcome).error)
    save_plan(plan, tmp_path)
    (done,) = RayWorker(job, str(tmp_path))(batch)["outcome"]
    assert msgspec.json.decode(done, type=Outcome).record is not None


def test_with_care_after_deaths(plan: Plan, tmp_path: Path) -> None:
    save_plan(plan, tmp_path)
    unit = next(plan.units())
    worker = Worker(plan.job, tmp_path)
    (tmp_path / "_attempts").mkdir()
    (tmp_path / "_attempts" / f"{unit.index:08}").write_bytes(b"..")
    careful = worker.do(unit).record
    assert careful is not None
    (tmp_path / "_records" / f"{unit.index:08}.json").unlink()
    assert worker.do(unit).record == careful


@pytest.mark.parametrize(
    ("cause", "hint"),
    [("RPC error: InvalidAuthToken: missing", "asks for a token"), ("gone", "is a Ray running")],
)
def test_why_a_ray_cannot_be_joined(cause: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("Failed to connect") from RuntimeError(cause)

    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(ConfigError, match=hint), open_ray(Engine(address="auto"), 1):
        pass
