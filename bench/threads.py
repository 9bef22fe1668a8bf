"""How threads and processes scale: all of parsing, parsing without files, and the network alone.

    python -m bench.threads UD_English-EWT/test.conllu.xz --model en --threads 2

Python runs one thread at a time, libraries run beside it; so the less of the time is Python's, the
better threads scale. Processes have a lock each. Who holds it, and for how long, an outside tool
tells: `py-spy record --gil --format raw --output held.txt -- headwise parse FILE`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import headwise
from headwise.cli.output import screen_of
from headwise.cli.share import Job, parse_in_processes
from headwise.model.batches import BatchScorer
from headwise.parser import Parser
from headwise.text.read import open_any
from headwise.words.conllu import as_bytes

N_TIMES = 5
CHUNK = 128


def whole(parser: Parser, path: Path, threads: int) -> None:
    """Read, parse and give the bytes of every sentence."""
    for item, _ in parser.annotate(headwise.read_sentences(path), threads):
        as_bytes(item)


def by_processes(parser: Parser, path: Path, n: int) -> None:
    """Do the same as `headwise parse --processes`."""
    job = Job(parser, "raise", "conllu", screen_of("bytes"))
    if n == 1:
        whole(parser, path, 1)
        return
    with open_any(path, "conllu") as opened:
        for _ in parse_in_processes(job, opened, n):
            pass


def in_chunks(
    work: Callable[[Sequence[headwise.Sentence]], object],
    sentences: Sequence[headwise.Sentence],
    threads: int,
) -> None:
    """Let threads take chunks of sentences that are in memory."""
    chunks = [sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, chunks))


def seconds(work: Callable[[int], None], threads: int) -> float:
    """Give the median of several runs."""
    found = []
    for _ in range(N_TIMES):
        began = time.perf_counter()
        work(threads)
        found.append(time.perf_counter() - began)
    return median(found)


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
    parts: dict[str, Callable[[int], None]] = {
        "file to bytes": lambda n: whole(parser, given.file, n),
        "the same by processes": lambda n: by_processes(parser, given.file, n),
        "parsing alone": lambda n: in_chunks(parser.parse, sentences, n),
        "the network and pairs alone": lambda n: in_chunks(scorer.select, sentences, n),
    }
    print(f"| words/s | one | {given.threads} | times |\n|---|---|---|---|")
    for name, work in parts.items():
        work(1)
        one, many = (n_words / seconds(work, n) for n in (1, given.threads))
        print(f"| {name} | {one:,.0f} | {many:,.0f} | {many / one:.2f} |", flush=True)


if __name__ == "__main__":
    main()
