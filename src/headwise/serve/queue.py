"""Work in small steps: a big request goes to the back of the queue after each of its turns.

The answer to a request is a generator: each `next` parses some sentences, and its return value is
the response. A turn is one step, or several short ones. So a small request waits for one turn of
each request before it, never for the whole of a big one.

A step that takes long, such as Eisner's algorithm on a sentence of 1,500 words, cannot be stopped
midway. The generator announces it by its cost, and it runs in a lane of its own, with its own
threads and its own limit: it never keeps a thread, or room in the queue, from the other requests.
"""

import math
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Condition
from typing import NamedTuple

from headwise.errors import explain_shortage
from headwise.serve.metrics import Metrics
from headwise.serve.requests import Refusal, retry_after

TURN_SECONDS = 0.01
"""How long a turn goes on: going to the back of the queue costs a switch between threads."""
LIGHT_COST = 500
"""A step that costs more, in words, runs in the lane for heavy work: a tenth of a second or so."""
_MAX_RETRY_SECONDS = 60
_DECAY = 0.9
"""Weight of the speed measured so far against that of the newest step."""


class StepResult(NamedTuple):
    """What a step has done, and what the next one costs."""

    n_sentences: int = 0
    n_words: int = 0
    n_repaired: int = 0
    """Sentences whose greedy heads were not a tree."""
    next_cost: int = 0
    """Of the next step, in words; 0 for an ordinary one."""


AnswerSteps = Generator[StepResult, None, bytes]


class _Lane:
    """Threads, and the jobs that wait for them or run on them."""

    def __init__(self, name: str, n_threads: int, max_cost: int) -> None:
        self.pool = ThreadPoolExecutor(n_threads, thread_name_prefix=f"headwise-{name}")
        self.n_threads = n_threads
        self.max_cost = max_cost
        self.n_jobs = self.cost = 0
        self.speed = 1_000.0
        """Words a second and thread; a guess until the first step."""
        # All threads start now: a job would be lost if there were no memory for one later.
        barrier = Barrier(n_threads + 1)
        for _ in range(n_threads):
            self.pool.submit(barrier.wait)
        barrier.wait()

    def require_room(self, cost: int) -> None:
        """Refuse work that does not fit, unless there is no other."""
        if self.n_jobs and self.cost + cost > self.max_cost:
            seconds = math.ceil(self.cost / (self.speed * self.n_threads))
            headers = retry_after(min(max(seconds, 1), _MAX_RETRY_SECONDS))
            raise Refusal(429, "too much work is waiting already", "try again later", headers)


@dataclass(slots=True, eq=False)
class _Job:
    steps: AnswerSteps
    lane: _Lane
    n_words: int
    """Words that are still to be parsed, as far as was known when it came."""
    cost: int
    """What it adds to the cost of its lane."""
    deadline: float
    response: "Future[bytes]"


class Workers:
    """Threads that take turns at all the work there is."""

    def __init__(
        self,
        n_threads: int,
        max_words: int,
        metrics: Metrics,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        """Start with nothing to do; each lane accepts work of up to `max_words`."""
        self._turn_seconds = turn_seconds
        self._light = _Lane("light", n_threads, max_words)
        self._heavy = _Lane("heavy", max(1, n_threads // 2), max_words)
        self._metrics = metrics
        self._changed = Condition()

    @property
    def n_jobs(self) -> int:
        """Requests that wait or are under way."""
        return self._light.n_jobs + self._heavy.n_jobs

    def submit(self, steps: AnswerSteps, n_words: int, seconds: float) -> "Future[bytes]":
        """Accept work of about `n_words`; refuse it if too much is waiting already.

        Work that is larger than the queue is heavy, and is accepted if there is no other heavy
        work. After `seconds` it gets no more turns. Cancelling the future drops it.
        """
        lane = self._light if n_words <= self._light.max_cost else self._heavy
        job = _Job(steps, lane, n_words, n_words, time.monotonic() + seconds, Future())
        with self._changed:
            lane.require_room(n_words)
            self._add(job, 1)
        lane.pool.submit(self._take_turn, job)
        return job.response

    def close(self) -> None:
        """Finish all that was accepted, then stop."""
        with self._changed:
            self._changed.wait_for(lambda: not self.n_jobs)
        self._light.pool.shutdown()
        self._heavy.pool.shutdown()

    def _add(self, job: _Job, sign: int) -> None:
        """Add a job to the load of its lane, or take it away."""
        job.lane.n_jobs += sign
        job.lane.cost += sign * job.cost
        self._metrics.jobs.set(self.n_jobs)
        self._metrics.queue_words.set(self._light.cost + self._heavy.cost)

    def _take_turn(self, job: _Job) -> None:
        """Take one turn and queue up for the next; any error goes to the future."""
        started = time.monotonic()
        if job.response.cancelled() or started > job.deadline:
            job.steps.close()
            self._end(job, error=too_slow())
            return
        try:
            next_cost = self._step_until(job, started + self._turn_seconds)
            self._choose_lane(job, next_cost)
        except StopIteration as end:
            self._end(job, response=end.value)
        except Exception as error:
            self._end(job, error=error if explain_shortage(error) is None else no_memory())
        else:
            job.lane.pool.submit(self._take_turn, job)

    def _step_until(self, job: _Job, end: float) -> int:
        """Do steps until time is up or the next step is heavy; return the cost of that."""
        now = time.monotonic()
        while True:
            result, before = next(job.steps), now
            now = time.monotonic()
            self._count(job, result, now - before)
            if now >= end or result.next_cost > LIGHT_COST:
                return result.next_cost

    def _choose_lane(self, job: _Job, next_cost: int) -> None:
        is_heavy = next_cost > LIGHT_COST or job.n_words > self._light.max_cost
        lane = self._heavy if is_heavy else self._light
        if lane is job.lane is self._light:
            return
        with self._changed:
            cost = next_cost if next_cost > LIGHT_COST else job.n_words
            if lane is not job.lane and is_heavy:
                lane.require_room(cost)
            self._add(job, -1)
            job.lane, job.cost = lane, cost
            self._add(job, 1)

    def _count(self, job: _Job, result: StepResult, seconds: float) -> None:
        self._metrics.sentences.inc(result.n_sentences)
        self._metrics.words.inc(result.n_words)
        self._metrics.repaired.inc(result.n_repaired)
        with self._changed:
            lane = job.lane
            cost = max(result.n_words, job.cost if lane is self._heavy else 0)
            if cost:
                lane.speed += (1 - _DECAY) * (cost / max(seconds, 1e-6) - lane.speed)
            n_done = min(result.n_words, job.n_words)
            job.n_words -= n_done
            n_less = min(n_done, job.cost)
            job.cost -= n_less
            lane.cost -= n_less

    def _end(
        self, job: _Job, response: bytes | None = None, error: Exception | None = None
    ) -> None:
        with self._changed:  # before the response, so that the job is gone when it arrives
            self._add(job, -1)
            self._changed.notify_all()
        if job.response.set_running_or_notify_cancel():
            if error is None:
                assert response is not None
                job.response.set_result(response)
            else:
                job.response.set_exception(error)


def no_memory() -> Refusal:
    """Make the refusal of a request for which memory or file descriptors do not suffice."""
    what = "the server does not have enough memory for this now"
    return Refusal(503, what, "send less at a time", retry_after())


def too_slow() -> Refusal:
    """Make the refusal of a request whose time is up."""
    return Refusal(503, "the answer took too long", "send less at a time", retry_after())
