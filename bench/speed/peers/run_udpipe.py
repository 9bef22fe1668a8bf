"""UDPipe 1: train briefly and parse a file. Runs in its own environment."""

from pathlib import Path
from typing import Any

from bench.speed.peers.common import main, timed_run

TOKENIZER = "epochs=2"
TAGGER = "iterations=2"
PARSER = (
    "iterations=1;transition_system=swap;transition_oracle=static_lazy;structured_interval=8;"
    "single_root=1"
)


def train(folder: Path, data: Path) -> None:
    """Train tokeniser, tagger and parser in the sizes of its defaults, for an iteration or two."""
    from ufal import udpipe  # type: ignore[import-untyped]

    def read(part: str) -> Any:
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText((data / f"{part}.conllu").read_text(encoding="utf-8"))
        found = udpipe.Sentences()
        sentence = udpipe.Sentence()
        while reader.nextSentence(sentence, udpipe.ProcessingError()):
            found.append(sentence)
            sentence = udpipe.Sentence()
        return found

    problem = udpipe.ProcessingError()
    made = udpipe.Trainer.train(
        "morphodita_parsito", read("train"), read("dev"), TOKENIZER, TAGGER, PARSER, problem
    )
    if problem.occurred():
        raise SystemExit(problem.message)
    (folder / "model.udpipe").write_bytes(made)


def run(model: Path, source: Path, target: Path, what: str) -> dict[str, float]:
    """Parse; from gold tokens with their gold tags, so without the tagger."""
    from ufal import udpipe

    def load() -> Any:
        return udpipe.Model.load(str(model / "model.udpipe"))

    def parse(loaded: Any) -> int:
        default = udpipe.Pipeline.DEFAULT
        first, tagger = (
            ("conllu", udpipe.Pipeline.NONE) if what == "conllu" else ("tokenize", default)
        )
        pipeline = udpipe.Pipeline(loaded, first, tagger, default, "conllu")
        text = pipeline.process(source.read_text(encoding="utf-8"), udpipe.ProcessingError())
        target.write_text(text, encoding="utf-8")
        return sum(line.split("\t", 1)[0].isdigit() for line in text.splitlines())

    return timed_run(load, parse)


if __name__ == "__main__":
    main(train, run)
