from pathlib import Path

import pytest

from bench.paper.plan import Plan, Run, runs_of
from bench.paper.results import (
    MAX_BYTES,
    read_result,
    read_treebank,
    result_path,
    results_in,
    write_json,
)
from headwise import DataError


def test_a_result_reads_as_it_was_written(out: Path, plan: Plan, tmp_path: Path) -> None:
    found = list(results_in(out, runs_of(plan)))
    assert len(found) == len(runs_of(plan))
    write_json(tmp_path / "again.json", found[0])
    assert read_result(tmp_path / "again.json") == found[0]


def test_what_is_not_there_is_none(tmp_path: Path, plan: Plan) -> None:
    assert read_result(result_path(tmp_path, Run("english", "dense", 1))) is None
    assert read_treebank(tmp_path / "treebank.json") is None
    assert list(results_in(tmp_path, runs_of(plan))) == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"dataset": 1}', b" " * (MAX_BYTES + 1)])
def test_what_is_not_a_result_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"result\.json: "):
        read_result(path)
