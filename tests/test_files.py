"""Files are read packed or not, and written whole or not at all."""

import gzip
import io
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from headwise.errors import DataError
from headwise.files import open_source, open_target, whole_file

TEXT = b"# a line\n" * 1000
UNPACK = {"": bytes, ".gz": gzip.decompress, ".xz": lzma.decompress}
COPY = """
from headwise.errors import DataError
from headwise.files import open_source, open_target
import os, sys
try:
    with open_source("-") as (stream, name), open_target("-") as target:
        target.write(name.encode() + b"|" + stream.read())
except DataError as error:
    sys.stderr.write(str(error))
    sys.stderr.flush()
    os._exit(1)
"""


@contextmanager
def files_end_at(n_bytes: int) -> Iterator[None]:
    """Let no file grow larger, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write(stream: BinaryIO, data: bytes, failure: BaseException | None = None) -> None:
    stream.write(data)
    if failure:
        raise failure


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_source_is_unpacked_by_its_first_bytes(
    pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    path = tmp_path / "no-suffix"
    path.write_bytes(pack(TEXT))
    mine = io.BytesIO(pack(TEXT))
    for source, expected in ((path, str(path)), (mine, "<stream>")):
        with open_source(source) as (stream, name):
            assert stream.read() == TEXT
        assert name == expected
        del stream
    assert not mine.closed


@pytest.mark.parametrize("data", [b"", b"\x1f", b"\xfd7zXZ", b"x"])
def test_a_source_shorter_than_a_magic_number_is_plain(data: bytes) -> None:
    with open_source(io.BytesIO(data)) as (stream, _):
        assert stream.read() == data


def test_a_stream_is_named_by_its_own_name_and_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(TEXT)
    for buffering in (0, -1):
        with path.open("rb", buffering=buffering) as mine:
            with open_source(mine) as (stream, name):
                assert stream.readline() == b"# a line\n"
            del stream
            assert not mine.closed
            assert name == str(path)


@pytest.mark.parametrize("n_good", [0, 1])
@pytest.mark.parametrize(
    "error", [OSError(5, "not this way"), io.UnsupportedOperation("not this way")]
)
def test_a_read_that_fails_is_a_data_error(error: OSError, n_good: int) -> None:
    class Broken(io.BytesIO):
        n_reads = 0

        def readinto(self, buffer: object) -> int:
            self.n_reads += 1
            if self.n_reads > n_good:
                raise error
            return super().readinto(buffer)  # type: ignore[arg-type]

    with (
        pytest.raises(DataError, match=r"^<stream>: not this way\nhint: "),
        open_source(Broken(TEXT)) as (stream, _),
    ):
        stream.read()


PADDED = {
    "gzip, two members": gzip.compress(TEXT) * 2,
    "gzip, zeros at the end": gzip.compress(TEXT * 2) + b"\0" * 5,
    "xz, two streams": lzma.compress(TEXT) * 2,
    "xz, zeros between": lzma.compress(TEXT) + b"\0" * 8 + lzma.compress(TEXT),
    "xz, zeros at the end": lzma.compress(TEXT * 2) + b"\0" * 4,
    "xz, many zeros": lzma.compress(TEXT) + b"\0" * 100_000 + lzma.compress(TEXT),
    "xz, an empty stream": lzma.compress(TEXT * 2) + lzma.compress(b""),
}
DAMAGED = {
    "gzip, cut": gzip.compress(TEXT)[:-9],
    "gzip, damaged inside": gzip.compress(TEXT)[:15] + b"\xff" + gzip.compress(TEXT)[16:],
    "xz, cut": lzma.compress(TEXT)[:-9],
    "gzip, garbage": gzip.compress(TEXT) + b"more",
    "gzip, second member cut": (gzip.compress(TEXT) * 2)[:-3],
    "xz, garbage": lzma.compress(TEXT) + b"more",
    "xz, garbage after zeros": lzma.compress(TEXT) + b"\0\0\0\0more",
    "xz, three zeros": lzma.compress(TEXT) + b"\0" * 3,
    "xz, second header damaged": lzma.compress(TEXT) + b"\xfe" + lzma.compress(TEXT)[1:],
    "xz, second stream cut": (lzma.compress(TEXT) * 2)[:-3],
    "xz, second header cut": lzma.compress(TEXT) + lzma.compress(TEXT)[:5],
}


@pytest.mark.parametrize("data", PADDED.values(), ids=PADDED)
def test_streams_in_a_row_and_padding_are_read(data: bytes) -> None:
    with open_source(io.BytesIO(data)) as (stream, _):
        assert stream.read() == TEXT * 2


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_damaged_data_is_refused(data: bytes) -> None:
    with (
        pytest.raises(DataError, match=r"^<stream>: compressed data is damaged: "),
        open_source(io.BytesIO(data)) as (stream, _),
    ):
        stream.read()


@pytest.mark.parametrize("suffix", UNPACK)
def test_a_target_is_packed_by_its_suffix_and_replaced_when_whole(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"out.conllu{suffix}"
    path.write_bytes(b"before")
    with open_target(str(path)) as stream:
        stream.write(TEXT)
        stream.flush()
        assert path.read_bytes() == b"before"
    assert UNPACK[suffix](path.read_bytes()) == TEXT
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", UNPACK)
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), DataError("bad", "in"), ValueError()])
def test_nothing_is_left_of_a_target_that_fails(
    suffix: str, failure: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"before")
    with pytest.raises(type(failure)) as raised, open_target(path) as stream:
        write(stream, TEXT, failure)
    assert raised.value is failure
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", UNPACK)
def test_a_full_disk_is_a_data_error_and_leaves_nothing(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{suffix}"
    noise = os.urandom(100_000)
    with (
        pytest.raises(DataError) as refusal,
        files_end_at(10_000),
        open_target(path) as stream,
    ):
        stream.write(noise)
    assert str(refusal.value) == f"{path}: File too large\nhint: nothing was written"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_packing_depends_on_neither_time_nor_name(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i, name in enumerate(("one", "another")):
        monkeypatch.setattr(time, "time", lambda seconds=1e9 * (i + 1): seconds)
        with open_target(tmp_path / f"{name}{suffix}") as stream:
            stream.write(TEXT)
    one, another = (path.read_bytes() for path in tmp_path.iterdir())
    assert one == another


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask_which_never_changes(
    umask: int, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(umask)
    try:
        with monkeypatch.context() as patch, whole_file(tmp_path / "out") as stream:
            patch.delattr(os, "umask")
            stream.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.touch()
    path.chmod(mode)
    with whole_file(path) as stream:
        stream.write(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_nobody_else_can_read_what_replaces_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "out"
    path.touch(0o600)
    with whole_file(path):
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {0o600}


def test_a_new_file_has_its_permissions_and_replaces_a_link(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    path.symlink_to(elsewhere)
    with whole_file(path, 0o600) as stream:
        stream.write(TEXT)
    assert (path.is_symlink(), elsewhere.exists()) == (False, False)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (TEXT, 0o600)


def test_a_process_that_is_killed_leaves_no_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "out"
    if (pid := os.fork()) == 0:
        with whole_file(path) as stream:
            stream.write(TEXT)
            stream.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    if hasattr(os, "O_TMPFILE"):
        assert os.listdir(tmp_path) == []


def test_a_file_has_a_temporary_name_where_it_must_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "out"
    with whole_file(path) as stream:
        stream.write(TEXT)
        (name,) = os.listdir(tmp_path)
        assert name.startswith(".out.")
    assert (os.listdir(tmp_path), path.read_bytes()) == (["out"], TEXT)
    with pytest.raises(ValueError), whole_file(path):
        raise ValueError
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_gets_its_name_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to rename an open file, and Python 3.11 has no fchmod there."""
    for name in ("O_TMPFILE", "fchmod"):
        monkeypatch.delattr(os, name, raising=False)
    rename, written = os.replace, []

    def refuse_open(source: Path, target: Path) -> None:
        assert written[0].closed
        rename(source, target)

    path = tmp_path / "out"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", refuse_open)
    with whole_file(path) as stream:
        written.append(stream)
        stream.write(TEXT)
    assert (os.listdir(tmp_path), path.read_bytes()) == (["out"], TEXT)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("folder") / "file")
    with open_target(link) as stream:
        stream.write(TEXT)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == TEXT
    assert os.listdir(tmp_path / "folder") == ["file"]


@pytest.mark.parametrize("open_path", [open_source, open_target])
@pytest.mark.parametrize(("name", "what"), [("no/out", "No such file"), ("dir", "Is a dir")])
def test_a_path_that_cannot_be_is_refused(open_path, name: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    with (
        pytest.raises(DataError, match=f"^{tmp_path / name}: {what}.*\nhint: "),
        open_path(tmp_path / name),
    ):
        pass
    assert os.listdir(tmp_path) == ["dir"]


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), EOFError("none left")])
def test_errors_of_the_code_that_uses_a_file_pass_through(error: Exception, tmp_path: Path) -> None:
    for opened in (open_target(tmp_path / "out"), open_source(io.BytesIO(TEXT))):
        with pytest.raises(type(error)) as raised, opened:
            raise error
        assert raised.value is error
    assert os.listdir(tmp_path) == []


def test_a_pipe_is_written_and_not_replaced_and_may_break(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open_target(path) as stream:
        stream.write(b"through")
    assert os.read(reader, 100) == b"through"
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(BrokenPipeError), open_target(path) as stream, os.fdopen(reader):
        stream.write(b"lost")


@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_a_dash_is_stdin_and_stdout(pack) -> None:
    command = [sys.executable, "-c", COPY]
    ran = subprocess.run(command, input=pack(TEXT), capture_output=True, check=True)
    assert ran.stdout == b"<stdin>|" + TEXT
    assert ran.stderr == b""


def test_stdout_is_flushed_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    under = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(under)))  # type: ignore[arg-type]
    with open_target("-") as stream:
        stream.write(b"short")
    assert under.getvalue() == b"short"
    assert not stream.closed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_is_a_data_error() -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-c", COPY]
        pipe = subprocess.PIPE
        ran = subprocess.run(command, input=TEXT, stdout=full, stderr=pipe, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"<stdout>: No space left on device\nhint: ")
