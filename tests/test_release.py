"""A release: its version is the same everywhere, and its packages are complete and reproducible."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from check_release import check_contents, check_metadata, check_packages, copy_files, names_in

from headwise.version import VERSION

ROOT = Path(__file__).parents[1]
IS_SDIST = (ROOT / "PKG-INFO").is_file()


def test_changelog_and_citation_have_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    latest, *_ = re.findall(r"^## \[(\d.*)\]", changelog, re.MULTILINE)
    assert latest == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert "\n## [Unreleased]\n" in changelog


def test_the_pythons_of_make_are_those_of_the_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    (line,) = re.findall(r"^PYTHONS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [name for name in line.split() if not name.endswith("t")] == [
        f"python{version}" for version in classified
    ]
    assert project["requires-python"] == f">={classified[0]}"


def test_a_stray_file_and_a_missing_one_are_found(tmp_path: Path) -> None:
    wheel, sdist = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("headwise/one.py", "")
    with tarfile.open(sdist, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a/src/headwise/one.py"))
    assert names_in(sdist) == {"src/headwise/one.py"}
    check_contents(wheel, sdist, ["src/headwise/one.py", "models/de/src/x.onnx", ".gitignore"])
    with pytest.raises(AssertionError, match=r"missing \['headwise/two.py'\]"):
        check_contents(wheel, sdist, ["src/headwise/one.py", "src/headwise/two.py"])
    with pytest.raises(AssertionError, match=r"too much \['headwise/one.py'\]"):
        check_contents(wheel, sdist, ["README.md"])


def test_links_that_lead_nowhere_on_an_index_are_found(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    fields = ["Version: 1", "Summary: s", "License-Expression: MIT", "License-File: L"]
    for link, is_right in (("docs/start.md", False), ("https://example.org", True)):
        text = "\n".join([*fields, "Requires-Python: >=3.11", "", f"[here]({link})"])
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("a.dist-info/METADATA", text)
        if is_right:
            check_metadata(wheel, "1")
        else:
            with pytest.raises(AssertionError, match=re.escape("start.md")):
                check_metadata(wheel, "1")


@pytest.mark.slow
@pytest.mark.skipif(IS_SDIST, reason="needs the repository")
def test_two_builds_have_the_same_bytes_and_all_that_is_tracked(tmp_path: Path) -> None:
    names = [path.name for path in check_packages(tmp_path)]
    assert names == [
        f"headwise-{VERSION}-py3-none-any.whl",
        f"headwise-{VERSION}.tar.gz",
        f"headwise_pt-{VERSION}-py3-none-any.whl",
        f"headwise_pt-{VERSION}.tar.gz",
    ]


def test_copies_have_the_mode_that_was_asked_for(tmp_path: Path) -> None:
    copy_files(["tests/test_release.py"], ROOT, tmp_path, 0o600)
    (copy,) = (tmp_path / "tests").iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.read_bytes() == Path(__file__).read_bytes()
