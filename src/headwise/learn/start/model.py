"""The model that a run starts from, and what the run keeps of it.

A run copies what it needs again when it is resumed: the vocabulary, and a segmenter that the new
model takes over. So the model is read once, and may be gone or changed afterwards.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from headwise.errors import ConfigError, ModelError
from headwise.files import whole_file
from headwise.learn.fit.checkpoint import Checkpoint, keep_vocab, read_kept_vocab
from headwise.model.bundle import WEIGHTS, Bundle, load_bundle
from headwise.model.find import find_model
from headwise.settings.model import ModelConfig
from headwise.settings.recipe import Recipe
from headwise.text.segmenter import SEGMENTER_FILES
from headwise.vocabulary.subwords import Subwords
from headwise.vocabulary.vocab import EMPTY_INDEX, Vocab

KEPT = "start"
"""The folder of a run with what it keeps of the model."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from; without a model, from nothing.

    `bundle` is the model, None if the run is resumed. `known` is its vocabulary, if that is to be
    joined with the one of the treebank, and `subwords` what its transformer reads, if the new model
    has the same one.
    """

    bundle: Bundle | None = None
    known: Vocab | None = None
    subwords: Subwords | None = None


def open_start(recipe: Recipe, folder: Path, checkpoint: Checkpoint | None) -> tuple[Recipe, Start]:
    """Open the model of `[start]`; with a checkpoint, read what the run has kept of it instead.

    A recipe that leaves all settings of the model at their defaults gets those of the model.
    """
    config = recipe.start
    if config is None:
        return recipe, Start()
    if checkpoint is not None:
        if recipe.model == ModelConfig():
            model = msgspec.json.decode(checkpoint.progress.recipe, type=Recipe).model
            recipe = msgspec.structs.replace(recipe, model=model)
        known = read_kept_vocab(folder / KEPT) if config.vocabulary == "joined" else None
        return recipe, Start(known=known)
    if not config.model:
        raise ConfigError("no model to start from", "--start MODEL, or start.model in the recipe")
    bundle = load_bundle(find_model(config.model))
    if not bundle.can_learn:
        raise ModelError(
            f"{config.model}: training cannot start from this model: it has a transformer, and "
            f"graphs to parse with, but no {WEIGHTS}",
            "start from the folder of a run, such as --start runs/ewt, "
            "or from a package made with headwise package --weights",
        )
    settings = bundle.manifest.model
    if recipe.model == ModelConfig():
        recipe = msgspec.structs.replace(recipe, model=settings)
    known = bundle.vocab
    if (recipe.model.vector_size, bool(recipe.model.vector_words)) != (
        settings.vector_size,
        bool(settings.vector_words),
    ):
        known = replace(known, vectors=EMPTY_INDEX)
    subwords = bundle.vocab.subwords if recipe.model.encoder == settings.encoder else None
    return recipe, Start(bundle, known if config.vocabulary == "joined" else None, subwords)


def keep_start(begun: Start, folder: Path, trains_segmenter: bool) -> None:
    """Copy into a run what it needs when it is resumed, and a segmenter if it trains none."""
    known, bundle = begun.known, begun.bundle
    if known is None or bundle is None:
        return
    keep_vocab(folder / KEPT, known)
    for name in () if trains_segmenter else SEGMENTER_FILES:
        if name in bundle.contents:
            with whole_file(folder / name) as stream:
                stream.write(bundle.contents[name])
