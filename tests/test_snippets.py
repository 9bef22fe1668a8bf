"""Code on the pages works: what can be run is run, and every command is one that exists.

`ACCOUNTS` says of each block of the task pages what becomes of it: it is run here, another test
runs it, or it cannot be run, with the reason.
"""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from made_packages import install_by_hand

from headwise import load, read_conllu, read_sentences, write_conllu
from headwise.cli.main import main
from headwise.model.bundle import load_bundle
from headwise.model.find import find_model, packages_in

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "models").rglob("README.md")),
    *sorted((ROOT / "src").rglob("README.md")),
    *sorted((ROOT / "bench").glob("*.md")),
]
FENCED_OR_INDENTED = re.compile(
    r"^```(?P<language>\w*)\n(?P<fenced>.*?)^```$"
    r"|(?:^\n|\A)(?P<indented>(?:^    [^\n]*\n(?:\n(?=    ))?)+)",
    re.DOTALL | re.MULTILINE,
)
PTB_COMMAND = "headwise convert treebank_3/parsed/mrg/wsj --split ptb"
RUN = "run"
COMMANDS = "commands"
"""Each command of the block is checked: it exists, and so do its flags and their values."""


class Block(NamedTuple):
    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    found = FENCED_OR_INDENTED.finditer(page.read_text(encoding="utf-8"))
    return [
        Block(match["language"] or "", match["fenced"] or textwrap.dedent(match["indented"]))
        for match in found
    ]


def starting_with(page: str, start: str) -> str:
    (block,) = (block for block in blocks(DOCS / page) if block.code.startswith(start))
    return block.code


def shell_commands(code: str) -> Iterator[list[str]]:
    """The arguments of each `headwise` in a block, without what a shell does with them."""
    for line in code.replace("\\\n", " ").splitlines():
        commands = re.sub(r"\s#\s.*|\$\([^)]*\)", " x", line)
        for part in re.split(r"\s(?:\||&&|&|;)(?:\s|$)", commands):
            if command := re.search(r"(?:^\s*|/|-m |-w \S+ )headwise (.*)", part):
                words = shlex.split(re.split(r"\s\d?>", command[1])[0])
                yield [word for word in words if word != "<"]


def is_code_of_shell(block: Block) -> bool:
    first = block.code.split("\n")[0]
    return block.language in ("sh", "bash", "") and not re.match(r"[ │╭─]|# \w+ =|\d", first)


def is_synopsis(words: list[str]) -> bool:
    """Whether a line shows what may be there, as `[--output FILE]`, and is no command."""
    return any(word.startswith("[") or word.endswith("...") for word in words)


LINES = [
    (page.relative_to(ROOT).as_posix(), shlex.join(words))
    for page in PAGES
    for block in blocks(page)
    if is_code_of_shell(block)
    for words in shell_commands(block.code)
    if not is_synopsis(words)
]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_each_command_on_a_page_is_one_that_exists(page: str, line: str) -> None:
    with main.make_context("headwise", shlex.split(line)) as context:
        arguments = [*context._protected_args, *context.args]
        name, command, arguments = main.resolve_command(context, arguments)
        assert command is not None
        command.make_context(name, arguments, parent=context).close()


def test_commands_of_shells_are_found() -> None:
    code = (
        "headwise parse a.txt > b.conllu 2> errors  # why\n"
        "cat a | headwise parse - --keep \\\n    heads && /opt/headwise evaluate x - &\n"
        "python -m headwise show\npip install headwise headwise-de\n"
    )
    assert list(shell_commands(code)) == [
        ["parse", "a.txt"],
        ["parse", "-", "--keep", "heads"],
        ["evaluate", "x", "-"],
        ["show"],
    ]
    assert len(LINES) > 80


def ran(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **names: object) -> str:
    """Run Python in a folder with the example files, and return what it prints."""
    (folder / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(folder)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def test_the_loop_of_the_page_on_output_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = starting_with("output.md", "import headwise\nfrom headwise.render")
    drawn = ran(code, tmp_path, monkeypatch)
    assert drawn.count("love") == 5
    assert "Kids     NOUN   nsubj      ← love      99%" in drawn


def test_the_trees_of_the_page_on_output_are_those_that_are_written() -> None:
    code = starting_with("output.md", "headwise parse --k-best")
    shown = starting_with("output.md", '"entropy"')
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(code), "--format", "json"],
        capture_output=True, check=True, encoding="utf-8", env=os.environ | {"PYTHONUTF8": "1"},
    )  # fmt: skip
    numbers = re.findall(r"\[[\d, ]+\]|0\.\d+", shown)
    written = done.stdout[done.stdout.index('"entropy"') :]
    position = 0
    for number in numbers:
        position = written.replace(" ", "").find(number.replace(" ", ""), position)
        assert position >= 0, number
    assert len(numbers) == 7


def test_brackets_are_converted_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trees.mrg").write_text(starting_with("convert.md", "( (S (NP-SBJ"))
    code = starting_with("convert.md", "from headwise.convert.brackets")
    output = ran(code, tmp_path, monkeypatch)
    heads = [line.split("\t")[6] for line in output.splitlines() if "\t" in line]
    assert heads == ["2", "0", "2", "2"]


def test_a_table_of_head_rules_like_that_of_the_page_is_read(tmp_path: Path) -> None:
    from headwise.convert.heads import load_rules

    path = tmp_path / "rules.txt"
    path.write_text(re.sub(" {2,}", "\t", starting_with("convert.md", "# phrase, then steps")))
    rules = load_rules(str(path))
    assert rules.choose("NP", ["DT", "POS", "NN", "CD"]) == 2
    assert rules.choose("VP", ["VBD", "NP"]) == 1


def test_the_segmenter_is_used_as_the_page_on_text_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text("Smith's dog barks.\n")
    bundle = load_bundle(find_model("en"))
    files = {
        "graph": bundle.read("segment.onnx"),
        "settings": bundle.read("segment.json"),
        "ends": None,  # as in the models of one network
    }
    code = starting_with("text.md", "from headwise.text.read")
    assert ran(code, tmp_path, monkeypatch, **files) == starting_with("text.md", "# newpar") + "\n"


def test_the_rows_of_the_page_on_text_are_those_of_the_model() -> None:
    (sentence,) = load("en").segment("Smith's dog barks.")
    shown = starting_with("text.md", "# newpar")
    assert sentence.conllu.strip() == shown.strip()


class Clone:
    """A folder with what a clone has, and a shell in it. `pip install` of a model puts it there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("examples", "configs", "models"):
            (folder / name).symlink_to(ROOT / name)
        self.site = folder / "site"
        self.site.mkdir()
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(self.site),
            "PYTHONUTF8": "1",
        }

    def run(self, code: str) -> str:
        """Run a block line by line, and return what it prints."""
        printed = ""
        for line in code.replace("\\\n", " ").splitlines():
            if line.startswith("pip install"):
                for name in re.findall(r" \./(\S+)", line):
                    self.install(self.folder / name)
                continue
            done = subprocess.run(
                ["bash", "-ec", line], cwd=self.folder, env=self.environment, check=False,
                capture_output=True, encoding="utf-8",
            )  # fmt: skip
            assert done.returncode == 0, line + "\n" + done.stderr
            printed += done.stdout
        return printed

    def install(self, package: Path) -> None:
        name = package.name
        model = packages_in(package.parent)[name]
        install_by_hand(self.site, name.replace("-", "_"), model, f"{name} = headwise_{name}")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def sentences_of(path: Path) -> int:
    return len(list(read_sentences(path)))


@pytest.mark.slow
def test_a_trained_model_is_packaged_installed_and_scored(
    clone: Clone, columns_run: Path, tiny_treebank: Path
) -> None:
    (clone.folder / "runs").mkdir()
    (clone.folder / "runs/fo").symlink_to(columns_run)
    (clone.folder / "runs/fr").symlink_to(columns_run)
    (clone.folder / "dev.conllu").write_bytes(tiny_treebank.read_bytes())
    train, *package = starting_with("train.md", "headwise train small").splitlines(keepends=True)
    assert train.startswith("headwise train small --train")  # tests/test_start.py runs it
    clone.run("".join(package))
    code = starting_with("train.md", "headwise parse --model faroese")
    assert "\t0\t" in clone.run(code)
    assert "LAS" in clone.run(starting_with("train.md", "headwise parse --model fo dev.conllu"))
    (clone.folder / "fr.toml").write_text(starting_with("package.md", "language ="))
    (clone.folder / "models").unlink()
    clone.run(starting_with("package.md", "headwise package runs/fr"))
    card = (clone.folder / "models/fr/README.md").read_text()
    assert "Written French only." in card
    assert "UD_French-Sequoia" in card


@pytest.mark.slow
def test_treebanks_of_brackets_are_divided_as_the_page_says(clone: Clone) -> None:
    tree = starting_with("convert.md", "( (S (NP-SBJ")
    wsj = clone.folder / "treebank_3/parsed/mrg/wsj"
    ctb = clone.folder / "ctb5/data/bracketed"
    ctb.mkdir(parents=True)
    for number in ("0201", "2201", "2301"):
        (wsj / number[:2]).mkdir(parents=True)
        (wsj / number[:2] / f"wsj_{number}.mrg").write_text(tree)
    for number in ("001", "890", "820"):
        (ctb / f"chtb_{number}.fid").write_text(tree, encoding="gb18030")
    for code in (
        starting_with("convert.md", "headwise convert ctb5"),
        starting_with("convert.md", f"{PTB_COMMAND} --to penn"),
        starting_with("convert.md", f"{PTB_COMMAND} --to conllx"),
    ):
        commands = code.replace("\\\n", " ").splitlines()
        clone.run("\n".join(line for line in commands if line.startswith("headwise convert")))
    found = sorted(path.relative_to(clone.folder) for path in clone.folder.glob("data/*/*"))
    assert [str(path) for path in found] == [
        f"data/{folder}/{part}.{ending}"
        for folder, ending in (("ctb", "conllx"), ("ptb", "mrg"), ("ptb-ym", "conllx"))
        for part in ("dev", "test", "train")
    ]


@pytest.mark.slow
def test_conllx_and_conllu_are_converted_as_the_page_says(
    clone: Clone, ewt_sentences: list
) -> None:
    with (clone.folder / "ud.conllu").open("wb") as stream:
        write_conllu(ewt_sentences[:8], stream)
    clone.run("headwise convert ud.conllu --from conllu --to conllx --drop -o train.conll")
    many = (clone.folder / "train.conll").read_text() * 50
    for name in ("czech_pdt_train.conll", "german_tiger_train.conll"):
        (clone.folder / name).write_text(many)
    clone.run(starting_with("convert.md", "headwise convert czech_pdt"))
    clone.run(starting_with("convert.md", "headwise convert ud.conllu"))
    assert sentences_of(clone.folder / "train.conllu") == 8
    for folder, n_dev in (("czech", 374), ("german", 367)):
        dev = clone.folder / "data" / folder / "dev.conllx"
        assert len(list(read_conllu(dev, "conllx"))) == n_dev


@pytest.mark.slow
def test_a_corpus_is_parsed_and_queried_as_the_page_says(clone: Clone) -> None:
    import duckdb

    crawl = clone.folder / "crawl"
    crawl.mkdir()
    texts = ["Kids love candy. They eat apples.", "So do I."]
    lines = [json.dumps({"url": f"https://a.b/{i}", "body": text}) for i, text in enumerate(texts)]
    (crawl / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    text, table = starting_with(
        "corpus.md", "headwise corpus crawl/ --output parsed\n"
    ).splitlines()
    clone.run(table)
    query = starting_with("corpus.md", "-- DuckDB")
    query = query.replace("'parsed/", f"'{clone.folder}/parsed/")
    found = duckdb.sql(query).fetchall()
    assert [word for word, _ in found] == ["apples"]
    (clone.folder / "parsed").rename(clone.folder / "first")
    (crawl / "a.jsonl.gz").unlink()
    (crawl / "a.txt").write_text("\n\n".join(texts))
    clone.run(text)
    assert sentences_of(clone.folder / "parsed/shard-00000000.conllu.xz") == 3


@pytest.mark.slow
def test_a_dataset_of_ray_is_parsed_as_the_page_says(clone: Clone) -> None:
    done = subprocess.run(
        [sys.executable, "-c", starting_with("corpus.md", "import ray\n")], check=True,
        capture_output=True, cwd=clone.folder, encoding="utf-8", env=clone.environment,
    )  # fmt: skip
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["a-1", "a-2"]


@pytest.mark.slow
def test_the_recipe_of_the_page_on_the_paper_starts(clone: Clone, tiny_treebank: Path) -> None:
    for name in ("train.conllu", "dev.conllu"):
        (clone.folder / name).write_bytes(tiny_treebank.read_bytes())
    command = starting_with("paper.md", "headwise train paper").strip()
    short = "--set train.adam_epochs=1 --set train.sgd_epochs=0 --set label.epochs=1"
    clone.run(f"{command} {short} --set model.hidden_size=20 --set model.word_size=20")
    assert "bilstm" in clone.run("headwise info runs/paper")


LARGE = "needs a cluster or a GPU"
PROSE = "no code: names of files, or a drawing in letters"
ACCOUNTS = {
    "annotate.md": {
        "headwise annotate texts": "tests/test_start.py",
        "headwise annotate story.conllu --compare": "tests/cli/annotation/test_annotate.py",
        "headwise annotate texts.conllu --clean": "tests/cli/annotation/test_annotate.py",
    },
    "architecture.md": {"errors, files": PROSE, "1  cli.parse": PROSE},
    "convert.md": {
        "headwise convert ctb5": RUN,
        f"{PTB_COMMAND} --to penn": RUN,  # but for the trainings, which take days, and Java
        f"{PTB_COMMAND} --to conllx": RUN,
        "headwise convert czech": RUN,
        "( (S (NP-SBJ": RUN,
        "wsj_0301.mrg:27": "tests/convert/test_brackets.py",
        "# phrase": RUN,
        "headwise convert ud": RUN,
        "from headwise": RUN,
    },
    "corpus.md": {
        "headwise corpus crawl/ --output parsed\n": RUN,
        "parsed/shard": PROSE,
        "-- DuckDB": RUN,
        "headwise corpus crawl/ --output parsed --workers": "tests/corpus/test_run.py",
        "headwise corpus s3": LARGE,
        "headwise corpus /shared": LARGE,
        "#!/bin/bash": LARGE,
        "import ray": RUN,
    },
    "encoder.md": {"pip install": "a transformer cannot be fetched; tests/learn trains tiny ones"},
    "languages.md": {
        "pip install": "tests/test_models.py",
        "headwise parse --model de": "tests/test_models.py",
        "headwise parse --model auto": "tests/test_start.py",
        "python -m bench": "needs the treebanks, and a GPU",
    },
    "output.md": {
        "import headwise\nfrom": RUN,
        "# text": "tests/render",
        " ╭": "tests/test_docs.py",
        "<svg": "tests/render/test_svg.py",
        "import headwise\n\nparser": "tests/render/test_svg.py",
        "{": "tests/test_docs.py",
        "headwise parse --k-best": RUN,
        '"entropy"': RUN,
    },
    "package.md": {"headwise package": RUN, "language": RUN},
    "paper.md": {
        "headwise train paper": RUN,
        "pip install -e": "days of training on a GPU",
        "python -m bench.seeds": "hours of training on a GPU",
    },
    "python.md": {"": "tests/test_docs.py"},
    "release.md": {
        "make release-check": "tests/test_release.py",
        "": "a release: it runs everything, tags and uploads",
    },
    "scale-training.md": {
        "torchrun": "tests/learn/fit/test_distributed.py",
        "#SBATCH": LARGE,
    },
    "serve.md": {
        "curl": "tests/serve/test_serving_page.py",
        "{": "tests/serve/test_serving_page.py",
        "pip install": "tests/test_start.py",
        "export HEADWISE_TOKEN": "tests/cli/test_serve.py",
        "[Unit]": "needs systemd",
        "FROM": "needs a container engine and its images",
        "podman": "needs a container engine and its images",
        "server {": "needs nginx",
        "scrape_configs": "needs Prometheus",
    },
    "spacy.md": {
        "pip install": "tests/test_start.py",
        "": "tests/integrations/test_spacy.py",
    },
    "start.md": {"": "tests/test_start.py"},
    "text.md": {"# newpar": RUN, "from headwise": RUN},
    "train.md": {
        "headwise train small": "tests/test_start.py",
        "headwise parse --model faroese": RUN,
        "pip install": "tests/test_start.py",
        "headwise parse --model fo": RUN,
        "headwise train adapt": "tests/cli/test_train.py",
    },
    "commands.md": {"": COMMANDS},
}
"""The first characters of each block, and what becomes of it."""


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_every_block_is_accounted_for(page: Path) -> None:
    accounts = ACCOUNTS.get(page.name, {})
    used = set()
    for block in blocks(page):
        starts = [start for start in accounts if block.code.startswith(start)]
        assert starts, f"what tests this? {block.code[:60]!r}"
        used.add(max(starts, key=len))
    assert used == set(accounts)
    for account in accounts.values():
        if account.startswith("tests/"):
            assert (ROOT / account).exists(), account
