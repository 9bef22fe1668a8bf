"""Find a model: by the name of a package, by a language, or by a folder.

`en` is inside headwise. Every other name is a package of its own, such as `headwise-fr`, which
declares its folder as an entry point of the group `headwise.models`. The folder is looked up in the
metadata of the package: nothing of it is imported, so installing a model never runs its code.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

import msgspec

from headwise.errors import ModelError
from headwise.model.bundle import MANIFEST, Manifest, open_manifest
from headwise.model.languages import language_name, model_name, similar_names
from headwise.settings.about import About

DEFAULT_MODEL = "en"
CHECKPOINT = "checkpoint.safetensors"
"""What a training run saves after its epochs, beside its model."""
RECIPE = "recipe.json"
"""What a training run writes first."""
UNFINISHED = "unfinished"
"""In the provenance of the model of a run that has not finished: its best epoch so far."""
AUTO = "auto"
"""In place of a model: that of the language of the text (`headwise.text.identify`)."""
ENTRY_POINTS = "headwise.models"
MODELS_FOLDER = Path(__file__).parent.parent / "models"
_INDEX = MODELS_FOLDER / "index.json"
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LIST_HINT = "give a folder written by headwise train, or a name from headwise models"


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A model as `headwise models` lists it: what it is, without opening its files."""

    name: str
    about: About
    size: int
    """Bytes of all files."""
    needs_encoder: bool = False
    """Whether it needs `headwise[encoder]`."""
    scores: dict[str, float] = {}

    @property
    def package(self) -> str:
        """The name of its package."""
        return package_name(self.name)


def package_name(name: str) -> str:
    """Name the package of a model: `headwise-fr`."""
    return f"headwise-{name}"


def find_model(name_or_path: str) -> Path:
    """Find a model by name, by language, by path, or by the folder of its training run.

    A name that headwise or an installed package has comes before a folder of that name in the
    current folder: `./en` is the folder.
    """
    folder = _named(name_or_path) or _named(model_name(name_or_path) or "")
    if folder is not None:
        return folder
    path = Path(name_or_path)
    try:
        for folder in (path, path / "model", *sorted(path.glob("src/*"))):
            if (folder / MANIFEST).is_file():
                return folder
    except OSError as error:  # such as a name that is too long
        raise ModelError(f"{name_or_path[:40]}: {error.strerror}", _LIST_HINT) from error
    raise _unknown(name_or_path)


def _named(name: str) -> Path | None:
    """Look inside headwise first: that takes no search through all packages."""
    inside = MODELS_FOLDER / name
    if _NAME.fullmatch(name) and (inside / MANIFEST).is_file():
        return inside
    return installed_models().get(name)


def _unknown(name: str) -> ModelError:
    if name == AUTO:
        return ModelError(
            f"{AUTO}: there is no text yet to choose a model by",
            "name a model; auto works in headwise parse and in the server",
        )
    named = model_name(name) or name
    if named in release_index():
        return ModelError(f"{name}: this model is not installed", how_to_install(named))
    if name and (Path(name) / CHECKPOINT).is_file():
        return ModelError(
            f"{name}: this training run was interrupted, and has no model yet",
            f"headwise info {name} writes one of its best epoch; headwise train resumes the run",
        )
    if name and (Path(name) / RECIPE).is_file():
        return ModelError(
            f"{name}: this training run has no model yet: its first epoch has not finished",
            "the same headwise train command goes on with it",
        )
    if name and Path(name).is_dir():
        what = f"{name}: not a model folder ({MANIFEST} is missing)"
        return ModelError(what, "give a folder written by headwise train or headwise package")
    known = [*named_models(), *release_index()]
    close = similar_names(name, known)
    offered = [one for one in close if one in known]
    if offered:
        hint = f"did you mean {' or '.join(offered)}? headwise models lists all"
    elif named != name or close:
        language = language_name((close or [named])[0])
        hint = f"there is no model for {language} in this release; docs/train.md shows how to train"
    else:
        hint = _LIST_HINT
    return ModelError(f"{name or repr(name)}: there is no such model", hint)


def how_to_install(name: str) -> str:
    """Write the command that installs a model of the release."""
    return f"pip install ./models/{name} in a clone of headwise"


def run_to_export(name_or_path: str) -> Path | None:
    """Give the folder of a run that has no model, or one of an earlier epoch, and a checkpoint."""
    run = Path(name_or_path)
    run = run.parent if run.name == "model" else run
    checkpoint, manifest = run / CHECKPOINT, run / "model" / MANIFEST
    if _named(name_or_path) is not None or not checkpoint.is_file():
        return None
    if not manifest.is_file():
        return run
    is_newer = checkpoint.stat().st_mtime_ns > manifest.stat().st_mtime_ns
    is_unfinished = UNFINISHED in open_manifest(manifest.parent).provenance
    return run if is_unfinished and is_newer else None


def named_models() -> dict[str, Path]:
    """Find the models that have a name: inside headwise, or in an installed package."""
    inside = {path.parent.name: path.parent for path in sorted(MODELS_FOLDER.glob(f"*/{MANIFEST}"))}
    return dict(installed_models()) | inside


def name_of(folder: Path) -> str | None:
    """Give the name by which a folder is found on any machine, if it has one."""
    same = (name for name, path in named_models().items() if path.resolve() == folder.resolve())
    return next(same, None)


def folder_name(path: Path) -> str:
    """Name a model by what a user calls its folder: that of its run, or of its package."""
    folder = path.resolve()
    if folder.name == "model":
        return folder.parent.name
    return folder.parents[1].name if folder.parent.name == "src" else folder.name


def installed_models() -> Mapping[str, Path]:
    """Find the folders of installed packages, by the names of their models."""
    found: dict[str, Path] = {}
    for point in entry_points(group=ENTRY_POINTS):
        folder = _folder_of(point)
        if folder is not None:
            found.setdefault(point.name, folder)  # as for modules, the first on the path wins
    return dict(sorted(found.items()))


def _folder_of(point: EntryPoint) -> Path | None:
    if not _NAME.fullmatch(point.name) or not _MODULE.fullmatch(point.value) or not point.dist:
        return None
    folders = [Path(str(point.dist.locate_file(point.value)))]
    if not folders[0].is_dir():  # `pip install --editable` leaves the files where they are
        spec = find_spec(point.value)  # finds a module on the path, and does not import it
        folders = [Path(path) for path in (spec and spec.submodule_search_locations) or ()]
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def describe_model(name: str, folder: Path) -> Offer:
    """Describe a model by its manifest."""
    manifest = open_manifest(folder)
    return Offer(
        name=name,
        about=manifest.about,
        size=sum(entry.size for entry in manifest.files.values()),
        needs_encoder=bool(manifest.model.encoder),
        scores=_rounded(manifest),
    )


def _rounded(manifest: Manifest) -> dict[str, float]:
    return {key: round(value, 2) for key, value in sorted(manifest.scores.items())}


def packages_in(folder: Path) -> dict[str, Path]:
    """Find the model packages in a folder such as `models/` of a clone, by name."""
    manifests = sorted(folder.glob(f"*/src/*/{MANIFEST}"))
    return {path.relative_to(folder).parts[0]: path.parent for path in manifests}


@cache
def release_index() -> dict[str, Offer]:
    """Read what this release offers besides the models inside, by name."""
    offers = msgspec.json.decode(_INDEX.read_bytes(), type=list[Offer])
    return {offer.name: offer for offer in offers}
