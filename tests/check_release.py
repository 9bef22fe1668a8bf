"""Build a release twice and check what would be uploaded: `make release-check`.

    python tests/check_release.py FOLDER --installed

Everything is built from the tracked files, in copies below FOLDER. The packages stay in
FOLDER/dist. `--installed` also installs them, which needs a package index.
"""

import argparse
import email
import email.message
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODEL = "models/pt"
SENTENCE = "Kids love candy."
NOT_IN_SDIST = (".ci/*", ".gitignore", ".pre-commit-config.yaml", "models/*/src/*")
ADDED = {"PKG-INFO", ".gitignore"}
"""What hatchling adds to a source distribution."""
LINKS = ("Source", "Issues", "Changelog", "Documentation")


def tracked_files(root: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def copy_files(names: list[str], root: Path, target: Path, mode: int) -> None:
    """Copy files, all with one mode and with the time of now."""
    for name in names:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, path)
        path.chmod(mode)


def build(project: Path, target: Path, zone: str = "UTC", kinds: tuple[str, ...] = ()) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    flags = [flag for kind in kinds for flag in ("-t", kind)]
    environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        [*command, *flags],
        cwd=project,
        env={**environment, "TZ": zone},
        check=True,
        capture_output=True,
    )


def digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def build_twice(project: str, copies: tuple[Path, Path], dist: Path) -> list[Path]:
    """Build in two folders, with other modes and in another time zone, and compare the bytes."""
    again = dist.with_name(f"{dist.name}-again")
    build(copies[0] / project, dist)
    build(copies[1] / project, again, "Asia/Tokyo")
    assert digests(dist) == digests(again), f"two builds differ: {digests(dist)} {digests(again)}"
    return sorted(dist.iterdir())


def names_in(package: Path) -> set[str]:
    """List what is in a wheel or, without its topmost folder, in a source distribution."""
    if package.suffix == ".whl":
        return set(zipfile.ZipFile(package).namelist())
    with tarfile.open(package) as archive:
        return {one.name.partition("/")[2] for one in archive if one.isfile()}


def metadata(package: Path) -> email.message.Message:
    if package.suffix == ".whl":
        wheel = zipfile.ZipFile(package)
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(name))
    with tarfile.open(package) as archive:
        name = f"{package.name.removesuffix('.tar.gz')}/PKG-INFO"
        file = archive.extractfile(name)
        assert file is not None, f"{package.name} has no PKG-INFO"
        return email.message_from_bytes(file.read())


def check_same(what: str, found: set[str], expected: set[str]) -> None:
    extra, missing = sorted(found - expected), sorted(expected - found)
    assert found == expected, f"{what}: too much {extra[:9]}, missing {missing[:9]}"


def check_contents(wheel: Path, sdist: Path, tracked: list[str]) -> None:
    """A wheel has the package, a source distribution what is tracked, and neither has more."""
    inside = {name for name in names_in(wheel) if ".dist-info/" not in name}
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    check_same(wheel.name, inside, package)
    kept = {name for name in tracked if not any(fnmatch(name, one) for one in NOT_IN_SDIST)}
    check_same(sdist.name, names_in(sdist) - ADDED, kept)


def check_metadata(package: Path, version: str) -> None:
    fields = metadata(package)
    assert fields["Version"] == version, f"{package.name}: {fields['Version']}, not {version}"
    for field in ("Summary", "License-Expression", "License-File", "Requires-Python"):
        assert fields[field], f"{package.name} has no {field}"
    relative = re.findall(r"\]\((?!https?:|#)[^)]*\)", str(fields.get_payload()))
    assert not relative, f"{package.name}: links that lead nowhere on a package index: {relative}"


def check_sdist_builds_wheel(sdist: Path, wheel: Path, folder: Path) -> Path:
    """Build the wheel from the source distribution: the same bytes; return the unpacked folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    build(unpacked, folder / "dist", kinds=("wheel",))
    assert digests(folder / "dist") == {wheel.name: digests(wheel.parent)[wheel.name]}
    return unpacked


def check_packages(folder: Path) -> list[Path]:
    """Check all that needs no package index; return the packages, which are in `folder/dist`."""
    copies = (folder / "first", folder / "second" / "elsewhere")
    tracked = tracked_files(ROOT)
    copy_files(tracked, ROOT, copies[0], 0o644)
    copy_files(tracked, copies[0], copies[1], 0o600)
    sdist, wheel = sorted(build_twice("", copies, folder / "dist"), key=lambda one: one.suffix)
    version = re.findall('"(.+)"', (copies[0] / "src/headwise/version.py").read_text())[-1]
    check_contents(wheel, sdist, tracked)
    model = build_twice(MODEL, copies, folder / "model")
    for package in (wheel, sdist, *model):
        check_metadata(package, version)
    check_sdist_builds_wheel(sdist, wheel, folder / "unpacked")
    shutil.copytree(folder / "model", folder / "dist", dirs_exist_ok=True)
    return sorted((folder / "dist").iterdir())


def distribution_name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0].lower())  # type: ignore[index]


def check_installation(packages: list[Path], folder: Path) -> None:
    """Install into an empty environment, and parse in another folder."""
    pip = [str(folder / "bin/pip"), "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([*pip, "install", *map(str, packages)], check=True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*command: str) -> str:
        program, *arguments = command
        result = subprocess.run(
            [str(folder / "bin" / program), *arguments],
            cwd=elsewhere,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return result.stdout

    assert "\t2\tnsubj\t" in run("headwise", "parse", SENTENCE)
    if len(packages) > 1:
        assert "\tnsubj\t" in run(
            "headwise", "parse", "--model", "pt", "O menino comprou um livro."
        )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = {
        distribution_name(one)
        for group in extras["optional-dependencies"].values()
        for one in group
    }
    needed = {distribution_name(one) for one in extras["dependencies"]}
    listed = run("pip", "list", "--format", "freeze").split()
    found = {distribution_name(line) for line in listed} & optional - needed - {"headwise"}
    assert not found, f"an installation brings what only extras need: {sorted(found)}"


def check_index_rules(packages: list[Path], folder: Path) -> None:
    """Ask twine whether a package index takes the packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin/pip"), "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "twine>=6"], check=True)
    twine = [str(folder / "bin/twine"), "check", "--strict"]
    subprocess.run([*twine, *map(str, packages)], check=True)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--installed", action="store_true")
    given = options.parse_args()
    folder = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    packages = check_packages(folder)
    for path in packages:
        sys.stdout.write(f"{digests(path.parent)[path.name]}  {path.name}\n")
    sys.stdout.write("the same bytes twice, and what is tracked\n")
    if given.installed:
        check_index_rules(packages, folder / "twine")
        wheel, model = (path for path in packages if path.suffix == ".whl")
        (sdist,) = folder.glob("dist/headwise-[0-9]*.tar.gz")
        check_installation([wheel, model], folder / "of-wheels")
        check_installation([sdist], folder / "of-sdist")
        sys.stdout.write("wheels and sdist install, and parse, in empty environments\n")
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    if missing := [name for name in LINKS if name not in urls]:
        what = f"pyproject.toml has no link to {', '.join(missing)}"
        sys.stdout.write(f"before an upload: {what}\nhint: docs/release.md, 'The address'\n")


if __name__ == "__main__":
    main()
