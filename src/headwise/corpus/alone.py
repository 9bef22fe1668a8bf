"""A unit that kills who does it, in a process of its own, until only the culprit is left out.

The child parses document by document and says before each which it is. If it dies, the document
it was at is to blame; when it has died with the same one twice, that one is quarantined, and
everything else is parsed. Dying once may have been the fault of others: a machine out of memory.

    parent -> child   Task, as JSON on stdin
    child -> parent   Said, a line of JSON each, on stdout
"""

import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from signal import Signals

import msgspec

from headwise.corpus.annotate import load_for
from headwise.corpus.plan import Job, Unit
from headwise.corpus.work import Record, explain, make_shard
from headwise.errors import DataError, HeadwiseError

MAX_DEATHS_WITH = 2
"""Deaths at the same document after which it is left out."""


class Task(msgspec.Struct, frozen=True):
    """What the child is to do."""

    unit: Unit
    job: Job
    output: str
    skip: dict[str, str]


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the child says: which document it begins, or how it ended."""

    begins: str | None = None
    record: Record | None = None
    error: str | None = None
    hint: str | None = None


def do_alone(unit: Unit, job: Job, output: Path) -> Record:
    """Do a unit in child processes; those documents that kill one are quarantined."""
    skip: dict[str, str] = {}
    deaths: Counter[str] = Counter()
    while True:
        said, code = _run_child(Task(unit, job, str(output), skip))
        if said.record is not None:
            return said.record
        if said.error is not None:
            raise HeadwiseError(said.error, said.hint)
        if said.begins is None:
            what = f"a process for unit {unit.index} {_describe(code)} before it read anything"
            raise DataError(what, str(output), hint="is there memory enough for the model?")
        deaths[said.begins] += 1
        if deaths[said.begins] >= MAX_DEATHS_WITH:
            skip[said.begins] = f"the process that parsed it {_describe(code)}"


def _describe(code: int) -> str:
    return f"was ended by {Signals(-code).name}" if code < 0 else f"ended with code {code}"


def _run_child(task: Task) -> tuple[Said, int]:
    """Run a child; give the last thing it said, and how it ended."""
    command = [sys.executable, "-m", "headwise.corpus.alone"]
    said = Said()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603
        assert child.stdin
        assert child.stdout
        with suppress(BrokenPipeError), child.stdin:  # one that is dead already reads nothing
            child.stdin.write(msgspec.json.encode(task))
        for line in child.stdout:
            if line.endswith(b"\n"):
                said = msgspec.json.decode(line, type=Said)
    return said, child.returncode


def main() -> None:
    """Be the child."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    try:
        parser = load_for(task.job)
        record = make_shard(
            parser, task.unit, task.job, Path(task.output), task.skip, lambda key: _say(Said(key))
        )
    except (HeadwiseError, OSError) as error:
        told = explain(error, Path(task.output))
        _say(Said(error=told.what, hint=told.hint))
    else:
        _say(Said(record=record))


def _say(said: Said) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
