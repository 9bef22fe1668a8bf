"""`headwise suggest`."""

from collections.abc import Sequence

import click

from headwise import load
from headwise.cli.models.choice import complete_models
from headwise.cli.terminal import ProgressLine, help_examples
from headwise.errors import plural
from headwise.files import open_target
from headwise.model.find import DEFAULT_MODEL
from headwise.runtime.suggest import Question, find_questions, mark_questions, read_budget
from headwise.settings.choices import Input, Precision
from headwise.text.read import read_any
from headwise.text.segmenter import why_no_text
from headwise.treebank.sentence import BLANK, Sentence


@click.command(
    "suggest",
    short_help="Choose the words that an annotator should be asked about.",
    epilog=help_examples(
        "headwise suggest texts.conllu --budget 200 -o questions.conllu",
        "headwise suggest half-done.conllu --model runs/mine --budget 5% -o questions.conllu",
        "headwise suggest book.txt --input text --budget 10% -o questions.conllu",
    ),
)
@click.argument("source", metavar="FILE", type=click.Path())
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    shell_complete=complete_models,
    help="Name or folder. Repeat it for an ensemble.",
)
@click.option(
    "--budget",
    default="10%",
    show_default=True,
    help="How many words to mark: a number, or a share of all words.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help="File to write; .gz and .xz are compressed.",
)
@click.option(
    "--input",
    "form",
    type=click.Choice(["auto", "conllu", "conllx", "text", "lines", "tokens"]),
    default="auto",
    show_default=True,
    help="As in headwise parse.",
)
@click.option("--treebank", default="", help="As in headwise parse.")
@click.option(
    "--precision",
    type=click.Choice(["int8", "float32"]),
    default="int8",
    show_default=True,
    help="Precision of the network on a CPU. The model must have it.",
)
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of threads.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no summary on stderr.")
def suggest_words(
    source: str,
    models: tuple[str, ...],
    budget: str,
    output: str,
    form: Input,
    treebank: str,
    precision: Precision,
    device: str,
    threads: int,
    quiet: bool,
) -> None:
    """Choose the words of FILE whose heads an annotator should decide first.

    Words that have a HEAD are assumed to be right and are never chosen. The output is FILE with a
    mark in MISC of each chosen word: Ask=Yes, and the guess of the parser (Guess). Fill in HEAD and
    DEPREL of these words, train on the file (blanks are ignored), and run the command again.
    """
    read_budget(budget, 1)  # a bad one is refused before the model is loaded
    parser = load(models, device=device, precision=precision, treebank=treebank)
    no_text = why_no_text(parser.vocab.reads) if parser.vocab.reads else None
    sentences = []
    for item in read_any(source, form, parser.segmenter, "raise", no_text):
        assert isinstance(item, Sentence)
        sentences.append(item)
    progress = ProgressLine(also_in_logs=True)

    def show(n_done: int) -> None:
        if not quiet:
            progress.show(f"{n_done:,} of {plural(len(sentences), 'sentence')}")

    questions = find_questions(parser, sentences, budget, threads, show)
    progress.clear()
    with open_target(output) as stream:
        for marked in mark_questions(sentences, questions):
            stream.write(marked.data)
    if not quiet:
        click.echo(_summary(sentences, questions), err=True)


def _summary(sentences: Sequence[Sentence], questions: Sequence[Question]) -> str:
    words = [word for sentence in sentences for word in sentence.words]
    if not words:
        return "nothing to ask: there are no words"
    if not questions:
        return f"nothing to ask: {plural(len(words), 'word')}, and no HEAD is blank"
    n_sentences = len({question.sentence for question in questions})
    n_blank = sum(word.head == BLANK for word in words)
    return (
        f"{plural(len(questions), 'question')} in {plural(n_sentences, 'sentence')}; "
        f"{n_blank:,} of {plural(len(words), 'word')} had no HEAD; the first guess has probability "
        f"{questions[0].probability:.2f}, the last {questions[-1].probability:.2f}"
    )
