r"""Active learning, simulated: accuracy against the share of heads that were annotated.

    python -m bench.active --data UD_English-EWT --out runs/active \
        --config configs/best-lstm.toml --set model.vectors=en-glove-100d \
        --shares 0.1 0.2 0.33 --seeds 1 2 3 --device cuda --side-by-side 6

A chain starts with the heads and labels of some sentences (500). In each round a model is trained
on what is annotated, chooses what to ask for next, up to the next share of all heads, and the
treebank answers. Other columns are there from the start. The strategies:

    random-sentences    whole sentences at random
    uncertain-sentences whole sentences, the least certain first (mean over their words)
    uncertain-words     words, as `headwise suggest` chooses them, all of a round at once
    redecoded-words     the same in several steps, each around the answers of those before
    filled-words        as uncertain-words; the heads that the last model is sure of, given the
                        answers, are also learned from
    whole               all heads, for comparison

Every round is a folder with its treebank, its run and its scores on dev (every word, one root), so
a killed bench resumes. `report.md` has the table, `active.svg` and `active.png` the plot.
"""

import argparse
import json
import lzma
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

import headwise
from bench.accuracy.measure import torch_device
from bench.experiment.command import say, show
from bench.experiment.jobs import Job, Step, run_jobs
from bench.experiment.plan import Options, train_step
from bench.experiment.tables import Cell, Table, average, markdown_table
from headwise.evaluate.scores import score
from headwise.files import whole_file
from headwise.runtime.parser import Parser
from headwise.runtime.suggest import (
    Question,
    choose_questions,
    find_questions,
    questions_about,
)
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import BLANK, Sentence

STRATEGIES = (
    "random-sentences",
    "uncertain-sentences",
    "uncertain-words",
    "redecoded-words",
    "filled-words",
    "whole",
)
SCORES, CHAIN = "scores.json", "chain.json"
Answered = list[set[int]]
"""The positions of each sentence that are annotated."""


def with_answers(gold: Sequence[Sentence], answered: Answered) -> list[Sentence]:
    """Blank HEAD and DEPREL of all words that are not annotated."""
    return [
        sentence.with_words(
            [
                word if position in known else word._replace(head=BLANK, deprel=BLANK)
                for position, word in enumerate(sentence.words, 1)
            ]
        )
        for sentence, known in zip(gold, answered, strict=True)
    ]


def with_guesses(parser: Parser, sentences: Sequence[Sentence], sure: float) -> Iterator[Sentence]:
    """Fill blanks of HEAD and DEPREL by what the parser is sure of, given the answers."""
    for sentence, questions in zip(sentences, questions_about(parser, sentences), strict=True):
        words = list(sentence.words)
        for one in questions:
            if one.probability >= sure:
                word = words[one.position - 1]
                words[one.position - 1] = word._replace(head=str(one.head), deprel=one.label)
        yield sentence.with_words(words)


def n_answered(answered: Answered) -> int:
    """Count the words that are annotated."""
    return sum(map(len, answered))


def add_sentences(
    gold: Sequence[Sentence], answered: Answered, order: Sequence[int], n_words: int
) -> Answered:
    """Annotate whole sentences in this order, until so many words are annotated."""
    known = [set(one) for one in answered]
    for number in order:
        if n_answered(known) >= n_words:
            break
        known[number] = set(range(1, len(gold[number]) + 1))
    return known


def add_words(answered: Answered, questions: Sequence[Question]) -> Answered:
    """Annotate single words."""
    known = [set(one) for one in answered]
    for question in questions:
        known[question.sentence].add(question.position)
    return known


def by_doubt(parser: Parser, gold: Sequence[Sentence], answered: Answered) -> list[int]:
    """Order the sentences that are not annotated by the mean doubt of their words."""
    sentences = with_answers(gold, answered)
    doubts = [
        (-np.mean([1 - question.probability for question in questions]), number)
        for number, questions in enumerate(questions_about(parser, sentences))
        if questions
    ]
    return [number for _, number in sorted(doubts)]


def choose(
    strategy: str,
    parser: Parser,
    gold: Sequence[Sentence],
    answered: Answered,
    n_words: int,
    n_steps: int,
    rng: np.random.Generator,
) -> Answered:
    """Annotate up to so many words in all, chosen by a strategy."""
    if strategy == "random-sentences":
        return add_sentences(gold, answered, rng.permutation(len(gold)).tolist(), n_words)
    if strategy == "uncertain-sentences":
        return add_sentences(gold, answered, by_doubt(parser, gold, answered), n_words)
    if strategy in ("uncertain-words", "filled-words"):
        nothing: Answered = [set() for _ in gold]
        asked = (
            [one for one in questions if one.position not in known]
            for questions, known in zip(
                questions_about(parser, with_answers(gold, nothing)), answered, strict=True
            )
        )
        return add_words(answered, choose_questions(asked, n_words - n_answered(answered)))
    for step in range(n_steps):
        n_left = n_words - n_answered(answered)
        n_asked = -(-n_left // (n_steps - step))
        if n_asked > 0:
            questions = find_questions(parser, with_answers(gold, answered), n_asked)
            answered = add_words(answered, questions)
    return answered


def write_treebank(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write a treebank completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream, lzma.open(stream, "wb") as packed:
        for sentence in sentences:
            packed.write(sentence.data)


def answers_in(path: Path) -> Answered:
    """Read which words of a treebank are annotated."""
    return [
        {i for i, word in enumerate(sentence.words, 1) if word.head != BLANK}
        for sentence in headwise.read_sentences(path)
    ]


def run_chain(strategy: str, seed: int, given: argparse.Namespace) -> Iterator[dict[str, float]]:
    """Run all rounds of a strategy, and give the scores of each."""
    gold = [s for s in headwise.read_sentences(given.data / "train.conllu.xz") if len(s)]
    n_words = sum(map(len, gold))
    order = np.random.default_rng(seed).permutation(len(gold)).tolist()
    known: Answered = [set() for _ in gold]
    for number in order if strategy == "whole" else order[: given.start]:
        known[number] = set(range(1, len(gold[number]) + 1))
    parser = None
    for number, share in enumerate([0.0, *([] if strategy == "whole" else given.shares)]):
        # The start is the same for all strategies, so that it is trained once.
        name = "start" if not number and strategy != "whole" else f"{strategy}-{number}"
        folder = given.out / f"{name}-{seed}"
        treebank = lesson = folder / "data" / "train.conllu.xz"
        if treebank.exists():
            known = answers_in(treebank)
        else:
            if parser is not None:
                target, rng = round(share * n_words), np.random.default_rng([seed, number])
                known = choose(strategy, parser, gold, known, target, given.steps, rng)
            write_treebank(treebank, with_answers(gold, known))
        if strategy == "filled-words" and parser is not None:
            lesson = folder / "data" / "filled.conllu.xz"
            if not lesson.exists():
                answers = with_answers(gold, known)
                write_treebank(lesson, with_guesses(parser, answers, given.sure))
        if not (folder / SCORES).exists():
            _train(lesson, folder / "run", seed, given)
            uas, las = dev_scores(folder / "run", given)
            row = {"share": n_answered(known) / n_words, "uas": uas, "las": las}
            (folder / SCORES).write_text(json.dumps(row) + "\n")
        yield json.loads((folder / SCORES).read_text())
        parser = load_parser(folder / "run", given)


def _train(treebank: Path, folder: Path, seed: int, given: argparse.Namespace) -> None:
    options = Options(Path(), given.data, given.out, given.device, given.precision, 1)
    dev_path, recipe = given.data / "dev.conllu.xz", str(given.config.resolve())
    step = train_step(recipe, [treebank], dev_path, seed, folder, options, given.set)
    subprocess.run(step.command, check=True)


def load_parser(folder: Path, given: argparse.Namespace) -> Parser:
    """Load a model on the device: one root, as in UD."""
    decode = DecodeConfig(single_root=True)
    return headwise.load(folder, device=torch_device(given.device), decode=decode)


def dev_scores(folder: Path, given: argparse.Namespace) -> tuple[float, float]:
    """Give UAS and LAS of a model on dev."""
    gold = [s for s in headwise.read_sentences(given.data / "dev.conllu.xz") if len(s)]
    parses = load_parser(folder, given).parse(gold)
    scores = score(gold, [one.with_parse(p) for one, p in zip(gold, parses, strict=True)])
    return scores.uas, scores.las


Results = dict[str, dict[int, list[dict[str, float]]]]
"""Scores of each round, by strategy and seed."""


def collect(given: argparse.Namespace) -> Results:
    """Read the chains that are finished."""
    results: Results = {}
    for strategy in STRATEGIES:
        for seed in given.seeds:
            path = given.out / "chains" / f"{strategy}-{seed}" / CHAIN
            if path.exists():
                results.setdefault(strategy, {})[seed] = json.loads(path.read_text())
    return results


def report(results: Results) -> str:
    """Write the mean over seeds of each round, and what share of the whole it reaches."""
    whole = [rounds[-1]["las"] for rounds in results.get("whole", {}).values()]
    rows: list[tuple[Cell, ...]] = []
    for strategy, seeds in results.items():
        for rounds in zip(*seeds.values(), strict=True):
            las = [one["las"] for one in rounds]
            reached = 100 * np.mean(las) / np.mean(whole) if any(whole) else None
            share = 100 * np.mean([one["share"] for one in rounds])
            uas = average(one["uas"] for one in rounds)
            cell = None if reached is None else f"{reached:.2f}%"
            rows.append((strategy, len(rounds), f"{share:.1f}%", uas, average(las), cell))
    columns = ("strategy", "seeds", "heads annotated", "UAS", "LAS", "of the whole")
    return markdown_table(Table("", "", columns, tuple(rows))) + "\n"


def draw(results: Results, out: Path) -> None:
    """Draw LAS against the share of heads, a line for each strategy."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "headwise"
    mpl.rcParams["svg.fonttype"] = "none"
    canvas = Figure(figsize=(7, 4.5), layout="constrained")
    panel = canvas.subplots()
    for strategy, seeds in results.items():
        rounds = list(zip(*seeds.values(), strict=True))
        las = [float(np.mean([one["las"] for one in each])) for each in rounds]
        if strategy == "whole":
            panel.axhline(las[-1], color="black", linestyle=":", label="all heads")
            panel.axhline(0.99 * las[-1], color="grey", linestyle=":", label="99% of that")
            continue
        shares = [100 * float(np.mean([one["share"] for one in each])) for each in rounds]
        panel.plot(shares, las, marker="o", label=strategy.replace("-", " "))
    panel.set_xlabel("heads annotated, % of all")
    panel.set_ylabel("LAS on dev")
    panel.legend()
    for suffix in ("svg", "png"):
        canvas.savefig(out / f"active.{suffix}", metadata={"Date": None} if suffix == "svg" else {})


def job_of(strategy: str, seed: int, given: argparse.Namespace, arguments: Sequence[str]) -> Job:
    """Make a chain a process of its own."""
    folder = given.out / "chains" / f"{strategy}-{seed}"
    command = [sys.executable, "-m", "bench.active", *arguments]
    command += ["--chain", strategy, "--chain-seed", str(seed)]
    step = Step("chain", tuple(command), folder / CHAIN)
    # Chains of a seed share their start: the first one makes it.
    first = next((name for name in given.strategies if name != "whole"), "whole")
    needs = () if strategy in (first, "whole") else (given.out / f"start-{seed}" / SCORES,)
    return Job(folder.name, "device", folder, folder / "stderr.txt", (step,), needs)


def main() -> None:
    """Run the chains side by side, or one of them, and report."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, required=True, help="folder of the treebank")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--config", type=Path, default=Path("configs/best-lstm.toml"))
    options.add_argument("--set", action="append", default=[], help="section.key=value")
    options.add_argument("--start", type=int, default=500, help="sentences to start with")
    options.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.2, 0.33])
    options.add_argument("--steps", type=int, default=4, help="of a round of redecoded-words")
    options.add_argument(
        "--sure", type=float, default=0.95, help="probability of arcs that filled-words learns from"
    )
    options.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--device", default="auto")
    options.add_argument("--precision", default="float32")
    options.add_argument("--side-by-side", type=int, default=1)
    options.add_argument("--chain", choices=STRATEGIES, help="run this chain only")
    options.add_argument("--chain-seed", type=int, default=1)
    given = options.parse_args()
    if given.chain:
        rounds = []
        for row in run_chain(given.chain, given.chain_seed, given):
            rounds.append(row)
            print(given.chain, given.chain_seed, row, flush=True)
        path = given.out / "chains" / f"{given.chain}-{given.chain_seed}" / CHAIN
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rounds, indent=1) + "\n")
        return
    jobs = [
        job_of(strategy, seed, given, sys.argv[1:])
        for seed in given.seeds
        for strategy in given.strategies
    ]
    pending = [job for job in jobs if not (job.folder / CHAIN).exists()]
    for event in run_jobs(pending, {"device": given.side_by_side, "cpu": 0}):
        show(event)
    results = collect(given)
    (given.out / "report.md").write_text(report(results))
    try:
        draw(results, given.out)
    except ModuleNotFoundError as error:
        say(f"no plot: {error.name} is not installed (pip install 'headwise[bench]')")
    print(report(results))


if __name__ == "__main__":
    main()
