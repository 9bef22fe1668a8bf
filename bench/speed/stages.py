"""Measure where the time of one thread goes: read, segment, look up, represent, select, decode, ...

Each step is a function or method of headwise, wrapped here with a stopwatch that counts CPU
time. A step includes the functions it calls, except those that are steps themselves. It runs in
its own process, because garbage collection is slow in a large one.

python -m bench.speed.stages MODEL FILE conllu|text
"""

import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import headwise
from headwise.runtime import parser as parsing
from headwise.runtime import scorer as scoring
from headwise.runtime.parser import Parser
from headwise.settings.choices import Input
from headwise.text.read import read_any
from headwise.treebank.conllu import Malformed
from headwise.treebank.sentence import Sentence

ORDER = ("read", "segment", "look up", "represent", "select", "decode", "label", "write", "other")


class Stopwatch:
    """Sums CPU seconds by step; an inner step pauses the outer one."""

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running = ["other"]
        self._since = time.process_time()

    def enter(self, step: str) -> None:
        """Start a step."""
        self._switch()
        self._running.append(step)

    def leave(self) -> None:
        """End it."""
        self._switch()
        self._running.pop()

    def _switch(self) -> None:
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def wrap(self, owner: Any, name: str, step: str) -> Callable[[], None]:
        """Count calls of `owner.name` as `step`; the returned function undoes it."""
        inner = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self.enter(step)
            try:
                return inner(*args, **kwargs)
            finally:
                self.leave()

        had = name in vars(owner)
        setattr(owner, name, timed)
        return lambda: setattr(owner, name, inner) if had else delattr(owner, name)

    def steps(self, items: Iterator[Any], step: str) -> Iterator[Any]:
        """Count the time in a generator as `step`."""
        while True:
            self.enter(step)
            try:
                item = next(items, None)
            finally:
                self.leave()
            if item is None:
                return
            yield item


def measure(model: str, data: bytes, what: Input) -> dict[str, float]:
    """Parse once to warm up and once to measure: microseconds per word for each step."""
    parser = headwise.load(model)
    for _ in range(2):
        watch = Stopwatch()
        n_words = _parse(parser, data, what, watch)
    return {step: 1e6 * watch.seconds[step] / n_words for step in ORDER}


def _parse(parser: Parser, data: bytes, what: Input, watch: Stopwatch) -> int:
    undo = [
        watch.wrap(parsing, "decode_batch", "decode"),
        watch.wrap(parser.scorer, "label", "label"),
        watch.wrap(Sentence, "with_parse", "write"),
    ]
    if isinstance(parser.scorer, scoring.BatchScorer):
        undo += [
            watch.wrap(parser.scorer._table, "look_up", "look up"),
            watch.wrap(parser.scorer._represent, "run", "represent"),
            watch.wrap(scoring, "exponentials", "select"),
            watch.wrap(scoring, "head_log_probs", "select"),
        ]
    n_words, out = 0, io.BytesIO()
    try:
        items = read_any(io.BytesIO(data), what, parser.segmenter)
        read = watch.steps(iter(items), "segment" if what == "text" else "read")
        for item, _ in parser.annotate(read):
            assert not isinstance(item, Malformed)
            n_words += len(item)
            watch.enter("write")
            out.write(item.data)
            watch.leave()
    finally:
        for one in undo:
            one()
    return n_words


if __name__ == "__main__":
    model, path, form = sys.argv[1:4]
    print(json.dumps(measure(model, Path(path).read_bytes(), form)))  # type: ignore[arg-type]
