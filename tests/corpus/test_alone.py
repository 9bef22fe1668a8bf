"""A document that kills its process is found; all others are parsed."""

from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import msgspec
import pytest

from headwise.corpus import alone
from headwise.corpus.alone import Said, Task, do_alone, main
from headwise.corpus.plan import Job, Unit, make_plan
from headwise.corpus.work import make_shard
from headwise.errors import DataError, HeadwiseError
from headwise.runtime.parser import Parser
from tests.corpus.conftest import POISON

JobFor = Callable[..., Job]


@pytest.fixture
def unit(tmp_path: Path, texts: list[str], job: Job) -> Unit:
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join([*texts[:5], POISON, *texts[5:8]]) + "\n", encoding="utf-8")
    return next(make_plan([str(path)], None, job).units())


def test_only_the_culprit_is_quarantined(
    unit: Unit,
    job: Job,
    parser: Parser,
    tmp_path: Path,
    deadly: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", deadly)
    record = do_alone(unit, job, tmp_path)
    assert record.n_documents == 8
    (told,) = record.quarantined
    assert told.error == "the process that parsed it was ended by SIGKILL"
    key = f"{told.source}:{told.position}"
    assert record == make_shard(parser, unit, job, tmp_path, {key: told.error})


def test_errors_come_through(unit: Unit, job_for: JobFor, tmp_path: Path) -> None:
    with pytest.raises(HeadwiseError, match="No such file") as caught:
        do_alone(unit, job_for(), tmp_path / "missing")
    assert caught.value.hint is not None
    with pytest.raises(HeadwiseError, match="no model folder"):
        do_alone(unit, job_for(model="missing"), tmp_path)


def test_a_process_that_dies_at_once_is_an_error(
    unit: Unit, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone.sys, "executable", "/bin/false")
    with pytest.raises(DataError, match="ended with code 1 before it read anything"):
        do_alone(unit, job, tmp_path)


def test_what_the_child_says(
    unit: Unit, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(task: Task) -> list[Said]:
        out = BytesIO()
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(msgspec.json.encode(task))))
        monkeypatch.setattr("sys.stdout", TextIOWrapper(out, write_through=True))
        main()
        lines = out.getvalue().splitlines()
        monkeypatch.undo()
        return [msgspec.json.decode(line, type=Said) for line in lines]

    *begun, last = run(Task(unit, job, str(tmp_path), {}))
    assert len(begun) == 9
    assert last.record is not None
    assert last.record.n_documents == 9
    (failed,) = run(Task(unit, job, str(tmp_path / "missing"), {}))
    assert failed.error is not None
