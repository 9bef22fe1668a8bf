"""Measure what trees cost: the best one, with a constraint, marginals, and the k best.

    OMP_NUM_THREADS=1 python -m bench.trees UD_English-EWT/dev.conllu.xz --model en --words 40

For random matrices, and for the distributions that a model gives to sentences of about that many
words in the file. Median milliseconds of one call, on one thread, and the ratio to the best tree by
the same decoder. `--clock cpu` leaves out the time in which other programs run.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

import headwise
from headwise.settings.choices import Decoder
from headwise.trees.chu_liu_edmonds import best_tree
from headwise.trees.constraints import Constraints
from headwise.trees.decode import decode_batch, decode_k_best
from headwise.trees.distribution import distribution_of_trees
from headwise.trees.eisner import best_projective_tree

Matrix = NDArray[np.float32]
Work = Callable[[Matrix], object]
SLACK = 3
"""Sentences may have so many words more or less."""


def random_matrices(n: int, n_words: int, seed: int) -> list[Matrix]:
    """Draw distributions over heads, from flat to peaked."""
    random = np.random.default_rng(seed)
    matrices = []
    for sharpness in random.uniform(1.0, 8.0, n):
        logits = random.normal(size=(n_words + 1, n_words + 1)) * sharpness
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        matrices.append(log_probs.astype(np.float32))
    return matrices


def real_matrices(path: Path, model: str, n: int, n_words: int) -> list[Matrix]:
    """Parse sentences of about that many words and keep their distributions."""
    parser = headwise.load(model)
    lengths = range(n_words - SLACK, n_words + SLACK + 1)
    sentences = [s for s in headwise.read_sentences(path) if len(s) in lengths][:n]
    return [log_probs for _, log_probs in parser.parse_with_distributions(sentences)]


def second_choice(matrix: Matrix) -> Constraints:
    """Fix the head of the least certain word: the second that it would choose."""
    order = matrix[1:].argsort(axis=1)  # [N, N+1]
    words = np.arange(1, len(matrix))
    margin = matrix[words, order[:, -1]] - matrix[words, order[:, -2]]
    word = int(margin.argmin()) + 1
    head = next(int(h) for h in order[word - 1, -2::-1] if h != word)
    return Constraints(heads={word: head})


def works(decoder: Decoder, single_root: bool) -> Iterator[tuple[str, Work]]:
    """List what is measured, the best tree first."""
    projective = decoder == "eisner"
    best = best_projective_tree if projective else best_tree

    def constrained(matrix: Matrix, constraints: Constraints) -> object:
        asked = [constraints]
        return decode_batch([matrix], decoder, single_root, "log-probability", constraints=asked)

    span = list(range(10, 16))
    yield "best tree", lambda matrix: best(matrix, single_root)
    yield "a head fixed", lambda matrix: constrained(matrix, second_choice(matrix))
    yield "a subtree", lambda matrix: constrained(matrix, Constraints(subtrees=[span]))
    yield (
        "marginals",
        lambda matrix: distribution_of_trees(
            matrix, projective=projective, single_root=single_root
        ),
    )
    yield "k = 10", lambda matrix: decode_k_best(matrix, 10, decoder, single_root)


def milliseconds(work: Work, matrices: Sequence[Matrix], clock: Callable[[], float]) -> float:
    """Return the median time of a call, after one that does not count."""
    work(matrices[0])
    times = []
    for matrix in matrices:
        began = clock()
        work(matrix)
        times.append(clock() - began)
    return median(times) * 1_000


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("file", type=Path, help="CoNLL-U")
    options.add_argument("--model", default="en")
    options.add_argument("--words", type=int, default=40)
    options.add_argument("--matrices", type=int, default=100, help="of each kind, at most")
    options.add_argument("--multi-root", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    given = options.parse_args()
    clock = time.perf_counter if given.clock == "wall" else time.thread_time
    real = real_matrices(given.file, given.model, given.matrices, given.words)
    kinds = [random_matrices(given.matrices, given.words, given.seed), real]
    print(f"{given.words} words; {len(kinds[0])} random, {len(real)} real; ms, {given.clock} time")
    print("| | decoder | random | ratio | real | ratio |\n|---|---|---|---|---|---|")
    decoders: tuple[Decoder, ...] = ("mst", "eisner")
    for decoder in decoders:
        best = [0.0] * len(kinds)
        for name, work in works(decoder, not given.multi_root):
            times = [milliseconds(work, matrices, clock) for matrices in kinds]
            best = times if name == "best tree" else best
            cells = [f"{ms:.2f} | {ms / one:.1f}" for ms, one in zip(times, best, strict=True)]
            print(f"| {name} | {decoder} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
