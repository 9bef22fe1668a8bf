"""Models are found by the name of a package, by language and by folder, in this order."""

import shutil
import sys
from pathlib import Path

import pytest
from made_packages import install_by_hand

from headwise.errors import ModelError
from headwise.model.find import (
    MODELS_FOLDER,
    find_model,
    folder_name,
    installed_models,
    name_of,
    named_models,
    packages_in,
    release_index,
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder on the path of modules; nothing but headwise is there."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder)])
    return folder


def test_models_are_found_by_path_and_run_folder(tiny_run: Path, tmp_path: Path) -> None:
    assert find_model(str(tiny_run / "model")) == tiny_run / "model"
    assert find_model(str(tiny_run)) == tiny_run / "model"
    assert folder_name(tiny_run / "model") == tiny_run.name
    assert folder_name(MODELS_FOLDER / "en") == "en"
    with pytest.raises(ModelError, match="not a model folder"):
        find_model(str(tmp_path))
    (tmp_path / "recipe.json").write_text("{}")
    with pytest.raises(ModelError, match=r"this training run has no model yet(.|\n)*goes on"):
        find_model(str(tmp_path))


def test_an_installed_model_is_found_by_name_and_language(tiny_run: Path, site: Path) -> None:
    folder = install_by_hand(site, "fr", tiny_run / "model")
    for name in ("fr", "fra", "French"):
        assert find_model(name) == folder
    assert name_of(folder) == "fr"
    assert name_of(tiny_run / "model") is None
    assert list(named_models()) == ["fr", "en"]


def test_a_folder_here_never_replaces_a_model_with_a_name(
    tiny_run: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = install_by_hand(site, "fr", tiny_run / "model")
    monkeypatch.chdir(tmp_path)
    for name in ("en", "fr", "french", "models/de", "mine"):
        shutil.copytree(tiny_run / "model", tmp_path / name)
    assert find_model("en").parent == MODELS_FOLDER
    assert find_model("./en") == Path("en")
    assert find_model("fr") == find_model("french") == installed
    assert find_model("./fr") == Path("fr")
    assert find_model("mine") == Path("mine")
    with pytest.raises(ModelError, match="not installed"):  # models/ is looked up no more
        find_model("de")


def test_an_installed_model_does_not_replace_the_one_inside(tiny_run: Path, site: Path) -> None:
    install_by_hand(site, "en", tiny_run / "model")
    assert find_model("en").parent == MODELS_FOLDER


def test_nothing_of_a_package_is_imported(tiny_run: Path, site: Path) -> None:
    folder = install_by_hand(site, "fr", tiny_run / "model")
    (folder / "__init__.py").write_text("raise SystemExit('imported')")
    assert find_model("fr") == folder
    assert "headwise_fr" not in sys.modules


@pytest.mark.parametrize(
    ("name", "module"),
    [("fr", "headwise_fr:load"), ("fr", "os.path"), ("../fr", "headwise_fr"), ("fr", "no_such")],
)
def test_entry_points_that_name_no_folder_are_passed_over(
    name: str, module: str, tiny_run: Path, site: Path
) -> None:
    install_by_hand(site, "fr", tiny_run / "model", f"{name} = {module}")
    assert installed_models() == {}


def test_a_package_that_lies_elsewhere_is_found(tiny_run: Path, site: Path, tmp_path: Path) -> None:
    """`pip install --editable` leaves the files where they are, and adds their folder."""
    folder = install_by_hand(site, "fr", tiny_run / "model")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.rename(elsewhere / folder.name)
    sys.path.append(str(elsewhere))
    assert find_model("fr") == elsewhere / folder.name


@pytest.mark.parametrize(
    ("name", "what", "hint"),
    [
        ("de", "not installed", "pip install ./models/de in a clone of headwise"),
        ("german", "not installed", "pip install ./models/de"),
        ("", "'': there is no such model", "give a folder written by headwise train"),
        ("grman", "no such model", "did you mean de?"),
        ("en-acurate", "no such model", "did you mean en-accurate?"),
        ("kyrgyz", "no such model", "no model for Kyrgyz in this release"),
        ("xyzzy", "no such model", "a name from headwise models"),
        ("auto", "no text yet", "auto works in headwise parse"),
    ],
)
def test_an_unknown_name_gets_a_hint(name: str, what: str, hint: str, site: Path) -> None:
    with pytest.raises(ModelError, match=what) as error:
        find_model(name)
    assert hint in (error.value.hint or "")


def test_a_package_in_a_clone_is_found_by_its_folder() -> None:
    clone = Path(__file__).parents[2] / "models"
    if (clone.parent / "PKG-INFO").is_file():
        pytest.skip("a source distribution has no other models than en")
    packages = packages_in(clone)
    assert set(packages) == set(release_index())
    assert find_model(str(clone / "de")) == packages["de"]
    assert folder_name(packages["de"]) == "de"


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(ModelError, match="too long"):
        find_model("x" * 5_000)
