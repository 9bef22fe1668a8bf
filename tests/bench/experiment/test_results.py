from pathlib import Path

import pytest

from bench.experiment.plan import Run
from bench.experiment.results import MAX_BYTES, Result, read_result, write_json
from bench.paper.scores import Scores
from headwise import DataError

RESULTS = Path(__file__).parents[3] / "bench/results"


def test_a_result_is_written_as_it_was_read(tmp_path: Path) -> None:
    path = RESULTS / "paper/ewt/dense-1.json"
    result = read_result(path, Scores)
    assert isinstance(result, Result)
    assert result.run == Run(("ewt", "dense"), 1)
    write_json(tmp_path / "again.json", result)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_a_missing_result_is_none(tmp_path: Path) -> None:
    assert read_result(tmp_path / "dense-1.json", Scores) is None


@pytest.mark.parametrize("content", [b"", b"{", b'{"dataset": 1}', b" " * (MAX_BYTES + 1)])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"result\.json: "):
        read_result(path, Scores)
