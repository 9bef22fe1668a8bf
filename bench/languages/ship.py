"""Turn the trained languages of a plan into what a release has: packages, a table, a picture.

    python -m bench.languages.ship --out runs/languages --variant world

A language ships if its scores on dev reach the floor; it becomes the package `models/CODE`, made by
`headwise.model.package` as `headwise package` makes it. All scores come from `scores.json` of the
runs, the rest from the plan and from `cards.toml`. The same runs give the same bytes.
"""

import argparse
import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Literal

import msgspec

from bench.experiment.jobs import ROOT
from bench.experiment.plan import Run, read_toml, run_folder
from bench.experiment.results import read_json
from bench.experiment.tables import Cell, Table, markdown_table
from bench.languages.measure import Scores
from bench.languages.picture import Point, draw
from bench.languages.plan import PLAN_PATH, Plan, read_plan
from headwise.cli.models.listing import list_models
from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.evaluate.raw import METRICS
from headwise.files import whole_file
from headwise.model.bundle import (
    MANIFEST,
    Bundle,
    Manifest,
    load_bundle,
    needed_on_cpu,
    open_manifest,
)
from headwise.model.card import card, module_name
from headwise.model.find import packages_in
from headwise.model.languages import language_code, language_name
from headwise.model.package import CARD, write_package
from headwise.settings.about import About, DataSource, Licence, Line
from headwise.settings.recipe import to_struct

CARDS = Path(__file__).with_name("cards.toml")
PAGE = ROOT / "docs" / "languages.md"
PICTURE = ROOT / "docs" / "pictures" / "languages.svg"
INDEX = ROOT / "src" / "headwise" / "models" / "index.json"
FROM_ELSEWHERE = ("en", "en-accurate", "cs")
"""Packages that are made in another way."""
START = "<!-- python -m bench.languages.ship writes from here -->"
END = "<!-- to here -->"
FLOOR = {"gold": 70.0, "raw": 65.0}
"""LAS on dev, labels without subtypes, that a language needs to ship."""
FEW_WORDS = 30_000
MAX_MB = 3.5

Column = Literal["xpos", "ufeats", "lemmas"]
UNKNOWN_WITHOUT: dict[str, tuple[Column, ...]] = {
    "xpos": ("xpos",),
    "ufeats": ("ufeats",),
    "lemmas": ("lemmas",),
    "blex": ("lemmas",),
    "mlas": ("ufeats",),
}
"""Metrics that say nothing if dev has no values in a column."""
NAMES: dict[Column, str] = {"xpos": "XPOS", "ufeats": "features", "lemmas": "lemmas"}
DEV = {
    "official": "",
    "own": "Its train or dev set differs from the official one: do not compare these scores with "
    "published ones.",
    "blocks": "Train and dev were cut from the same files by blocks of ten sentences, so both may "
    "have parts of one document: do not compare these scores with published ones.",
}


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a card says about a treebank beside the plan; `cards.toml` explains the fields."""

    licence: Licence = ""
    made_of: Line = ""
    release: Line = ""
    attribution: Line = "the Universal Dependencies contributors"
    limits: Line = ""
    dev: Literal["official", "own", "blocks"] = "official"
    lacks: tuple[Column, ...] = ()


Cards = dict[str, Facts]


@dataclass(frozen=True, slots=True)
class Trained:
    """A run that was trained and measured; `n_choices` runs of the language could be chosen."""

    run: Run
    folder: Path
    scores: Scores
    n_choices: int = 1

    @property
    def las(self) -> float:
        """LAS from gold tokens."""
        return self.scores.gold.get("las", 0.0)

    @property
    def ships(self) -> bool:
        """Whether it reaches the floor."""
        reached = (getattr(self.scores, part).get("las", 0.0) for part in FLOOR)
        return all(las >= least for las, least in zip(reached, FLOOR.values(), strict=True))


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the table."""

    code: str
    words: int
    about: About
    lacks: tuple[Column, ...]
    trained: Trained

    @property
    def name(self) -> str:
        """Its name in English."""
        return language_name(self.about.language)

    def score(self, part: str, metric: str) -> float | None:
        """Give F1 by part and metric, if it says anything."""
        if set(UNKNOWN_WITHOUT.get(metric, ())) & set(self.lacks):
            return None
        scores: dict[str, float] = getattr(self.trained.scores, part)
        return scores.get(metric)


# ------------------------------------------------------------------------------------------- runs


def choose_runs(plan: Plan, given: argparse.Namespace) -> dict[str, Trained]:
    """Choose the run of each language with the best LAS on dev; an error names missing runs."""
    for variant in given.variant:
        if variant not in plan.variants:
            known = ", ".join(plan.variants)
            raise ConfigError(f"--variant {variant}: not in {given.plan}", f"it has {known}")
    left_out = {*given.keep, *given.without}
    runs = [
        run
        for run in plan.runs()
        if run.names[1] in given.variant and not left_out & language_of(plan, run.names[0])
    ]
    found = {run: read_trained(plan, run, given.out) for run in runs}
    missing = [str(run) for run, trained in found.items() if trained is None]
    if missing or not runs:
        only = " ".join(f"'*/{variant}'" for variant in given.variant)
        what = f"{given.out}: no trained and measured model of {', '.join(missing) or only}"
        hint = f"python -m bench.languages --only {only} makes them; --without CODE leaves one out"
        raise ConfigError(what, hint)
    choices: dict[str, list[Trained]] = {}
    for run, trained in found.items():
        if trained is not None:
            choices.setdefault(run.names[0], []).append(trained)
    return {name: best_of(several) for name, several in choices.items()}


def language_of(plan: Plan, treebank: str) -> set[str]:
    """Give what a treebank is left out by: its name, and the code of its language."""
    described = plan.treebanks[treebank]
    if described.also:
        raise ConfigError(f"{treebank}: a group of treebanks cannot ship", "choose another variant")
    return {treebank, language_code(described.language) or treebank}


def best_of(several: Sequence[Trained]) -> Trained:
    """Choose the run with the best LAS; of equals, the first."""
    best = max(several, key=lambda one: one.las)
    return Trained(best.run, best.folder, best.scores, len(several))


def read_trained(plan: Plan, run: Run, out: Path) -> Trained | None:
    """Read a run; one that was made with other settings is taken too, and mentioned."""
    folder = run_folder(plan, run, out)
    if not is_complete(folder):
        others = [path for path in sorted(out.glob(f"{run.names[0]}/*")) if is_complete(path)]
        start = f"{run.names[-1]}-{run.seed}-"
        others = [path for path in others if path.name.startswith(start)]
        if len(others) != 1:
            return None
        (folder,) = others
        say(f"note: {folder}: made with other settings than those of the plan now")
    scores = read_json(folder / "scores.json", Scores)
    return None if scores is None else Trained(run, folder, scores)


def is_complete(folder: Path) -> bool:
    """Whether a run was trained and measured."""
    return all((folder / name).is_file() for name in ("scores.json", f"model/{MANIFEST}"))


# ------------------------------------------------------------------------------------------ cards


def read_cards(path: Path) -> Cards:
    """Read what the cards say beside the plan."""
    return read_toml(path, Cards, CARDS)


def describe(plan: Plan, cards: Cards, trained: Trained) -> Language:
    """Describe a language; its licence is that of its treebank."""
    name, variant = trained.run.names
    facts = cards.get(name, Facts())
    title = plan.variants[variant].title
    notes = [f"Recipe `{plan.recipe}`, variant `{variant}` of bench/languages: {title}."]
    if trained.n_choices > 1:
        notes.append(f"Chosen among {trained.n_choices} trainings by LAS on dev.")
    if not facts.release:
        notes.append("The release of the treebank was not recorded.")
    source = source_of(plan, facts, name)
    about = About(
        language=name,
        licence=licence_of(plan, cards, name),
        sources=(source, *start_source(plan, trained.run)),
        limits=limits_of(plan.treebanks[name].note, facts),
        notes=" ".join(notes),
    )
    about = to_struct(msgspec.to_builtins(about), About, f"the card of {name}")
    check_licence(plan, cards, trained.run, about)
    return Language(name, plan.treebanks[name].words, about, facts.lacks, trained)


def source_of(plan: Plan, facts: Facts, name: str) -> DataSource:
    """Describe a treebank and what it is made of."""
    treebank = plan.treebanks[name]
    parts = f" ({facts.made_of})" if facts.made_of else ""
    release = "" if facts.release and facts.release in treebank.title else facts.release
    return DataSource(
        name=f"{treebank.title}{parts}",
        release=f"release {release}" if release else "",
        licence=treebank.licence,
        attribution=facts.attribution,
    )


def start_source(plan: Plan, run: Run) -> Iterator[DataSource]:
    """Describe what the network learned from before it went on with one language."""
    for one in start_members(plan, run):
        attribution = Facts().attribution
        what = f"{len(one)} treebanks that the start was trained on, listed in the card"
        yield DataSource(name=what, licence="each under its own licence", attribution=attribution)


def start_members(plan: Plan, run: Run) -> Iterator[list[str]]:
    """List the treebanks of the network that a run starts from, if any.

    A group has the folder of its first treebank, which is named here by its own name.
    """
    names = {plan.path(name, Path(), "train"): name for name in plan.single()}
    for needed in plan.needs(run):
        members = plan.members(needed.names[0])
        yield [names.get(plan.path(one, Path(), "train"), one) for one in members]


def licence_of(plan: Plan, cards: Cards, name: str) -> str:
    """Find the licence of a treebank as SPDX expression."""
    stated = plan.treebanks[name].licence
    licence = cards.get(name, Facts()).licence or stated.replace(" ", "-")
    if not licence.startswith("CC-") and not cards.get(name, Facts()).licence:
        what = f"cards.toml: {name}: no SPDX expression for the licence {stated!r}"
        raise ConfigError(what, 'for example: licence = "CC-BY-SA-4.0"')
    return licence


def check_licence(plan: Plan, cards: Cards, run: Run, about: About) -> None:
    """Refuse a free licence if the start learned from data that forbids commercial use."""
    if about.is_non_commercial:
        return
    for members in start_members(plan, run):
        for name in members:
            if About(licence=licence_of(plan, cards, name)).is_non_commercial:
                what = f"{run}: it starts from a network that learned from {name}, which is NC"
                raise ConfigError(what, f"train the start without {name}")


def limits_of(note: str, facts: Facts) -> str:
    """Write what the model was not made for."""
    said = facts.limits or (f"{note[:1].upper()}{note[1:]}." if note else "")
    lacking = " and no ".join(NAMES[column] for column in facts.lacks)
    blank = f"No {lacking} in dev of the treebank." if lacking else ""
    return " ".join(part for part in (said, blank, DEV[facts.dev]) if part)


def write_card(plan: Plan, language: Language, manifest: Manifest) -> str:
    """Write the card of the package, with every score of `scores.json` instead of training's."""
    scores = language.trained.scores
    shown = [metric for metric in METRICS if metric not in ("tokens", "alltags", "clas")]
    rows: list[tuple[Cell, ...]] = [
        (title, *(language.score(part, metric) for metric in shown))
        for part, title in (("gold", "words given"), ("raw", "raw text"))
    ]
    columns = ("", *(METRICS[metric] for metric in shown))
    errors = ", ".join(f"{name} {error:.2f}" for name, error in scores.calibration.items())
    sections = [
        card(language.code, msgspec.structs.replace(manifest, scores={})).rstrip(),
        "## Scores on dev",
        f"F1 in percent of this int8 model on {scores.n_words:,} words, measured by "
        "`python -m bench.languages`; labels without subtypes.",
        markdown_table(Table("", "", columns, tuple(rows))),
        "\n".join(
            [
                f"- **LAS with subtypes**, words given: {scores.las_full:.2f}",
                f"- **Speed**: {scores.words_per_second:,.0f} words a second, words given, one "
                f"thread; loading takes {scores.load_seconds:.2f} s",
                f"- **Calibration error** on dev, in points: {errors}",
            ]
        ),
        *start_section(plan, language.trained.run),
    ]
    return "\n\n".join(sections) + "\n"


def start_section(plan: Plan, run: Run) -> Iterator[str]:
    """List the treebanks that the start was trained on."""
    for needed, members in zip(plan.needs(run), start_members(plan, run), strict=True):
        most = plan.treebanks[needed.names[0]].most_words
        share = f"at most {most:,} words of each of" if most else "all of"
        listed = "; ".join(
            f"{plan.treebanks[one].title} ({plan.treebanks[one].licence})" for one in members
        )
        yield "## What it started from"
        yield f"One network that was trained on {share} these treebanks: {listed}."


# --------------------------------------------------------------------------------------- packages


def check_sizes(languages: Iterable[Language], max_mb: float) -> None:
    """Refuse models that are too large, all at once."""
    sizes = {one.code: n_bytes_of(one) / 1e6 for one in languages}
    large = [f"{code} ({size:.2f} MB)" for code, size in sizes.items() if size > max_mb]
    if large:
        what = f"larger than {max_mb} MB: {', '.join(large)}"
        raise DataError(what, "the trained models", hint="train smaller ones, or give --max-mb")


def n_bytes_of(language: Language) -> int:
    """Count the bytes of the files that the package will have."""
    manifest = open_manifest(language.trained.folder / "model")
    names = Bundle(Path(), manifest, dict.fromkeys(manifest.files, b""))
    return sum(manifest.files[name].size for name in needed_on_cpu(names, "int8"))


def write_packages(plan: Plan, languages: Sequence[Language], models: Path) -> None:
    """Write or replace the package of each language."""
    for number, one in enumerate(languages, 1):
        target = models / one.code
        write_package(load_bundle(one.trained.folder / "model"), one.code, target, one.about)
        manifest = open_manifest(target / "src" / module_name(one.code))
        write(target / CARD, write_card(plan, one, manifest))
        raw = one.trained.scores.raw["las"]
        n_mb = n_bytes_of(one) / 1e6
        say(
            f"{number}/{len(languages)} {one.code}: {one.name}, LAS {one.trained.las:.1f}, "
            f"raw text {raw:.1f}, {n_mb:.1f} MB"
        )


def prune(shipped: Iterable[Language], given: argparse.Namespace) -> None:
    """Remove the packages of languages that ship no more, if asked to; else mention them."""
    kept = {*given.keep, *(one.code for one in shipped)}
    for name in packages_in(given.models):
        if name in kept:
            continue
        if given.prune:
            shutil.rmtree(given.models / name)
            say(f"removed {given.models / name}")
        else:
            say(f"note: {given.models / name} does not ship; --prune removes it")


def write_index(models: Path, index: Path) -> None:
    """Write what `headwise models` offers, as `make checksums` does."""
    with redirect_stdout(io.StringIO()) as listed:
        list_models(["--folder", str(models), "--json"], standalone_mode=False)
    write(index, listed.getvalue())


def say(text: str) -> None:
    """Report on stderr what is being done."""
    print(text, file=sys.stderr, flush=True)


def write(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with whole_file(path) as stream:
        stream.write(text.encode())


# ------------------------------------------------------------------------------------------- page

GOLD = {"upos": "UPOS", "ufeats": "UFeats", "lemmas": "Lemmas", "uas": "UAS", "las": "LAS"}
RAW = {"las": "LAS, raw", "sentences": "sentences, raw", "words": "words, raw"}
SCORES = [("gold", metric) for metric in GOLD] + [("raw", metric) for metric in RAW]
COLUMNS = (*GOLD.values(), *RAW.values())


def split_page(page: Path) -> tuple[str, str]:
    """Give what stands before and after the table."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{page}: {error.strerror}", "--page names the page") from error
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        what = f"{page}: the lines that the table is put between are missing"
        raise ConfigError(what, f"put them into the page: {START} and {END}")
    return before, after


def write_block(
    shipped: Sequence[Language], others: Sequence[Language], page: Path, picture: Path, models: Path
) -> str:
    """Write the tables and the picture in Markdown."""
    links = {one.code: os.path.relpath(models / one.code / CARD, page.parent) for one in shipped}
    rows = tuple(
        (
            f"`{one.code}`",
            f"[{one.name}]({links[one.code]})",
            one.words,
            licence_cell(one.about),
            *scores_of(one),
            round(n_bytes_of(one) / 1e6, 1),
            round(one.trained.scores.words_per_second),
        )
        for one in shipped
    )
    columns = ("model", "language", "training words", "licence", *COLUMNS, "MB", "words/s")
    few = [one for one in shipped if one.words < FEW_WORDS]
    means = (mean_row("all that ship", shipped), mean_row(f"fewer than {FEW_WORDS:,} words", few))
    sections = [
        INTRODUCTION,
        markdown_table(Table("", "", columns, rows, 1)),
        "Means (words/s: medians):",
        markdown_table(Table("", "", ("", "languages", *COLUMNS, "MB", "words/s"), means)),
        f"![LAS on dev against the words of the training data, a point for each language]"
        f"({os.path.relpath(picture, page.parent)})",
    ]
    if others:
        weak = tuple(
            (f"`{one.code}`", one.name, one.words, licence_cell(one.about), *scores_of(one))
            for one in others
        )
        sections += [WEAK, markdown_table(Table("", "", ("code", *columns[1:-2]), weak, 1))]
    return "\n\n".join(sections)


INTRODUCTION = (
    'F1 on dev of the int8 models, labels without subtypes. "Raw" is from raw text; for all other '
    "scores,\nwords and sentences are given. A blank means that dev has no such column. "
    "`headwise models` shows LAS\nof labels with subtypes, which is lower."
)
WEAK = (
    f"Trainable, not shipped: LAS on dev is below {FLOOR['gold']:.0f} with given words, or below "
    f"{FLOOR['raw']:.0f} from raw text."
)


def licence_cell(about: About) -> str:
    """Name the licence as the tables of the page do."""
    return about.licence + (": **not for commercial use**" if about.is_non_commercial else "")


def scores_of(language: Language) -> tuple[float | None, ...]:
    """List the scores of a row."""
    return tuple(language.score(part, metric) for part, metric in SCORES)


def point_of(language: Language) -> Point:
    """Give what the picture shows of a language."""
    trained = language.trained
    return Point(language.code, language.name, language.words, trained.las, trained.ships)


def mean_row(title: str, languages: Sequence[Language]) -> tuple[Cell, ...]:
    """Average each score over the languages that have it."""
    tables = zip(*map(scores_of, languages), strict=True)
    known = [[score for score in column if score is not None] for column in tables]
    means = [mean(column) if column else None for column in known] or [None] * len(SCORES)
    sizes = [n_bytes_of(one) / 1e6 for one in languages]
    speeds = [one.trained.scores.words_per_second for one in languages]
    ends = (mean(sizes), round(median(speeds))) if languages else (None, None)
    return (title, len(languages), *means, *ends)


# ---------------------------------------------------------------------------------------- command


def make_parser() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.languages.ship",
        description="Make a package of each trained language that reaches the floor on dev "
        f"(LAS {FLOOR['gold']:.0f} with given words, {FLOOR['raw']:.0f} from raw text), and write "
        "the table, the picture and the index of models.",
        epilog="example: python -m bench.languages.ship --out runs/languages --variant world; "
        "then: git add -A models && make checksums",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder with the runs, as for bench.languages")
    add("--plan", type=Path, default=PLAN_PATH, help=f"the plan of the runs [{PLAN_PATH.name}]")
    add("--variant", nargs="+", default=["world"], help="choose among the runs of these [world]")
    add("--cards", type=Path, default=CARDS, help=f"more about the treebanks [{CARDS.name}]")
    add("--models", type=Path, default=ROOT / "models", help="folder of the packages [models]")
    add("--page", type=Path, default=PAGE, help=f"page with the table [{PAGE.relative_to(ROOT)}]")
    picture = PICTURE.relative_to(ROOT)
    add("--picture", type=Path, default=PICTURE, help=f"where to write the picture [{picture}]")
    index = INDEX.relative_to(ROOT)
    add("--index", type=Path, default=INDEX, help=f"what headwise models reads [{index}]")
    add("--max-mb", type=float, default=MAX_MB, help=f"refuse larger models [{MAX_MB}]")
    add("--without", nargs="+", default=[], metavar="CODE", help="leave these languages out")
    kept = " ".join(FROM_ELSEWHERE)
    add("--keep", nargs="*", default=list(FROM_ELSEWHERE), metavar="NAME",
        help=f"packages that are made in another way and stay as they are [{kept}]")  # fmt: skip
    add("--prune", action="store_true", help="remove the packages of languages that do not ship")
    return parser


def ship(given: argparse.Namespace) -> list[Path]:
    """Write everything; nothing is written before all runs were found and checked."""
    plan, cards = read_plan(given.plan), read_cards(given.cards)
    before, after = split_page(given.page)
    chosen = choose_runs(plan, given)
    languages = [describe(plan, cards, trained) for trained in chosen.values()]
    languages.sort(key=lambda one: (one.name.casefold(), one.code))
    shipped = [one for one in languages if one.trained.ships]
    others = [one for one in languages if not one.trained.ships]
    check_sizes(shipped, given.max_mb)
    say(f"{len(shipped)} of {len(languages)} languages ship")
    write_packages(plan, shipped, given.models)
    prune(shipped, given)
    write_index(given.models, given.index)
    block = write_block(shipped, others, given.page, given.picture, given.models)
    write(given.page, f"{before}{START}\n\n{block}\n\n{END}{after}")
    write(given.picture, draw([point_of(one) for one in languages], FLOOR["gold"]))
    return [given.models, given.index, given.page, given.picture]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ship what has been trained."""
    try:
        for path in ship(make_parser().parse_args(arguments)):
            print(path)
    except HeadwiseError as error:
        print(f"bench.languages.ship: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
