"""Make a package that pip installs out of a trained model: int8, no local paths.

    pyproject.toml            the name, the licence, the entry point
    README.md, LICENSE        the card and the notice, made from the manifest
    src/headwise_fr/          the model folder

There is no Python code in it. Everything follows from the model and its description, so that
the same input gives the same bytes.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from headwise.errors import ConfigError, ModelError
from headwise.model.bundle import (
    MANIFEST,
    WEIGHTS,
    Bundle,
    Description,
    needed_on_cpu,
    open_manifest,
    write_bundle,
)
from headwise.model.card import card, licence_notice, module_name, project_file
from headwise.model.weights import halve_weights
from headwise.settings.about import About
from headwise.settings.model import ModelConfig
from headwise.version import VERSION

CARD = "README.md"
SEGMENTER_START = "segment."
"""How the names of the files of a segmenter start."""
SEGMENTER_SCORES = ("dev_words", "dev_sentences")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?", re.ASCII)
_FOLDERS = re.compile(r"/(?:[^\s/'\"]+/)+(?=[^\s/'\"]+/[^\s/'\"]+)")
"""The folders of an absolute path, except the last."""


def without_folders(text: str) -> str:
    """Shorten absolute paths to the last folder and the file.

    >>> without_folders("--train /home/me/ud/UD_English-EWT/train.conllu.xz --seed 3")
    '--train UD_English-EWT/train.conllu.xz --seed 3'
    """
    return _FOLDERS.sub("", text)


def write_package(
    source: Bundle,
    name: str,
    target: Path,
    about: About,
    segmenter: Bundle | None = None,
    version: str = VERSION,
    with_weights: bool = False,
) -> None:
    """Write the package of a model completely or not at all; an older one is replaced.

    `segmenter` is a model whose segmenter is taken, for one that was trained without. Weights, in
    float16, let others train on from the model, or parse on a GPU.
    """
    module = module_name(name)
    _check(name, version, about, target, module)
    files = needed_on_cpu(source, "int8")
    if not any(file.endswith(".int8.onnx") for file in files):
        raise ModelError(f"{source.path}: it has no int8 graphs", "train it again")
    if with_weights:
        files[WEIGHTS] = halve_weights(source.read(WEIGHTS), str(source.path / WEIGHTS))
    scores = dict(source.manifest.scores)
    provenance = {k: without_folders(v) for k, v in source.manifest.provenance.items()}
    if segmenter is not None:
        files = {one: data for one, data in files.items() if not one.startswith(SEGMENTER_START)}
        files |= _segmenter_files(segmenter)
        known = segmenter.manifest.scores
        scores |= {one: known[one] for one in SEGMENTER_SCORES if one in known}
        provenance["segmenter"] = _origin(segmenter)
    manifest = source.manifest
    model = _without_local_paths(manifest.model)
    description = Description(model, manifest.decode, provenance, scores, about)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise ModelError(f"{target}: {error.strerror}") from error
    try:
        write_bundle(draft / "src" / module, description, files)
        write_project(draft, name, version)
        draft.chmod(0o755)
        _replace(target, draft)
    except OSError as error:
        raise ModelError(f"{target}: {error.strerror}", "nothing was written") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_project(package: Path, name: str, version: str = VERSION) -> None:
    """Write what stands around the model folder of a package."""
    manifest = open_manifest(package / "src" / module_name(name))
    texts = {
        "pyproject.toml": project_file(name, manifest, version),
        CARD: card(name, manifest),
        "LICENSE": licence_notice(name, manifest.about),
    }
    for file, text in texts.items():
        (package / file).write_bytes(text.encode())


def _check(name: str, version: str, about: About, target: Path, module: str) -> None:
    if not _NAME.fullmatch(name):
        what = f"{name!r} cannot be the name of a model"
        raise ConfigError(what, "use lower-case letters, digits and hyphens: fr, fr-speech")
    if not _VERSION.fullmatch(version):
        what = f"{version[:40]!r} cannot be the version of a package"
        raise ConfigError(what, "use numbers separated by full stops: 0.1.0, 1.2rc1")
    for field, example in (("language", "fr"), ("licence", "CC-BY-SA-4.0")):
        if not getattr(about, field):
            what = f"the {field} of the model is not known"
            raise ConfigError(what, f"for example: --{field} {example}")
    is_package = (target / "src" / module / MANIFEST).is_file()
    if target.exists() and not is_package and (not target.is_dir() or any(target.iterdir())):
        what = f"{target}: this folder is not a package of {name}"
        raise ConfigError(what, "choose another folder for --out")


def _segmenter_files(segmenter: Bundle) -> dict[str, bytes]:
    names = [name for name in segmenter.contents if name.startswith(SEGMENTER_START)]
    if not names:
        what = f"{segmenter.path}: it has no segmenter"
        raise ModelError(what, "choose a model that reads raw text")
    return {name: segmenter.read(name) for name in names}


def _origin(segmenter: Bundle) -> str:
    """Name the model that trained the segmenter: this one, or the one it was taken from."""
    provenance: Mapping[str, str] = segmenter.manifest.provenance
    if "segmenter" in provenance:
        return provenance["segmenter"]
    return f"of the model made by: {without_folders(provenance.get('command', 'unknown'))}"


def _without_local_paths(model: ModelConfig) -> ModelConfig:
    """Keep only the name of the folder of the transformer and of the vectors."""
    names = {part: Path(getattr(model, part)).name for part in ("encoder", "vectors")}
    return msgspec.structs.replace(model, **names)


def _replace(target: Path, draft: Path) -> None:
    """Put a finished folder in the place of another."""
    aside = draft.with_name(f"{draft.name}.old")
    if target.exists():
        target.rename(aside)
    draft.rename(target)
    shutil.rmtree(aside, ignore_errors=True)
