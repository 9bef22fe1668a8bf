"""SuPar: build a model, parse a file. Runs in its own environment."""

import os
from pathlib import Path
from typing import Any

from bench.speed.peers.common import main, sentences, timed_run

SETTINGS = {
    "encoder": "lstm",
    "feat": ["char"],
    "embed": None,
    "build": True,
    "tree": False,
    "proj": False,
    "partial": False,
    "prob": False,
    "verbose": False,
}


def train(folder: Path, data: Path) -> None:
    """Build the biaffine parser in its default sizes, without vectors, and leave it untrained.

    Its own default is to take the best head of each word, tree or not, and that takes the same
    time whatever the weights are.
    """
    from supar import BiaffineDependencyParser

    source = str(_plain(data / "train.conllu", folder / "train.conllx"))
    path = str(folder / "model")
    BiaffineDependencyParser.build(path=path, train=source, **SETTINGS).save(path)


def _plain(source: Path, target: Path) -> Path:
    """Leave out comments, ranges and empty nodes."""
    with target.open("w", encoding="utf-8") as stream:
        for lines, rows, _ in sentences(source):
            stream.writelines(lines[row] for row in rows)
            stream.write("\n")
    return target


def run(model: Path, source: Path, target: Path, what: str) -> dict[str, float]:
    """Parse gold tokens; it reads no tags."""
    import torch
    from supar import Parser

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))

    def load() -> Any:
        return Parser.load(str(model / "model"))

    def parse(parser: Any) -> int:
        plain = _plain(source, target.with_suffix(".conllx"))
        parser.predict(str(plain), pred=str(target), buckets=8, batch_size=5000, verbose=False)
        return sum(len(rows) for _, rows, _ in sentences(plain))

    return timed_run(load, parse)


if __name__ == "__main__":
    main(train, run)
