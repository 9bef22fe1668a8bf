import gzip
import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwise.corpus.documents import Rejected, SourceDocument, check_first_line, read_documents
from headwise.corpus.plan import CorpusJob, make_plan
from headwise.corpus.splitting import MAX_DOCUMENT_BYTES
from headwise.errors import ConfigError, DataError
from tests.corpus.conftest import JobFor


def read(path: Path, job: CorpusJob) -> list[SourceDocument | Rejected]:
    plan = make_plan([str(path)], None, job)
    return [item for unit in plan.units() for item in read_documents(unit, job)]


def ids_and_contents(items: list[SourceDocument | Rejected]) -> list[tuple[str, str | bytes]]:
    return [(i.id, i.content if isinstance(i, SourceDocument) else i.error) for i in items]


def test_text_by_paragraph_line_and_file(tmp_path: Path, job_for: JobFor) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\nTwo.\n \n\n\xff\n\nThree.\n")
    by_paragraph = ids_and_contents(read(path, job_for()))
    assert by_paragraph == [
        ("a.txt:0", "One.\nTwo.\n \n\n"),
        ("a.txt:16", "not UTF-8 at byte 0 of the document (counted from 0)"),
        ("a.txt:19", "Three.\n"),
    ]
    by_line = ids_and_contents(read(path, job_for(split="line")))
    assert [name for name, _ in by_line] == ["a.txt:0", "a.txt:8", "a.txt:16", "a.txt:19"]
    path.write_text("One.\n\nTwo.\n")
    assert ids_and_contents(read(path, job_for(split="file"))) == [("a.txt", "One.\n\nTwo.\n")]


def test_jsonl(tmp_path: Path, job_for: JobFor) -> None:
    path = tmp_path / "a.jsonl"
    rows: list[object] = [
        {"text": "One.", "key": 7, "n": 1.5, "tags": ["a"]},
        {"key": 8},
        {"text": "Two."},
        {"text": 3, "key": "k"},
        {"text": None, "key": "l"},
        ["text"],
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n{bad\n" + "[" * 9_999 + "\n")
    items = read(path, job_for(id_column="key"))
    assert isinstance(items[0], SourceDocument)
    assert items[0].metadata == '{"n":1.5,"tags":["a"]}'
    *results, (_, bad), (_, deep) = ids_and_contents(items)
    assert results == [
        ("7", "One."),
        ("a.jsonl:52", "no column text; the columns are key"),
        ("a.jsonl:63", "no id: key is not a string or integer, or is empty"),
        ("k", "text is not a string"),
        ("l", ""),
        ("a.jsonl:131", "not a JSON object"),
    ]
    assert "not JSON" in str(bad)
    assert "not JSON" in str(deep)
    assert read(path, job_for())[0].id == "a.jsonl:0"
    assert read(path, job_for(split="file"))[0].id == "a.jsonl:0"


def test_parquet(tmp_path: Path, job_for: JobFor) -> None:
    path = tmp_path / "a.parquet"
    rows = {
        "body": [f"Text {i}." for i in range(300)] + [None],
        "day": [date(2026, 1, 1)] * 301,
        "raw": [b"\x00"] * 301,
    }
    pq.write_table(pa.table(rows), path, row_group_size=50)
    items = read(path, job_for(text_column="body", unit_bytes=1_000))
    assert [item.id for item in items] == [f"a.parquet:{i}" for i in range(301)]
    assert ids_and_contents(items)[299:] == [("a.parquet:299", "Text 299."), ("a.parquet:300", "")]
    assert isinstance(items[7], SourceDocument)
    assert json.loads(items[7].metadata) == {"day": "2026-01-01", "raw": "AA=="}
    with pytest.raises(DataError, match=r"no column text\n.*the columns are body, day, raw"):
        read(path, job_for())
    text = pa.array([b"One.", b"\xff", b"Two."]).view(pa.string())
    pq.write_table(pa.table({"text": text}), tmp_path / "bytes.parquet")
    items = read(tmp_path / "bytes.parquet", job_for())
    assert [isinstance(item, Rejected) for item in items] == [False, True, False]
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    ((_, error),) = ids_and_contents(read(broken, job_for(unit_bytes=10**6)))
    assert "not Parquet" in str(error)


def test_conllu_is_split_into_documents_or_sentences(tmp_path: Path, job_for: JobFor) -> None:
    path = tmp_path / "a.conllu"
    word = "1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    path.write_text(f"# newdoc id = one\n{word}{word}# newdoc\n# newpar\n{word}")
    assert [item.id for item in read(path, job_for())] == ["one", f"a.conllu:{18 + 2 * len(word)}"]
    path.write_text(word * 200)
    small = read(path, job_for(unit_bytes=1_000))
    assert [item.position for item in small] == [i * len(word) for i in range(200)]
    path.write_text("# only a comment")
    assert [item.id for item in read(path, job_for())] == ["a.conllu:0"]


def test_a_document_that_is_too_long_is_rejected(tmp_path: Path, job_for: JobFor) -> None:
    long = "x" * (MAX_DOCUMENT_BYTES + 1)
    (tmp_path / "a.txt").write_text(f"{long}\n\nshort\n")
    pq.write_table(pa.table({"text": [long, "short"]}), tmp_path / "b.parquet")
    items = read(tmp_path, job_for(unit_bytes=2**26))
    assert [isinstance(item, Rejected) for item in items] == [True, False, True, False]
    found = ids_and_contents(read(tmp_path / "a.txt", job_for(split="file")))
    assert found == [("a.txt", "longer than 16 MiB")]


def test_the_documents_before_the_damage_in_a_file_are_read(tmp_path: Path, job: CorpusJob) -> None:
    path = tmp_path / "a.txt.gz"
    compressed = gzip.compress(b"".join(b"Line %d.\n\n" % i for i in range(20_000)))
    path.write_bytes(compressed[: len(compressed) // 2])
    (tmp_path / "b.txt").write_text("And on it goes.\n")
    *whole, (_, error), (last, _) = ids_and_contents(read(tmp_path, job))
    assert len(whole) > 5_000
    assert "damaged" in str(error)
    assert last == "b.txt:0"


def test_a_wrong_column_is_reported_at_once(tmp_path: Path, job: CorpusJob) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "x"}\n')
    message = "no column text in the first line\n.*the columns are body"
    with pytest.raises(ConfigError, match=message):
        check_first_line(str(path), job)
    for fine in ('{"text": 1}\n', "[]\n", "{\n", ""):
        path.write_text(fine)
        check_first_line(str(path), job)
