"""Train UDPipe 1 on the treebanks of a plan, and score it on dev as our models are scored.

    python -m bench.languages.udpipe --data DATA --out runs/udpipe1 nl he cy

UDPipe 1 (Straka and Strakova, 2017) learns its tokeniser, tagger with lemmas and features, and
parser, with its defaults (`bench.raw`). Each treebank gets a model and a small JSON file with F1
from gold tokens and from raw text; what is there already is not made again. The table of all files
in the folder is printed, and written to `report.md`.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

import headwise
from bench.experiment.command import say
from bench.experiment.results import read_json, write_json
from bench.experiment.tables import Cell, Table, markdown_table
from bench.languages.measure import f1_by_metric
from bench.languages.plan import PLAN_PATH, Plan, read_plan
from bench.languages.report import GOLD, RAW
from bench.raw import PARSER, run_udpipe, train_udpipe
from bench.segment import text_of
from headwise import Sentence
from headwise.evaluate.raw import score_raw

REPORT = "report.md"


class PeerScores(msgspec.Struct, frozen=True, kw_only=True):
    """What UDPipe 1 reaches on dev: F1 in percent by metric."""

    treebank: str
    """Its title."""
    gold: dict[str, float]
    raw: dict[str, float]
    options: tuple[str, str, str]
    """UDPipe's options of the tokenizer, the tagger and the parser; empty for its defaults."""
    train_seconds: int | None
    """None if the model was there already."""


def measure(model: Path, gold: Sequence[Sentence], scratch: Path) -> list[dict[str, float]]:
    """Score a model from gold tokens and from raw text."""
    scores = []
    words = "".join(sentence.conllu for sentence in gold)
    for what, text in (("conllu", words), ("tokenize", text_of(list(gold)))):
        run_udpipe(model, text, scratch, what)
        predicted = list(headwise.read_sentences(scratch))
        scores.append(f1_by_metric(score_raw(gold, predicted, universal_labels=True)))
    return scores


def train_and_measure(plan: Plan, name: str, given: argparse.Namespace) -> PeerScores:
    """Train on a treebank of the plan if there is no model yet, and measure the model."""
    model = given.out / f"{name}.udpipe"
    options = (given.tokenizer, given.tagger, given.parser)
    seconds = None
    if not model.exists():
        say(f"{name}: training")
        started = time.monotonic()
        folder = plan.path(name, given.data, "train").parent
        train_udpipe(folder, model, options)
        seconds = round(time.monotonic() - started)
    path = plan.path(name, given.data, "dev")
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    from_gold, from_raw = measure(model, gold, given.out / f"{name}.conllu")
    return PeerScores(
        treebank=plan.treebanks[name].title,
        gold=from_gold,
        raw=from_raw,
        options=options,
        train_seconds=seconds,
    )


def tables(results: Sequence[PeerScores]) -> str:
    """Show all results, from gold tokens and from raw text."""
    parts = []
    for part, metrics in (("gold", GOLD), ("raw", RAW)):
        rows: list[tuple[Cell, ...]] = [
            (one.treebank, *(getattr(one, part).get(metric) for metric in metrics))
            for one in results
        ]
        title = "From gold tokens" if part == "gold" else "From raw text"
        columns = ("treebank", *metrics.values())
        parts += [f"### {title}", markdown_table(Table("", "", columns, tuple(rows)))]
    return "\n\n".join(["## UDPipe 1, on dev", *parts]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make what is missing, then report."""
    options = argparse.ArgumentParser(
        prog="python -m bench.languages.udpipe",
        description="Train UDPipe 1 on treebanks of a plan and score it on dev.",
    )
    options.add_argument("names", nargs="*", help="treebanks of the plan")
    options.add_argument("--plan", type=Path, default=PLAN_PATH)
    options.add_argument("--data", type=Path)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--tokenizer", default="", help="UDPipe's options")
    options.add_argument("--tagger", default="", help="UDPipe's options")
    options.add_argument("--parser", default=PARSER, help="UDPipe's options")
    given = options.parse_args(arguments)
    if given.names and given.data is None:
        options.error("--data is missing: the folder of the treebanks")
    given.out.mkdir(parents=True, exist_ok=True)
    plan = read_plan(given.plan)
    if unknown := set(given.names) - plan.treebanks.keys():
        options.error(f"not in {given.plan}: {', '.join(sorted(unknown))}")
    for name in given.names:
        target = given.out / f"{name}.json"
        if not target.exists():
            write_json(target, train_and_measure(plan, name, given))
    found = (read_json(path, PeerScores) for path in sorted(given.out.glob("*.json")))
    report = tables([one for one in found if one is not None])
    (given.out / REPORT).write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
