"""A whole training run, as a recipe writes it; some recipes are inside headwise and have a name.

TOML in, JSON out. An unknown key, a wrong type or an impossible value fails at load and names the
file and the key. No function below the command line takes more of a recipe than the part it uses.
"""

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from headwise.errors import ConfigError
from headwise.settings.model import ModelConfig
from headwise.settings.parsing import DecodeConfig
from headwise.settings.training import (
    DataConfig,
    LabelConfig,
    SegmentConfig,
    StartConfig,
    TeachConfig,
    TrainConfig,
)

_FOLDER = Path(__file__).parent.parent / "recipes"
_REINSTALL = "headwise is not installed completely"
RECIPE_HINT = "give a TOML file, or a name that headwise train --list shows"


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole training run."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    label: LabelConfig = LabelConfig()
    start: StartConfig | None = None
    """With a table `[start]` the network starts from a trained one."""
    teach: TeachConfig | None = None
    """With a table `[teach]` the model learns from others too."""
    segment: SegmentConfig | None = None
    """With a table `[segment]`, empty or not, the model learns to find words in raw text too."""
    decode: DecodeConfig = DecodeConfig()

    def __post_init__(self) -> None:
        """Refuse two rules for what an epoch reads."""
        if self.train.main_share and self.start is not None and self.start.replay:
            raise ValueError("train.main_share and start.replay: an epoch can follow one of them")


class RecipeNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `headwise train --list` says about a recipe."""

    for_whom: str
    needs: str
    takes: str
    """How long it takes, for how many sentences and on which machine."""


def named_recipes() -> dict[str, RecipeNote]:
    """List the recipes inside headwise by name."""
    table = read_toml(_FOLDER / "index.toml", _REINSTALL)
    return to_struct(table, dict[str, RecipeNote], "index.toml")


def find_recipe(name_or_path: str) -> Path:
    """Find a recipe by its name, or else by its path: `./small` is a file of that name."""
    if name_or_path in named_recipes():
        return _FOLDER / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if path.suffix or path.exists():
        return path
    close = get_close_matches(name_or_path, named_recipes(), 1)
    what = f"{name_or_path}: there is no recipe of this name"
    raise ConfigError(what, f"did you mean {close[0]}?" if close else RECIPE_HINT)


def read_recipe(
    path: Path, settings: Sequence[str] = (), values: Mapping[str, object] | None = None
) -> Recipe:
    """Read a TOML recipe; lay `section.key=value` settings over it, and then typed values.

    A setting is read as TOML where it can be (`0.2`, `true`, `"x"`) and as plain text otherwise.
    """
    table = read_toml(path, RECIPE_HINT)
    for setting in settings:
        _lay_over(table, setting)
    for name, value in (values or {}).items():
        section, _, key = name.partition(".")
        table.setdefault(section, {})[key] = value
    return to_struct(table, Recipe, " --set ".join((str(path), *settings)))


def read_toml(path: Path, hint: str) -> dict[str, Any]:
    """Read a TOML file; the hint is for a file that is not there."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error


def _lay_over(table: dict[str, Any], setting: str) -> None:
    name, equals, value = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot or not isinstance(table.get(section, {}), dict):
        raise ConfigError(
            f"--set {setting}: not of the form section.key=value",
            "for example: --set train.dropout=0.2",
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    table.setdefault(section, {})[key] = parsed


_T = TypeVar("_T")


def to_struct(table: object, kind: type[_T], where: str) -> _T:
    """Turn plain tables into a struct, or say which key of `where` is at fault."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}", "docs/configuration.md lists every key") from error
