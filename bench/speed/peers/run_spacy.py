"""spaCy: train briefly and parse a file. Runs in its own environment."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.speed.peers.common import Columns, main, sentences, timed_run, write


def train(folder: Path, data: Path) -> None:
    """Train tagger and parser with the quickstart config for CPU, "efficiency", for 200 steps."""
    spacy = [sys.executable, "-m", "spacy"]
    for part in ("train", "dev"):
        source = str(data / f"{part}.conllu")
        subprocess.run([*spacy, "convert", source, str(folder), "-n", "10"], check=True)
    config = str(folder / "config.cfg")
    pipeline = ["-l", "en", "-p", "tagger,parser", "-o", "efficiency", "-F"]
    subprocess.run([*spacy, "init", "config", config, *pipeline], check=True)
    paths = ["--paths.train", str(folder / "train.spacy"), "--paths.dev", str(folder / "dev.spacy")]
    steps = ["--training.max_steps", "200", "--training.eval_frequency", "200"]
    out = ["-o", str(folder / "model")]
    subprocess.run([*spacy, "train", config, *paths, *steps, *out], check=True)


def run(model: Path, source: Path, target: Path, what: str) -> dict[str, float]:
    """Parse; from gold tokens without the tagger, whose tags the parser does not read."""

    def load() -> Any:
        import spacy

        excluded = ["tagger"] if what == "conllu" else []
        return spacy.load(model / "model" / "model-last", exclude=excluded)

    def parse(nlp: Any) -> int:
        from spacy.tokens import Doc

        if what == "text":
            docs = nlp.pipe(source.read_text(encoding="utf-8").split("\n\n"))
            return write(target, (columns_of(sent, True) for doc in docs for sent in doc.sents))
        read = list(sentences(source))
        docs = nlp.pipe(Doc(nlp.vocab, words=forms) for _, _, forms in read)
        return write(
            target,
            (columns_of(doc, False) for doc in docs),
            [(lines, rows) for lines, rows, _ in read],
        )

    return timed_run(load, parse)


def columns_of(span: Any, with_forms: bool) -> Columns:
    """Take out what is written."""
    heads = [0 if t.head.i == t.i else t.head.i - span[0].i + 1 for t in span]
    forms = [t.text.strip() or "_" for t in span] if with_forms else []
    return Columns(forms, [t.pos_ or t.tag_ or "_" for t in span], heads, [t.dep_ for t in span])


if __name__ == "__main__":
    main(train, run)
