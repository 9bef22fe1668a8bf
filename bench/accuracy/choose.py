"""Score every ensemble of a given size from a list of models on dev, and print the best first.

    python -m bench.accuracy.choose UD_English-EWT/dev.conllu.xz runs/accuracy/ewt-minilm-*/

Gold words, every word, labels in full, one root, as in `bench.accuracy.measure`. Each model scores
the heads of a sentence once; labels and trees are computed for each ensemble.
"""

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import headwise
from bench.accuracy.measure import DECODE, score_file, torch_device
from headwise.arrays import FloatArray, IntArray
from headwise.runtime.ensemble import EnsembleScorer
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Scorer, Selection
from headwise.treebank.sentence import Sentence


class CachedScorer:
    """`Scorer` that remembers the head distributions of another one."""

    def __init__(self, scorer: Scorer) -> None:
        """Start with an empty cache."""
        self.vocab = scorer.vocab
        self._scorer = scorer
        self._cache: dict[Sentence, Selection] = {}

    def in_treebank(self, name: str) -> Scorer:
        """Keep the cache: all ensembles are scored on one treebank."""
        self._scorer = self._scorer.in_treebank(name)
        return self

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        new = [sentence for sentence in sentences if sentence not in self._cache]
        self._cache |= zip(new, self._scorer.select(new), strict=True)
        return [self._cache[sentence] for sentence in sentences]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels."""
        return self._scorer.label(selections, heads)


def compare(parsers: dict[str, Parser], dev: Path, size: int) -> list[tuple[float, float, str]]:
    """Score each ensemble: LAS, UAS and the names of its members, best first."""
    scorers = {name: CachedScorer(parser.scorer) for name, parser in parsers.items()}
    ranking = []
    for names in combinations(parsers, size):
        scorer = EnsembleScorer([scorers[name] for name in names])
        scores = score_file(Parser(scorer, None, parsers[names[0]].settings), dev, 1)
        ranking.append((scores.las, scores.uas, " ".join(names)))
    return sorted(ranking, reverse=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each ensemble."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("dev", type=Path)
    options.add_argument("models", nargs="+", help="models with weights, or folders of runs")
    options.add_argument("--size", type=int, default=5)
    options.add_argument("--device", default="cpu")
    given = options.parse_args(arguments)
    parsers = {
        Path(model).name: headwise.load(model, device=torch_device(given.device), decode=DECODE)
        for model in given.models
    }
    for las, uas, names in compare(parsers, given.dev, given.size):
        print(f"{uas:.2f} / {las:.2f}  {names}")


if __name__ == "__main__":
    main()
