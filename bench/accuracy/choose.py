"""Compare all ways to take so many of some models as an ensemble, on dev; the best comes first.

    python -m bench.accuracy.choose UD_English-EWT/dev.conllu.xz runs/accuracy/ewt-minilm-*/

Gold words, every word, labels in full, one root, as in `bench.accuracy.measure`. Each model is
asked once for the heads of every sentence; labels and trees are made anew for each choice.
"""

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from bench.accuracy.measure import DECODE, score_file
from headwise.learn.scorer import load_torch_parser
from headwise.model.bundle import find_model, load_bundle
from headwise.runtime.parser import Parser, join_parsers
from headwise.runtime.scorer import FloatArray, Scorer, Selection
from headwise.vocabulary.encode import Encoded, IntArray


class Remembering:
    """`Scorer` that asks another only for sentences that it has not seen."""

    def __init__(self, scorer: Scorer) -> None:
        """Begin with nothing."""
        self._scorer = scorer
        self._known: dict[bytes, Selection] = {}

    def select(self, sentences: Sequence[Encoded]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        keys = list(map(key_of, sentences))
        new = {key: s for key, s in zip(keys, sentences, strict=True) if key not in self._known}
        self._known |= zip(new, self._scorer.select(list(new.values())), strict=True)
        return [self._known[key] for key in keys]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels."""
        return self._scorer.label(selections, heads)


def key_of(sentence: Encoded) -> bytes:
    """Give all that a model reads of a sentence as bytes."""
    arrays = [
        *sentence.ids.by_name().values(),
        *((sentence.windows.ids, sentence.windows.reads) if sentence.windows else ()),
    ]
    return b"|".join(array.tobytes() for array in arrays)


def compare(parsers: dict[str, Parser], dev: Path, size: int) -> list[tuple[float, float, str]]:
    """Score each choice: LAS, UAS and the names, best first."""
    for parser in parsers.values():
        parser.scorer = Remembering(parser.scorer)
    found = []
    for names in combinations(parsers, size):
        scores = score_file(join_parsers([parsers[name] for name in names]), dev, 1)
        found.append((scores.las, scores.uas, " ".join(names)))
    return sorted(found, reverse=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each choice."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("dev", type=Path)
    options.add_argument("models", nargs="+", help="models with weights, or folders of runs")
    options.add_argument("--size", type=int, default=5)
    options.add_argument("--device", default="cpu")
    given = options.parse_args(arguments)
    parsers = {
        Path(model).name: load_torch_parser(load_bundle(find_model(model)), given.device, DECODE)
        for model in given.models
    }
    for las, uas, names in compare(parsers, given.dev, given.size):
        print(f"{uas:.2f} / {las:.2f}  {names}")


if __name__ == "__main__":
    main()
