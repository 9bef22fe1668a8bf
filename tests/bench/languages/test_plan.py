"""Plans of many treebanks: settings, runs, reports, and one run from treebank to scores."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bench.experiment.plan import Options, Run
from bench.experiment.results import read_results
from bench.languages.__main__ import main
from bench.languages.measure import Scores
from bench.languages.plan import PLAN_PATH, Epochs, Plan, read_plan
from bench.languages.shares import main as take_shares
from headwise import read_sentences
from headwise.errors import ConfigError

LETTERS = PLAN_PATH.with_name("letters.toml")
CARDS_PATH = PLAN_PATH.with_name("cards.toml")
TINY = """
seeds = [1]
recipe = "configs/columns.toml"
epochs = { words = 400, least = 1, most = 2 }
[variants.small]
title = "small"
set = [
    "model.hidden_size=8", "model.word_size=8", "model.letters=4", "model.letters_size=8",
    "model.prior_size=8", "model.column_size=8", "model.selector_size=8", "model.label_size=8",
    "segment.epochs=1", "segment.steps=2",
]
[treebanks.en]
title = "English"
language = "English"
words = 300
folder = "ud/English"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_small_treebanks_get_more_epochs_within_bounds() -> None:
    epochs = Epochs(words=2_500_000, least=20, most=70)
    assert [epochs.of(n) for n in (16_000, 50_000, 200_000)] == [70, 50, 20]


@pytest.mark.parametrize(
    "path",
    sorted(set(PLAN_PATH.parent.glob("*.toml")) - {CARDS_PATH}),
    ids=lambda path: path.stem,
)
def test_the_plans_can_be_read(path: Path) -> None:
    plan = read_plan(path)
    assert len(plan.runs()) == len(set(plan.runs())) >= len(plan.single()) * len(plan.seeds)


def test_settings_of_a_treebank_come_last(tiny: Path) -> None:
    plan = read_plan(tiny)
    treebank = msgspec.structs.replace(plan.treebanks["en"], set=("model.letters=0",))
    plan = msgspec.structs.replace(plan, treebanks={"en": treebank}, raw=False)
    settings = plan.settings(Run(("en", "small"), 1))
    assert settings[:4] == [
        "train.adam_epochs=1", "train.patience=1", "segment.epochs=1", "segment.steps=1",
    ]  # fmt: skip
    assert settings.index("model.letters=4") < settings.index("model.letters=0")


def test_a_group_takes_a_share_of_each_member(tiny: Path, data: Path, tmp_path: Path) -> None:
    group = '[treebanks.both]\ntitle = "both"\nlanguage = "two"\nwords = 300\nalso = ["fr"]\n'
    french = '[treebanks.fr]\ntitle = "French"\nlanguage = "French"\nwords = 900\n'
    tiny.write_text(f'{TINY}{french}{group}folder = "ud/English"\nmost_words = 60\n')
    english = lzma.compress((data / "ud/English/train.conllu").read_bytes())
    for folder in ("ud/English", "languages/fr"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "train.conllu.xz").write_bytes(english)
    plan = read_plan(tiny)
    assert (plan.members("both"), plan.n_words("both")) == (["both", "fr"], 120)
    options = Options(tiny, tmp_path, tmp_path / "out", "cpu", "float32", 1)
    shares, train, _ = plan.steps(Run(("both", "small"), 1), options)
    folder = shares.output.parent
    take_shares(str(tiny), str(tmp_path), "both", str(folder))
    n_words = json.loads(shares.output.read_bytes())
    assert n_words.keys() == {"both", "fr"}
    assert all(60 <= n < 120 for n in n_words.values())
    paths = [Path(path) for path in train.command if path.endswith("-train.conllu.xz")]
    assert [path.name for path in paths] == ["English-train.conllu.xz", "fr-train.conllu.xz"]
    whole = [
        sentence.text for sentence in read_sentences(tmp_path / "languages/fr/train.conllu.xz")
    ]
    share = [sentence.text for sentence in read_sentences(paths[1])]
    places = [whole.index(text) for text in share]
    assert places == sorted(places)
    assert 0 < len(share) < len(whole)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('also = ["fr"]', "no treebank fr"),
        ('[variants.two]\ntitle = "x"\ntreebanks = ["fr"]', "no treebank fr"),
        ('[variants.two]\ntitle = "x"\nstart = "big"\ngroup = "en"', "starts from en/big/1"),
        ('[variants.two]\ntitle = "x"\nstart = "small"', "en/two/1 starts from /small/1"),
    ],
)
def test_a_plan_that_does_not_fit_together_is_refused(tiny: Path, line: str, message: str) -> None:
    tiny.write_text(f"{TINY}{line}\n")
    with pytest.raises(ConfigError, match=message):
        read_plan(tiny)


def test_the_committed_report_is_reproduced(
    results: Path, reproduces: Callable[[Path, Callable[[], int]], bool]
) -> None:
    arguments = ["--plan", str(LETTERS), "--out", str(results / "letters"), "--report-only"]
    assert reproduces(results / "letters", lambda: main(arguments))


@pytest.mark.slow
def test_a_treebank_is_trained_and_every_column_is_measured(
    tiny: Path, data: Path, tmp_path: Path
) -> None:
    for part in ("train", "dev"):
        plain = (data / f"ud/English/{part}.conllu").read_bytes()
        packed = tmp_path / f"ud/English/{part}.conllu.xz"
        packed.parent.mkdir(parents=True, exist_ok=True)
        packed.write_bytes(lzma.compress(plain))
    arguments = ["--plan", str(tiny), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--device", "cpu"]) == 0
    plan: Plan = read_plan(tiny)
    (result,) = read_results(tmp_path / "out", plan.runs(), Scores)
    scores = result.scores
    assert {"upos", "ufeats", "lemmas", "las", "mlas", "blex"} <= scores.gold.keys()
    assert "words" in scores.raw
    assert {"heads", "upos", "xpos", "feats", "lemma"} <= scores.calibration.keys()
    report = (tmp_path / "out/report.md").read_text(encoding="utf-8")
    assert "From raw text" in report
