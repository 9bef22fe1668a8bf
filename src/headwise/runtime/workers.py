"""Work that several processes share, in order: bytes in, bytes out.

Python runs one thread at a time, so threads wait for each other wherever no library is at work.
Processes do not. They are forked from one that has loaded what they need, and share its memory as
long as nobody writes to it; between them go bytes and nothing else.

    parent -> child   an item, or its end
    child -> parent   what `work` makes of it, or why it could not, as JSON
"""

import multiprocessing
import multiprocessing.popen_fork  # which it would import in the middle of things
import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue

import msgspec

from headwise.errors import ConfigError, HeadwiseError
from headwise.grouping import defer_exception

Work = Callable[[bytes], bytes]
DONE, FAILED = b"+", b"-"
SECONDS_TO_END = 5.0


class Failure(msgspec.Struct, frozen=True):
    """What went wrong in a child, in the words of a `HeadwiseError`."""

    what: str
    hint: str | None = None

    @classmethod
    def of(cls, error: HeadwiseError) -> "Failure":
        """Take the words of an error, in a form that can be sent."""
        return cls(as_utf8(error.what), None if error.hint is None else as_utf8(error.hint))


class FileLock:
    """A lock between forked processes, of one thread each; it is free again when its holder dies.

    That is why it is one of the kernel's, on a file that nobody else can see.
    """

    def __init__(self) -> None:
        """Make the file."""
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            raise HeadwiseError(f"no temporary file: {error.strerror}") from error

    def __enter__(self) -> None:
        """Wait for it."""
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Let the next one have it."""
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def as_utf8(text: str) -> str:
    """Write what is no Unicode, as in some names of files, in a form that can be sent."""
    return text.encode("utf-8", "backslashreplace").decode()


def require_fork() -> None:
    """Refuse a system on which processes cannot share what was loaded."""
    if not hasattr(os, "fork"):
        raise ConfigError("--processes: this system cannot fork", "use --threads")


def map_in_processes(work: Work, items: Iterable[bytes], n_processes: int) -> Iterator[bytes]:
    """Do `work` on each item in one of so many processes; the answers come in the order of items.

    No more than a few items are on their way at a time. A process that dies ends it all with an
    error, and so does an error of the work or of the items, at its place in the order.
    """
    with ExitStack() as stack:
        children = _fork(work, n_processes, stack)
        idle: SimpleQueue[_Child] = SimpleQueue()
        for child in children:
            idle.put(child)

        def ask(item: bytes) -> bytes:
            child = idle.get()
            try:
                return child.ask(item)
            finally:
                idle.put(child)

        pool = stack.enter_context(ThreadPoolExecutor(n_processes))
        pending: deque[Future[bytes]] = deque()
        errors: list[Exception] = []
        try:
            for item in defer_exception(items, errors):
                pending.append(pool.submit(ask, item))
                if len(pending) > 2 * n_processes:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
            if errors:
                raise errors[0]
        except BaseException:
            for child in children:  # whoever waits for one is woken
                child.stop()
            raise


class _Child:
    """The parent's side of a process."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self._process, self._connection = process, connection

    def ask(self, item: bytes) -> bytes:
        """Have one item done."""
        try:
            self._connection.send_bytes(item)
            answer = self._connection.recv_bytes()
        except (EOFError, OSError):
            self._process.join(SECONDS_TO_END)
            code = self._process.exitcode
            what = f"one of the processes ended before its work, with code {code}"
            is_killed = code is None or code < 0
            hint = "is there memory enough? try fewer --processes" if is_killed else None
            raise HeadwiseError(what, hint) from None
        if answer.startswith(DONE):
            return answer.removeprefix(DONE)
        failure = msgspec.json.decode(answer.removeprefix(FAILED), type=Failure)
        raise HeadwiseError(failure.what, failure.hint)

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self._process.terminate()

    def let_go(self) -> None:
        """Let the process know that there is no more; it then ends by itself."""
        self._connection.close()

    def wait(self) -> None:
        """Wait for its end."""
        self._process.join(SECONDS_TO_END)


def _end(children: list[_Child]) -> None:
    """End all, each while the others do."""
    for child in children:
        child.let_go()
    for child in children:
        child.wait()


def _fork(work: Work, n_processes: int, stack: ExitStack) -> list[_Child]:
    """Start the processes, before there is any other thread."""
    context = multiprocessing.get_context("fork")
    children: list[_Child] = []
    stack.callback(_end, children)
    ours: list[Connection] = []
    for _ in range(n_processes):
        try:
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_serve, args=(work, there, tuple(ours)), daemon=True)
            process.start()
        except OSError as error:
            what = f"process {len(children) + 1} of {n_processes} does not start: {error.strerror}"
            raise HeadwiseError(what, "try fewer --processes") from error
        there.close()
        children.append(_Child(process, here))
    return children


def _serve(work: Work, connection: Connection, not_ours: tuple[Connection, ...]) -> None:
    """Be the child: answer until the parent lets go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and has nothing to tidy up here
    for other in not_ours:
        other.close()  # or nobody would see that the parent is gone
    while True:
        try:
            item = connection.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = DONE + work(item)
        except HeadwiseError as error:
            answer = FAILED + msgspec.json.encode(Failure.of(error))
        try:
            connection.send_bytes(answer)
        except OSError:
            return
