import gzip
import io
import lzma
import os
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyarrow import fs

from headwise.corpus.storage import DamagedError, is_compressed, list_inputs, open_at
from headwise.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.txt", "b/c.txt", "b/d.jsonl", "b/.hidden", "_records/1.json", "b/_x/y.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(name)
    return tmp_path


def names(folder: Path, *inputs: str) -> list[str]:
    return [str(Path(found.path).relative_to(folder)) for found in list_inputs(inputs)]


def test_files_folders_and_patterns(folder: Path) -> None:
    assert names(folder, str(folder)) == ["a.txt", "b/c.txt", "b/d.jsonl"]
    assert names(folder, f"{folder}/b/d.jsonl", f"{folder}/a.txt") == ["a.txt", "b/d.jsonl"]
    assert names(folder, f"{folder}/*.txt") == ["a.txt"]
    assert names(folder, f"{folder}/**/*.txt", f"{folder}/a.txt") == ["a.txt", "b/c.txt"]
    assert names(folder, f"{folder}/**") == ["a.txt", "b/c.txt", "b/d.jsonl"]
    assert names(folder, f"{folder}/?/[cd].*") == ["b/c.txt", "b/d.jsonl"]
    assert names(folder, f"{folder}/b/[!c].jsonl") == ["b/d.jsonl"]
    (folder / "a[1].txt").write_text("x")
    assert names(folder, f"{folder}/a[1].txt") == ["a[1].txt"]  # a name first, then a pattern
    (found,) = list_inputs([f"{folder}/a.txt"])
    assert found.size == 5
    assert found.modified == os.stat(folder / "a.txt").st_mtime_ns


def test_inputs_that_do_not_exist(folder: Path) -> None:
    for given, message in {
        f"{folder}/missing.txt": "No such file",
        f"{folder}/*.csv": "no files here",
        f"{folder}/nowhere/*.txt": "no files here",
        f"{folder}/a**b": "can only be an entire path component",
        "gopher://somewhere/file": "Protocol not known",
    }.items():
        with pytest.raises(DataError, match=message):
            list_inputs([given])


def test_uris(folder: Path) -> None:
    (found,) = list_inputs([f"file://{folder}/a.txt"])
    assert found.path == f"file://{folder}/a.txt"
    with open_at(found.path, 0) as stream:
        assert stream.read() == b"a.txt"
    below = list_inputs([f"file://{folder}/b/"])
    assert [file.path for file in below] == [f"file://{folder}/b/{n}" for n in ("c.txt", "d.jsonl")]
    memory = fsspec.filesystem("memory")
    memory.pipe("/corpus/one.txt", b"one\ntwo\n")
    memory.pipe("/corpus/two.txt", gzip.compress(b"three\n"))
    one, two = list_inputs(["memory://corpus"])
    assert (one.path, one.size) == ("memory://corpus/one.txt", 8)
    with open_at(one.path, 4) as stream:
        assert stream.read() == b"two\n"
    with open_at(two.path, 0) as stream:
        assert stream.readline() == b"three\n"
    assert [found.path for found in list_inputs(["memory://corpus/t*.txt"])] == [two.path]
    memory.rm("/corpus", recursive=True)


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstd, lambda data: data * 2])
def test_compression_is_known_by_the_first_bytes(tmp_path: Path, compress) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "data"
    data = b"line\n" * 10_000
    path.write_bytes(compress(data) * 2)
    assert is_compressed(str(path)) == (not path.read_bytes().startswith(b"line"))
    with open_at(str(path), 0) as stream:
        read = stream.read()
    assert set(read.split(b"\n")) == {b"line", b""}
    assert len(read) in (2 * len(data), 4 * len(data))


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstd])
@pytest.mark.parametrize("kind", ["cut", "changed", "trailing"])
def test_damaged_data_is_an_error_of_its_own(tmp_path: Path, compress, kind: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "data"
    data = compress("".join(f"{i * i}\n" for i in range(50_000)).encode())
    middle = len(data) // 2
    changed = data[:middle] + b"\xff" * 400 + data[middle + 400 :]
    damaged = {"cut": data[:-20], "changed": changed, "trailing": data + b"more data"}
    path.write_bytes(damaged[kind])
    with pytest.raises(DamagedError, match=f"{path}: .*damaged"), open_at(str(path), 0) as stream:
        list(stream)


def test_a_missing_file_is_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file") as caught, open_at(f"{tmp_path}/x", 0):
        pass
    assert not isinstance(caught.value, DamagedError)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_failed_read_is_not_damage(compress, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    class FailingFile(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 40_000:
                raise OSError(5, "Input/output error")
            return super().read(min(size or 0, 30_000))

    class FailingSystem(fs.LocalFileSystem):  # type: ignore[misc]
        def open_input_file(self, path: str) -> pa.NativeFile:
            return pa.PythonFile(FailingFile(compress(os.urandom(100_000))), "r")

    monkeypatch.setattr("headwise.corpus.storage._locate", lambda path: (FailingSystem(), path))
    with pytest.raises(DataError, match="Input/output") as caught, open_at("a", 0) as stream:
        stream.read()
    assert not isinstance(caught.value, DamagedError)
