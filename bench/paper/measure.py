"""Parse dev and test with a trained model, or read the output of another parser, and score it.

    python -m bench.paper.measure PLAN DATA DATASET FOLDER THREADS [--parsed]

Writes FOLDER/scores.json. The model in FOLDER/model runs in int8 on ONNX Runtime, greedily (Eq. 8)
and repaired (Sec. 3.3). With `--parsed`, FOLDER/{dev,test}.parsed.conllu are scored instead.
"""

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import headwise
from bench.experiment.results import write_json
from bench.paper.plan import Dataset, read_plan
from bench.paper.scores import Bin, Output, PartScores, Scores
from bench.paper.treebank import read_part
from headwise import DecodeConfig, Sentence
from headwise.evaluate.scores import score
from headwise.model.bundle import load_bundle
from headwise.settings.choices import Decoder

N_DECIMALS = 4
_RATES = ("uas", "las", "uem", "lem", "label_accuracy", "tree_rate", "projective_rate")


def score_part(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], dataset: Dataset
) -> PartScores:
    """Score one file by the punctuation rule of its dataset, and with every word."""
    scores = score(gold, predicted, dataset.punctuation)
    all_words = score(gold, predicted, "none")
    bins = tuple(
        Bin(
            last_length=one.last_length,
            n_sentences=one.n_sentences,
            uas=None if one.uas is None else round(one.uas, N_DECIMALS),
        )
        for one in scores.lengths
    )
    rates = {name: round(getattr(scores, name), N_DECIMALS) for name in _RATES}
    return PartScores(
        n_sentences=scores.n_sentences,
        n_words=scores.n_words,
        all_words=(round(all_words.uas, N_DECIMALS), round(all_words.las, N_DECIMALS)),
        bins=bins,
        **rates,
    )


def measure_model(dataset: Dataset, data: Path, folder: Path, threads: int) -> Scores:
    """Score a model of ours."""
    dev, test = read_part(dataset, data, "dev"), read_part(dataset, data, "test")
    bundle = load_bundle(folder / "model")

    def scores_of(decoder: Decoder) -> Output:
        decode: DecodeConfig = msgspec.structs.replace(bundle.manifest.decode, decoder=decoder)
        parser = headwise.load(bundle, precision="int8", decode=decode)
        trees = [
            [one for one, _ in parser.annotate(part, threads) if isinstance(one, Sentence)]
            for part in (dev, test)
        ]
        return Output(
            dev=score_part(dev, trees[0], dataset), test=score_part(test, trees[1], dataset)
        )

    return Scores(
        greedy=scores_of("greedy"),
        repaired=scores_of(dataset.decoder),
        machine=bundle.manifest.provenance.get("machine", "unknown"),
        versions=versions(),
    )


def measure_parsed(dataset: Dataset, data: Path, folder: Path) -> Scores:
    """Score the trees of another parser."""
    dev, test = (
        score_part(
            read_part(dataset, data, part),
            [one for one in headwise.read_sentences(folder / f"{part}.parsed.conllu") if len(one)],
            dataset,
        )
        for part in ("dev", "test")
    )
    machine = processor_name()
    return Scores(repaired=Output(dev=dev, test=test), machine=machine, versions=versions())


def versions() -> dict[str, str]:
    """Give the versions to keep with the scores."""
    return {"headwise": headwise.__version__, "python": platform.python_version()}


def processor_name(path: Path = Path("/proc/cpuinfo")) -> str:
    """Name the processor, if the system tells it."""
    try:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main(plan_path: str, data: str, name: str, folder: str, threads: str, *flags: str) -> None:
    """Measure one run."""
    dataset = read_plan(Path(plan_path)).datasets[name]
    if "--parsed" in flags:
        scores = measure_parsed(dataset, Path(data), Path(folder))
    else:
        scores = measure_model(dataset, Path(data), Path(folder), int(threads))
    write_json(Path(folder) / "scores.json", scores)


if __name__ == "__main__":
    main(*sys.argv[1:])
