"""Parse a file with headwise and say how long it took: the counterpart of `peers.run_*`.

python -m bench.speed.own MODEL THREADS IN OUT conllu|text
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.speed.peers.common import timed_run

if TYPE_CHECKING:
    from headwise.parser import Parser
    from headwise.text.read import Input


def run(model: str, threads: int, source: Path, target: Path, what: "Input") -> dict[str, float]:
    """Parse from file to file, as the command line does."""

    def load() -> "Parser":
        import headwise

        return headwise.load(model)

    def parse(parser: "Parser") -> int:
        from headwise.text.read import read_any
        from headwise.words.conllu import Malformed, as_bytes

        n_words = 0
        with target.open("wb") as stream:
            items = read_any(source, what, parser.segmenter)
            for item, _ in parser.annotate(items, threads):
                assert not isinstance(item, Malformed)
                n_words += len(item)
                stream.write(as_bytes(item))
        return n_words

    return timed_run(load, parse)


if __name__ == "__main__":
    name, n_threads, source, target, what = sys.argv[1:6]
    print(json.dumps(run(name, int(n_threads), Path(source), Path(target), what)))  # type: ignore[arg-type]
