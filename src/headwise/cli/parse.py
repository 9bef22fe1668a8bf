"""`headwise parse`."""

from functools import cache, partial

import click

from headwise import load
from headwise.cli.choices import check_tags, chosen_columns, chosen_decode, how_to_parse
from headwise.cli.models.choice import (
    choose_by_text,
    complete_models,
    open_models,
    warn_of_language,
)
from headwise.cli.streams.inputs import ParseInput, find_sources
from headwise.cli.streams.output import (
    SHOWN,
    OutputFormat,
    choose_format,
    columns_to_show,
    plan_targets,
    screen_of,
)
from headwise.cli.streams.parse_run import Job, ParseRun, expect_typing
from headwise.cli.streams.share import check_processes
from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError
from headwise.model.find import AUTO, DEFAULT_MODEL
from headwise.runtime.parser import Parser
from headwise.settings.about import About
from headwise.settings.choices import Decoder, Input, Precision, PredictedColumn
from headwise.settings.parsing import MAX_TREES, MEMORY_BUDGET, SMALLEST_MEMORY_BUDGET
from headwise.treebank.conllu import OnError

_INPUT_FORMS = click.Choice(["auto", "conllu", "conllx", "text", "lines", "tokens"])
_OUTPUT_FORMATS = click.Choice(["conllu", "conllx", "json", "tree", "svg", "png", "html"])


@click.command(
    short_help="Parse text or CoNLL-U.",
    epilog=help_examples(
        'headwise parse "Kids love candy."',
        "headwise parse book.txt -o book.conllu",
        "headwise parse chapter1.txt chapter2.txt -o parsed/",
        'headwise parse "Kids love candy." -o tree.png',
        "headwise parse --model auto livre.txt",
        "xzcat test.conllu.xz | headwise parse --model runs/ewt --processes 2 > parsed.conllu",
        "headwise parse --input tokens --format json sentences.txt",
        "headwise parse --keep heads,labels --probabilities half-annotated.conllu",
        'headwise parse --k-best 3 --marginals "I saw the man with the telescope."',
    ),
)
@click.argument("arguments", metavar="[FILE]...|[TEXT]", nargs=-1, type=click.Path())
@click.option(
    "--text",
    "as_text",
    is_flag=True,
    help="Treat the arguments as text, even if files of that name exist.",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    shell_complete=complete_models,
    help="Name, language or folder. Repeat it for an ensemble, which averages the probabilities "
    "of the models. auto: the installed model for the language of the first 8 KB of the input.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    default="-",
    show_default=True,
    help="File to write; .gz and .xz are compressed. With several inputs, a folder with one file "
    "for each input.",
)
@click.option(
    "--input",
    "form",
    type=_INPUT_FORMS,
    default="auto",
    show_default=True,
    help="text: running text; lines: one sentence per line; tokens: one sentence per line, with "
    "spaces between words; auto: conllu if the input looks like it, otherwise text.",
)
@click.option(
    "--format",
    "out_form",
    type=_OUTPUT_FORMATS,
    help="json: one object per line; tree: drawn in characters; svg, png: one picture; html: a "
    "page. Default: by the name of the output (.json, .jsonl, .svg, .png, .html); otherwise tree "
    "on a terminal and conllu elsewhere (conllx if the input is).",
)
@click.option(
    "--columns",
    metavar="COLUMNS",
    help="Columns to show beside the words in trees and pictures: lemma, upos, xpos, feats, "
    "separated by commas.  [default: upos]",
)
@how_to_parse
@click.option(
    "--k-best",
    type=click.IntRange(1, MAX_TREES),
    metavar="K",
    help="Write the K most probable trees of each sentence with their probabilities, in JSON.",
)
@click.option(
    "--marginals",
    is_flag=True,
    help="Write the probability of each arc over all trees, and the entropy of the tree, in JSON.",
)
@click.option(
    "--treebank",
    default="",
    help="For a model trained on several treebanks: parse in the style of this one. Default: the "
    "main one.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of threads; the output does not depend on it.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of processes, which share the model; on long input they are faster than threads.",
)
@click.option(
    "--memory-budget",
    type=click.IntRange(SMALLEST_MEMORY_BUDGET >> 20),
    default=MEMORY_BUDGET >> 20,
    show_default=True,
    metavar="MIB",
    help="Memory for the sentences being parsed, besides the model. Sentences that need more are "
    "parsed in parts.",
)
@click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Malformed CoNLL-U: stop, or report it and write it unparsed (formats other than CoNLL "
    "leave it out).",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no summary on stderr.")
def parse(
    arguments: tuple[str, ...],
    as_text: bool,
    models: tuple[str, ...],
    output: str,
    form: Input,
    out_form: OutputFormat | None,
    columns: str | None,
    keep: str,
    keep_tags: bool | None,
    lemmas: str | None,
    probabilities: bool,
    k_best: int | None,
    marginals: bool,
    treebank: str,
    threads: int,
    processes: int,
    memory_budget: int,
    decoder: Decoder | None,
    single_root: bool | None,
    on_error: OnError,
    precision: Precision,
    device: str,
    quiet: bool,
) -> None:
    """Parse FILEs, a TEXT or stdin (-, the default).

    FILE is text or CoNLL-U, plain, gz or xz. For a folder, all texts and treebanks in it are
    parsed. An argument that is not a file is parsed as text, unless it looks like a file name. In
    CoNLL-U, only the columns that the model predicts are changed.
    """
    screen = screen_of(output)
    chosen = choose_format(out_form, output, form, screen, probabilities, bool(k_best) or marginals)
    shown = SHOWN if columns is None else _shown_columns(columns, chosen)
    sources = find_sources(arguments, form, as_text, output)
    targets = plan_targets(sources, output, chosen)
    n_processes = processes if all(source.is_file for source in sources) else 1
    if n_processes > 1:
        check_processes(threads, chosen, device)

    @cache
    def open_parser(names: tuple[str, ...]) -> tuple[Parser, About]:
        bundles = open_models(names, quiet)
        if keep_tags is False:
            for bundle, model in zip(bundles, names, strict=True):
                check_tags(bundle, model)
        is_other_decoding = decoder is not None or single_root is not None
        parser = load(
            bundles,
            device=device,
            precision=precision,
            decode=chosen_decode(bundles[0], decoder, single_root) if is_other_decoding else None,
            keep=chosen_columns(keep, keep_tags) if keep or keep_tags else (),
            lemmas=lemmas,
            probabilities=probabilities,
            k_best=k_best or 0,
            marginals=marginals,
            treebank=treebank,
            memory_budget=memory_budget << 20,
        )
        return parser, bundles[0].manifest.about

    draws_here = chosen == "tree" and screen.is_terminal
    is_prompt = expect_typing(sources, draws_here and AUTO not in models, quiet)
    jobs = {}
    for source in sources:
        name = source.name if len(sources) > 1 else ""
        names, opened = choose_by_text(models, source, form, quiet, name)
        parser, about = open_parser(names)
        if is_prompt:
            jobs[source] = Job(source, opened, parser, True, partial(_remark, about, form, quiet))
            continue
        if opened is source.content:  # auto has looked at other streams
            warn_of_language(about, source, form, quiet, name)
        jobs[source] = Job(source, opened, parser)
    run = ParseRun(form, chosen, screen, shown, threads, n_processes, on_error)
    # On a terminal, progress would be mixed with the output.
    tally = run.write(targets, jobs, not quiet and not screen.is_terminal)
    if not quiet and not draws_here:
        tally.summarise()


def _remark(about: About, form: Input, quiet: bool, line: str) -> None:
    """Say so if a line that was typed is clearly in another language than the model's."""
    warn_of_language(about, ParseInput(line, is_file=False), form, quiet)


def _shown_columns(columns: str, chosen: OutputFormat) -> tuple[PredictedColumn, ...]:
    if chosen not in ("tree", "svg", "png", "html"):
        what = f"--columns: not with --format {chosen}, which has all columns"
        raise ConfigError(what, "use --format tree, svg, png or html")
    return columns_to_show(columns)
