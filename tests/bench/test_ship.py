"""A shipped folder has one precision, no weights, no local paths, and the chosen segmenter."""

from pathlib import Path

import pytest

import headwise
from bench import ship as ship_module
from bench.ship import ship, without_folders
from headwise.errors import ModelError
from headwise.model.bundle import Bundle, find_model, load_bundle


def opened(path: Path) -> Bundle:
    return load_bundle(find_model(str(path)))


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


def test_a_segmenter_is_taken_from_another_model(
    tiny_run: Path, full_run: Path, tmp_path: Path
) -> None:
    source, other = opened(tiny_run), opened(full_run)
    assert "segment.onnx" not in source.manifest.files
    (tmp_path / "out").mkdir()
    (tmp_path / "out/README.md").write_text("card")
    ship(source, tmp_path / "out", other)
    made = opened(tmp_path / "out")
    assert made.read("segment.onnx") == other.read("segment.onnx")
    assert made.manifest.scores["dev_words"] == other.manifest.scores["dev_words"]
    assert made.manifest.scores["dev_las"] == source.manifest.scores["dev_las"]
    assert not any("float32" in name or "weights" in name for name in made.manifest.files)
    assert str(tmp_path.parent) not in (tmp_path / "out/model.json").read_text()
    assert (tmp_path / "out/README.md").read_text() == "card"
    given = [list(headwise.read_sentences("tests/fixtures/ewt-dev-100.conllu"))[3]]
    trees = [
        [parse.heads for _, parse in headwise.load(model).annotate(given)]
        for model in (source, tmp_path / "out")
    ]
    assert trees[0] == trees[1]


def test_a_segmenter_keeps_its_origin_when_it_is_taken_again(
    tiny_run: Path, full_run: Path, tmp_path: Path
) -> None:
    ship(opened(tiny_run), tmp_path / "first", opened(full_run))
    ship(opened(tiny_run), tmp_path / "second", opened(tmp_path / "first"))
    first, second = (opened(tmp_path / name) for name in ("first", "second"))
    origin = second.manifest.provenance["segmenter"]
    assert origin == first.manifest.provenance["segmenter"]
    assert origin.startswith("of the model made by: ")


def test_a_model_without_a_segmenter_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no segmenter"):
        ship(opened(tiny_run), tmp_path / "out", opened(tiny_run))


def test_the_command_prints_the_size(
    full_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["ship", str(full_run), str(target)])
    ship_module.main()
    size = sum(path.stat().st_size for path in target.iterdir())
    assert f"{size:,} bytes" in capsys.readouterr().out
