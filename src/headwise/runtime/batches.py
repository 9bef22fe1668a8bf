"""The network on ONNX Runtime with sentences side by side: most of the work in a few products.

Sentences of similar length share a pass through the LSTMs, so that its weights are read once for
all of them. In int8 the graphs are made so that no sentence can tell its company (see
`learn.export.batches`), and the parse is the same bit for bit. In float32, where the order of
sums depends on how many run together, each runs alone.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import msgspec
import numpy as np

from headwise.errors import ModelError
from headwise.model.bundle import DAMAGED, INPUTS, PAIRS, Bundle
from headwise.model.graph import ORT_ERRORS
from headwise.runtime.pairs import exponentials, head_log_probs
from headwise.runtime.scorer import (
    FloatArray,
    Graph,
    OnnxScorer,
    Precision,
    Scorer,
    Selection,
    last_ids,
)
from headwise.runtime.table import PADDING, InputTable
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import Encoded, IntArray

PRECISIONS = ("int8", "float32")
BATCH = 16
"""Sentences that share a pass; more would gain little."""
BATCH_SLOTS = 1_024
"""Slots in a pass, padding included, unless one sentence has more."""
LABEL_ROWS = 512
"""Arcs in a call of `label`, few enough for a cache."""


class _Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`select.json`."""

    v_a: list[float]


class BatchScorer:
    """Three graphs on one thread each call: inputs, represent, label; pairs are in numpy."""

    def __init__(self, bundle: Bundle, precision: Precision = "int8") -> None:
        """Load the graphs of a model folder; `vocab` is what plain sentences are looked up by."""
        self.vocab = bundle.vocab
        self._inputs = Graph(bundle, INPUTS.format(precision))
        self._represent = Graph(bundle, f"represent.{precision}.onnx")
        self._label = Graph(bundle, f"label.{precision}.onnx")
        self._v_a = _read_weights(bundle)
        self._batch = BATCH if precision == "int8" else 1
        self._n_tags = [len(index.strings) for index in bundle.vocab.predicted.values()]
        self._misfit = ModelError(f"{bundle.path}: the graphs do not fit the vocabulary", DAMAGED)
        self._check(bundle)
        self._table = InputTable(self._x_of, bundle.vocab)

    def _check(self, bundle: Bundle) -> None:
        """Try the last word, tag and label of the vocabulary: the graphs must have room."""
        vocab = bundle.vocab
        try:
            selections = self._select_batch(self._x_of(last_ids(vocab))[:, None], [2])
            (labels,) = self.label(selections, [np.zeros(2, np.int32)])
            fits = labels.shape == (1, len(vocab.labels.strings))
            told = [scores.shape for scores in selections[0].tag_log_probs]
            fits = fits and told == [(2, n_tags) for n_tags in self._n_tags]
        except (KeyError, ValueError, *ORT_ERRORS):
            fits = False
        if not fits:
            raise self._misfit

    def select(self, sentences: Sequence[Sentence | Encoded]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads.

        Sentences as they are read are looked up word by word; those that are encoded already are
        computed.
        """
        plain = [sentence for sentence in sentences if isinstance(sentence, Sentence)]
        if len(plain) < len(sentences):
            return [self._select_encoded(sentence) for sentence in sentences]
        table, rows = self._table.look_up(plain)
        lengths = [len(own) for own in rows]
        selections: list[Selection | None] = [None] * len(plain)
        for numbers in batches(lengths, self._batch):
            longest = lengths[numbers[-1]]
            index = np.full((longest, len(numbers)), PADDING, np.intp)  # [T, B]
            for column, i in enumerate(numbers):
                index[: lengths[i], column] = rows[i]
            found = self._select_batch(
                table.vectors.take(index, axis=0), [lengths[i] for i in numbers]
            )
            for i, selection in zip(numbers, found, strict=True):
                selections[i] = selection
        return [selection for selection in selections if selection is not None]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1].

        In int8 arcs of many sentences go in one call; older models have one scale for a call, a
        sentence each.
        """
        ends = list(accumulate((len(chosen) - 1 for chosen in heads), initial=0))
        if not selections:
            return []
        half = selections[0].features.shape[1] // 2
        rows = np.empty((ends[-1], half), np.float32)
        parts = [rows[start:end] for start, end in pairwise(ends)]
        for selection, chosen, own in zip(selections, heads, parts, strict=True):
            arcs = selection.features
            np.add(arcs[1:, :half], arcs[chosen[1:], half:], out=own)
        if self._label.inputs != ["rows"]:
            return [self._label.run({"arcs": own})[0] for own in parts]
        blocks = [rows[start : start + LABEL_ROWS] for start in range(0, len(rows), LABEL_ROWS)]
        log_probs = np.concatenate([self._label.run({"rows": block})[0] for block in blocks])
        return [log_probs[start:end] for start, end in pairwise(ends)]

    def _x_of(self, words: Encoded) -> FloatArray:
        return self._inputs.run(words.ids.by_name())[0]

    def _select_encoded(self, sentence: Sentence | Encoded) -> Selection:
        if isinstance(sentence, Sentence):
            return self.select([sentence])[0]
        return self._select_batch(self._x_of(sentence)[:, None], [len(sentence)])[0]

    def _select_batch(self, x: FloatArray, lengths: Sequence[int]) -> list[Selection]:
        """Select the heads of sentences side by side, x [T, B, s]."""
        feed = {"x": x, "lengths": np.array(lengths, np.int32)}
        pairs, arcs, *told = self._represent.run(feed)
        tags, scores = told[: len(self._n_tags)], told[len(self._n_tags) :]
        if any(column.max() >= n for column, n in zip(tags, self._n_tags, strict=True)):
            raise self._misfit
        both = exponentials(pairs)  # [T, B, 2k]
        return [
            Selection(
                head_log_probs(both[:n, b], self._v_a),
                arcs[:n, b],
                tuple(column[:n, b].astype(np.int32) for column in tags),
                tuple(column[:n, b] for column in scores),
            )
            for b, n in enumerate(lengths)
        ]


def load_scorer(bundle: Bundle, precision: Precision = "int8") -> Scorer:
    """Load the network of a model folder; one without `inputs` runs one sentence at a time."""
    held = [one for one in PRECISIONS if f"represent.{one}.onnx" in bundle.manifest.files]
    if held and precision not in held:
        raise ModelError(f"{bundle.path}: this model has no {precision}", f"it has {held[0]} alone")
    if INPUTS.format(precision) in bundle.manifest.files:
        return BatchScorer(bundle, precision)
    return OnnxScorer(bundle, precision)


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Cut sentence numbers into batches, shortest first; none is much longer than another."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_full = len(batch) == size or (len(batch) + 1) * lengths[i] > BATCH_SLOTS
        if batch and (is_full or lengths[i] > 1.25 * lengths[batch[0]] + 1):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _read_weights(bundle: Bundle) -> FloatArray:
    try:
        return np.array(msgspec.json.decode(bundle.read(PAIRS), type=_Weights).v_a, np.float32)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelError(f"{bundle.path / PAIRS}: {error}", DAMAGED) from error
