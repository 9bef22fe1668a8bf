"""Short runs of training, for tests."""

from pathlib import Path
from typing import Any

import msgspec
import torch

from headwise.learn.compute import Compute
from headwise.learn.fit.phases import Run
from headwise.learn.fit.reports import EpochReport
from headwise.learn.recipe import start, train_network
from headwise.settings.recipe import Recipe

CPU = Compute(torch.device("cpu"))


def changed(recipe: Recipe, **sections: dict[str, Any]) -> Recipe:
    """Change single settings: `changed(recipe, train={"seed": 2})`."""
    return msgspec.structs.replace(
        recipe,
        **{
            name: msgspec.structs.replace(getattr(recipe, name), **changes)
            for name, changes in sections.items()
        },
    )


def trained(recipe: Recipe, folder: Path, compute: Compute = CPU) -> Run:
    """Train the network to the end, without exporting it."""
    folder.mkdir(exist_ok=True)
    state = start(recipe, folder, compute)
    list(train_network(state))
    return state


def weights(state: Run) -> dict[str, torch.Tensor]:
    parts = {"network": state.network, "kept": state.kept}
    return {
        f"{part}/{name}": tensor
        for part, network in parts.items()
        for name, tensor in network.state_dict().items()
    }


def same_weights(first: Run, second: Run) -> bool:
    others = weights(second)
    return all(torch.equal(tensor, others[name]) for name, tensor in weights(first).items())


def history(state: Run) -> list[EpochReport]:
    """Give the reports of all epochs, without the time they took."""
    return [msgspec.structs.replace(report, seconds=0.0) for report in state.progress.history]
