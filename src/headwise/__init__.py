"""A dependency parser in which every word selects its head (Zhang, Cheng and Lapata, 2017).

    import headwise

    parser = headwise.load()
    for word in parser("Kids love candy.").words:
        print(word.form, word.upos, word.deprel, word.head)

The packages, bottom to top, are in `docs/architecture.md`.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from headwise.errors import ConfigError, DataError, HeadwiseError, ModelError, install, refuse
from headwise.settings.parsing import (
    GPU_CHUNK_SIZE,
    MAX_TREES,
    MEMORY_BUDGET,
    SMALLEST_MEMORY_BUDGET,
    DecodeConfig,
    ParserSettings,
    columns_to_keep,
)
from headwise.settings.recipe import to_struct as _to_struct
from headwise.treebank.conllu import Malformed, read_conllu, read_sentences, write_conllu
from headwise.treebank.sentence import Parse, Sentence, Word, sentence_from_words
from headwise.trees.constraints import Constraints
from headwise.version import VERSION

if TYPE_CHECKING:
    from headwise.document import Document, ParsedSentence
    from headwise.model.bundle import Bundle
    from headwise.render.svg import Picture
    from headwise.runtime.lemmas import Lemmas
    from headwise.runtime.parser import Parser
    from headwise.runtime.scorer import Scorer
    from headwise.settings.choices import Column, Precision

    Model = str | Path | Bundle

__all__ = [
    "ConfigError",
    "Constraints",
    "DataError",
    "DecodeConfig",
    "HeadwiseError",
    "Malformed",
    "ModelError",
    "Parse",
    "Sentence",
    "Word",
    "__version__",
    "load",
    "read_conllu",
    "read_sentences",
    "sentence_from_words",
    "show",
    "suggest",
    "write_conllu",
]

__version__ = VERSION
# ONNX Runtime reports its use over the network unless this is set before it is first imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def load(
    model: "Model | Sequence[Model]" = "en",
    *,
    device: str = "cpu",
    precision: "Precision" = "int8",
    decode: DecodeConfig | None = None,
    keep: "str | Sequence[Column]" = (),
    keep_tags: bool = False,
    lemmas: "str | Path | Lemmas | None" = None,
    probabilities: bool = False,
    k_best: int = 0,
    marginals: bool = False,
    treebank: str = "",
    memory_budget: int = MEMORY_BUDGET,
) -> "Parser":
    """Load a parser by the name or folder of its model, or from a folder that is open already.

    Several models are an ensemble: it averages their distributions. The first one provides the
    segmenter and, unless `decode` overrides it, the way of making trees. On `cpu` a parser runs on
    ONNX Runtime, in `precision`; `cuda` needs `headwise[train]` and a model with weights, and runs
    on PyTorch in float32. In the columns that `keep` names, the values of the input stay and only
    blanks are filled in; `keep_tags` is short for UPOS and XPOS. `lemmas` is a file with a form, a
    universal tag and a lemma on each line, or such a table; it wins over the model. With
    `probabilities`, MISC has the probability of each value. `k_best` asks for so many of the most
    probable trees of each sentence (`Parse.trees`), and `marginals` for the probability of each arc
    over all trees (`Parse.marginals`).
    A model that was trained on several treebanks parses as in its main one, or as in `treebank`.
    A sentence that would take more than `memory_budget` bytes is parsed in parts.
    """
    from headwise.model.bundle import Bundle, load_bundle
    from headwise.model.find import find_model
    from headwise.runtime.ensemble import EnsembleScorer
    from headwise.runtime.parser import Parser
    from headwise.text.segmenter import load_segmenter

    if memory_budget < SMALLEST_MEMORY_BUDGET:
        hint = f"{SMALLEST_MEMORY_BUDGET:,} bytes or more"
        raise ConfigError(f"memory_budget is {memory_budget:,}", hint)
    if not 0 <= k_best <= MAX_TREES:
        raise ConfigError(f"k_best is {k_best:,}", f"0 to {MAX_TREES}")
    if decode is not None:
        _to_struct(msgspec.to_builtins(decode), DecodeConfig, "decode")
    models = [model] if isinstance(model, str | Path | Bundle) else list(model)
    if not models:
        raise ConfigError("no model is given", "headwise.load() loads the English one")
    bundles = [m if isinstance(m, Bundle) else load_bundle(find_model(str(m))) for m in models]
    if treebank:
        bundles = [replace(bundle, vocab=bundle.vocab.as_in(treebank)) for bundle in bundles]
    scorers = [_load_scorer(bundle, device, precision) for bundle in bundles]
    settings = ParserSettings(
        decode=decode or bundles[0].manifest.decode,
        keep=columns_to_keep(keep, keep_tags),
        lemmas=_lemma_table(lemmas),
        probabilities=probabilities,
        k_best=k_best,
        marginals=marginals,
        memory_budget=memory_budget,
        **({} if device == "cpu" else {"chunk_size": GPU_CHUNK_SIZE, "look_ahead": 1}),
    )
    scorer = scorers[0] if len(scorers) == 1 else EnsembleScorer(scorers)
    return Parser(scorer, load_segmenter(bundles[0]), settings)


def _lemma_table(lemmas: "str | Path | Lemmas | None") -> dict[str, dict[str, str]]:
    from headwise.runtime.lemmas import read_lemmas

    if isinstance(lemmas, str | Path):
        return read_lemmas(lemmas)
    return {form: dict(by_tag) for form, by_tag in (lemmas or {}).items()}


def _load_scorer(bundle: "Bundle", device: str, precision: "Precision") -> "Scorer":
    if device == "cpu":
        from headwise.runtime.scorer import load_scorer

        return load_scorer(bundle, precision)
    try:
        from headwise.learn.scorer import load_torch_scorer
    except ModuleNotFoundError as error:
        what = f"device {device} needs {error.name}, which is not installed"
        raise ConfigError(what, install("train")) from error
    return load_torch_scorer(bundle, device)


def suggest(
    parser: "Parser", sentences: Sequence[Sentence], budget: int | str = "10%"
) -> list[Sentence]:
    """Mark the words without HEAD that an annotator should be asked about, within a budget.

    The budget is a number of words, or a share of all words. MISC of each chosen word has
    `Ask=Yes`, `Guess=HEAD:DEPREL` and `GuessProb`; all else stays.
    """
    from headwise.runtime.suggest import find_questions, mark_questions

    refuse(sentences, (str, Sentence), "suggest takes a list of sentences")
    return list(mark_questions(sentences, find_questions(parser, sentences, budget)))


def show(
    what: "Document | ParsedSentence | Sentence | Iterable[tuple[Sentence, Parse]]",
    parse: Parse | None = None,
    *,
    max_width: float | None = None,
) -> "Picture":
    """Draw a document, a sentence, or what `Parser.annotate_text` gives, for a notebook.

    The last expression of a cell is shown by itself; `save` writes it to a file. Wider sentences
    shrink to `max_width` pixels.
    """
    from headwise.document import Document, ParsedSentence
    from headwise.render.svg import to_picture

    if isinstance(what, ParsedSentence):
        return to_picture(what.sentence, what.parse, max_width=max_width)
    if isinstance(what, Document):
        pairs = [(sentence.sentence, sentence.parse) for sentence in what]
        return to_picture(pairs, max_width=max_width)
    return to_picture(what, parse, max_width=max_width)
