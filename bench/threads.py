"""Measure how threads and processes scale: all of parsing, parsing in memory, the network alone.

    python -m bench.threads UD_English-EWT/test.conllu.xz --model en --threads 2

Only one thread at a time runs Python (the GIL), while libraries run in parallel; the less time is
spent in Python, the better threads scale. Each process has its own GIL. To see who holds it:
`py-spy record --gil --format raw --output held.txt -- headwise parse FILE`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import headwise
from headwise.cli.streams.share import parse_in_processes
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import BatchScorer

N_TIMES = 5
CHUNK = 128


def whole(parser: Parser, path: Path, threads: int) -> None:
    """Read, parse and format every sentence."""
    for item, _ in parser.annotate(headwise.read_sentences(path), threads):
        assert item.data


def by_processes(parser: Parser, path: Path, n: int) -> None:
    """Do the same with `headwise parse --processes`."""
    for _ in parse_in_processes(parser, str(path), "conllu", "conllu", n):
        pass


def in_chunks(
    work: Callable[[Sequence[headwise.Sentence]], object],
    sentences: Sequence[headwise.Sentence],
    threads: int,
) -> None:
    """Let threads process chunks of sentences in memory."""
    chunks = [sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, chunks))


def seconds(*works: Callable[[], None]) -> list[float]:
    """Time several functions in turn, several times; return the median of each."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(N_TIMES):
        for work, own in zip(works, found, strict=True):
            began = time.perf_counter()
            work()
            own.append(time.perf_counter() - began)
    return list(map(median, found))


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("file", type=Path, help="CoNLL-U")
    options.add_argument("--model", default="en")
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args()
    parser = headwise.load(given.model)
    sentences = list(headwise.read_sentences(given.file))
    scorer = parser.scorer
    assert isinstance(scorer, BatchScorer), "this model runs one sentence at a time"
    n_words = sum(map(len, sentences))
    n = given.threads

    def show(name: str, one: float, many: float) -> None:
        speeds = f"{n_words / one:,.0f} | {n_words / many:,.0f}"
        print(f"| {name} | {speeds} | {one / many:.2f} |", flush=True)

    whole(parser, given.file, 1)
    print(f"| words/s | one | {n} | times |\n|---|---|---|---|")
    one, threads, processes = seconds(
        lambda: whole(parser, given.file, 1),
        lambda: whole(parser, given.file, n),
        lambda: by_processes(parser, given.file, n),
    )
    show("file to bytes, threads", one, threads)
    show("file to bytes, processes", one, processes)
    for name, work in (
        ("parsing alone", parser.parse),
        ("the network and pairs alone", scorer.select),
    ):
        alone = (partial(in_chunks, work, sentences, n_threads) for n_threads in (1, n))
        show(name, *seconds(*alone))


if __name__ == "__main__":
    main()
