import errno
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from headwise.corpus import annotate as annotating
from headwise.corpus.plan import Job, Plan, Unit, make_plan
from headwise.corpus.work import (
    ATTEMPTS,
    Outcome,
    Record,
    begin_attempt,
    do_unit,
    explain,
    find_record,
    make_shard,
    record_path,
)
from headwise.errors import DataError, HeadwiseError
from headwise.runtime.parser import Parser

JobFor = Callable[..., Job]


@pytest.fixture
def plan(corpus: Path, job: Job) -> Plan:
    return make_plan([str(corpus)], None, job)


def make(parser: Parser, job: Job, output: Path) -> Callable[[Unit, bool], Record]:
    return lambda unit, with_care: make_shard(parser, unit, job, output, {})


def test_a_unit_is_done_once(plan: Plan, parser: Parser, tmp_path: Path) -> None:
    unit = next(plan.units())
    work = make(parser, plan.job, tmp_path)
    done = do_unit(unit, tmp_path, work)
    assert done.is_new
    assert done.record is not None
    assert done.record.n_words > 100
    assert list((tmp_path / ATTEMPTS).iterdir()) == []
    again = do_unit(unit, tmp_path, work)
    assert not again.is_new
    assert again.record == done.record
    shard = tmp_path / done.record.shard
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    assert find_record(tmp_path, unit) is None
    assert do_unit(unit, tmp_path, work).is_new
    assert shard.read_bytes() == whole
    record_path(tmp_path, unit.index).write_text("{")
    assert do_unit(unit, tmp_path, work).is_new
    shard.unlink()
    assert do_unit(unit, tmp_path, work).is_new


def test_what_is_quarantined_is_in_the_record(plan: Plan, parser: Parser, tmp_path: Path) -> None:
    records = [make_shard(parser, unit, plan.job, tmp_path, {}) for unit in plan.units()]
    (told,) = [found for record in records for found in record.quarantined]
    assert told.document.startswith("b.jsonl:")
    assert "not JSON" in told.error
    assert sum(record.n_documents for record in records) == 15 + 30 + 3


def test_documents_can_be_left_out(plan: Plan, parser: Parser, tmp_path: Path) -> None:
    unit = next(plan.units())
    begun: list[str] = []
    whole = make_shard(parser, unit, plan.job, tmp_path, {}, begun.append)
    assert len(begun) == whole.n_documents
    assert whole == make_shard(parser, unit, plan.job, tmp_path, {})
    less = make_shard(parser, unit, plan.job, tmp_path, {begun[1]: "it kills"}, begun.append)
    assert less.n_documents == whole.n_documents - 1
    assert [told.error for told in less.quarantined] == ["it kills"]


def test_a_large_document_that_fails_half_way_leaves_nothing(
    tmp_path: Path, parser: Parser, job_for: JobFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotating, "SMALL", 50)
    job = job_for(compression="none", unit_bytes=10**6)
    word = "1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    text = f"# newdoc id = a\n{word * 40}1\tHi\t_\n\n# newdoc id = b\n{word}"
    (tmp_path / "in.conllu").write_text(text)
    (unit,) = make_plan([str(tmp_path / "in.conllu")], None, job).units()
    record = make_shard(parser, unit, job, tmp_path, {})
    assert (record.n_documents, record.n_sentences) == (1, 1)
    assert [told.document for told in record.quarantined] == ["a"]
    shard = (tmp_path / record.shard).read_text()
    assert shard.startswith("# newdoc id = b\n")
    assert shard.count("\n\n") == 1


def test_deaths_are_counted_until_it_is_done(plan: Plan, parser: Parser, tmp_path: Path) -> None:
    unit = next(plan.units())
    cares = []

    def work(unit: Unit, with_care: bool) -> Record:
        cares.append(with_care)
        if len(cares) < 4:
            raise KeyboardInterrupt  # as sudden as a kill, but the test goes on
        return make_shard(parser, unit, plan.job, tmp_path, {})

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            do_unit(unit, tmp_path, work)
    assert do_unit(unit, tmp_path, work).record is not None
    assert cares == [False, False, True, True]
    assert begin_attempt(tmp_path, unit.index) == 0


def test_errors_are_answers(plan: Plan, tmp_path: Path) -> None:
    unit = next(plan.units())

    def answer(error: Exception) -> Outcome:
        def fail(unit: Unit, with_care: bool) -> Record:
            raise error

        return do_unit(unit, tmp_path, fail)

    full = OSError(errno.ENOSPC, "No space left on device")
    for error in (full, _caused(full)):
        told = answer(error)
        assert told.error == f"{tmp_path}: No space left on device"
        assert told.hint is not None
        assert "run the same command again" in told.hint
    assert answer(PermissionError(13, "Permission denied", "x")).error == "x: Permission denied"
    assert answer(DataError("odd", "y", hint="mend it")).hint == "mend it"
    assert begin_attempt(tmp_path, unit.index) == 0
    decoded = msgspec.json.decode(msgspec.json.encode(told), type=Outcome)
    assert decoded == told


def _caused(cause: Exception) -> DataError:
    error = DataError("nothing was written", "z")
    error.__cause__ = cause
    return error


def test_explain_keeps_what_is_clear(tmp_path: Path) -> None:
    error = HeadwiseError("clear")
    assert explain(error, tmp_path) is error
