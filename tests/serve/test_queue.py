import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.serve.limits import Refusal
from headwise.serve.queue import TURN_SECONDS, Turn, Work, Workers


def work(name: str, sizes: list[int], log: list[str] | None = None, seconds: float = 0.0) -> Work:
    for n_words in sizes:
        if log is not None:
            log.append(name)
        time.sleep(seconds)
        yield Turn(1, n_words, 0)
    return name.encode()


def blocked(event: threading.Event) -> Work:
    assert event.wait(10)
    yield Turn(1, 1, 0)
    return b"blocked"


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(1, max_words=100)
    yield made
    made.close()


def test_a_small_request_waits_for_one_turn_of_a_big_one(workers: Workers) -> None:
    event, log = threading.Event(), []
    first = workers.submit(blocked(event), 1, 10)
    big = workers.submit(work("big", [10] * 5, log, TURN_SECONDS), 50, 10)
    small = workers.submit(work("small", [1], log), 1, 10)
    event.set()
    assert [first.result(5), small.result(5), big.result(5)] == [b"blocked", b"small", b"big"]
    assert log == ["big", "small", "big", "big", "big", "big"]


def test_short_steps_are_done_in_one_turn(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.serve.queue.TURN_SECONDS", 60.0)  # on a busy machine too
    event, log = threading.Event(), []
    first = workers.submit(blocked(event), 1, 10)
    quick = workers.submit(work("quick", [1, 1], log), 2, 10)
    other = workers.submit(work("other", [1, 1], log), 2, 10)
    event.set()
    assert [first.result(5), quick.result(5), other.result(5)] == [b"blocked", b"quick", b"other"]
    assert log == ["quick", "quick", "other", "other"]


def test_what_does_not_fit_is_told_when_to_come_back(workers: Workers) -> None:
    event = threading.Event()
    waiting = workers.submit(blocked(event), 60, 10)
    with pytest.raises(Refusal) as refusal:
        workers.submit(work("more", [50]), 50, 10)
    assert refusal.value.status == 429
    assert 1 <= int(refusal.value.headers["retry-after"]) <= 60
    assert workers.submit(work("fits", [40]), 40, 10)
    event.set()
    waiting.result(5)


def test_what_is_larger_than_the_queue_is_taken_when_nothing_waits(workers: Workers) -> None:
    assert workers.submit(work("huge", [1_000]), 1_000, 10).result(5) == b"huge"


def test_room_grows_while_a_request_is_under_way(workers: Workers) -> None:
    event = threading.Event()

    def partly() -> Work:
        yield Turn(1, 80, 1)
        assert event.wait(10)
        return b"done"

    waiting = workers.submit(partly(), 90, 10)
    while workers.load().n_waiting_words > 10:
        pass
    assert workers.submit(work("next", [80]), 80, 10)
    event.set()
    assert waiting.result(5) == b"done"


def test_after_its_time_work_gets_no_more_turns(workers: Workers) -> None:
    closed = []

    def slow() -> Work:
        try:
            while True:
                yield Turn(1, 1, 0)
        finally:
            closed.append(True)

    with pytest.raises(Refusal, match="too long"):
        workers.submit(slow(), 1, 0.05).result(5)
    assert closed


def test_cancelled_work_is_dropped(workers: Workers) -> None:
    event = threading.Event()
    first = workers.submit(blocked(event), 1, 10)
    log: list[str] = []
    dropped = workers.submit(work("dropped", [1], log), 1, 10)
    assert dropped.cancel()
    event.set()
    first.result(5)
    workers.close()
    assert not log
    assert workers.load().n_waiting_words == workers.load().n_jobs == 0


def test_an_error_reaches_the_one_who_waits(workers: Workers) -> None:
    def broken() -> Work:
        yield Turn(1, 1, 0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        workers.submit(broken(), 1, 10).result(5)
    assert workers.submit(work("next", [1]), 1, 10).result(5) == b"next"


def test_closing_finishes_what_was_accepted() -> None:
    workers = Workers(2, max_words=1_000)
    answers = [workers.submit(work(str(i), [1] * 20), 20, 10) for i in range(20)]
    workers.close()
    assert [answer.result(0) for answer in answers] == [str(i).encode() for i in range(20)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 100)), max_size=12),
    st.integers(1, 3),
)
def test_everything_is_answered_and_nothing_waits_at_the_end(
    jobs: list[tuple[list[int], int]], n_threads: int
) -> None:
    workers = Workers(n_threads, max_words=10**6)
    answers = [
        workers.submit(work(str(i), sizes), guess, 10) for i, (sizes, guess) in enumerate(jobs)
    ]
    workers.close()
    assert [answer.result(0) for answer in answers] == [str(i).encode() for i in range(len(jobs))]
    load = workers.load()
    assert (load.n_jobs, load.n_waiting_words) == (0, 0)
    assert load.done.n_words == sum(sum(sizes) for sizes, _ in jobs)
