"""The examples run. Spark itself (half a gigabyte, and Java) is not installed in CI."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pytest

from headwise.corpus.dataset import TABLE_SCHEMA

EXAMPLE = Path(__file__).parent.parent / "examples" / "spark.py"
FRAME = pd.DataFrame(
    {"id": ["a", "b"], "text": ["Kids don't love candy. So do I.", "Yes."], "year": [2026, 2027]}
)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_spark", EXAMPLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "example_spark", module)
    spec.loader.exec_module(module)
    return module


def test_frames_are_parsed_as_map_in_pandas_does(example: ModuleType) -> None:
    first, second = example.parse_frames(iter([FRAME, FRAME.iloc[1:]]))
    assert list(first["sentence_id"]) == ["a-1", "a-2", "b-1"]
    assert list(second["document_id"]) == ["b"]
    assert first["multiword"][0] == [
        {"first": 2, "last": 3, "form": "don't", "start": 5, "end": 10}
    ]
    assert first["metadata"][2] == '{"year":2027}'
    assert pa.Table.from_pandas(first, TABLE_SCHEMA, preserve_index=False).num_rows == 3


def test_the_schema_is_that_of_the_package(example: ModuleType) -> None:
    spark_types = {
        "int32": "int", "int64": "bigint", "list<item: ": "array<", "element: ": "",
        " not null": "", "float": "float",
    }  # fmt: skip
    schema = ", ".join(f"{field.name} {field.type}" for field in TABLE_SCHEMA)
    for arrow, spark in spark_types.items():
        schema = schema.replace(arrow, spark)
    assert " ".join(example.SCHEMA.split()) == schema


@pytest.mark.filterwarnings("ignore")
def test_in_a_local_session(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    FRAME.to_parquet(tmp_path / "documents.parquet")
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = spark.getOrCreate()
    session.sparkContext.addPyFile(str(EXAMPLE))
    import spark as importable  # type: ignore[import-not-found]

    importable.main(str(tmp_path / "documents.parquet"), str(tmp_path / "parsed.parquet"))
    parsed = pd.read_parquet(tmp_path / "parsed.parquet").sort_values("sentence_id")
    assert list(parsed["sentence_id"]) == ["a-1", "a-2", "b-1"]
    assert session.read.parquet(str(tmp_path / "parsed.parquet")).count() == 3
    session.stop()
