import gzip
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.corpus.plan import (
    PLAN_FILE,
    CorpusJob,
    CorpusPlan,
    Source,
    guess_format,
    make_plan,
    model_fingerprint,
    portable_model_name,
    save_plan,
)
from headwise.errors import ConfigError, DataError
from headwise.model.bundle import Bundle, load_bundle, slim
from headwise.model.find import MODELS_FOLDER
from headwise.settings.parsing import DecodeConfig
from tests.corpus.conftest import JobFor

JOB = CorpusJob(model="en", model_sha256="", decode=DecodeConfig(), unit_bytes=10_000)


@settings(derandomize=True, database=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 50_000), st.booleans()), max_size=30))
def test_units_cover_every_file_once_and_in_order(sizes: list[tuple[int, bool]]) -> None:
    sources = tuple(
        Source(f"{i}.txt", f"{i}.txt", size, 0, "text", is_divisible and size > 10_000)
        for i, (size, is_divisible) in enumerate(sizes)
    )
    units = list(CorpusPlan(job=JOB, sources=sources).units())
    assert [unit.index for unit in units] == list(range(len(units)))
    covered: dict[str, int | None] = {}
    for piece in (piece for unit in units for piece in unit.slices):
        assert covered.get(piece.path, 0) == piece.start
        covered[piece.path] = piece.end
    assert covered == {source.path: None for source in sources}
    assert sum(unit.n_bytes for unit in units) == sum(size for size, _ in sizes)
    for unit in units:
        assert unit.n_bytes <= 10_000 or len(unit.slices) == 1
        assert len(unit.slices) <= 3  # an empty file counts, too


def test_what_may_be_divided(tmp_path: Path, job_for: JobFor) -> None:
    long = b"a line of text\n" * 1_000
    (tmp_path / "plain.txt").write_bytes(long)
    (tmp_path / "compressed.txt").write_bytes(gzip.compress(bytes(range(256)) * 100, 0))
    (tmp_path / "short.txt").write_bytes(b"short\n")
    plan = make_plan([str(tmp_path)], None, job_for(unit_bytes=10_000))
    assert [(source.name, source.is_divisible) for source in plan.sources] == [
        ("compressed.txt", False),
        ("plain.txt", True),
        ("short.txt", False),
    ]
    assert len(list(plan.units())) == 3
    assert plan.n_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    whole = make_plan([str(tmp_path)], None, job_for(unit_bytes=10_000, split="file"))
    assert not any(source.is_divisible for source in whole.sources)


def test_parquet_is_divided_between_row_groups(tmp_path: Path, job_for: JobFor) -> None:
    table = pa.table({"text": [str(i) * 10 for i in range(1_000)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    plan = make_plan([str(tmp_path)], None, job_for(unit_bytes=4_200))
    slices = [piece for unit in plan.units() for piece in unit.slices]
    assert len(slices) > 1
    assert slices[0].start == 0
    assert slices[-1].end is None
    assert [piece.end for piece in slices[:-1]] == [piece.start for piece in slices[1:]]
    (tmp_path / "b.parquet").write_bytes(b"not parquet" * 1_000)
    assert make_plan([str(tmp_path / "b.parquet")], None, job_for()).sources[0].row_groups == ()


def test_names_are_below_the_common_folder(tmp_path: Path, job: CorpusJob) -> None:
    for name in ("ab/x.txt", "ac/d/y.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("x")
    plan = make_plan([str(tmp_path / "ac"), str(tmp_path / "ab")], None, job)
    assert [source.name for source in plan.sources] == ["ab/x.txt", "ac/d/y.txt"]
    (source,) = make_plan([f"file://{tmp_path}/ab/x.txt"], "jsonl", job).sources
    assert (source.name, source.format) == ("x.txt", "jsonl")


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ("jsonl", "a.JSONL.gz a.ndjson"),
        ("parquet", "a.parquet"),
        ("conllu", "a.conllu.xz"),
        ("text", "a.txt.zst README"),
    ],
)
def test_formats_are_guessed_from_names(expected: str, names: str) -> None:
    assert {guess_format(name) for name in names.split()} == {expected}


def test_a_plan_that_changed_is_refused(corpus: Path, tmp_path: Path, job_for: JobFor) -> None:
    output = tmp_path
    plan = make_plan([str(corpus)], None, job_for())
    save_plan(plan, output)
    save_plan(plan, output)
    moved = make_plan([str(corpus)], None, job_for(model="/elsewhere/en"))
    save_plan(moved, output)  # the same model in another folder
    other = make_plan([str(corpus / "a.txt")], None, job_for(compression="zstd"))
    with pytest.raises(ConfigError, match=r"compression = 'xz', other inputs .*b.jsonl"):
        save_plan(other, output)
    old = msgspec.structs.replace(plan, headwise_version="0.0.1")
    (output / PLAN_FILE).write_bytes(msgspec.json.encode(old))
    with pytest.raises(ConfigError, match=r"started with headwise 0\.0\.1"):
        save_plan(plan, output)
    (output / PLAN_FILE).write_text("{")
    with pytest.raises(DataError, match="not a plan of this release"):
        save_plan(plan, output)


def test_models_are_identified_by_their_files(bundle: Bundle, tmp_path: Path) -> None:
    slim(bundle.path, tmp_path / "copy", "int8")
    copy = load_bundle(tmp_path / "copy")
    assert model_fingerprint(copy) == model_fingerprint(bundle)
    assert portable_model_name(MODELS_FOLDER / "en") == "en"
    assert portable_model_name(copy.path) == str(copy.path)
