"""Score parsers from raw text, next to UDPipe 1 trained on the same files.

    python -m bench.raw udpipe UD_English-EWT runs/raw/en.udpipe
    python -m bench.raw score --udpipe runs/raw en=UD_English-EWT models/de=MIX_German

`udpipe` trains the tokeniser, tagger and parser of UDPipe 1 on train and selects on dev, with its
defaults (parser: swap system, one root) or with UDPipe's options, `name=value` separated by
semicolons. `score` rebuilds the text of test (a blank line before each paragraph), lets each model
find sentences, words, tags and trees in it, and scores them with udtools, the official scorer,
which ignores subtypes of labels. From gold tokens, our own scorer compares full labels. UDPipe has
a row if the folder given with `--udpipe` holds its model.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from udtools import udeval

import headwise
from bench.segment import text_of
from headwise import Sentence, read_sentences
from headwise.errors import DataError
from headwise.evaluate.metrics import WORD_METRICS
from headwise.evaluate.raw import METRICS as RAW_METRICS
from headwise.evaluate.scores import score
from headwise.files import whole_file
from headwise.settings.choices import Column
from headwise.treebank.conllu import write_conllu

METRICS = tuple(RAW_METRICS.values())
NEEDED: dict[str, set[Column]] = {
    "upos": {"upos"},
    "xpos": {"xpos"},
    "ufeats": {"feats"},
    "alltags": {"upos", "xpos", "feats"},
    "lemmas": {"lemma"},
    "mlas": {"upos", "feats"},
    "blex": {"lemma"},
}
"""The columns that a model must predict for a score of gold tokens; the others have none."""
PARSER = (
    "iterations=10;transition_system=swap;transition_oracle=static_lazy;structured_interval=8;"
    "single_root=1"
)
Row = dict[str, str | float]


def train_udpipe(folder: Path, model_path: Path, options: tuple[str, str, str]) -> None:
    """Train all of UDPipe 1: tokeniser, tagger, parser."""
    from ufal import udpipe  # type: ignore[import-untyped]

    from bench.paper.udpipe import read

    with tempfile.TemporaryDirectory() as scratch:
        parts = []
        for part in ("train", "dev"):
            path = Path(scratch) / f"{part}.conllu"
            with path.open("wb") as stream:
                write_conllu(read_sentences(folder / f"{part}.conllu.xz"), stream)
            parts.append(read(path))
    problem = udpipe.ProcessingError()
    data = udpipe.Trainer.train("morphodita_parsito", *parts, *options, problem)
    if problem.occurred():
        raise DataError(f"UDPipe cannot train: {problem.message}", str(folder))
    model_path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(model_path) as stream:
        stream.write(data)


def run_udpipe(model_path: Path, text: str, target: Path, reads: str = "tokenize") -> None:
    """Parse raw text with UDPipe 1, or sentences: `reads` is an input format of UDPipe's."""
    from ufal import udpipe

    model = udpipe.Model.load(str(model_path))
    pipeline = udpipe.Pipeline(
        model, reads, udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu"
    )
    target.write_text(pipeline.process(text, udpipe.ProcessingError()), encoding="utf-8")


def run_headwise(model: str, text: str, target: Path) -> None:
    """Parse raw text with one of our models."""
    parser = headwise.load(model)
    with target.open("wb") as stream:
        write_conllu((sentence for sentence, _ in parser.annotate_text(text)), stream)


def official(gold: list[Sentence], predicted: Path) -> Row:
    """Score a file with udtools."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "gold.conllu"
        with path.open("wb") as stream:
            write_conllu(iter(gold), stream)
        loaded = [udeval.load_conllu_file(str(part)) for part in (path, predicted)]
    scores = udeval.evaluate(*loaded)
    return {metric: round(100 * scores[metric].f1, 2) for metric in METRICS}


def from_gold_tokens(model: str, gold: list[Sentence]) -> Row:
    """Score one of our models on gold sentences and words, with predicted columns."""
    parser = headwise.load(model)
    parsed = [s.with_parse(parse) for s, parse in zip(gold, parser.parse(gold), strict=True)]
    scores = score(gold, parsed)
    values = {
        title: getattr(scores, name)
        for name, title in WORD_METRICS.items()
        if NEEDED.get(name, set()) <= parser.vocab.outputs.keys()
    }
    return {title: round(value, 2) for title, value in values.items() if value is not None}


def rows_for(model: str, folder: Path, given: argparse.Namespace) -> Iterator[Row]:
    """Measure one model, and UDPipe 1 on the same file."""
    gold = [s for s in read_sentences(folder / f"{given.part}.conllu.xz") if len(s)]
    text = text_of(gold)
    common: Row = {"treebank": folder.name, "part": given.part}
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "out.conllu"
        run_headwise(model, text, target)
        yield common | {"system": model, "from": "raw text"} | official(gold, target)
        yield common | {"system": model, "from": "gold tokens"} | from_gold_tokens(model, gold)
        other = given.udpipe / f"{Path(model).name}.udpipe" if given.udpipe else None
        if other and other.exists():
            run_udpipe(other, text, target)
            yield common | {"system": "UDPipe 1", "from": "raw text"} | official(gold, target)


def main() -> None:
    """Train UDPipe 1, or score."""
    options = argparse.ArgumentParser(description="Score parsers from raw text.")
    commands = options.add_subparsers(dest="what", required=True)
    udpipe = commands.add_parser("udpipe", help="train UDPipe 1 on a treebank")
    udpipe.add_argument("folder", type=Path)
    udpipe.add_argument("model", type=Path)
    udpipe.add_argument("--tokenizer", default="", help="UDPipe's options")
    udpipe.add_argument("--tagger", default="", help="UDPipe's options")
    udpipe.add_argument("--parser", default=PARSER, help="UDPipe's options")
    scoring = commands.add_parser("score", help="score models from raw text")
    scoring.add_argument("pairs", nargs="+", metavar="MODEL=TREEBANK")
    scoring.add_argument("--part", default="test", choices=["dev", "test"])
    scoring.add_argument("--udpipe", type=Path, help="folder with NAME.udpipe")
    scoring.add_argument("--out", type=Path, help="also write the rows as JSON")
    given = options.parse_args()
    if given.what == "udpipe":
        parts = (given.tokenizer, given.tagger, given.parser)
        train_udpipe(given.folder, given.model, parts)
        return
    names = ["treebank", "part", "system", "from", *METRICS]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)
    rows = []
    for pair in given.pairs:
        model, _, folder = pair.partition("=")
        for row in rows_for(model, Path(folder), given):
            rows.append(row)
            print(f"| {' | '.join(str(row.get(name, '')) for name in names)} |", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
