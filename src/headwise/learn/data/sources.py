"""The files that a run learns from: treebanks given as files or folders, and their names."""

from pathlib import Path

from headwise.errors import ConfigError, DataError

_ENDINGS = (".conllu", ".conllu.xz", ".conllu.gz", ".conllx", ".conllx.xz", ".conllx.gz")


def sources_of(given: str | tuple[str, ...], part: str) -> dict[str, str]:
    """Name the files of `part` (`train` or `dev`): name -> path, the main treebank first.

    A folder stands for the file in it that is named like `train.conllu.xz` or
    `xx_yy-ud-train.conllu`. A treebank is named after its file, or after its folder if the file is
    just `train` or `dev`.
    """
    paths = [given] if isinstance(given, str) else list(given)
    if not paths or not all(paths):
        raise ConfigError(f"no {part} treebank", f"--{part} FILE, or data.{part} in the recipe")
    named: dict[str, str] = {}
    for path in paths:
        found = _in_folder(Path(path), part) if Path(path).is_dir() else Path(path)
        name = found.name.split(".")[0].removesuffix(f"-{part}")
        if name == part:
            name = found.resolve().parent.name
        if name in named:
            raise ConfigError(
                f"two {part} treebanks are named {name}: {named[name]} and {found}",
                "rename one of them",
            )
        named[name] = str(found)
    return named


def _in_folder(folder: Path, part: str) -> Path:
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(_ENDINGS) and path.name.split(".")[0].split("-")[-1] == part
    ]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DataError(
            f"this folder must have one {part} file, and has: {names}",
            str(folder),
            hint=f"name the file: --{part} FILE",
        )
    return found[0]
