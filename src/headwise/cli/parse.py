"""`headwise parse`."""

import time
from collections import Counter

import click
import msgspec

from headwise import load
from headwise.cli.terminal import ProgressLine, examples
from headwise.config import Decoder, Format
from headwise.errors import ConfigError
from headwise.model.bundle import find_model, load_bundle
from headwise.model.scorer import Precision
from headwise.parser import DEFAULT_MODEL, Parser
from headwise.words.conllu import Malformed, OnError, as_bytes, read_conllu
from headwise.words.files import open_target

FORMATS = click.Choice(["conllu", "conllx"])


@click.command(
    epilog=examples(
        "headwise parse text.conllu -o parsed.conllu",
        "xzcat test.conllu.xz | headwise parse --model runs/ewt --threads 2 > parsed.conllu",
        "headwise parse --decoder eisner --single-root text.conllu",
    )
)
@click.argument("source", metavar="[FILE]", default="-")
@click.option("-m", "--model", default=DEFAULT_MODEL, show_default=True, help="Name or folder.")
@click.option("-o", "--output", default="-", show_default=True, help="File; .gz and .xz pack.")
@click.option("--input", "form", type=FORMATS, default="conllu", show_default=True)
@click.option("--format", "out_form", type=FORMATS, help="Default: that of the input.")
@click.option(
    "--keep-tags/--no-keep-tags",
    default=True,
    show_default=True,
    help="Use the tags in the input. A model that reads tags has no other way to get them yet.",
)
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option(
    "--decoder",
    type=click.Choice(["greedy", "mst", "eisner"]),
    help="greedy: each word's best head, tree or not; mst: repair what is no tree; eisner: repair "
    "what is no projective tree. Default: the model's.",
)
@click.option("--single-root/--multi-root", default=None, help="Default: the model's.")
@click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Malformed input: stop, or report it and pass it through unparsed.",
)
@click.option(
    "--precision", type=click.Choice(["int8", "float32"]), default="int8", show_default=True
)
@click.option("--device", default="cpu", show_default=True, help="cuda needs headwise[train].")
@click.option("--quiet", is_flag=True, help="No progress and no summary on stderr.")
def parse(
    source: str,
    model: str,
    output: str,
    form: Format,
    out_form: Format | None,
    keep_tags: bool,
    threads: int,
    decoder: Decoder | None,
    single_root: bool | None,
    on_error: OnError,
    precision: Precision,
    device: str,
    quiet: bool,
) -> None:
    """Parse FILE (default: stdin): HEAD and DEPREL are filled in, all else stays as it is."""
    if out_form not in (None, form):
        raise ConfigError(f"--format {out_form}: the input is {form}", "leave --format out")
    bundle = load_bundle(find_model(model))
    reads = bundle.manifest.model.tag_column
    if not keep_tags and reads != "none":
        raise ConfigError(
            f"--no-keep-tags: model {model} reads the column {reads.upper()}",
            "choose a model that needs no tags",
        )
    changes = {"decoder": decoder, "single_root": single_root}
    decode = msgspec.structs.replace(
        bundle.manifest.decode, **{k: v for k, v in changes.items() if v is not None}
    )
    parser = load(bundle, device=device, precision=precision, decode=decode)
    stream_through(parser, source, output, form, threads, on_error, quiet)


def stream_through(
    parser: Parser,
    source: str,
    output: str,
    form: Format,
    threads: int,
    on_error: OnError,
    quiet: bool,
) -> None:
    """Parse a stream into a stream and say how it went."""
    progress = ProgressLine()
    ways: Counter[str] = Counter()
    n_words, started = 0, time.monotonic()
    items = read_conllu(source, form, on_error)
    with open_target(output) as stream:
        for item, parsed in parser.annotate(items, threads, on_error):
            stream.write(as_bytes(item))
            if isinstance(item, Malformed):
                progress.clear()
                click.echo(f"headwise: passed through unparsed: {item.error}", err=True)
                ways["unparsed"] += 1
            elif parsed is not None and len(item):
                ways[parsed.how] += 1
                n_words += len(item)
            if not quiet:
                progress.show(_speed(ways.total(), n_words, time.monotonic() - started))
    progress.clear()
    if not quiet:
        how = ", ".join(f"{count:,} {way}" for way, count in ways.most_common())
        summary = _speed(ways.total(), n_words, time.monotonic() - started)
        click.echo(f"{summary}{'; ' if how else ''}{how}", err=True)


def _speed(n_sentences: int, n_words: int, seconds: float) -> str:
    rate = n_words / max(seconds, 1e-9)
    return f"{n_sentences:,} sentences, {n_words:,} words, {rate:,.0f} words/s"
