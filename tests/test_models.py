"""The shipped models: complete, small enough, able to parse, and the same on every CPU."""

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import headwise
from headwise.model.bundle import load_bundle
from headwise.model.card import licence_notice, project_file
from headwise.model.find import describe_model, packages_in, release_index

ROOT = Path(__file__).parents[1]
MAX_MIB = {"en-accurate": 32}
EXPECTED_HEADS = {
    "en": ("Kids love candy.", [2, 0, 2, 2]),
    "en-accurate": ("Kids love candy.", [2, 0, 2, 2]),
    "de": ("Kinder lieben Süßigkeiten.", [2, 0, 2, 2]),
    "cs": ("Děti milují sladkosti.", [2, 0, 2, 2]),
    "pt": ("O menino comprou um livro.", [2, 3, 0, 5, 3, 3]),
}
PACKAGES = packages_in(ROOT / "models")
FOLDERS = PACKAGES | {"en": ROOT / "src/headwise/models/en"}
in_a_clone = pytest.mark.skipif(
    (ROOT / "PKG-INFO").is_file(), reason="a source distribution has no other models than en"
)


@in_a_clone
def test_every_shipped_model_is_tested() -> None:
    assert FOLDERS.keys() == EXPECTED_HEADS.keys()


@in_a_clone
@pytest.mark.parametrize("name", EXPECTED_HEADS)
def test_each_model_is_small_and_parses(name: str) -> None:
    text, expected = EXPECTED_HEADS[name]
    size = sum(path.stat().st_size for path in FOLDERS[name].iterdir())
    assert size <= MAX_MIB.get(name, 16) * 2**20
    ((sentence, parse),) = headwise.load(FOLDERS[name]).annotate_text(text)
    heads = [int(word.head) for word in sentence.words]
    assert heads.count(0) == 1
    assert len(parse.heads) == len(heads)
    assert heads == expected


@in_a_clone
@pytest.mark.parametrize("name", EXPECTED_HEADS)
def test_each_model_parses_the_same_on_every_cpu(name: str) -> None:
    """Larger weights overflow on a CPU without VNNI; see `learn.export.graphs.quantise`."""
    for path in FOLDERS[name].glob("*.int8.onnx"):
        for array in onnx.load(path).graph.initializer:
            if array.name.endswith("_quantized"):
                assert np.abs(numpy_helper.to_array(array).astype(np.int32)).max() <= 64


@in_a_clone
def test_checksums_of_all_model_files_are_in_one_file() -> None:
    listed = {
        name: digest
        for digest, name in map(str.split, (ROOT / "models/SHA256SUMS").read_text().splitlines())
    }
    files = [
        path for root in ("models", "src/headwise/models") for path in (ROOT / root).rglob("*")
    ]
    found = {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert listed == found, "run: make checksums"


@in_a_clone
def test_the_index_of_the_release_is_what_the_packages_are() -> None:
    offers = {name: describe_model(name, folder) for name, folder in PACKAGES.items()}
    assert release_index() == offers, "run: make checksums"


@pytest.mark.parametrize("name", PACKAGES)
def test_each_package_is_what_its_manifest_says(name: str) -> None:
    manifest = load_bundle(PACKAGES[name]).manifest
    folder = ROOT / "models" / name
    assert manifest.about.language == name.split("-", maxsplit=1)[0]
    assert manifest.about.licence
    assert (folder / "pyproject.toml").read_text() == project_file(name, manifest)
    assert (folder / "LICENSE").read_text() == licence_notice(name, manifest.about)
    assert list(folder.rglob("*.py")) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_pages_name_every_licence_that_forbids_commercial_use(name: str) -> None:
    about = load_bundle(FOLDERS[name]).manifest.about
    page = (ROOT / "docs/languages.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    assert ("-NC-" in row) == ("not for commercial use" in row) == about.is_non_commercial
    readme = " ".join((ROOT / "README.md").read_text().split())
    (sentence,) = [part for part in readme.split(". ") if "not for commercial use" in part]
    assert f"`{name}`" in readme
    assert (f"`{name}`" in sentence) == about.is_non_commercial


@pytest.mark.parametrize("name", FOLDERS)
def test_the_page_of_languages_has_sizes_and_scores_of_each_model(name: str) -> None:
    offer = describe_model(name, FOLDERS[name])
    page = (ROOT / "docs/languages.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    assert f"| {offer.size / 1e6:.1f} |" in row
    assert f"| {offer.scores['dev_upos']:.1f} / {offer.scores['dev_las']:.1f} |" in row
