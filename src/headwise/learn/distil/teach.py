"""Lessons from trained models: each training sentence is read once, and what they say is kept.

The mean of the teachers' distributions is computed in batches on the device and written to the
folder of the run, so that a run that goes on does not ask them again. Files of text without trees
can be learned from too: the teachers' trees serve as gold there. Dropout and the like are the
student's alone.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from headwise.arrays import FloatArray, IntArray
from headwise.errors import ConfigError, DataError, ModelError
from headwise.files import whole_file
from headwise.learn.data.treebanks import Data, examples, together
from headwise.learn.distil.soft_targets import Lessons
from headwise.learn.scorer import load_torch_scorer
from headwise.model.bundle import WEIGHTS, Bundle, find_model, load_bundle
from headwise.runtime.ensemble import as_one
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.settings.choices import Format
from headwise.settings.parsing import GPU_CHUNK_SIZE, ParserSettings
from headwise.settings.recipe import Recipe
from headwise.settings.training import TeachConfig
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import require_tags
from headwise.vocabulary.vocab import N_SPECIALS, UNK, Index

FILE = "lessons.safetensors"
MAX_BYTES = 2**34
"""Of all distributions; they lie on the device and in one file."""
Half = NDArray[np.float16]


def with_lessons(
    recipe: Recipe, data: Data, folder: Path, device: torch.device
) -> tuple[Data, Lessons | None]:
    """Add the text that the teachers have parsed, and collect what they say of every sentence.

    Without a table `[teach]` in the recipe the data is all there is.
    """
    teach = recipe.teach
    if teach is None:
        return data, None
    folder.mkdir(parents=True, exist_ok=True)  # of several processes each may be the first
    bundles = [load_bundle(find_model(name)) for name in teach.models]
    teachers = Teachers(bundles, device, keep_tags=bool(data.vocab.reads))
    if teach.text:
        text = _read_text(teach.text, recipe.data.format, recipe.train.max_length)
        trees = _parsed(teachers, text, folder, recipe.data.format)
        train = together([data.train, examples(trees, data.vocab)])
        names = [*data.treebanks, *("" for _ in trees)]
        data = replace(data, train=train, sentences=[*data.sentences, *trees], treebanks=names)
    said = f"{teachers.key} {teach.temperature} {data.fingerprint()}"
    key = hashlib.sha256(said.encode()).hexdigest()
    shapes = _shapes(data, teachers.columns)
    tensors = _read(folder / FILE, key, shapes)
    if tensors is None:
        tensors = _collect(teachers.parser(), data, shapes, teach.temperature)
        with whole_file(folder / FILE) as stream:
            stream.write(safetensors.torch.save(tensors, {"key": key}))
    return data, _on_device(tensors, data, teach, key, device)


def _read_text(paths: Sequence[str], form: Format, max_length: int) -> list[Sentence]:
    text = [
        sentence
        for path in paths
        for sentence in read_sentences(path, form)
        if 0 < len(sentence) <= max_length
    ]
    if not text:
        what = f"no sentence of at most {max_length} words to learn from"
        raise DataError(what, ", ".join(paths))
    return text


class Teachers:
    """Models that are loaded once they are asked; `key` tells them from any others."""

    def __init__(
        self, bundles: Sequence[Bundle], device: torch.device, keep_tags: bool = False
    ) -> None:
        """Take model folders with weights; tags of text stay for a student that reads any."""
        self._bundles = bundles
        self.keep_tags = keep_tags
        self._device = device
        sums = [
            bundle.manifest.files[name].sha256 for bundle in bundles for name in _needed(bundle)
        ]
        self.key = hashlib.sha256(" ".join(sums).encode()).hexdigest()[:16]
        self.columns = [column for bundle in bundles for column in bundle.vocab.predicted]
        self._parser: Parser | None = None

    def parser(self) -> Parser:
        """Give them as one parser."""
        if self._parser is None:
            device = str(self._device)
            settings = ParserSettings(
                decode=self._bundles[0].manifest.decode,
                keep_tags=self.keep_tags,
                chunk_size=GPU_CHUNK_SIZE,
                look_ahead=1,
            )
            scorers = [load_torch_scorer(bundle, device) for bundle in self._bundles]
            self._parser = Parser(as_one(scorers), None, settings)
        return self._parser


def _needed(bundle: Bundle) -> list[str]:
    if WEIGHTS not in bundle.manifest.files:
        raise ModelError(
            f"{bundle.path}: a teacher needs its {WEIGHTS}, and this model has none",
            "teach by the folder that headwise train wrote",
        )
    return sorted(bundle.manifest.files)


def _parsed(
    teachers: Teachers, text: Sequence[Sentence], folder: Path, form: Format
) -> list[Sentence]:
    """Let the teachers parse text, or read what they once made of it."""
    digest = hashlib.sha256(f"{teachers.key} {teachers.keep_tags}".encode())
    for sentence in text:
        digest.update(sentence.conllu.encode())
    path = folder / f"taught-{digest.hexdigest()[:16]}.{form}"
    if not path.exists():
        with whole_file(path) as stream:
            for parsed, _ in teachers.parser().annotate(text):
                assert isinstance(parsed, Sentence)
                stream.write(parsed.conllu.encode())
    return list(read_sentences(path, form))


def _shapes(data: Data, columns: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Say how large each array is, and refuse what would be too much."""
    n_words = data.train.n_words
    shapes: dict[str, tuple[int, ...]] = {
        "heads": (sum((len(s) - 1) * len(s) for s in data.train.encoded),),
        "labels": (n_words, len(data.vocab.labels.strings)),
    }
    for column, index in data.vocab.predicted.items():
        if column in columns:
            shapes[column] = (n_words, len(index.strings))
    n_bytes = 2 * sum(math.prod(shape) for shape in shapes.values())
    if n_bytes > MAX_BYTES:
        raise ConfigError(
            f"what the teachers say of {n_words:,} words takes {n_bytes / 2**30:.1f} GiB, "
            f"and {MAX_BYTES / 2**30:.0f} are the most",
            "fewer files in teach.text, or a lower train.max_length",
        )
    return shapes


def _collect(
    teachers: Parser, data: Data, shapes: dict[str, tuple[int, ...]], temperature: float
) -> dict[str, Tensor]:
    """Ask the teachers about every training sentence, in batches."""
    arrays: dict[str, Half] = {name: np.zeros(shape, np.float16) for name, shape in shapes.items()}
    known = list(teachers.vocab.predicted)
    tags_at = {
        column: (known.index(column), _columns(index, teachers.vocab.predicted[column]))
        for column, index in data.vocab.predicted.items()
        if column in known
    }
    labels_at = _columns(data.vocab.labels, teachers.vocab.labels)
    pair = word = 0
    for selection, label_log_probs in _ask(teachers, data):
        heads = tempered(selection.head_log_probs[1:], temperature)
        arrays["heads"][pair : pair + heads.size] = heads.ravel()
        rows = slice(word, word + len(heads))
        arrays["labels"][rows] = _as_known(label_log_probs, labels_at, temperature)
        for column, (n, at) in tags_at.items():
            arrays[column][rows] = _as_known(selection.tag_log_probs[n][1:], at, temperature)
        pair, word = pair + heads.size, word + len(heads)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _ask(teachers: Parser, data: Data) -> Iterator[tuple[Selection, FloatArray]]:
    """Let the teachers select heads and name the gold arcs, some sentences at a time."""
    scorers = {name: teachers.scorer.in_treebank(name) for name in set(data.treebanks)}
    for start in range(0, len(data.sentences), GPU_CHUNK_SIZE):
        chunk = range(start, min(start + GPU_CHUNK_SIZE, len(data.sentences)))
        for name, positions in groupby(chunk, data.treebanks.__getitem__):
            rows, scorer = list(positions), scorers[name]
            for row in rows:
                require_tags(data.sentences[row], scorer.vocab)
            selections = scorer.select([data.sentences[row] for row in rows])
            heads = [data.train.gold[row].heads for row in rows]
            yield from zip(selections, scorer.label(selections, heads), strict=True)


def tempered(log_probs: FloatArray, temperature: float) -> FloatArray:
    """Give distributions [N, k] at a temperature; rows are made to sum to one."""
    scaled = log_probs / temperature
    probs = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    normal: FloatArray = probs / probs.sum(axis=1, keepdims=True)
    return normal


def _columns(own: Index, theirs: Index) -> IntArray:
    """Find the student's strings among the teachers': positions, or -1."""
    ids = (theirs.id_of(string) for string in own.strings)
    return np.array([-1 if number == UNK else number - N_SPECIALS for number in ids], np.int32)


def _as_known(log_probs: FloatArray, at: IntArray, temperature: float) -> FloatArray:
    """Take the columns that the student knows, `at` these places: distributions [N, student's]."""
    probs = np.zeros((len(log_probs), len(at)), np.float32)
    if (at >= 0).any():
        probs[:, at >= 0] = tempered(log_probs[:, at[at >= 0]], temperature)
    return probs


def _read(path: Path, key: str, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor] | None:
    """Read what was collected before; None if there is nothing, or of something else."""
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, "pt") as stored:
            if (stored.metadata() or {}).get("key") != key:
                return None
            tensors = {name: stored.get_tensor(name) for name in shapes}
    except (safetensors.SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not what teachers said: {error}", "remove it") from error
    if any(
        tuple(tensors[name].shape) != shape or tensors[name].dtype != torch.float16
        for name, shape in shapes.items()
    ):
        raise ModelError(f"{path}: its arrays do not fit the treebank", "remove it")
    return tensors


def _on_device(
    tensors: dict[str, Tensor], data: Data, teach: TeachConfig, key: str, device: torch.device
) -> Lessons:
    lengths = np.array([len(sentence) for sentence in data.train.encoded], np.int64)
    n_words, n_pairs = lengths - 1, (lengths - 1) * lengths
    there = {name: tensor.to(device) for name, tensor in tensors.items()}
    first_heads, first_words, slots = (
        torch.from_numpy(part).to(device)
        for part in (np.cumsum(n_pairs) - n_pairs, np.cumsum(n_words) - n_words, lengths)
    )
    return Lessons(
        there["heads"],
        there["labels"],
        tuple(there.get(column) for column in data.vocab.predicted),
        first_heads,
        first_words,
        slots,
        teach.weight,
        teach.temperature,
        key,
    )
