r"""Train on a treebank with a share of its heads removed, beside the whole of it.

    python -m bench.partial --data UD_English-EWT --out runs/partial \
        --config configs/best-lstm.toml --set model.vectors=en-glove-100d \
        --shares 0 0.5 --seeds 1 2 3 --device cuda

HEAD and DEPREL of words drawn at random become `_` in train, each word by itself; dev is whole. The
words are drawn by the seed of the run. Each training is a `headwise train` of its own, so a killed
bench resumes. The scores are those of dev, every word, one root.
"""

import argparse
import lzma
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import headwise
from bench.experiment.command import show
from bench.experiment.jobs import Job, run_jobs
from bench.experiment.plan import Options, train_step
from bench.experiment.tables import Cell, Table, average, markdown_table
from headwise.evaluate.scores import score
from headwise.files import whole_file
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import BLANK, Sentence


def without_heads(sentences: Iterable[Sentence], share: float, seed: int) -> Iterator[Sentence]:
    """Remove HEAD and DEPREL of a share of all words."""
    rng = np.random.default_rng(seed)
    for sentence in sentences:
        yield sentence.with_words(
            [
                word._replace(head=BLANK, deprel=BLANK) if rng.random() < share else word
                for word in sentence.words
            ]
        )


def write_partial(source: Path, target: Path, share: float, seed: int) -> Path:
    """Write a treebank with a share of its heads removed, unless it is there already."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as stream, lzma.open(stream, "wb") as packed:
            for sentence in without_heads(headwise.read_sentences(source), share, seed):
                packed.write(sentence.data)
    return target


def job_of(share: float, seed: int, given: argparse.Namespace) -> Job:
    """Make a training on a part of the heads."""
    folder = given.out / f"{share:g}-{seed}"
    train_path = given.data / "train.conllu.xz"
    if share:
        partial_path = given.out / "data" / f"{share:g}-{seed}" / "train.conllu.xz"
        train_path = write_partial(train_path, partial_path, share, seed)
    options = Options(Path(), given.data, given.out, given.device, given.precision, 1)
    dev_path = given.data / "dev.conllu.xz"
    recipe = str(given.config.resolve())
    step = train_step(recipe, [train_path], dev_path, seed, folder, options, given.set)
    return Job(folder.name, "device", folder, folder / "stderr.txt", (step,))


def dev_scores(folder: Path, dev: Path) -> tuple[float, float]:
    """Give UAS and LAS of a model on dev, in int8: every word, one root."""
    gold = [sentence for sentence in headwise.read_sentences(dev) if len(sentence)]
    parser = headwise.load(folder, decode=DecodeConfig(single_root=True))
    parses = parser.parse(gold)
    scores = score(gold, [one.with_parse(p) for one, p in zip(gold, parses, strict=True)])
    return scores.uas, scores.las


def report(scores: dict[float, list[tuple[float, float]]]) -> str:
    """Write the mean over seeds for each share, and the distance to the whole."""
    whole = [las for _, las in scores.get(0.0, [])]
    rows: list[tuple[Cell, ...]] = []
    for share, seeds in scores.items():
        uas, las = zip(*seeds, strict=True)
        behind = sum(las) / len(las) - sum(whole) / len(whole) if whole and share else ""
        rows.append((f"{share:.0%}", len(seeds), average(uas), average(las), behind))
    columns = ("heads removed", "seeds", "UAS", "LAS", "LAS beside the whole")
    return markdown_table(Table("", "", columns, tuple(rows))) + "\n"


def main() -> None:
    """Make the files, train, measure."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, required=True, help="folder of the treebank")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--config", type=Path, default=Path("configs/best-lstm.toml"))
    options.add_argument("--set", action="append", default=[], help="section.key=value")
    options.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.5])
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--device", default="auto")
    options.add_argument("--precision", default="float32")
    options.add_argument("--side-by-side", type=int, default=1)
    given = options.parse_args()
    jobs = {
        (share, seed): job_of(share, seed, given) for share in given.shares for seed in given.seeds
    }
    pending = [job for job in jobs.values() if not (job.folder / "model").exists()]
    for event in run_jobs(pending, {"device": given.side_by_side, "cpu": 0}):
        show(event)
    scores: dict[float, list[tuple[float, float]]] = {}
    for (share, seed), job in jobs.items():
        if not (job.folder / "model").exists():
            print(f"not finished: {job.name} (see {job.log_path})", file=sys.stderr)
            continue
        scores.setdefault(share, []).append(dev_scores(job.folder, given.data / "dev.conllu.xz"))
        print(f"{share:.0%} removed, seed {seed}: UAS, LAS {scores[share][-1]}", flush=True)
    (given.out / "report.md").write_text(report(scores))
    print(report(scores))


if __name__ == "__main__":
    main()
