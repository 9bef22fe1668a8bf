"""What a parser asks of a network, and its ONNX Runtime form.

A `Scorer` does two things, in the order of the paper: `select` gives every word a distribution
over heads (Eq. 1-6), `label` names the arcs that were chosen. `OnnxScorer` runs one sentence at a
time: no padding, so that no parse depends on its neighbours, and the pairs of a long sentence are
scored in blocks of bounded size. `learn.scorer` is the same on a GPU, in batches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ModelError
from headwise.model.bundle import DAMAGED, SELECT, Bundle
from headwise.model.graph import ORT_ERRORS, open_graph
from headwise.vocabulary.encode import Encoded, IntArray, WordIds
from headwise.vocabulary.ngrams import ROOT_PIECE
from headwise.vocabulary.subwords import Windows
from headwise.vocabulary.vocab import ROOT, Vocab

FloatArray = NDArray[np.float32]
Precision = Literal["int8", "float32"]
BLOCK_BYTES = 4 * 2**20
"""Size of the largest array of word pairs, [rows, N+1, k] in float32: small enough for a cache."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The head distribution of one sentence.

    `head_log_probs` is float32 [N+1, N+1], [dependent, head]; row 0 is never read. `features` are
    for `label` of the same scorer, and for nobody else. `tags` are int32 [N+1] for each column that
    the model predicts: positions among its strings. `tag_log_probs` are float32 [N+1, tags] for
    each, where the scorer tells them.
    """

    head_log_probs: FloatArray
    features: Any
    tags: tuple[IntArray, ...] = ()
    tag_log_probs: tuple[FloatArray, ...] = ()


class Scorer(Protocol):
    """A network that selects heads and labels arcs; safe to call from several threads."""

    def select(self, sentences: Sequence[Encoded]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""


class OnnxScorer:
    """Three graphs on one thread each call: represent, select, label; and a transformer's own."""

    def __init__(self, bundle: Bundle, precision: Precision = "int8") -> None:
        """Load the graphs of a model folder."""
        subwords = bundle.vocab.subwords
        self._encoder = Graph(bundle, f"encoder.{precision}.onnx") if subwords else None
        self._represent = Graph(bundle, f"represent.{precision}.onnx")
        self._select = Graph(bundle, SELECT)
        self._label = Graph(bundle, f"label.{precision}.onnx")
        self._n_tags = [len(index.strings) for index in bundle.vocab.predicted.values()]
        self._misfit = ModelError(f"{bundle.path}: the graphs do not fit the vocabulary", DAMAGED)
        self._check(bundle)

    def _check(self, bundle: Bundle) -> None:
        """Try the last word, tag and label of the vocabulary: the graphs must have room."""
        vocab = bundle.vocab
        try:
            selection = self._select_one(last_ids(vocab))
            (labels,) = self.label([selection], [np.zeros(2, np.int32)])
            fits = labels.shape == (1, len(vocab.labels.strings))
            fits = fits and len(selection.tags) == len(vocab.predicted)
            told = [scores.shape for scores in selection.tag_log_probs]
            fits = fits and told in ([], [(2, n_tags) for n_tags in self._n_tags])
        except (KeyError, ValueError, *ORT_ERRORS):
            fits = False
        if not fits:
            raise self._misfit

    def select(self, sentences: Sequence[Encoded]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        return [self._select_one(sentence) for sentence in sentences]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""
        return [
            self._label.run(selection.features | {"words": words, "chosen": chosen[1:]})[0]
            for selection, chosen in zip(selections, heads, strict=True)
            for words in [np.arange(1, len(chosen), dtype=np.int32)]
        ]

    @staticmethod
    def _read(encoder: "Graph", windows: Windows) -> FloatArray:
        """Read the states of words, float32 [N+1, .], window by window."""
        states = [encoder.run({"subwords": ids})[0] for ids in windows.ids]
        return np.concatenate(states)[windows.reads]

    def _select_one(self, sentence: Encoded) -> Selection:
        feed: dict[str, NDArray[Any]] = {**sentence.ids.by_name()}
        if self._encoder is not None and sentence.windows is not None:
            feed["in_context"] = self._read(self._encoder, sentence.windows)
        states, inputs, heads, dependents, *tags = self._represent.run(feed)
        n_slots, k = heads.shape
        n_rows = max(1, BLOCK_BYTES // (4 * n_slots * k))
        rows = np.arange(n_slots, dtype=np.int32)
        # Filled in place: results kept one by one would each hold on to the memory of its block.
        head_log_probs = np.empty((n_slots, n_slots), np.float32)
        for start in range(0, n_slots, n_rows):
            block = slice(start, start + n_rows)
            pairs = {"dependents": dependents[block], "heads": heads, "rows": rows[block]}
            head_log_probs[block] = self._select.run(pairs)[0]
        n_columns = len(self._n_tags)  # what follows them are their scores, in newer models
        told = tuple(column.astype(np.int32) for column in tags[:n_columns])
        if any(column.max() >= n for column, n in zip(told, self._n_tags, strict=True)):
            raise self._misfit
        features = {"states": states, "inputs": inputs}
        return Selection(head_log_probs, features, told, tuple(tags[n_columns:]))


def _last_window(vocab: Vocab) -> Windows | None:
    """Make the longest window, of the last subword, for a sentence of one word."""
    if vocab.subwords is None:
        return None
    vocab.subwords.open()
    settings = vocab.subwords.settings
    ids = np.full((1, settings.window), settings.n_ids - 1, np.int32)
    return Windows(ids, np.array([0, settings.window - 1], np.int32))


def last_ids(vocab: Vocab) -> Encoded:
    """Give a sentence of one word that has the last of all ids."""
    last_ngram = [[ROOT_PIECE], [len(vocab.pieces) - 1]] if vocab.pieces.n_buckets else [[], []]
    last_mark = [[ROOT], [len(vocab.marks) - 1]] if vocab.marks.strings else [[], []]
    words, tags, vectors = (
        np.array([ROOT, len(index) - 1], np.int32)
        for index in (vocab.words, vocab.tags, vocab.vectors)
    )
    ngrams, marks = (np.array(ids, np.int32) for ids in (last_ngram, last_mark))
    return Encoded(WordIds(words, tags, ngrams, vectors, marks), _last_window(vocab))


class Graph:
    """One ONNX graph, ready to run."""

    def __init__(self, bundle: Bundle, name: str) -> None:
        """Open a graph of a model folder."""
        # Without an arena of its own, or one long sentence would hold its memory forever.
        self._session = open_graph(bundle.read(name), str(bundle.path / name), keeps_memory=False)
        self.inputs = [node.name for node in self._session.get_inputs()]

    def run(self, feed: Mapping[str, NDArray[Any]]) -> list[FloatArray]:
        """Run on the inputs that the graph has: a parser without tags reads none, for example."""
        results: list[FloatArray] = self._session.run(
            None, {name: feed[name] for name in self.inputs}
        )
        return results
