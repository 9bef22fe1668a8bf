"""A function applied to a stream by several forked processes, in order: bytes in, bytes out.

Python runs one thread at a time, so threads wait for each other except inside libraries.
Processes do not. They are forked from a parent that has loaded the model, and share its memory as
long as no process writes to it; only bytes are sent between them.

    parent -> child   an item, or the end of the stream
    child -> parent   the result of `work`, or the error as JSON
"""

import multiprocessing
import multiprocessing.popen_fork  # or it would be imported while signals may arrive
import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue

import msgspec

from headwise.errors import ConfigError, HeadwiseError, explain_shortage
from headwise.grouping import defer_exception

Work = Callable[[bytes], bytes]
DONE, FAILED = b"+", b"-"
SECONDS_TO_END = 5.0
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Failure(msgspec.Struct, frozen=True):
    """The message of a `HeadwiseError` that was raised in a child."""

    what: str
    hint: str | None = None


class FileLock:
    """A lock between forked processes of one thread each; it is released if its holder dies.

    So it is a lock of the kernel, on a file without a name.
    """

    def __init__(self) -> None:
        """Create the file."""
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            hint = "check the room there, and the limit of open files (ulimit -n)"
            raise HeadwiseError(f"no temporary file: {error.strerror}", hint) from error

    def __enter__(self) -> None:
        """Wait for the lock."""
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def require_fork() -> None:
    """Raise an error on a system where processes cannot share a loaded model."""
    if not hasattr(os, "fork"):
        raise ConfigError("--processes: this system cannot fork", "use --threads")


def map_in_processes(work: Work, items: Iterable[bytes], n_processes: int) -> Iterator[bytes]:
    """Apply `work` to each item in one of `n_processes`; the results keep the order of the items.

    Only a few items are in flight at a time. If a process dies, an error is raised. An error of the
    work or of the items is raised after all results that come before it.
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
            # Wakes the threads that wait for them. A child that has just started may lose SIGTERM.
            for child in children:
                child.process.kill()
            raise


@dataclass(frozen=True, slots=True)
class _Child:
    """A child process, as the parent sees it; it ends when its connection is closed."""

    process: BaseProcess
    connection: Connection

    def ask(self, item: bytes) -> bytes:
        """Send one item and wait for its result."""
        try:
            self.connection.send_bytes(item)
            answer = self.connection.recv_bytes()
        except (EOFError, OSError):
            self.process.join(SECONDS_TO_END)
            code = self.process.exitcode
            what = f"a process ended early, with code {code}"
            is_killed = code is None or code < 0
            hint = "is there enough memory? try fewer --processes" if is_killed else None
            raise HeadwiseError(what, hint) from None
        if answer.startswith(DONE):
            return answer.removeprefix(DONE)
        failure = msgspec.json.decode(answer.removeprefix(FAILED), type=Failure)
        raise HeadwiseError(failure.what, failure.hint)


def _end(children: list[_Child]) -> None:
    """End all children at the same time."""
    for child in children:
        child.connection.close()
    for child in children:
        child.process.join(SECONDS_TO_END)


def _fork(work: Work, n_processes: int, stack: ExitStack) -> list[_Child]:
    """Start the processes, while this one still has a single thread."""
    context = multiprocessing.get_context("fork")
    children: list[_Child] = []
    stack.callback(_end, children)
    ours: list[Connection] = []
    for _ in range(n_processes):
        try:
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_serve, args=(work, there, tuple(ours)), daemon=True)
            with _signals_held():
                process.start()
        except OSError as error:
            what = f"process {len(children) + 1} of {n_processes} cannot start: {error.strerror}"
            raise HeadwiseError(what, "try fewer --processes") from error
        there.close()
        children.append(_Child(process, here))
    return children


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait; Python swallows one that arrives while it forks, and shows a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Work, connection: Connection, not_ours: tuple[Connection, ...]) -> None:
    """Run the child: answer until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a child has nothing to clean up
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING_SIGNALS)
    for other in not_ours:
        other.close()  # or no child would notice that the parent is gone
    while True:
        try:
            item = connection.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = DONE + work(item)
        except Exception as error:
            explained = explain_shortage(error) or error
            if not isinstance(explained, HeadwiseError):
                raise
            answer = FAILED + msgspec.json.encode(Failure(explained.what, explained.hint))
        try:
            connection.send_bytes(answer)
        except OSError:
            return
