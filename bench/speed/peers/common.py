"""Reading, writing and timing for the scripts of the other parsers, without any library.

Called as `python -m bench.speed.peers.run_NAME train MODEL DATA` and `... run MODEL IN OUT WHAT`;
the second prints a line of JSON: seconds to load and to parse, wall and CPU, words, and peak
memory.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Block = tuple[list[str], list[int], list[str]]


class Columns(NamedTuple):
    """The columns of one sentence; forms are empty if the tokens were given."""

    forms: list[str]
    tags: list[str]
    heads: list[int]
    labels: list[str]


def sentences(path: Path) -> Iterator[Block]:
    """Read CoNLL-U: all lines of a sentence, which of them are words, and their forms."""
    lines: list[str] = []
    rows: list[int] = []
    forms: list[str] = []
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line == "\n":
                yield lines, rows, forms
                lines, rows, forms = [], [], []
                continue
            columns = line.split("\t", 2)
            if columns[0].isdigit():
                rows.append(len(lines))
                forms.append(columns[1])
            lines.append(line)


def write(
    target: Path,
    parsed: Iterable[Columns],
    given: Iterable[tuple[list[str], list[int]]] | None = None,
) -> int:
    """Write CoNLL-U, using the lines that were read, if any; return the number of words."""
    n_words = 0
    with target.open("w", encoding="utf-8") as stream:
        if given is None:
            for forms, tags, heads, labels in parsed:
                words = zip(forms, tags, heads, labels, strict=True)
                for i, (form, tag, head, label) in enumerate(words, 1):
                    stream.write(f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n")
                stream.write("\n")
                n_words += len(forms)
            return n_words
        for (_, _, heads, labels), (lines, rows) in zip(parsed, given, strict=True):
            for row, head, label in zip(rows, heads, labels, strict=True):
                columns = lines[row].split("\t")
                columns[6:8] = [str(head), label]
                lines[row] = "\t".join(columns)
            stream.writelines(lines)
            stream.write("\n")
            n_words += len(rows)
    return n_words


def timed_run(load: Callable[[], Any], parse: Callable[[Any], int]) -> dict[str, float]:
    """Load, then parse; time them separately."""
    began, began_cpu = time.perf_counter(), cpu_seconds()
    loaded = load()
    ready, ready_cpu = time.perf_counter(), cpu_seconds()
    n_words = parse(loaded)
    return {
        "load": ready - began,
        "load_cpu": ready_cpu - began_cpu,
        "seconds": time.perf_counter() - ready,
        "cpu": cpu_seconds() - ready_cpu,
        "words": n_words,
        "peak": peak(),
    }


def cpu_seconds() -> float:
    """Get the CPU time of this process and its finished children."""
    return time.process_time() + sum(os.times()[2:4])


def peak() -> float:
    """Get the peak memory of this process, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def main(
    train: Callable[[Path, Path], None], run: Callable[[Path, Path, Path, str], dict[str, float]]
) -> None:
    """Train or run, by the command line."""
    if sys.argv[1] == "train":
        folder = Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        train(folder, Path(sys.argv[3]))
    else:
        model, source, target = map(Path, sys.argv[2:5])
        print(json.dumps(run(model, source, target, sys.argv[5])))
