"""From trained runs to packages, cards, the table, the picture and the index of a release."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.licenses import canonicalize_license_expression

import headwise
from bench.experiment.plan import Run, run_folder
from bench.experiment.results import write_json
from bench.languages.measure import Scores
from bench.languages.picture import box_of, cover
from bench.languages.plan import PLAN_PATH, read_plan
from bench.languages.ship import (
    CARDS,
    END,
    FROM_ELSEWHERE,
    PAGE,
    START,
    Facts,
    Trained,
    describe,
    main,
    read_cards,
    split_page,
)
from headwise.errors import ConfigError
from headwise.model.bundle import load_bundle
from headwise.model.find import find_model
from headwise.model.package import write_package
from headwise.settings.about import About

PLAN = """
seeds = [1]
recipe = "configs/columns.toml"
epochs = { words = 400, least = 1, most = 2 }
[variants.world]
title = "starts from all languages"
start = "together"
group = "all"
[variants.again]
title = "more seeds"
seeds = [2]
treebanks = ["fr"]
[variants.together]
title = "all languages together"
treebanks = ["all"]
[treebanks.fr]
title = "MIX_French"
language = "French"
words = 110_793
licence = "LGPL-LR + CC BY-SA"
[treebanks.da]
title = "UD_Danish-DDT"
language = "Danish"
words = 16_227
licence = "CC BY-SA 4.0"
[treebanks.zh]
title = "UD_Chinese-Old"
language = "Chinese"
words = 50_000
licence = "CC BY-NC-SA 4.0"
note = "old guidelines"
[treebanks.ky]
title = "UD_Kyrgyz-KTMU"
language = "Kyrgyz"
words = 10_018
licence = "CC BY-SA 4.0"
[treebanks.ewt]
title = "UD_English-EWT"
language = "English"
words = 204_579
licence = "CC BY-SA 4.0"
[treebanks.all]
title = "all languages"
language = "all"
words = 110_793
folder = "languages/fr"
most_words = 60_000
also = ["da", "ky", "ewt"]
"""
SHARED = """
[fr]
licence = "LGPLLR AND CC-BY-SA-4.0"
release = "2.16"
made_of = "Sequoia, PUD"
dev = "own"
[da]
lacks = ["lemmas"]
dev = "blocks"
"""
LAS = {"fr": (88.12, 84.34), "da": (80.0, 76.0), "zh": (71.0, 66.0), "ky": (75.0, 64.9)}
VALUES = {"upos": 95.5, "xpos": 94.4, "ufeats": 93.3, "lemmas": 92.2, "uas": 90.1, "blex": 70.7}


def made_scores(las: float, las_raw: float) -> Scores:
    gold = {"sentences": 100.0, "words": 100.0, "tokens": 100.0, "mlas": 60.6, **VALUES}
    raw = {**gold, "sentences": 91.91, "words": 99.19}
    return Scores(
        n_words=1_500,
        gold={**gold, "las": las},
        las_full=las - 1,
        raw={**raw, "las": las_raw},
        calibration={"heads": 1.25, "upos": 0.5},
        words_per_second=18_500.4,
        load_seconds=0.25,
        n_bytes=1,
        machine="a GPU",
    )


class Release:
    """A folder with runs, packages and a page, and the command on it."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model = folder, model
        self.out, self.models, self.page = folder / "runs", folder / "models", folder / "page.md"
        (folder / "plan.toml").write_text(PLAN)
        (folder / "cards.toml").write_text(SHARED)
        self.page.write_text(f"# Page\n\n{START}\n{END}\n\nThe end.\n")
        for name, (gold, raw) in LAS.items():
            self.add_run(f"{name}/world/1", gold, raw)
        about = About(language="cs", licence="CC-BY-NC-SA-4.0")
        write_package(load_bundle(model), "cs", self.models / "cs", about)

    def add_run(self, name: str, las: float, las_raw: float) -> None:
        treebank, variant, seed = name.split("/")
        run = Run((treebank, variant), int(seed))
        folder = run_folder(read_plan(self.folder / "plan.toml"), run, self.out)
        shutil.copytree(self.model, folder / "model")
        write_json(folder / "scores.json", made_scores(las, las_raw))

    def ship(self, *more: str) -> int:
        names = {"plan": "plan.toml", "cards": "cards.toml", "out": "runs", "models": "models"}
        names |= {"page": "page.md", "picture": "picture.svg", "index": "index.json"}
        flags = [part for n, path in names.items() for part in (f"--{n}", str(self.folder / path))]
        return main([*flags, *more])

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def shipped(self) -> list[str]:
        return sorted(path.name for path in self.models.iterdir())

    def row(self, code: str) -> list[str]:
        lines = self.page.read_text().splitlines()
        (line,) = [line for line in lines if line.startswith(f"| `{code}` |")]
        return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture
def release(tmp_path: Path, columns_run: Path) -> Release:
    return Release(tmp_path, columns_run / "model")


def test_what_reaches_the_floor_becomes_packages_that_parse(release: Release) -> None:
    before = {name: data for name, data in release.files().items() if name.startswith("models/cs")}
    assert release.ship() == 0
    assert release.shipped() == ["cs", "da", "fr", "zh"]
    assert before.items() <= release.files().items()
    parser = headwise.load(str(release.models / "fr"))
    assert [word.form for word in parser("Les enfants aiment les bonbons.").words]
    names = list(load_bundle(find_model(str(release.models / "fr"))).manifest.files)
    assert not any("float32" in name or "weights" in name for name in names)
    project = tomllib.loads((release.models / "fr/pyproject.toml").read_text())["project"]
    assert (project["name"], project["license"]) == ("headwise-fr", "LGPLLR AND CC-BY-SA-4.0")
    index = json.loads((release.folder / "index.json").read_text())
    assert [offer["name"] for offer in index] == ["cs", "da", "fr", "zh"]


def test_the_same_runs_give_the_same_bytes(release: Release) -> None:
    assert release.ship() == 0
    before = release.files()
    assert release.ship() == 0
    assert release.files() == before


def test_a_card_has_the_data_and_every_score(release: Release) -> None:
    assert release.ship() == 0
    card = (release.models / "fr/README.md").read_text()
    for part in (
        "MIX_French (Sequoia, PUD) release 2.16, LGPL-LR + CC BY-SA, the Universal Dependencies",
        "**Licence**: LGPLLR AND CC-BY-SA-4.0",
        "variant `world` of bench/languages: starts from all languages",
        "do not compare these scores with published ones",
        "| words given | 100.00 | 100.00 | 95.50 | 94.40 | 93.30 | 92.20 | 90.10 | 88.12 | 60.60 |",
        "| raw text | 91.91 | 99.19 | 95.50 | 94.40 | 93.30 | 92.20 | 90.10 | 84.34 | 60.60 |",
        "labels without subtypes",
        "heads 1.25, upos 0.50",
        "60,000 words of each of these treebanks: MIX_French (LGPL-LR + CC BY-SA); UD_Danish",
        "UD_Kyrgyz-KTMU (CC BY-SA 4.0)",
    ):
        assert part in card
    assert "as training measured them" not in card
    danish = (release.models / "da/README.md").read_text()
    assert "blocks of ten sentences" in danish
    assert "No lemmas in dev of the treebank" in danish
    assert "92.20" not in danish  # lemmas
    assert "Old guidelines." in (release.models / "zh/README.md").read_text()


def test_the_table_has_what_ships_by_name_and_then_the_rest(release: Release) -> None:
    assert release.ship() == 0
    page = release.page.read_text()
    assert page.startswith("# Page\n\n")
    assert page.endswith("\n\nThe end.\n")
    assert re.findall(r"^\| `(\w+)` ", page, re.MULTILINE) == ["zh", "da", "fr", "ky"]
    french = ["`fr`", "[French](models/fr/README.md)", "110,793", "LGPLLR AND CC-BY-SA-4.0"]
    scores = ["95.5", "93.3", "92.2", "90.1", "88.1", "84.3", "91.9", "99.2"]
    size = load_bundle(find_model(str(release.models / "fr"))).manifest.files.values()
    n_mb = f"{sum(entry.size for entry in size) / 1e6:.1f}"
    assert release.row("fr") == [*french, *scores, n_mb, "18,500"]
    assert release.row("da")[6] == ""
    assert "not for commercial use" in release.row("zh")[3]
    assert "Trainable, not shipped" in page.split("`fr`")[1].split("`ky`")[0]
    assert release.row("ky")[-3] == "64.9"
    assert "| all that ship | 3 | 95.50 | 93.30 | 92.20 | 90.10 | 79.71 | 75.45 |" in page
    assert "| fewer than 30,000 words | 1 | 95.50 | 93.30 |  | 90.10 | 80.00 |" in page
    assert "](picture.svg)" in page


def test_the_picture_has_a_point_for_each_language_in_both_schemes(release: Release) -> None:
    assert release.ship() == 0
    text = (release.folder / "picture.svg").read_text()
    root = ElementTree.fromstring(text)
    circles = [one for one in root.iter() if one.tag.endswith("circle")]
    assert [one.get("class") for one in circles] == ["ships", "ships", "weak", "ships"]
    codes = [one.text for one in root.iter() if one.get("class") == "code"]
    assert codes == ["fr", "da", "ky", "zh"]
    assert "French: 110,793 words, 88.1" in text
    assert "prefers-color-scheme:dark" in text
    assert "20,000" in text


def test_a_label_moves_away_from_what_is_there() -> None:
    box = box_of("fr", 100, 100, "start")
    assert cover(box, [box]) > cover(box, [box_of("fr", 104, 100, "start")]) > 0
    assert cover(box, [box_of("fr", 100, 100, "end")]) == 0


def test_the_best_of_several_runs_ships(release: Release) -> None:
    release.add_run("fr/again/2", 89.5, 85.5)
    assert release.ship("--variant", "world", "again") == 0
    assert release.row("fr")[8] == "89.5"
    assert "Chosen among 2 trainings" in (release.models / "fr/README.md").read_text()


def test_missing_runs_are_named(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fr", "da"):
        shutil.rmtree(release.out / name)
    before = release.files()
    assert release.ship() == 1
    assert "fr/world/1, da/world/1" in capsys.readouterr().err
    assert release.files() == before
    assert release.ship("--without", "fr", "da") == 0
    assert release.shipped() == ["cs", "zh"]


def test_a_run_with_other_settings_is_taken_and_mentioned(
    release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder,) = (release.out / "fr").iterdir()
    folder.rename(folder.with_name("world-1-other"))
    assert release.ship() == 0
    assert "world-1-other: made with other settings" in capsys.readouterr().err


def test_models_that_are_too_large_are_named(
    release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    before = release.files()
    assert release.ship("--max-mb", "0.01") == 1
    message = capsys.readouterr().err
    assert all(re.search(rf"{name} \(0\.\d\d MB\)", message) for name in ("fr", "da", "zh"))
    assert "ky" not in message
    assert release.files() == before


def test_packages_are_removed_only_if_asked_for(
    release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    about = About(language="ky", licence="CC-BY-SA-4.0")
    write_package(load_bundle(release.model), "ky", release.models / "ky", about)
    assert release.ship() == 0
    assert "ky does not ship; --prune removes it" in capsys.readouterr().err
    assert release.shipped() == ["cs", "da", "fr", "ky", "zh"]
    assert release.ship("--prune") == 0
    assert release.shipped() == ["cs", "da", "fr", "zh"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('also = ["da"', 'also = ["zh", "da"', "learned from zh, which is NC"),
        ('licence = "CC BY-NC-SA 4.0"', 'licence = "PD"', "zh: no SPDX expression for the licence"),
    ],
)
def test_licences_that_do_not_fit_are_refused(
    release: Release, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = release.folder / "plan.toml"
    plan.write_text(plan.read_text().replace(old, new))
    assert release.ship() == 1
    assert message in capsys.readouterr().err
    assert release.shipped() == ["cs"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--variant", "worlds"], "--variant worlds: not in"),
        (["--variant", "together"], "all: a group of treebanks cannot ship"),
        (["--page", "nowhere.md"], "nowhere.md: No such file"),
        (["--page", "README.md"], "README.md: the lines that the table is put between are missing"),
    ],
)
def test_mistakes_are_explained(
    release: Release, more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.ship(*more) == 1
    assert message in capsys.readouterr().err
    assert release.shipped() == ["cs"]


@pytest.mark.parametrize(
    ("las", "ships"), [((70.0, 65.0), True), ((69.99, 80.0), False), ((80.0, 64.99), False)]
)
def test_the_floor_is_on_both_scores(las: tuple[float, float], ships: bool) -> None:
    assert Trained(Run(("fr", "world"), 1), Path(), made_scores(*las)).ships == ships


def test_the_cards_fit_the_plan() -> None:
    plan, cards = read_plan(PLAN_PATH), read_cards(CARDS)
    for name in plan.single():
        if name == "ewt":
            continue
        run = Run((name, "world"), 1)
        about = describe(plan, cards, Trained(run, Path(), made_scores(80, 80))).about
        assert canonicalize_license_expression(about.licence) == about.licence
        is_own = cards.get(name, Facts()).dev != "official"
        assert is_own == ("published" in about.limits)
        assert is_own or not plan.treebanks[name].title.startswith("MIX_")


def test_a_wrong_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cards.toml"
    path.write_text('[fr]\nlicense = "CC-BY-4.0"\n')
    with pytest.raises(ConfigError, match="license"):
        read_cards(path)


def test_the_page_of_the_repository_has_the_place_for_the_table() -> None:
    before, after = split_page(PAGE)
    assert all(f"| `{name}` |" in before + after for name in FROM_ELSEWHERE)
