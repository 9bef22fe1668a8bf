"""Teachers: trained models that make the soft targets of a student.

The mean of their distributions is computed once, in batches on the device, and written to the
folder of the run, so that a resumed run does not compute it again. The student can also learn from
text without trees: there the teachers' trees serve as gold.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from headwise.arrays import FloatArray, IntArray
from headwise.errors import ConfigError, DataError, ModelError
from headwise.files import whole_file
from headwise.learn.data.treebanks import Data, join_examples, make_examples
from headwise.learn.distil.soft_targets import SoftTargets
from headwise.learn.scorer import load_torch_scorer
from headwise.model.bundle import WEIGHTS, Bundle, load_bundle
from headwise.model.find import find_model
from headwise.runtime.ensemble import EnsembleScorer
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.settings.parsing import GPU_CHUNK_SIZE, TAGS, ParserSettings
from headwise.settings.recipe import Recipe
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import NO_HEAD, require_tags
from headwise.vocabulary.vocab import N_SPECIALS, UNK, Index

SOFT_TARGETS = "lessons.safetensors"
MAX_TARGET_BYTES = 2**34
"""The most that all distributions may take; they are on the device, and in one file."""


def add_soft_targets(
    recipe: Recipe,
    data: Data,
    folder: Path,
    device: torch.device,
    max_bytes: int = MAX_TARGET_BYTES,
) -> tuple[Data, SoftTargets | None]:
    """Add text that the teachers parse to the data, and collect soft targets of every sentence.

    Without a table `[teach]` in the recipe, return the data as it is.
    """
    teach = recipe.teach
    if teach is None:
        return data, None
    folder.mkdir(parents=True, exist_ok=True)  # any of several processes may be the first
    bundles = [load_bundle(find_model(name)) for name in teach.models]
    teachers = Teachers(bundles, device, keep_tags=bool(data.vocab.reads))
    if teach.text:
        trees = _parse_text(teachers, recipe, teach.text, folder)
        train = join_examples([data.train, make_examples(trees, data.vocab)])
        names = [*data.treebanks, *("" for _ in trees)]
        data = replace(data, train=train, sentences=[*data.sentences, *trees], treebanks=names)
    sources = f"{teachers.key} {teach.temperature} {data.fingerprint()}"
    key = hashlib.sha256(sources.encode()).hexdigest()
    shapes = _shapes(data, teachers.columns, max_bytes)
    tensors = _read(folder / SOFT_TARGETS, key, shapes)
    if tensors is None:
        tensors = _collect(teachers.parser, data, shapes, teach.temperature)
        with whole_file(folder / SOFT_TARGETS) as stream:
            stream.write(safetensors.torch.save(tensors, {"key": key}))
    there = {name: tensor.to(device) for name, tensor in tensors.items()}
    lengths = torch.tensor([len(sentence) for sentence in data.train.encoded], device=device)
    n_words, n_pairs = lengths - 1, (lengths - 1) * lengths
    return data, SoftTargets(
        there["heads"],
        there["labels"],
        tuple(there.get(column) for column in data.vocab.outputs),
        n_pairs.cumsum(0) - n_pairs,
        n_words.cumsum(0) - n_words,
        lengths,
        teach.weight,
        teach.temperature,
        key,
    )


class Teachers:
    """Models that are loaded when they are first needed; `key` is a checksum of their files."""

    def __init__(
        self, bundles: Sequence[Bundle], device: torch.device, keep_tags: bool = False
    ) -> None:
        """Take model folders with weights; `keep_tags` is for a student that reads tags."""
        self._bundles = bundles
        self.keep_tags = keep_tags
        self._device = device
        for bundle in bundles:
            if WEIGHTS not in bundle.manifest.files:
                raise ModelError(
                    f"{bundle.path}: a teacher needs its {WEIGHTS}, and this model has none",
                    "name the folder that headwise train wrote",
                )
        checksums = [
            file.sha256 for bundle in bundles for _, file in sorted(bundle.manifest.files.items())
        ]
        self.key = hashlib.sha256(" ".join(checksums).encode()).hexdigest()[:16]
        self.columns = [column for bundle in bundles for column in bundle.vocab.predicted]

    @cached_property
    def parser(self) -> Parser:
        """Load them as one parser."""
        settings = ParserSettings(
            decode=self._bundles[0].manifest.decode,
            keep=TAGS if self.keep_tags else (),
            chunk_size=GPU_CHUNK_SIZE,
            look_ahead=1,
        )
        scorers = [load_torch_scorer(bundle, str(self._device)) for bundle in self._bundles]
        scorer = scorers[0] if len(scorers) == 1 else EnsembleScorer(scorers)
        return Parser(scorer, None, settings)


def _parse_text(
    teachers: Teachers, recipe: Recipe, paths: Sequence[str], folder: Path
) -> list[Sentence]:
    """Let the teachers parse text, or read their trees from an earlier run."""
    form, max_length = recipe.data.format, recipe.train.max_length
    read = chain.from_iterable(read_sentences(path, form) for path in paths)
    text = [sentence for sentence in read if 0 < len(sentence) <= max_length]
    if not text:
        what = f"no sentence of at most {max_length} words to learn from"
        raise DataError(what, ", ".join(paths))
    digest = hashlib.sha256(f"{teachers.key} {teachers.keep_tags}".encode())
    for sentence in text:
        digest.update(sentence.data)
    path = folder / f"taught-{digest.hexdigest()[:16]}.{form}"
    if not path.exists():
        with whole_file(path) as stream:
            for parsed, _ in teachers.parser.annotate(text):
                assert isinstance(parsed, Sentence)
                stream.write(parsed.data)
    return list(read_sentences(path, form))


def _shapes(data: Data, columns: Sequence[str], max_bytes: int) -> dict[str, tuple[int, ...]]:
    """Give the shape of each array; refuse arrays that are too large together."""
    n_words = data.train.n_words
    shapes: dict[str, tuple[int, ...]] = {
        "heads": (sum((len(s) - 1) * len(s) for s in data.train.encoded),),
        "labels": (n_words, len(data.vocab.labels.strings)),
    }
    for column, index in data.vocab.predicted.items():
        if column in columns:
            shapes[column] = (n_words, len(index.strings))
    n_bytes = 2 * sum(math.prod(shape) for shape in shapes.values())
    if n_bytes > max_bytes:
        raise ConfigError(
            f"the teachers' distributions of {n_words:,} words take {n_bytes / 2**30:.1f} GiB; "
            f"the limit is {max_bytes / 2**30:.0f} GiB",
            "use fewer files in teach.text, or a lower train.max_length",
        )
    return shapes


def _collect(
    teachers: Parser, data: Data, shapes: dict[str, tuple[int, ...]], temperature: float
) -> dict[str, Tensor]:
    """Compute the distributions of every training sentence, in batches."""
    arrays = {name: np.zeros(shape, np.float16) for name, shape in shapes.items()}
    known = list(teachers.vocab.predicted)
    tags_at = {
        column: (known.index(column), _columns(index, teachers.vocab.predicted[column]))
        for column, index in data.vocab.predicted.items()
        if column in known
    }
    labels_at = _columns(data.vocab.labels, teachers.vocab.labels)
    pair = word = 0
    for sentence, (selection, label_log_probs) in enumerate(_ask(teachers, data)):
        heads = tempered(selection.head_log_probs[1:], temperature)
        arrays["heads"][pair : pair + heads.size] = heads.ravel()
        rows = slice(word, word + len(heads))
        has_head = data.train.gold[sentence].heads[1:, None] != NO_HEAD
        labels = _known_columns(label_log_probs, labels_at, temperature)
        arrays["labels"][rows] = labels * has_head
        for column, (n, at) in tags_at.items():
            arrays[column][rows] = _known_columns(selection.tag_log_probs[n][1:], at, temperature)
        pair, word = pair + heads.size, word + len(heads)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _ask(teachers: Parser, data: Data) -> Iterator[tuple[Selection, FloatArray]]:
    """Let the teachers select heads and label the gold arcs, some sentences at a time.

    A word without a gold head is labelled as if it were attached to ROOT.
    """
    scorers = {name: teachers.scorer.in_treebank(name) for name in set(data.treebanks)}
    for start in range(0, len(data.sentences), GPU_CHUNK_SIZE):
        chunk = range(start, min(start + GPU_CHUNK_SIZE, len(data.sentences)))
        for name, positions in groupby(chunk, data.treebanks.__getitem__):
            rows, scorer = list(positions), scorers[name]
            for row in rows:
                require_tags(data.sentences[row], scorer.vocab)
            selections = scorer.select([data.sentences[row] for row in rows])
            heads = [data.train.gold[row].heads.clip(min=0) for row in rows]
            yield from zip(selections, scorer.label(selections, heads), strict=True)


def tempered(log_probs: FloatArray, temperature: float) -> FloatArray:
    """Give distributions [N, k] at a temperature; each row sums to one."""
    scaled = log_probs / temperature
    probs = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    normalised: FloatArray = probs / probs.sum(axis=1, keepdims=True)
    return normalised


def _columns(own: Index, theirs: Index) -> IntArray:
    """Find the student's strings among the teachers': their columns, or -1."""
    ids = (theirs.id_of(string) for string in own.strings)
    return np.array([-1 if number == UNK else number - N_SPECIALS for number in ids], np.int32)


def _known_columns(log_probs: FloatArray, at: IntArray, temperature: float) -> FloatArray:
    """Keep the columns `at` which the student's strings are: distributions [N, student's]."""
    probs = np.zeros((len(log_probs), len(at)), np.float32)
    if (at >= 0).any():
        probs[:, at >= 0] = tempered(log_probs[:, at[at >= 0]], temperature)
    return probs


def _read(path: Path, key: str, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor] | None:
    """Read what an earlier run collected; None if there is nothing, or it has another key."""
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, "pt") as stored:
            if (stored.metadata() or {}).get("key") != key:
                return None
            tensors = {name: stored.get_tensor(name) for name in shapes}
    except (safetensors.SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not a file of soft targets: {error}", "remove it") from error
    kinds = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    if kinds != {name: (shape, torch.float16) for name, shape in shapes.items()}:
        raise ModelError(f"{path}: its arrays do not fit the treebank", "remove it")
    return tensors
