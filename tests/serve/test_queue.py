import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.serve.metrics import Metrics
from headwise.serve.queue import LIGHT_COST, TURN_SECONDS, AnswerSteps, StepResult, Workers
from headwise.serve.requests import Refusal


def steps(
    name: str, sizes: list[int], log: list[str] | None = None, seconds: float = 0.0
) -> AnswerSteps:
    for n_words in sizes:
        if log is not None:
            log.append(name)
        time.sleep(seconds)
        yield StepResult(1, n_words)
    return name.encode()


def blocked(event: threading.Event, cost: int = 0) -> AnswerSteps:
    if cost:
        yield StepResult(next_cost=cost)
    assert event.wait(10)
    yield StepResult(1, 1)
    return b"blocked"


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(())


@pytest.fixture
def workers(metrics: Metrics) -> Iterator[Workers]:
    made = Workers(1, max_words=100, metrics=metrics)
    yield made
    made.close()


def waiting_words(metrics: Metrics) -> float:
    (family,) = metrics.queue_words.collect()
    return family.samples[0].value


def test_a_small_request_waits_for_one_turn_of_a_big_one(workers: Workers) -> None:
    event, log = threading.Event(), []
    first = workers.submit(blocked(event), 1, 10)
    big = workers.submit(steps("big", [10] * 5, log, TURN_SECONDS), 50, 10)
    small = workers.submit(steps("small", [1], log), 1, 10)
    event.set()
    assert [first.result(5), small.result(5), big.result(5)] == [b"blocked", b"small", b"big"]
    assert log == ["big", "small", "big", "big", "big", "big"]


def test_short_steps_are_done_in_one_turn(metrics: Metrics) -> None:
    workers = Workers(1, 100, metrics, turn_seconds=60.0)  # on a busy machine too
    event, log = threading.Event(), []
    first = workers.submit(blocked(event), 1, 10)
    quick = workers.submit(steps("quick", [1, 1], log), 2, 10)
    other = workers.submit(steps("other", [1, 1], log), 2, 10)
    event.set()
    assert [first.result(5), quick.result(5), other.result(5)] == [b"blocked", b"quick", b"other"]
    assert log == ["quick", "quick", "other", "other"]
    workers.close()


def test_what_does_not_fit_is_refused_with_a_time_to_try_again(workers: Workers) -> None:
    event = threading.Event()
    done = threading.Event()

    def partly() -> AnswerSteps:
        yield StepResult(1, 20, 1)
        done.set()
        assert event.wait(10)
        raise ValueError("broken")

    waiting = workers.submit(partly(), 80, 10)
    assert done.wait(5)
    with pytest.raises(Refusal) as refusal:
        workers.submit(steps("more", [50]), 50, 10)
    assert refusal.value.status == 429
    assert 1 <= int(refusal.value.headers["retry-after"]) <= 60
    fits = workers.submit(steps("fits", [40]), 40, 10)
    event.set()
    with pytest.raises(ValueError, match="broken"):
        waiting.result(5)
    assert fits.result(5) == b"fits"


def test_heavy_steps_leave_threads_and_room_to_the_others(metrics: Metrics) -> None:
    workers = Workers(1, max_words=2 * LIGHT_COST, metrics=metrics)
    event = threading.Event()
    heavy = workers.submit(blocked(event, LIGHT_COST + 1), 10, 10)
    second = workers.submit(blocked(event, LIGHT_COST + 1), 10, 10)
    with pytest.raises(Refusal, match="too much work"):
        second.result(5)
    huge = workers.submit(steps("huge", [1]), LIGHT_COST // 2, 10)
    assert huge.result(5) == b"huge"
    assert not heavy.done()
    event.set()
    assert heavy.result(5) == b"blocked"
    workers.close()
    assert waiting_words(metrics) == workers.n_jobs == 0


def test_work_larger_than_the_queue_is_taken_if_nothing_heavy_waits(workers: Workers) -> None:
    event = threading.Event()
    large = workers.submit(blocked(event), 1_000, 10)
    with pytest.raises(Refusal):
        workers.submit(steps("larger", [1_000]), 1_000, 10)
    assert workers.submit(steps("small", [1]), 1, 10).result(5) == b"small"
    event.set()
    assert large.result(5) == b"blocked"
    assert workers.submit(steps("huge", [500] * 3), 1_500, 10).result(5) == b"huge"


def test_work_gets_no_more_turns_when_its_time_is_up(workers: Workers) -> None:
    closed = []

    def slow() -> AnswerSteps:
        try:
            while True:
                yield StepResult(1, 1)
        finally:
            closed.append(True)

    with pytest.raises(Refusal, match="too long"):
        workers.submit(slow(), 1, 0.05).result(5)
    assert closed


def test_cancelled_work_is_dropped(workers: Workers, metrics: Metrics) -> None:
    event = threading.Event()
    first = workers.submit(blocked(event), 1, 10)
    log: list[str] = []
    dropped = workers.submit(steps("dropped", [1], log), 1, 10)
    assert dropped.cancel()
    event.set()
    first.result(5)
    workers.close()
    assert not log
    assert waiting_words(metrics) == workers.n_jobs == 0


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 100)), max_size=12),
    st.integers(1, 3),
)
def test_closing_answers_everything_that_was_accepted(
    jobs: list[tuple[list[int], int]], n_threads: int
) -> None:
    metrics = Metrics(())
    workers = Workers(n_threads, max_words=10**6, metrics=metrics)
    answers = [
        workers.submit(steps(str(i), sizes), guess, 10) for i, (sizes, guess) in enumerate(jobs)
    ]
    workers.close()
    assert [answer.result(0) for answer in answers] == [str(i).encode() for i in range(len(jobs))]
    assert (workers.n_jobs, waiting_words(metrics)) == (0, 0)
    (family,) = metrics.words.collect()
    assert family.samples[0].value == sum(sum(sizes) for sizes, _ in jobs)
