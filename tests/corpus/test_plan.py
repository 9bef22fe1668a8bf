from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.corpus.plan import (
    PLAN,
    Job,
    Plan,
    Source,
    fingerprint,
    form_of,
    make_plan,
    portable_name,
    save_plan,
)
from headwise.errors import ConfigError, DataError
from headwise.model.bundle import MODELS_FOLDER, Bundle, slim
from headwise.settings.decoding import DecodeConfig

JobFor = Callable[..., Job]
SOME = Job(model="en", model_sha256="", decode=DecodeConfig(), unit_bytes=10_000)


@settings(derandomize=True, database=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 50_000), st.booleans()), max_size=30))
def test_units_cover_every_file_once_and_in_order(sizes: list[tuple[int, bool]]) -> None:
    sources = tuple(
        Source(f"{i}.txt", f"{i}.txt", size, 0, "text", can_be_cut and size > 10_000)
        for i, (size, can_be_cut) in enumerate(sizes)
    )
    units = list(Plan(job=SOME, sources=sources).units())
    assert [unit.index for unit in units] == list(range(len(units)))
    covered: dict[str, int | None] = {}
    for piece in (piece for unit in units for piece in unit.slices):
        assert covered.get(piece.path, 0) == piece.start
        covered[piece.path] = piece.end
    assert covered == {source.path: None for source in sources}
    for unit in units:
        assert unit.n_bytes <= 10_000 or len(unit.slices) == 1
    assert sum(unit.n_bytes for unit in units) == sum(size for size, _ in sizes)
    for unit in units:
        assert len(unit.slices) <= 3  # an empty file counts, too


def test_what_can_be_cut_and_what_cannot(tmp_path: Path, job_for: JobFor) -> None:
    import gzip

    long = b"a line of text\n" * 1_000
    (tmp_path / "plain.txt").write_bytes(long)
    (tmp_path / "packed.txt").write_bytes(gzip.compress(bytes(range(256)) * 100, 0))
    (tmp_path / "short.txt").write_bytes(b"short\n")
    plan = make_plan([str(tmp_path)], None, job_for(unit_bytes=10_000))
    assert [(source.name, source.can_be_cut) for source in plan.sources] == [
        ("packed.txt", False),
        ("plain.txt", True),
        ("short.txt", False),
    ]
    assert len(list(plan.units())) == 3
    assert plan.n_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    whole = make_plan([str(tmp_path)], None, job_for(unit_bytes=10_000, split="file"))
    assert not any(source.can_be_cut for source in whole.sources)


def test_parquet_is_cut_between_row_groups(tmp_path: Path, job_for: JobFor) -> None:
    table = pa.table({"text": [str(i) * 10 for i in range(1_000)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    plan = make_plan([str(tmp_path)], None, job_for(unit_bytes=4_200))
    slices = [piece for unit in plan.units() for piece in unit.slices]
    assert len(slices) > 1
    assert slices[0].start == 0
    assert slices[-1].end is None
    assert [piece.end for piece in slices[:-1]] == [piece.start for piece in slices[1:]]
    (tmp_path / "b.parquet").write_bytes(b"no parquet" * 1_000)
    assert make_plan([str(tmp_path / "b.parquet")], None, job_for()).sources[0].groups == ()


def test_names_are_below_what_all_have_in_common(tmp_path: Path, job: Job) -> None:
    for name in ("ab/x.txt", "ac/d/y.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("x")
    plan = make_plan([str(tmp_path / "ac"), str(tmp_path / "ab")], None, job)
    assert [source.name for source in plan.sources] == ["ab/x.txt", "ac/d/y.txt"]
    (source,) = make_plan([f"file://{tmp_path}/ab/x.txt"], None, job).sources
    assert source.name == "x.txt"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.JSONL.gz", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.conllu.xz", "conllu"),
        ("a.txt.zst", "text"),
        ("README", "text"),
    ],
)
def test_forms_go_by_names(name: str, form: str) -> None:
    assert form_of(name) == form


def test_a_form_can_be_asked_for(tmp_path: Path, job: Job) -> None:
    (tmp_path / "a.txt").write_text("{}")
    assert make_plan([str(tmp_path)], "jsonl", job).sources[0].form == "jsonl"


def test_a_plan_that_changed_is_refused(corpus: Path, tmp_path: Path, job_for: JobFor) -> None:
    output = tmp_path / "out"
    plan = make_plan([str(corpus)], None, job_for())
    save_plan(plan, output)
    save_plan(plan, output)
    moved = make_plan([str(corpus)], None, job_for(model="/elsewhere/en"))
    save_plan(moved, output)  # the same model at another place
    other = make_plan([str(corpus / "a.txt")], None, job_for(compression="zstd"))
    with pytest.raises(ConfigError, match=r"compression = 'xz', other inputs .*b.jsonl"):
        save_plan(other, output)
    old = msgspec.structs.replace(plan, headwise_version="0.0.1")
    (output / PLAN).write_bytes(msgspec.json.encode(old))
    with pytest.raises(ConfigError, match=r"begun with headwise 0\.0\.1"):
        save_plan(plan, output)
    (output / PLAN).write_text("{")
    with pytest.raises(DataError, match="no plan of this release"):
        save_plan(plan, output)


def test_a_folder_of_something_else_is_refused(corpus: Path, tmp_path: Path, job: Job) -> None:
    plan = make_plan([str(corpus)], None, job)
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ConfigError, match="there are files"):
        save_plan(plan, tmp_path)
    with pytest.raises(DataError, match="mine"):
        save_plan(plan, tmp_path / "mine" / "out")


def test_models_are_known_by_what_is_in_them(bundle: Bundle, tmp_path: Path) -> None:
    slim(bundle.path, tmp_path / "copy", "int8")
    from headwise.model.bundle import load_bundle

    copy = load_bundle(tmp_path / "copy")
    assert fingerprint(copy) == fingerprint(bundle)
    assert portable_name(MODELS_FOLDER / "en") == "en"
    assert portable_name(copy.path) == str(copy.path)
