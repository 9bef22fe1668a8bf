"""A document that kills its process is quarantined; all others are parsed."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import msgspec
import pytest

from headwise.corpus import isolated_worker
from headwise.corpus.isolated_worker import Message, Task, make_shard_isolated, run_child
from headwise.corpus.plan import CorpusJob, Unit, make_plan
from headwise.corpus.units import make_shard
from headwise.errors import DataError, HeadwiseError
from headwise.runtime.parser import Parser
from tests.corpus.conftest import FAULT, POISON, JobFor, python_path


@pytest.fixture
def unit(tmp_path: Path, texts: list[str], job: CorpusJob) -> Unit:
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join([*texts[:3], FAULT, POISON, *texts[5:8]]) + "\n", encoding="utf-8")
    return next(make_plan([str(path)], None, job).units())


def test_only_what_kills_is_quarantined(
    unit: Unit,
    job: CorpusJob,
    parser: Parser,
    tmp_path: Path,
    sabotage: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", python_path(sabotage))
    (sabotage / "faults").write_text("1")
    with pytest.raises(HeadwiseError, match=r"a\.txt:\d+: RuntimeError: CUDA error") as caught:
        make_shard_isolated(unit, job, tmp_path)
    assert "the same command continues" in str(caught.value.hint)
    record = make_shard_isolated(unit, job, tmp_path)
    assert record.n_documents == 7
    (quarantined,) = record.quarantined
    assert quarantined.error == "the process that parsed it was killed by SIGKILL"
    key = f"{quarantined.source}:{quarantined.position}"
    assert record == make_shard(parser, unit, job, tmp_path, {key: quarantined.error})


def test_a_process_that_dies_at_once_is_an_error(
    unit: Unit, job: CorpusJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_worker.sys, "executable", "/bin/false")
    with pytest.raises(DataError, match="ended with code 1 before it read a document"):
        make_shard_isolated(unit, job, tmp_path)


def test_the_child_imports_nothing_from_the_current_folder(
    unit: Unit, job_for: JobFor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("headwise", "msgspec"):
        (tmp_path / f"{name}.py").write_text("exit('foreign code')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HeadwiseError, match="no such model"):
        make_shard_isolated(unit, job_for(model="missing"), tmp_path)


def test_messages_of_the_child(
    unit: Unit,
    job_for: JobFor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def run(job: CorpusJob, output: Path) -> list[Message]:
        stdout = TextIOWrapper(BytesIO(), write_through=True)
        task = msgspec.json.encode(Task(unit, job, str(output), {}))
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", TextIOWrapper(BytesIO(task)))
            patch.setattr("sys.stdout", stdout)
            run_child()
        stdout.seek(0)
        return [msgspec.json.decode(line, type=Message) for line in stdout]

    *started, last = run(job_for(), tmp_path)
    assert len(started) == 8
    assert last.record is not None
    assert last.record.n_documents == 8
    (failed,) = run(job_for(model="missing"), tmp_path)
    assert "no such model" in str(failed.error)
    failed = run(job_for(), tmp_path / "missing")[-1]
    assert "No such file" in str(failed.error)

    def break_down(*_: object) -> None:
        raise RuntimeError("CUDA error")

    monkeypatch.setattr(Parser, "parse", break_down)
    (failed,) = run(job_for(), tmp_path)
    assert failed.error == "unit 0: RuntimeError: CUDA error"
    assert "Traceback" in capfd.readouterr().err
