"""Turn a trained model into a folder to ship: int8 only, no weights, no local paths.

    python -m bench.ship runs/accuracy/ewt-minilm-3-KEY models/en-accurate --segmenter en

`--segmenter` takes the segmenter and its dev scores from another model of the same treebank: rows
of `bench.accuracy` are measured on gold words and train none. The model card in an existing target
stays.
"""

import argparse
import re
import tempfile
from pathlib import Path

import msgspec

from headwise.errors import ModelError
from headwise.model.bundle import Bundle, Description, find_model, load_bundle, slim, write_bundle
from headwise.settings.model import ModelConfig
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS

SEGMENTER_SCORES = ("dev_words", "dev_sentences")
CARD = "README.md"
_FOLDERS = re.compile(r"/(?:[^\s/'\"]+/)+(?=[^\s/'\"]+/[^\s/'\"]+)")
"""The folders of an absolute path, except the last."""


def without_folders(text: str) -> str:
    """Shorten absolute paths to the last folder and the file.

    >>> without_folders("--train /home/me/ud/UD_English-EWT/train.conllu.xz --seed 3")
    '--train UD_English-EWT/train.conllu.xz --seed 3'
    """
    return _FOLDERS.sub("", text)


def without_local_paths(model: ModelConfig) -> ModelConfig:
    """Keep only the name of the folder of the transformer and of the vectors."""
    names = {part: Path(getattr(model, part)).name for part in ("encoder", "vectors")}
    return msgspec.structs.replace(model, **names)


def origin_of(segmenter: Bundle) -> str:
    """Name the model that trained the segmenter: this one, or the one it was taken from."""
    provenance = segmenter.manifest.provenance
    if "segmenter" in provenance:
        return provenance["segmenter"]
    return f"of the model made by: {without_folders(provenance.get('command', 'unknown'))}"


def ship(source: Bundle, target: Path, segmenter: Bundle | None) -> None:
    """Write the folder to ship."""
    card = (target / CARD).read_bytes() if (target / CARD).exists() else b""
    with tempfile.TemporaryDirectory() as folder:
        slim(source.path, Path(folder) / "int8", "int8")
        light = load_bundle(Path(folder) / "int8")
        files = {name: light.read(name) for name in light.manifest.files}
    scores = dict(source.manifest.scores)
    provenance = {k: without_folders(v) for k, v in source.manifest.provenance.items()}
    if segmenter is not None:
        if SEGMENTER_GRAPH not in segmenter.manifest.files:
            raise ModelError(
                f"{segmenter.path}: it has no segmenter", "choose a model that reads raw text"
            )
        files |= {name: segmenter.read(name) for name in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS)}
        scores |= {name: segmenter.manifest.scores[name] for name in SEGMENTER_SCORES}
        provenance["segmenter"] = origin_of(segmenter)
    manifest = source.manifest
    described = Description(
        without_local_paths(manifest.model), manifest.decode, provenance, scores
    )
    write_bundle(target, described, files)
    if card:
        (target / CARD).write_bytes(card)


def main() -> None:
    """Write the folder and print its size."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("source", help="a model, or the folder of a run")
    options.add_argument("target", type=Path)
    options.add_argument("--segmenter", metavar="MODEL", help="take the segmenter of this model")
    given = options.parse_args()
    other = load_bundle(find_model(given.segmenter)) if given.segmenter else None
    ship(load_bundle(find_model(given.source)), given.target, other)
    size = sum(path.stat().st_size for path in given.target.iterdir() if path.name != CARD)
    print(f"{given.target}: {size:,} bytes, {size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
