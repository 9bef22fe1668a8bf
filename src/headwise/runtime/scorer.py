"""What a parser asks of a network, and the two ways in which ONNX Runtime does it.

A `Scorer` does two things, in the order of the paper: `select` gives every word a distribution
over heads (Eq. 1-6), `label` names the arcs that were chosen. It owns its vocabulary, so that
callers see sentences and strings, never ids. `learn.scorer` does the same with PyTorch.

`BatchScorer` runs sentences of similar length side by side, so that the weights of the LSTMs are
read once for all of them. In int8 its graphs are built so that no sentence is affected by its
batch (see `learn.export.batches`): a parse is the same bit for bit. In float32, where the order of
sums depends on the batch, each sentence runs by itself. `SentenceScorer` runs the models that have
no such graphs, with a transformer or DeNSe-Pei, one sentence at a time.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray, IntArray
from headwise.errors import ModelError, explain_shortage
from headwise.grouping import PASS_SIZE, batches, in_order
from headwise.model.bundle import COLUMNS, DAMAGED, INPUTS, PAIR_WEIGHTS, SELECT, Bundle
from headwise.model.graph import ORT_ERRORS, Graph
from headwise.runtime.pairs import exponentials, head_log_probs
from headwise.runtime.table import AT_ONCE, PADDING, InputTable
from headwise.settings.choices import Precision
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import Encoded, encode, last_ids
from headwise.vocabulary.vocab import Vocab

MISFIT = "the graphs do not fit the vocabulary"
MAX_BATCH_SLOTS = 1_024
"""Slots that share a pass, padding included, unless one sentence has more."""
LABEL_ROWS = TAG_ROWS = 512
"""Rows in one call of `label` and `columns`, few enough for a cache."""
PAIR_BLOCK_BYTES = 4 * 2**20
"""Size of the largest array of word pairs, [rows, N+1, k] in float32: small enough for a cache."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The head distribution of one sentence.

    `head_log_probs` is float32 [N+1, N+1], [dependent, head]; row 0 is never read. `features` are
    for `label` of the same scorer only. `tags` are the positions that were chosen for each column
    of `Vocab.outputs`, int32 [N+1], of FEATS [N+1, features]; `tag_log_probs` are float32 [N+1, .]
    for each, of FEATS [N+1, features, values].
    """

    head_log_probs: FloatArray
    features: Any
    tags: tuple[IntArray, ...] = ()
    tag_log_probs: tuple[FloatArray, ...] = ()


_Selected = tuple[FloatArray, FloatArray, tuple[NDArray[Any], ...]]
"""Head log-probabilities, arcs and further outputs of a sentence, before columns are predicted."""


class Scorer(Protocol):
    """A network that selects heads and labels arcs; safe to call from several threads."""

    @property
    def vocab(self) -> Vocab:
        """What the network reads, and the labels and tags that it predicts."""

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""

    def in_treebank(self, name: str) -> "Scorer":
        """Read sentences as that treebank's, if the model can tell it from others."""


def load_scorer(bundle: Bundle, precision: Precision = "int8") -> Scorer:
    """Load the network of a model folder."""
    precisions = [p for p in ("int8", "float32") if f"represent.{p}.onnx" in bundle.contents]
    if precisions and precision not in precisions:
        hint = f"it has {precisions[0]} only"
        raise ModelError(f"{bundle.path}: this model has no {precision}", hint)
    scorer_class = BatchScorer if INPUTS.format(precision) in bundle.contents else SentenceScorer
    try:
        scorer = scorer_class(bundle, precision)
    except (LookupError, ValueError) as error:
        raise ModelError(f"{bundle.path}: {MISFIT}", DAMAGED) from error
    try:
        # The last word, tag and label of the vocabulary: the graphs must have room for them.
        selection = scorer.select_encoded(last_ids(bundle.vocab))
        (label_log_probs,) = scorer.label([selection], [np.zeros(2, np.int32)])
    except (LookupError, TypeError, ValueError, ModelError) as error:
        raise ModelError(f"{bundle.path}: {MISFIT}", DAMAGED) from error
    except ORT_ERRORS as error:  # one word should not need much memory
        explained = explain_shortage(error)
        hint = DAMAGED if explained is None else f"{explained.what}, or {DAMAGED}"
        raise ModelError(f"{bundle.path}: its graphs cannot run", hint) from error
    arrays = (*selection.tags, *selection.tag_log_probs, label_log_probs)
    outputs = bundle.vocab.outputs
    tag_shapes = [(2, *(shape[:1] if name == "feats" else ())) for name, shape in outputs.items()]
    score_shapes = [(2, *shape) for shape in outputs.values()]
    label_shape = (1, len(bundle.vocab.labels.strings))
    fits = [array.shape for array in arrays] == [*tag_shapes, *score_shapes, label_shape]
    if fits and bundle.vocab.features is not None:
        scores = selection.tag_log_probs[list(bundle.vocab.outputs).index("feats")]
        fits = bool((np.isneginf(scores) == (bundle.vocab.features.layout < 0)).all())
    if not fits:
        raise ModelError(f"{bundle.path}: {MISFIT}", DAMAGED)
    return scorer


class BatchScorer:
    """Graphs for one thread per call: inputs, represent, columns, label; pairs are in numpy."""

    def __init__(self, bundle: Bundle, precision: Precision = "int8") -> None:
        """Load the graphs of a model folder."""
        self.vocab = bundle.vocab
        self._inputs = _open(bundle, INPUTS.format(precision))
        self._represent = _open(bundle, f"represent.{precision}.onnx")
        self._label = _open(bundle, f"label.{precision}.onnx")
        columns = COLUMNS.format(precision)
        self._columns = _open(bundle, columns) if columns in bundle.contents else None
        self._v_a = read_pair_weights(bundle)
        self._batch_size = PASS_SIZE if precision == "int8" else 1
        # In int8 no word depends on those beside it; in float32 only what is looked up does not.
        reads_more = bool(self.vocab.alphabet.letters or self.vocab.lexicon)
        self._words_at_once = 1 if precision == "float32" and reads_more else AT_ONCE
        self._table = InputTable(self._inputs, self.vocab, at_once=self._words_at_once)
        self._limits = _Limits(self.vocab)

    def in_treebank(self, name: str) -> Scorer:
        """Share the graphs, and remember words apart."""
        if name not in self.vocab.treebanks:
            return self
        other = copy.copy(self)
        other.vocab = self.vocab.as_in(name)
        other._table = InputTable(self._inputs, other.vocab, at_once=self._words_at_once)
        return other

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        table, rows = self._table.look_up(sentences)
        lengths = [len(slots) for slots in rows]
        parts = []
        for batch in batches(lengths, mul, MAX_BATCH_SLOTS, self._batch_size):
            index = np.full((lengths[batch[-1]], len(batch)), PADDING, np.intp)  # [T, B]
            for column, i in enumerate(batch):
                index[: lengths[i], column] = rows[i]
            x = table.vectors.take(index, axis=0)  # [T, B, s]
            parts.append((batch, self._select_batch(x, [lengths[i] for i in batch])))
        return self._with_columns(in_order(parts))

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1].

        Arcs of many sentences go in one call, except with older models, whose int8 scale depends on
        the call: there each sentence is a call.
        """
        ends = list(accumulate((len(chosen) - 1 for chosen in heads), initial=0))
        if not selections:
            return []
        half = selections[0].features.shape[1] // 2
        rows = np.empty((ends[-1], half), np.float32)
        parts = [rows[start:end] for start, end in pairwise(ends)]
        for selection, chosen, part in zip(selections, heads, parts, strict=True):
            arcs = selection.features
            np.add(arcs[1:, :half], arcs[chosen[1:], half:], out=part)
        if self._label.inputs != ["rows"]:
            return [self._label.run({"arcs": part}, len(part))[0] for part in parts]
        blocks = [rows[start : start + LABEL_ROWS] for start in range(0, len(rows), LABEL_ROWS)]
        log_probs = np.concatenate(
            [self._label.run({"rows": block}, len(block))[0] for block in blocks]
        )
        return [log_probs[start:end] for start, end in pairwise(ends)]

    def select_encoded(self, sentence: Encoded) -> Selection:
        """Select the heads of one sentence without the table of inputs."""
        x = self._inputs.run(sentence.ids.by_name(), len(sentence))[0]  # [N+1, s]
        return self._with_columns(self._select_batch(x[:, None], [len(x)]))[0]

    def _select_batch(self, x: FloatArray, lengths: Sequence[int]) -> list[_Selected]:
        """Select the heads of sentences side by side, x [T, B, s]."""
        feed = {"x": x, "lengths": np.array(lengths, np.int32)}
        pairs, arcs, *more = self._represent.run(feed, *x.shape[:2])
        both = exponentials(pairs)  # [T, B, 2k]
        return [
            (
                head_log_probs(both[:n, b], self._v_a),
                arcs[:n, b],
                tuple(output[:n, b] for output in more),
            )
            for b, n in enumerate(lengths)
        ]

    def _with_columns(self, selected: Sequence[_Selected]) -> list[Selection]:
        """Predict the columns of all sentences together.

        Older models have no graph for it: their `represent` predicts tags.
        """
        outputs: Sequence[Sequence[NDArray[Any]]] = [more for _, _, more in selected]
        if self._columns is None:
            predicted = [self._limits.split(more) for more in outputs]
        elif self._columns.inputs == ["rows"] and selected:
            predicted = self._predict_together(self._columns, [rows for (rows,) in outputs])
        else:
            hidden = (self._columns.run({"hidden": rows}, len(rows)) for (rows,) in outputs)
            predicted = [self._limits.split(more) for more in hidden]
        return [
            Selection(log_probs, arcs, *columns)
            for (log_probs, arcs, _), columns in zip(selected, predicted, strict=True)
        ]

    def _predict_together(
        self, columns: Graph, hidden: Sequence[FloatArray]
    ) -> list[tuple[tuple[IntArray, ...], tuple[FloatArray, ...]]]:
        """Predict columns of rows [N+1, c] of all sentences, in blocks that fit into a cache."""
        rows = np.concatenate(hidden)
        blocks = [rows[start : start + TAG_ROWS] for start in range(0, len(rows), TAG_ROWS)]
        parts = zip(*(columns.run({"rows": block}, len(block)) for block in blocks), strict=True)
        tags, log_probs = self._limits.split([np.concatenate(part) for part in parts])
        ends = accumulate(map(len, hidden), initial=0)
        return [
            (tuple([one[start:end] for one in tags]), tuple([one[start:end] for one in log_probs]))
            for start, end in pairwise(ends)
        ]


class SentenceScorer:
    """Graphs that take one sentence: represent, select, label, and a transformer's."""

    def __init__(
        self,
        bundle: Bundle,
        precision: Precision = "int8",
        pair_block_bytes: int = PAIR_BLOCK_BYTES,
    ) -> None:
        """Load the graphs of a model folder; pairs are scored in blocks of bounded size."""
        self.vocab = bundle.vocab
        self._pair_block_bytes = pair_block_bytes
        self._encoder = self._subwords = None
        if self.vocab.subwords is not None:
            self._encoder = _open(bundle, f"encoder.{precision}.onnx")
            if "embedded" in self._encoder.inputs:
                self._subwords = _open(bundle, f"subwords.{precision}.onnx")
        self._represent = _open(bundle, f"represent.{precision}.onnx")
        self._select = _open(bundle, SELECT)
        self._label = _open(bundle, f"label.{precision}.onnx")
        self._limits = _Limits(self.vocab)

    def in_treebank(self, name: str) -> Scorer:
        """Share the graphs."""
        other = copy.copy(self)
        other.vocab = self.vocab.as_in(name) if name in self.vocab.treebanks else self.vocab
        return other

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        return [self.select_encoded(encode(sentence, self.vocab)) for sentence in sentences]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""
        return [
            self._label.run(
                selection.features | {"words": words, "chosen": chosen[1:]}, len(words)
            )[0]
            for selection, chosen in zip(selections, heads, strict=True)
            for words in [np.arange(1, len(chosen), dtype=np.int32)]
        ]

    def select_encoded(self, sentence: Encoded) -> Selection:
        """Select the heads of one sentence."""
        feed: dict[str, NDArray[Any]] = {**sentence.ids.by_name()}
        if self._encoder is not None and sentence.windows is not None:
            parts = [self._read_window(self._encoder, ids) for ids in sentence.windows.ids]
            feed["in_context"] = np.concatenate(parts)[sentence.windows.reads]
        n_slots = len(sentence)
        states, inputs, heads, dependents, *tagged = self._represent.run(feed, n_slots)
        k = heads.shape[1]
        n_rows = max(1, self._pair_block_bytes // (4 * n_slots * k))
        rows = np.arange(n_slots, dtype=np.int32)
        # Filled in place: results kept one by one would each hold on to the memory of its block.
        head_log_probs = np.empty((n_slots, n_slots), np.float32)
        for start in range(0, n_slots, n_rows):
            block = slice(start, start + n_rows)
            pairs = {"dependents": dependents[block], "heads": heads, "rows": rows[block]}
            head_log_probs[block] = self._select.run(pairs, len(rows[block]), n_slots)[0]
        features = {"states": states, "inputs": inputs}
        return Selection(head_log_probs, features, *self._limits.split(tagged))

    def _read_window(self, encoder: Graph, ids: IntArray) -> FloatArray:
        """Run a transformer on the subwords of a window [L]: states [L, size]."""
        feed: dict[str, NDArray[Any]] = {"subwords": ids}
        if self._subwords is not None:
            feed["embedded"] = self._subwords.run(feed, len(ids))[0]
        return encoder.run(feed, len(ids))[0]


def _open(bundle: Bundle, name: str) -> Graph:
    return Graph(bundle.read(name), str(bundle.path / name))


class _PairWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`select.json`."""

    v_a: list[float]


def read_pair_weights(bundle: Bundle) -> FloatArray:
    """Read v_a of Eq. 6 [k] from a model folder."""
    try:
        weights = msgspec.json.decode(bundle.read(PAIR_WEIGHTS), type=_PairWeights)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelError(f"{bundle.path / PAIR_WEIGHTS}: {error}", DAMAGED) from error
    with np.errstate(over="ignore"):
        v_a = np.array(weights.v_a, np.float32)
    if not np.isfinite(v_a).all():
        raise ModelError(f"{bundle.path / PAIR_WEIGHTS}: a weight is not a finite number", DAMAGED)
    return v_a


class _Limits:
    """The positions that a graph may choose in each column of `Vocab.outputs`."""

    def __init__(self, vocab: Vocab) -> None:
        features = vocab.features
        self._sizes: list[int | IntArray] = [
            features.sizes if column == "feats" and features else shape[0]
            for column, shape in vocab.outputs.items()
        ]

    def split(
        self, outputs: Sequence[NDArray[Any]]
    ) -> tuple[tuple[IntArray, ...], tuple[FloatArray, ...]]:
        """Split what a graph gives: the positions of each column, then their log-probabilities."""
        n_columns = len(self._sizes)
        positions = tuple([column.astype(np.int32) for column in outputs[:n_columns]])
        for column, size in zip(positions, self._sizes, strict=True):
            if ((column < 0) | (column >= size)).any():
                raise ModelError(MISFIT, DAMAGED)
        return positions, tuple(outputs[n_columns:])
