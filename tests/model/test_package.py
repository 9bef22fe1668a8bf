"""A package has one precision, no weights unless asked for, no local paths, and a card."""

import tomllib
from pathlib import Path

import msgspec
import pytest
import torch

import headwise
from headwise.errors import ConfigError, ModelError
from headwise.learn.scorer import load_network
from headwise.model.bundle import WEIGHTS, Bundle, load_bundle
from headwise.model.card import card
from headwise.model.find import MODELS_FOLDER, find_model
from headwise.model.package import without_folders, write_package
from headwise.settings.about import About, DataSource
from tests.made_models import copy_model, replace_file

ABOUT = About(
    language="fr",
    licence="LGPLLR AND CC-BY-NC-SA-4.0",
    sources=(DataSource(name="UD_X", release="2.16", licence="LGPL-LR", attribution='A "B" C'),),
    limits="charters of the 8th century",
)


def opened(path: Path) -> Bundle:
    return load_bundle(find_model(str(path)))


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "train /a/b/c.toml --set 'model.vectors=\"/d/e/f/g\"'",
            "train b/c.toml --set 'model.vectors=\"f/g\"'",
        ),
        ("--train ud/EWT/train.conllu.xz -o /x", "--train ud/EWT/train.conllu.xz -o /x"),
        ("seed 1/2", "seed 1/2"),
    ],
)
def test_paths_are_shortened_to_a_folder_and_a_file(text: str, expected: str) -> None:
    assert without_folders(text) == expected


def test_a_package_parses_as_the_run_does_and_has_no_more_than_that_needs(
    full_run: Path, tmp_path: Path
) -> None:
    write_package(opened(full_run), "fr", tmp_path / "fr", ABOUT)
    made = opened(tmp_path / "fr")
    assert made.manifest.about == ABOUT
    assert not any("float32" in name or "weights" in name for name in made.manifest.files)
    assert not any(str(full_run.parent).encode() in data for data in contents(tmp_path).values())
    assert not any(name.endswith(".py") for name in contents(tmp_path))
    given = [list(headwise.read_sentences("tests/fixtures/ewt-dev-100.conllu"))[3]]
    trees = [
        [parse.heads for _, parse in headwise.load(model).annotate(given)]
        for model in (full_run, tmp_path / "fr")
    ]
    assert trees[0] == trees[1]


def test_weights_are_kept_in_float16_if_asked_for(full_run: Path, tmp_path: Path) -> None:
    write_package(opened(full_run), "fr", tmp_path / "fr", ABOUT, with_weights=True)
    whole, halved = opened(full_run), opened(tmp_path / "fr")
    sizes = [len(bundle.read(WEIGHTS)) for bundle in (whole, halved)]
    assert sizes[1] < 0.6 * sizes[0]
    cpu = torch.device("cpu")
    one, other = (load_network(bundle, cpu).state_dict() for bundle in (whole, halved))
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor, atol=1e-4, rtol=1e-3)
    with pytest.raises(ModelError, match=f"this model has no {WEIGHTS}"):
        write_package(opened(MODELS_FOLDER / "en"), "en", tmp_path / "en", ABOUT, with_weights=True)


def test_the_same_run_gives_the_same_bytes(full_run: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "two"):  # the third replaces the second
        write_package(opened(full_run), "fr", tmp_path / name, ABOUT)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_the_project_says_what_pip_needs(full_run: Path, tmp_path: Path) -> None:
    write_package(opened(full_run), "fr-old", tmp_path / "p", ABOUT, version="2.1")
    project = tomllib.loads((tmp_path / "p/pyproject.toml").read_text())["project"]
    assert (project["name"], project["version"]) == ("headwise-fr-old", "2.1")
    assert project["license"] == ABOUT.licence
    assert project["entry-points"]["headwise.models"] == {"fr-old": "headwise_fr_old"}
    assert project["dependencies"] == [f"headwise>={headwise.__version__}"]
    notice = (tmp_path / "p/LICENSE").read_text()
    assert "not for commercial use" in notice
    assert "https://creativecommons.org/licenses/by-nc-sa/4.0/" in notice
    assert 'UD_X 2.16, LGPL-LR, A "B" C' in notice


def test_the_card_has_every_score_and_where_the_model_comes_from(full_run: Path) -> None:
    manifest = opened(full_run).manifest
    provenance = {"command": "headwise train x.toml --seed 7", "seed": "7", "machine": "a GPU"}
    scores = dict(manifest.scores) | {"dev_feats": 81.257, "dev_new_column": 12.0}
    text = card("fr", msgspec.structs.replace(manifest, provenance=provenance, scores=scores))
    for part in (
        "`headwise train x.toml --seed 7`",
        "**Seed**: 7",
        "81.26",
        "UFeats",
        "new column",
    ):
        assert part in text
    for name, value in manifest.scores.items():
        if name.startswith("dev_"):
            assert f"{value:.2f}" in text
    limited = card("fr", msgspec.structs.replace(manifest, about=ABOUT))
    for part in ("# fr: French", "charters of the 8th century", "UD_X 2.16", "not for commercial"):
        assert part in limited


def test_a_transformer_needs_its_extra(encoder_run: Path, tmp_path: Path) -> None:
    write_package(opened(encoder_run), "fr", tmp_path / "fr", ABOUT)
    project = tomllib.loads((tmp_path / "fr/pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [f"headwise[encoder]>={headwise.__version__}"]
    assert opened(tmp_path / "fr").manifest.model.encoder == "bert"


def test_a_segmenter_is_taken_from_another_model_and_keeps_its_origin(
    tiny_run: Path, full_run: Path, tmp_path: Path
) -> None:
    source, other = opened(tiny_run), opened(full_run)
    assert "segment.onnx" not in source.manifest.files
    write_package(source, "fr", tmp_path / "first", ABOUT, other)
    first = opened(tmp_path / "first")
    write_package(source, "fr", tmp_path / "second", ABOUT, first)
    second = opened(tmp_path / "second")
    assert second.read("segment.onnx") == other.read("segment.onnx")
    assert second.manifest.scores["dev_words"] == other.manifest.scores["dev_words"]
    assert second.manifest.scores["dev_las"] == source.manifest.scores["dev_las"]
    assert second.manifest.provenance["segmenter"].startswith("of the model made by: ")
    assert second.manifest.provenance == first.manifest.provenance
    two_networks = copy_model(full_run / "model", tmp_path / "two")
    replace_file(two_networks, "segment.ends.onnx", b"a second network")
    write_package(opened(two_networks), "fr", tmp_path / "fourth", ABOUT, first)
    assert "segment.ends.onnx" not in opened(tmp_path / "fourth").manifest.files
    write_package(source, "fr", tmp_path / "fifth", ABOUT, opened(two_networks))
    assert opened(tmp_path / "fifth").read("segment.ends.onnx") == b"a second network"
    with pytest.raises(ModelError, match="no segmenter"):
        write_package(source, "fr", tmp_path / "third", ABOUT, source)
    assert not (tmp_path / "third").exists()


def test_what_cannot_be_a_package_is_refused_and_nothing_is_written(
    tiny_run: Path, tmp_path: Path
) -> None:
    source = opened(tiny_run)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("")
    for name, out, about, what in (
        ("Fr", "x", ABOUT, "cannot be the name"),
        ("../fr", "x", ABOUT, "cannot be the name"),
        ("fr", "x", About(language="fr"), "licence of the model is not known"),
        ("fr", "x", About(licence="MIT"), "language of the model is not known"),
        ("fr", "mine", ABOUT, "not a package of fr"),
        ("fr", "mine/thesis.tex", ABOUT, "not a package of fr"),
    ):
        with pytest.raises(ConfigError, match=what):
            write_package(source, name, tmp_path / out, about)
    with pytest.raises(ModelError, match=r"Not a directory|File exists"):
        write_package(source, "fr", tmp_path / "mine/thesis.tex/fr", ABOUT)
    assert set(contents(tmp_path)) == {"mine/thesis.tex"}
