"""`headwise train` for a launcher to start, watched: only the first process may write in the run.

The environment tells more. `WATCHED` is the folder of the run. `DOUBLE` asks for float64, where
rounding does not hide a mistake, and `NO_MODEL` for a run without its last step, the export. When
the checkpoint is about to be replaced for the `KILL_AT`th time, the processes `KILLED` (ranks, by
commas) get SIGKILL. Every epoch has its checkpoint here, however long writing it takes, so that
which one is the last does not depend on the machine.
"""

import os
import signal
import sys
from pathlib import Path

import torch

import headwise.learn.recipe
from headwise.cli.main import main
from headwise.learn.fit.checkpoint import CheckpointWriter
from headwise.model.find import CHECKPOINT

WATCHED = os.environ["WATCHED"]
RANK = os.environ.get("RANK", "0")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
seen = {"checkpoints": 0}


def pid_file(rank: str) -> Path:
    return Path(f"{WATCHED}.{rank}.pid")


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what another process than the first would write; kill where that is due."""
    if event not in {"open", "os.mkdir", "os.rename", "os.remove"}:
        return
    path = arguments[1] if event == "os.rename" else arguments[0]
    is_reading = event == "open" and not int(str(arguments[2])) & WRITING
    if is_reading or not (str(path) == WATCHED or str(path).startswith(f"{WATCHED}{os.sep}")):
        return
    assert RANK == "0", f"process {RANK} writes {path}"
    if event == "os.rename" and str(path).endswith(CHECKPOINT):
        seen["checkpoints"] += 1
        if seen["checkpoints"] == int(os.environ.get("KILL_AT", "0")):
            for rank in os.environ["KILLED"].split(","):
                os.kill(int(pid_file(rank).read_text()), signal.SIGKILL)


pid_file(RANK).write_text(str(os.getpid()))
sys.addaudithook(watch)
CheckpointWriter.is_due = lambda _: True  # type: ignore[method-assign]
if "DOUBLE" in os.environ:
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double  # type: ignore[method-assign]
if "NO_MODEL" in os.environ:
    headwise.learn.recipe.export_model = lambda *_: None
main()
