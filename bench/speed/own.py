"""Parse a file with headwise and print how long it took: the counterpart of `peers.run_*`.

python -m bench.speed.own MODEL THREADS PROCESSES IN OUT conllu|text
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.speed.peers.common import timed_run

if TYPE_CHECKING:
    from headwise.runtime.parser import Parser
    from headwise.settings.choices import Input


def run(
    model: str, threads: int, processes: int, source: Path, target: Path, what: "Input"
) -> dict[str, float]:
    """Parse from file to file as the command line does, with threads or processes."""

    def load() -> "Parser":
        import headwise

        if processes > 1:
            import headwise.cli.streams.share

        return headwise.load(model)

    def parse(parser: "Parser") -> int:
        from headwise.text.read import read_any
        from headwise.treebank.conllu import Malformed

        n_words = 0
        with target.open("wb") as stream:
            items = read_any(source, what, parser.segmenter)
            for item, _ in parser.annotate(items, threads):
                assert not isinstance(item, Malformed)
                n_words += len(item)
                stream.write(item.data)
        return n_words

    def parse_with_processes(parser: "Parser") -> int:
        from headwise.cli.streams.share import parse_in_processes

        n_words = 0
        with target.open("wb") as stream:
            for done in parse_in_processes(parser, str(source), what, "conllu", processes):
                n_words += done.counts.n_words
                stream.write(done.data)
        return n_words

    return timed_run(load, parse if processes == 1 else parse_with_processes)


if __name__ == "__main__":
    name, threads, processes, source, target, what = sys.argv[1:7]
    paths = (Path(source), Path(target))
    print(json.dumps(run(name, int(threads), int(processes), *paths, what)))  # type: ignore[arg-type]
