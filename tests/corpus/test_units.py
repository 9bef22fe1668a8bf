import errno
from pathlib import Path

import pytest

from headwise.corpus.plan import CorpusJob, CorpusPlan, Unit, make_plan
from headwise.corpus.units import (
    ATTEMPTS_FOLDER,
    ShardRecord,
    UnitResult,
    begin_attempt,
    make_shard,
    process_unit,
    record_path,
)
from headwise.errors import DataError
from headwise.runtime.parser import Parser
from tests.corpus.conftest import JobFor


@pytest.fixture
def unit(plan: CorpusPlan) -> Unit:
    return next(plan.units())


def test_a_unit_is_done_once(unit: Unit, job: CorpusJob, parser: Parser, tmp_path: Path) -> None:
    def work(unit: Unit, is_isolated: bool) -> ShardRecord:
        return make_shard(parser, unit, job, tmp_path)

    done = process_unit(unit, tmp_path, work)
    assert done.is_new
    assert done.record is not None
    assert done.record.n_words > 100
    assert list((tmp_path / ATTEMPTS_FOLDER).iterdir()) == []
    again = process_unit(unit, tmp_path, work)
    assert not again.is_new
    assert again.record == done.record
    shard = tmp_path / done.record.shard
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    assert process_unit(unit, tmp_path, work).is_new
    assert shard.read_bytes() == whole
    record_path(tmp_path, unit.index).write_text("{")
    assert process_unit(unit, tmp_path, work).is_new
    shard.unlink()
    assert process_unit(unit, tmp_path, work).is_new


def test_a_large_document_that_fails_half_way_leaves_nothing(
    tmp_path: Path, parser: Parser, job_for: JobFor
) -> None:
    job = job_for(compression="none", unit_bytes=10**6)
    word = "1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    text = f"# newdoc id = a\n{word * 3_000}1\tHi\t_\n\n# newdoc id = b\n{word}"
    (tmp_path / "in.conllu").write_text(text)
    (unit,) = make_plan([str(tmp_path / "in.conllu")], None, job).units()
    record = make_shard(parser, unit, job, tmp_path)
    assert (record.n_documents, record.n_sentences) == (1, 1)
    assert [item.id for item in record.quarantined] == ["a"]
    shard = (tmp_path / record.shard).read_text()
    assert shard.startswith("# newdoc id = b\n")
    assert shard.count("\n\n") == 1


def test_attempts_are_counted_until_a_unit_is_done(
    unit: Unit, job: CorpusJob, parser: Parser, tmp_path: Path
) -> None:
    isolated = []

    def work(unit: Unit, is_isolated: bool) -> ShardRecord:
        isolated.append(is_isolated)
        if len(isolated) < 4:
            raise KeyboardInterrupt  # as sudden as a kill
        return make_shard(parser, unit, job, tmp_path)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            process_unit(unit, tmp_path, work)
    assert process_unit(unit, tmp_path, work).record is not None
    assert isolated == [False, False, True, True]
    assert begin_attempt(tmp_path, unit.index) == 0


def test_errors_are_results(unit: Unit, tmp_path: Path) -> None:
    def answer(error: Exception) -> UnitResult:
        def fail(unit: Unit, is_isolated: bool) -> ShardRecord:
            raise error

        return process_unit(unit, tmp_path, fail)

    full = OSError(errno.ENOSPC, "No space left on device")
    caused = DataError("nothing was written", "z")
    caused.__cause__ = full
    for error in (full, caused):
        result = answer(error)
        assert result.error == f"{tmp_path}: No space left on device"
        assert "the same command continues" in str(result.hint)
    assert answer(PermissionError(13, "Permission denied", "x")).error == "x: Permission denied"
    clear = answer(DataError("odd", "y", hint="change it"))
    assert (clear.error, clear.hint) == ("y: odd", "change it")
    assert begin_attempt(tmp_path, unit.index) == 0
