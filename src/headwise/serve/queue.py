"""Work in turns: a big request goes to the back of the queue after each of its turns.

A piece of work is a generator: each `next` parses some sentences, and its return value is the
answer. A turn is one such step, or several short ones. So a small request waits for one turn of
each request before it, never for the whole of a big one, and is itself done in a single turn. How
much may wait is bounded in words.
"""

import math
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Condition
from typing import NamedTuple

from headwise.serve.limits import Refusal, soon

LONGEST_WAIT = 60
"""Seconds after which whoever was turned away is asked to come back at the latest."""
TURN_SECONDS = 0.01
"""A turn goes on for as long: going to the back of the queue costs a switch between threads."""
_FADING = 0.9
"""Weight of what is known of the speed against the newest step."""


class Turn(NamedTuple):
    """What was done in a turn."""

    n_sentences: int
    n_words: int
    n_repaired: int
    """Sentences whose greedy heads were no tree."""


class Load(NamedTuple):
    """How things stand: what waits or is under way, and what was done since the start."""

    n_jobs: int
    n_waiting_words: int
    done: Turn


Work = Generator[Turn, None, bytes]


@dataclass(slots=True, eq=False)
class _Job:
    work: Work
    n_words: int
    """Words that are still to be parsed, as far as was known when it came."""
    deadline: float
    answer: "Future[bytes]"


class Workers:
    """Threads that take turns at all the work there is."""

    def __init__(self, n_threads: int, max_words: int) -> None:
        """Start with nothing to do."""
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="headwise")
        self._n_threads = n_threads
        self._max_words = max_words
        self._changed = Condition()
        self._n_jobs = self._n_waiting = 0
        self._done = Turn(0, 0, 0)
        self._words_per_second = 1_000.0  # a guess until the first turn

    def submit(self, work: Work, n_words: int, seconds: float) -> "Future[bytes]":
        """Accept work of about `n_words`; refuse it where too much waits already.

        Work that is larger than the queue is accepted when nothing else is there. After `seconds`
        it gets no more turns. Cancelling the future drops it.
        """
        with self._changed:
            if self._n_jobs and self._n_waiting + n_words > self._max_words:
                raise Refusal(
                    429, "too much is waiting already", "try again later", soon(self._wait())
                )
            self._n_jobs += 1
            self._n_waiting += n_words
        job = _Job(work, n_words, time.monotonic() + seconds, Future())
        self._pool.submit(self._take_turn, job)
        return job.answer

    def load(self) -> Load:
        """Look how things stand."""
        with self._changed:
            return Load(self._n_jobs, self._n_waiting, self._done)

    def close(self) -> None:
        """Finish all that was accepted, then stop."""
        with self._changed:
            self._changed.wait_for(lambda: not self._n_jobs)
        self._pool.shutdown()

    def _wait(self) -> int:
        seconds = self._n_waiting / (self._words_per_second * self._n_threads)
        return min(max(math.ceil(seconds), 1), LONGEST_WAIT)

    def _take_turn(self, job: _Job) -> None:
        """Do one turn, and queue up for the next; whatever goes wrong goes to the one who waits."""
        started = time.monotonic()
        if job.answer.cancelled() or started > job.deadline:
            job.work.close()
            self._end(job, error=Refusal(503, "it took too long", "send less at a time", soon()))
            return
        try:
            self._step_until(job, started + TURN_SECONDS)
        except StopIteration as end:
            self._end(job, result=end.value)
        except Exception as error:
            self._end(job, error=error)
        else:
            self._pool.submit(self._take_turn, job)

    def _step_until(self, job: _Job, end: float) -> None:
        now = time.monotonic()
        while True:
            step, before = next(job.work), now
            now = time.monotonic()
            self._count(job, step, now - before)
            if now >= end:
                return

    def _count(self, job: _Job, turn: Turn, seconds: float) -> None:
        with self._changed:
            fewer = min(turn.n_words, job.n_words)
            job.n_words -= fewer
            self._n_waiting -= fewer
            self._done = Turn(*map(sum, zip(self._done, turn, strict=True)))
            newest = turn.n_words / max(seconds, 1e-6)
            self._words_per_second += (1 - _FADING) * (newest - self._words_per_second)

    def _end(self, job: _Job, result: bytes | None = None, error: Exception | None = None) -> None:
        with self._changed:  # before the answer, so that whoever has it finds the job gone
            self._n_jobs -= 1
            self._n_waiting -= job.n_words
            self._changed.notify_all()
        if job.answer.set_running_or_notify_cancel():
            if error is None:
                assert result is not None
                job.answer.set_result(result)
            else:
                job.answer.set_exception(error)
