"""That other devices need PyTorch, and say so, is tested with the commands."""

from pathlib import Path

from headwise.learn.scorer import TorchScorer
from headwise.loading import load_on
from headwise.model.batches import BatchScorer
from headwise.model.bundle import find_model, load_bundle
from headwise.model.scorer import OnnxScorer


def test_the_cpu_needs_nothing_else() -> None:
    parser = load_on("cpu", load_bundle(find_model("en")), keep_tags=True)
    assert isinstance(parser.scorer, OnnxScorer | BatchScorer)
    assert parser.keep_tags


def test_other_devices_are_those_of_torch(tiny_run: Path) -> None:
    parser = load_on("cpu:0", load_bundle(tiny_run / "model"))
    assert isinstance(parser.scorer, TorchScorer)
