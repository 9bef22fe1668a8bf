"""That other devices need PyTorch, and say so, is tested with the commands."""

import io
from pathlib import Path

import pytest
from headwise.loading import load_parser

import headwise
from headwise.errors import ConfigError
from headwise.learn.scorer import TorchScorer
from headwise.model.bundle import find_model, load_bundle
from headwise.runtime.scorer import BatchScorer
from headwise.settings.parsing import DecodeConfig


def test_the_cpu_needs_nothing_else() -> None:
    parser = load_parser([load_bundle(find_model("en"))], keep_tags=True)
    assert isinstance(parser.scorer, BatchScorer)
    assert parser.settings.keep_tags


def test_other_devices_are_those_of_torch(tiny_run: Path) -> None:
    parser = headwise.load(tiny_run, device="cpu:0")
    assert isinstance(parser.scorer, TorchScorer)
    assert parser.settings.look_ahead == 1  # it sorts its chunks by itself


def test_values_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="decode: Invalid enum value 'best'"):
        headwise.load(decode=DecodeConfig(decoder="best"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="memory_budget is -5"):
        headwise.load(memory_budget=-5)
    with pytest.raises(ConfigError, match="threads is 0"):
        list(headwise.load().annotate_text("Kids play.", threads=0))
    with pytest.raises(ConfigError, match="on_error is 'ignore'"):
        list(headwise.read_conllu(io.BytesIO(), on_error="ignore"))  # type: ignore[arg-type]
