"""Train segmenters and score them on raw text with the official scorer of Universal Dependencies.

    python bench/segment.py --data UD --out runs/segment UD_English-EWT UD_Portuguese-Bosque

`--data` is the folder of treebanks, each a folder with {train,dev,test}.conllu.xz. The text is
rebuilt from the treebank, with a blank line before each paragraph. Dev is scored; test only with
`--test`. A segmenter that is in `--out` already is not trained again.
"""

import argparse
import sys
import time
from pathlib import Path

import msgspec
import torch
from udtools import udeval

from headwise import Sentence, read_sentences
from headwise.learn.segment.data import (
    encode_sentence,
    gold_sentences,
    gold_text,
    has_paragraphs,
    paragraph_starts,
)
from headwise.learn.segment.train import export_segmenter, train_segmenter
from headwise.settings.training import SegmentConfig
from headwise.text.segmenter import ENDS_GRAPH, SEGMENTER_GRAPH, SEGMENTER_SETTINGS, Segmenter
from headwise.text.symbols import to_text
from headwise.treebank.conllu import write_conllu

METRICS = ("Tokens", "Sentences", "Words")
MIN_SECONDS = 2.0
"""Speed is measured for at least this long."""


def text_of(sentences: list[Sentence]) -> str:
    """Rebuild the text of a treebank, with a blank line between paragraphs."""
    gold = gold_sentences(sentences)
    encoded = [encode_sentence(sentence) for sentence in gold]
    codes, _ = gold_text(encoded, paragraph_starts(encoded, has_paragraphs(gold)))
    return to_text(codes).replace("\u2029", "\n\n")


def train(folder: Path, given: argparse.Namespace, out: Path) -> None:
    """Train on one treebank and write the two files."""
    train_set, dev_set = (
        list(read_sentences(folder / f"{part}.conllu.xz")) for part in ("train", "dev")
    )
    settings = dict(setting.split("=", 1) for setting in given.set)
    config = msgspec.convert(settings, SegmentConfig, strict=False)
    started = time.monotonic()
    for report in train_segmenter(
        train_set, dev_set, config, given.seed, torch.device(given.device)
    ):
        dev = report.dev
        print(
            f"{folder.name} {report.what} {report.epoch:3d}/{report.n_epochs}  "
            f"loss {report.loss:.4f}  "
            f"tokens {dev.tokens:.2f}  words {dev.words:.2f}  sentences {dev.sentences:.2f}  "
            f"{time.monotonic() - started:4.0f} s",
            file=sys.stderr,
            flush=True,
        )
    out.mkdir(parents=True, exist_ok=True)
    for name, data in export_segmenter(report.best).items():
        (out / name).write_bytes(data)
    (out / "seconds.txt").write_text(f"{time.monotonic() - started:.0f}\n")


def measure(gold_path: Path, out: Path, part: str) -> list[str]:
    """Segment the text of one treebank file, score it and time it."""
    ends_path = out / ENDS_GRAPH
    segmenter = Segmenter(
        (out / SEGMENTER_GRAPH).read_bytes(),
        (out / SEGMENTER_SETTINGS).read_bytes(),
        str(out),
        ends_path.read_bytes() if ends_path.exists() else None,
    )
    gold = [sentence for sentence in read_sentences(gold_path) if len(sentence)]
    text = text_of(gold)
    segmented = list(segmenter.segment(text))
    gold_copy, segmented_path = out / f"{part}.gold.conllu", out / f"{part}.conllu"
    for path, sentences in ((gold_copy, gold), (segmented_path, segmented)):
        with path.open("wb") as stream:
            write_conllu((as_tree(sentence) for sentence in sentences), stream)
    loaded = [udeval.load_conllu_file(str(path)) for path in (gold_copy, segmented_path)]
    scores = udeval.evaluate(*loaded)
    row = [f"{100 * scores[metric].f1:.2f}" for metric in METRICS]
    return [
        *row,
        f"{speed(segmenter, text):,.0f}",
        f"{sum(path.stat().st_size for path in out.glob('segment.*')) / 1e6:.2f}",
    ]


def as_tree(sentence: Sentence) -> Sentence:
    """Make the word before each word its head: the scorer requires trees but ignores them here."""
    words = []
    for position, word in enumerate(sentence.words):
        label = "dep" if position else "root"
        words.append(word._replace(head=str(position), deprel=label, deps="_"))
    tree = sentence.with_words(words)
    empty_rows = {node.row for node in tree.empty_nodes}
    lines = tuple(line for row, line in enumerate(tree.lines) if row not in empty_rows)
    return Sentence(tree.words, lines, ())


def speed(segmenter: Segmenter, text: str) -> float:
    """Measure words per second of CPU time."""
    n_words, started = 0, time.process_time()
    while (seconds := time.process_time() - started) < MIN_SECONDS:
        n_words += sum(len(sentence) for sentence in segmenter.segment(text))
    return n_words / seconds


def main() -> None:
    """Train the missing segmenters and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("treebanks", nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--test", action="store_true", help="score test too")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    rows = []
    for name in given.treebanks:
        out = given.out / f"{name}-{given.seed}"
        if not (out / "seconds.txt").exists():
            train(given.data / name, given, out)
        seconds = (out / "seconds.txt").read_text().strip()
        for part in ("dev", "test") if given.test else ("dev",):
            scores = measure(given.data / name / f"{part}.conllu.xz", out, part)
            rows.append([name, part, *scores, seconds])
    head = ["treebank", "part", *METRICS, "words/s", "MB", "trained in s"]
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
