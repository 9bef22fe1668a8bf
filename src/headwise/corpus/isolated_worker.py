"""Do a unit that killed its workers in a child process, and leave out the document at fault.

The child first parses a test sentence, so that a broken device or too little memory is not blamed
on a document. It then parses document by document and reports each before it starts. If it dies,
the document it was at is the suspect; a document at which two children died is quarantined, and
everything else is parsed. One death is not enough: the machine may have run out of memory.

An exception in the child fails the unit: it says nothing about the document.

    parent -> child   Task, as JSON on stdin
    child -> parent   Message, one line of JSON each, on stdout
"""

import subprocess
import sys
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from signal import Signals

import msgspec

from headwise.corpus.parsing import load_job_parser
from headwise.corpus.plan import CorpusJob, Unit
from headwise.corpus.units import CONTINUES_HINT, ShardRecord, explain_error, make_shard
from headwise.errors import DataError, HeadwiseError, explain_shortage
from headwise.treebank.sentence import sentence_from_words

_MAX_DEATHS = 2
"""Deaths at the same document after which it is quarantined."""
_TEST_WORD = {"form": "Test", "lemma": "test", "upos": "X", "xpos": "X", "feats": "A=B"}


class Task(msgspec.Struct, frozen=True):
    """What the child has to do."""

    unit: Unit
    job: CorpusJob
    output: str
    skip: dict[str, str]


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """A report of the child: the document it starts, or how it finished."""

    document: str | None = None
    record: ShardRecord | None = None
    error: str | None = None
    hint: str | None = None


def make_shard_isolated(unit: Unit, job: CorpusJob, output: Path) -> ShardRecord:
    """Do a unit in child processes; quarantine documents that kill them."""
    skip: dict[str, str] = {}
    n_deaths: Counter[str] = Counter()
    while True:
        message, exit_code = _run_child(Task(unit, job, str(output), skip))
        if message.record is not None:
            return message.record
        if message.error is not None:
            raise HeadwiseError(message.error, message.hint)
        cause = f"ended with code {exit_code}"
        if exit_code < 0:
            cause = f"was killed by {Signals(-exit_code).name}"
        if message.document is None:
            what = f"a process for unit {unit.index} {cause} before it read a document"
            hint = f"check that there is enough memory for the model; {CONTINUES_HINT}"
            raise DataError(what, str(output), hint=hint)
        n_deaths[message.document] += 1
        if n_deaths[message.document] >= _MAX_DEATHS:
            skip[message.document] = f"the process that parsed it {cause}"


def _run_child(task: Task) -> tuple[Message, int]:
    """Run a child; give its last message and its exit code."""
    # With -P, Python does not import what lies in the current folder.
    command = [sys.executable, "-P", "-m", "headwise.corpus.isolated_worker"]
    message = Message()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603
        assert child.stdin
        assert child.stdout
        with suppress(BrokenPipeError), child.stdin:  # the child may be dead already
            child.stdin.write(msgspec.json.encode(task))
        for line in child.stdout:
            with suppress(msgspec.MsgspecError):  # a line that the child did not finish
                message = msgspec.json.decode(line, type=Message)
    return message, child.returncode


def run_child() -> None:
    """Run as the child: read a task from stdin, write messages to stdout."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    current = f"unit {task.unit.index}"

    def start_document(key: str) -> None:
        nonlocal current
        current = key
        _send(Message(document=key))

    try:
        parser = load_job_parser(task.job)
        parser.parse([sentence_from_words([list(_TEST_WORD.values())], list(_TEST_WORD))])
        record = make_shard(
            parser, task.unit, task.job, Path(task.output), task.skip, start_document
        )
    except (HeadwiseError, OSError) as error:
        explained = explain_error(error, Path(task.output))
        _send(Message(error=explained.what, hint=explained.hint))
    except Exception as error:
        shortage = explain_shortage(error)
        if shortage is not None:
            _send(
                Message(
                    error=f"{current}: {shortage.what}", hint=f"{shortage.hint}; {CONTINUES_HINT}"
                )
            )
            return
        traceback.print_exc()
        what = f"{current}: {type(error).__name__}: {error}"
        _send(Message(error=what, hint=f"if the device works, report a bug; {CONTINUES_HINT}"))
    else:
        _send(Message(record=record))


def _send(message: Message) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    run_child()
