"""A run on disk, so that a kill at any moment loses an epoch, or little more where they are short.

One safetensors file holds the weights, the best weights so far and the optimiser, with the progress
of the run as JSON in its header; it is replaced by a rename. There is no state of a random
generator in it: every epoch draws from its own seed (`learn.fit.loop`), so that a run that was
resumed and one that never stopped are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from headwise.errors import ConfigError, ModelError
from headwise.files import whole_file
from headwise.settings.recipe import Recipe

Phase = Literal["adam", "sgd", "label"]
FILE = "checkpoint.safetensors"
PARTS = ("weights", "kept", "best", "optimiser")
SHARE = 0.05
"""Of the time of a run, that may go into checkpoints."""
DAMAGED = "remove it to start anew"


class EpochReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an epoch gave; dev scores are percentages, without punctuation by the recipe's rule."""

    phase: Phase
    epoch: int
    loss: float
    dev_uas: float
    dev_las: float | None = None
    """On repaired trees; known once labels are trained."""
    dev_tags: dict[str, float] = {}
    """Accuracy of each column of predicted tags; every word counts."""
    tree_rate: float
    """Dev sentences whose greedy heads form a tree."""
    is_best: bool
    seconds: float


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run has come."""

    recipe: bytes
    """The recipe as JSON; a checkpoint goes on only under the recipe it was started with."""
    data: str
    """A checksum of the treebanks; the files behind the same names may have changed."""
    phase: Phase = "adam"
    epoch: int = 0
    """Epochs done in this phase."""
    best_score: float = -1.0
    n_worse: int = 0
    """Epochs in a row without a better score."""
    n_steps: int = 0
    """Steps that the moving average of the weights has seen."""
    segment: dict[str, float] = {}
    """Dev scores of the segmenter, once it is trained."""
    finished: bool = False
    history: list[EpochReport] = []


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Progress and the tensors that go with it."""

    progress: Progress
    weights: Mapping[str, Tensor]
    kept: Mapping[str, Tensor]
    """The moving average of the weights; nothing where there is none."""
    best: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]


def require_same_run(folder: Path, progress: Progress, recipe: Recipe, data: str) -> None:
    """Refuse to go on with a run of another recipe or of other treebanks.

    A setting that came into the world after the run was begun has its default there.
    """
    try:
        before = msgspec.json.decode(progress.recipe, type=Recipe)
    except msgspec.ValidationError:  # it has a setting that there is no longer
        before = None
    for what, is_same in (
        ("recipe", before == recipe),
        ("treebank or teacher", progress.data == data),
    ):
        if not is_same:
            raise ConfigError(
                f"{folder}: holds a run of another {what}", "choose another --out, or remove it"
            )


class Saving:
    """When to save: at the end of an epoch, unless saving would take more than its share."""

    def __init__(self) -> None:
        """Nothing is saved yet."""
        self._ended = monotonic()
        self._took = 0.0

    def is_due(self) -> bool:
        """Whether the last checkpoint is old enough for another."""
        return (monotonic() - self._ended) * SHARE >= self._took

    def save(self, folder: Path, checkpoint: Checkpoint) -> None:
        """Write a checkpoint whole, and see how long that takes."""
        started = monotonic()
        save_checkpoint(folder, checkpoint)
        self._ended = monotonic()
        self._took = self._ended - started


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint whole."""
    tensors = {
        f"{part}/{name}": tensor.detach().cpu().contiguous()
        for part in PARTS
        for name, tensor in getattr(checkpoint, part).items()
    }
    progress = msgspec.json.encode(checkpoint.progress).decode()
    data = safetensors.torch.save(tensors, {"progress": progress})
    with whole_file(folder / FILE) as stream:
        stream.write(data)


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of a run, None if it has none yet."""
    path = folder / FILE
    if not path.exists():
        return None
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in PARTS}
    try:
        with safetensors.safe_open(path, "pt") as stored:
            progress = msgspec.json.decode((stored.metadata() or {})["progress"], type=Progress)
            for key in stored.keys():  # noqa: SIM118 (not a dict)
                part, _, name = key.partition("/")
                parts[part][name] = stored.get_tensor(key)
    except (safetensors.SafetensorError, KeyError, msgspec.MsgspecError, OSError) as error:
        raise ModelError(f"{path}: not a checkpoint: {error}", DAMAGED) from error
    return Checkpoint(progress, **parts)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Flatten the state of an optimiser: `parameter number/name`."""
    state = optimiser.state_dict()["state"]
    return {
        f"{number}/{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put flattened state back."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
