"""Load a parser by the names or folders of its models, on ONNX Runtime or on a PyTorch device."""

from collections.abc import Sequence
from dataclasses import replace

from headwise.errors import ConfigError, install
from headwise.model.bundle import Bundle
from headwise.runtime.ensemble import EnsembleScorer
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Scorer, load_scorer
from headwise.settings.choices import Precision
from headwise.settings.parsing import GPU_CHUNK_SIZE, MEMORY_BUDGET, DecodeConfig, ParserSettings
from headwise.text.segmenter import load_segmenter


def load_parser(
    bundles: Sequence[Bundle],
    *,
    device: str = "cpu",
    precision: Precision = "int8",
    decode: DecodeConfig | None = None,
    keep_tags: bool = False,
    treebank: str = "",
    memory_budget: int = MEMORY_BUDGET,
) -> Parser:
    """Load a parser from model folders; several are an ensemble.

    The first gives the segmenter and, unless `decode` overrides it, the way to make trees.
    """
    if treebank:
        bundles = [replace(bundle, vocab=bundle.vocab.as_in(treebank)) for bundle in bundles]
    scorers = [_load_scorer(bundle, device, precision) for bundle in bundles]
    settings = ParserSettings(
        decode=decode or bundles[0].manifest.decode,
        keep_tags=keep_tags,
        memory_budget=memory_budget,
        **({} if device == "cpu" else {"chunk_size": GPU_CHUNK_SIZE, "look_ahead": 1}),
    )
    scorer = scorers[0] if len(scorers) == 1 else EnsembleScorer(scorers)
    return Parser(scorer, load_segmenter(bundles[0]), settings)


def _load_scorer(bundle: Bundle, device: str, precision: Precision) -> Scorer:
    """Load a scorer for `cpu` (ONNX Runtime, in `precision`) or `cuda` (PyTorch, float32)."""
    if device == "cpu":
        return load_scorer(bundle, precision)
    try:
        from headwise.learn.scorer import load_torch_scorer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"device {device} needs {error.name}, which is not installed",
            install("train"),
        ) from error
    return load_torch_scorer(bundle, device)
