"""Measure what features, lemmas and new words cost a model, on one thread.

    OMP_NUM_THREADS=1 python -m bench.columns runs/en/model UD_English-EWT/dev.conllu.xz

The model is parsed with as it is, and without features and lemmas: the same network, exported again
with heads, labels and tags alone. Both take turns. Then every distinct form of the file is looked
up as a new word: its ids, letters and prior, and the graph that makes its input (Eq. 3). Times are
medians over rounds; `--clock cpu` leaves out the time in which other programs run.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

import headwise
from headwise.learn.export.model import export_model
from headwise.learn.scorer import load_network
from headwise.model.bundle import INPUTS, Bundle, Description, load_bundle
from headwise.model.find import find_model
from headwise.model.graph import Graph
from headwise.network.network import Network
from headwise.runtime.table import InputTable
from headwise.treebank.sentence import Sentence, sentence_from_words

CLOCKS: dict[str, Callable[[], float]] = {
    "wall": time.perf_counter,
    "cpu": time.process_time,
}
WORDS_AT_ONCE = 500
"""New words that are looked up together, as those of a chunk of sentences are."""


def without_features_and_lemmas(bundle: Bundle, folder: Path) -> Path:
    """Export the network of a model again, with heads, labels and tags alone."""
    network = load_network(bundle, torch.device("cpu"))
    vocab = replace(bundle.vocab, features=None, rules=None)
    fewer = Network(bundle.manifest.model, vocab)
    weights = network.state_dict()
    fewer.load_state_dict({name: weights[name] for name in fewer.state_dict()})
    manifest = bundle.manifest
    description = Description(manifest.model, manifest.decode, {}, {})
    export_model(fewer, vocab, description, folder / "tags", {})
    return folder / "tags"


def parse_times(
    models: Sequence[Path], sentences: Sequence[Sentence], n_rounds: int, clock: Callable[[], float]
) -> list[float]:
    """Parse sentences with each model in turn: the median of its seconds."""
    parsers = [headwise.load(model) for model in models]
    for parser in parsers:  # words are remembered from here on
        list(parser.annotate(sentences))
    times: list[list[float]] = [[] for _ in parsers]
    for _ in range(n_rounds):
        for parser, seconds in zip(parsers, times, strict=True):
            start = clock()
            for _ in parser.annotate(sentences):
                pass
            seconds.append(clock() - start)
    return [median(seconds) for seconds in times]


def new_word_times(
    model: Path, forms: Sequence[str], n_rounds: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Look up forms as new words, and again as known ones: seconds for all, the median of each."""
    new: list[float] = []
    known: list[float] = []
    sentences = [
        sentence_from_words([(form,) for form in forms[start : start + WORDS_AT_ONCE]], ["form"])
        for start in range(0, len(forms), WORDS_AT_ONCE)
    ]
    for _ in range(n_rounds):
        bundle = load_bundle(model)  # a new lexicon, which remembers nothing
        table = InputTable(Graph(bundle.read(INPUTS.format("int8")), str(model)), bundle.vocab)
        table.look_up([sentence_from_words([("the",)], ["form"])])
        for times in (new, known):
            start = clock()
            for sentence in sentences:
                table.look_up([sentence])
            times.append(clock() - start)
    return median(new), median(known)


def main() -> None:
    """Print words a second with and without features and lemmas, and the time of a new word."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a model with features and lemmas, and with its weights")
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sentences", type=int, default=2_000, help="the first of the file")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    given = parser.parse_args()
    clock = CLOCKS[given.clock]
    sentences = list(headwise.read_sentences(given.treebank))[: given.sentences]
    n_words = sum(map(len, sentences))
    path = find_model(given.model)
    with tempfile.TemporaryDirectory() as folder:
        models = (path, without_features_and_lemmas(load_bundle(path), Path(folder)))
        everything, tags = (
            n_words / seconds for seconds in parse_times(models, sentences, given.rounds, clock)
        )
    print(f"all columns: {everything:,.0f} words/s")
    print(f"heads, labels and tags: {tags:,.0f} words/s")
    print(f"ratio: {everything / tags:.3f}")
    forms = list(dict.fromkeys(word.form for sentence in sentences for word in sentence.words))
    new, known = (
        1e6 * seconds / len(forms) for seconds in new_word_times(path, forms, given.rounds, clock)
    )
    print(f"{len(forms):,} new words: {new:.1f} microseconds each; known words: {known:.2f}")


if __name__ == "__main__":
    main()
