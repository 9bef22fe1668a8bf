"""An epoch has its batches, and features for the label network fit on a device once."""

import weakref
from pathlib import Path
from typing import Any

import torch
from made_runs import CPU, changed
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headwise.learn.data.treebanks import load_data
from headwise.learn.fit.loop import collect_arcs
from headwise.learn.fit.phases import plan_adam
from headwise.learn.recipe import start
from headwise.learn.scorer import TorchScorer
from headwise.network.network import build_network
from headwise.settings.recipe import Recipe


class PeakMemory(TorchDispatchMode):
    """Measures the most bytes that the tensors made in its context take at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[weakref.ref[Tensor]] = []
        self.n_bytes = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self._made.append(weakref.ref(result))
        alive = [tensor for made in self._made if (tensor := made()) is not None]
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in alive}
        self.n_bytes = max(self.n_bytes, sum(storages.values()))
        self._made = [weakref.ref(tensor) for tensor in alive]
        return result


def test_arcs_are_those_of_the_treebank_and_in_memory_once(tiny_recipe: Recipe) -> None:
    data = load_data(tiny_recipe.data, tiny_recipe.model, tiny_recipe.train)
    network = build_network(
        tiny_recipe.model, data.vocab, tiny_recipe.train, tiny_recipe.label, CPU.device
    )
    with PeakMemory() as peak:
        arcs = collect_arcs(network, data.train, CPU.device, pairs_per_batch=200)
    features = [arcs.states, arcs.inputs]
    assert peak.n_bytes < 1.6 * sum(part.numel() * part.element_size() for part in features)
    arcs = collect_arcs(network, data.train, CPU.device)
    selections = TorchScorer(network, data.vocab, CPU.device).select_encoded(data.train.encoded)
    for part, stored in enumerate((arcs.states, arcs.inputs)):
        assert torch.equal(stored, torch.cat([one.features[part] for one in selections]))
    slots = [(i, slot) for i, gold in enumerate(data.train.gold) for slot in range(len(gold.heads))]
    expected = [
        (i, slot, int(gold.heads[slot]), int(gold.labels[slot]))
        for i, gold in enumerate(data.train.gold)
        for slot in range(1, len(gold.heads))
    ]
    columns = (arcs.dependents.tolist(), arcs.heads.tolist(), arcs.labels.tolist())
    found = [
        (*slots[dependent], slots[head][1], label)
        for dependent, head, label in zip(*columns, strict=True)
    ]
    assert found == expected


def test_a_small_treebank_is_gone_through_several_times_in_an_epoch(
    tiny_recipe: Recipe, tmp_path: Path
) -> None:
    n_batches = []
    for steps in (1, 5, 6, 12):  # 40 sentences are five batches of eight
        recipe = changed(tiny_recipe, train={"batch_size": 8, "steps": steps})
        folder = tmp_path / str(steps)
        folder.mkdir()
        *_, last = plan_adam(start(recipe, folder, CPU)).train_epoch(1)
        n_batches.append((last.n_done, last.n_batches))
    assert n_batches == [(5, 5), (5, 5), (10, 10), (15, 15)]
