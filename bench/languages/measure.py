"""Parse dev with a model, from gold tokens and from raw text, and measure everything.

    python -m bench.languages.measure PLAN DATA TREEBANK VARIANT MODEL OUTPUT

Scores are those of the CoNLL shared tasks: F1, labels without subtypes (`score_raw` equals the
official scorer). The model is in int8, as it ships, on one thread.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec

import headwise
from bench.experiment.results import write_json
from bench.languages.plan import read_plan
from bench.segment import text_of
from headwise import Sentence
from headwise.evaluate.calibration import measure_calibration
from headwise.evaluate.raw import METRICS, RawScores, score_raw
from headwise.evaluate.scores import score
from headwise.model.bundle import WEIGHTS, load_bundle
from headwise.model.find import find_model
from headwise.runtime.parser import Parser
from headwise.treebank.probabilities import with_probabilities

N_TIMED = 3
N_DECIMALS = 4


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured on dev, in percent; calibration errors in points, by column."""

    n_words: int
    gold: dict[str, float]
    """F1 by metric, from gold tokens."""
    las_full: float
    """LAS with subtypes of labels, from gold tokens."""
    raw: dict[str, float] = {}
    """F1 by metric, from raw text."""
    calibration: dict[str, float]
    words_per_second: float
    """From gold tokens, one thread."""
    load_seconds: float
    n_bytes: int
    """Size of the files that int8 needs."""
    machine: str

    def summary(self) -> str:
        """Give the main scores."""
        parts = [f"LAS {self.gold['las']:.2f}", f"UFeats {self.gold['ufeats']:.2f}"]
        if self.raw:
            parts.append(f"raw {self.raw['las']:.2f}")
        return ", ".join([*parts, f"{self.n_bytes / 1e6:.1f} MB"])


def f1_by_metric(scores: RawScores) -> dict[str, float]:
    """Give the F1 of each metric."""
    values = {name: getattr(scores, name).f1 for name in METRICS}
    return {name: round(f1, N_DECIMALS) for name, f1 in values.items() if f1 is not None}


def measure(gold: Sequence[Sentence], model: Path, with_raw: bool) -> Scores:
    """Measure a model on the sentences of a treebank."""
    bundle = load_bundle(find_model(str(model)))
    started = time.perf_counter()
    parser = headwise.load(str(model))
    load_seconds = time.perf_counter() - started
    seconds = []
    for _ in range(N_TIMED):
        started = time.perf_counter()
        annotated = list(parser.annotate(gold))
        seconds.append(time.perf_counter() - started)
    parsed = [one for one, _ in annotated if isinstance(one, Sentence)]
    table = measure_calibration(
        gold,
        [
            with_probabilities(one, parse)
            for one, parse in annotated
            if isinstance(one, Sentence) and parse is not None
        ],
    )
    n_words = sum(map(len, gold))
    files = bundle.manifest.files.items()
    return Scores(
        n_words=n_words,
        gold=f1_by_metric(score_raw(gold, parsed, universal_labels=True)),
        las_full=round(score(gold, parsed).las, N_DECIMALS),
        raw=raw_scores(parser, list(gold)) if with_raw else {},
        calibration={name: column.error for name, column in table.items()},
        words_per_second=round(n_words / median(seconds), 1),
        load_seconds=round(load_seconds, 3),
        n_bytes=sum(e.size for name, e in files if name != WEIGHTS and "float32" not in name),
        machine=bundle.manifest.provenance.get("machine", "unknown"),
    )


def raw_scores(parser: Parser, gold: list[Sentence]) -> dict[str, float]:
    """Parse the text of the sentences, paragraph by paragraph, and score it."""
    parsed = [sentence for sentence, _ in parser.annotate_text(text_of(gold))]
    return f1_by_metric(score_raw(gold, parsed, universal_labels=True))


def main(plan_path: str, data: str, treebank: str, variant: str, model: str, output: str) -> None:
    """Measure one run."""
    plan = read_plan(Path(plan_path))
    path = plan.path(treebank, Path(data), "dev")
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    write_json(Path(output), measure(gold, Path(model), plan.reads_raw(variant)))


if __name__ == "__main__":
    main(*sys.argv[1:])
