"""`headwise corpus`."""

import os
import re
import sys
import time
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from headwise.cli.choices import check_tags, chosen_columns, chosen_decode, how_to_parse
from headwise.cli.models.choice import complete_models, open_models
from headwise.cli.terminal import ProgressLine, duration, help_examples
from headwise.errors import ConfigError, DataError, install, plural
from headwise.model.find import DEFAULT_MODEL
from headwise.runtime.lemmas import lemmas_fingerprint, read_lemmas
from headwise.settings.choices import Decoder, Precision

if TYPE_CHECKING:
    from headwise.corpus.engine import Engine
    from headwise.corpus.plan import (
        Compression,
        CorpusPlan,
        DocumentSplit,
        InputFormat,
        ShardFormat,
    )


@click.command(
    short_help="Parse corpora of any size.",
    epilog=help_examples(
        "headwise corpus crawl/ --output parsed",
        "headwise corpus 'crawl/**/*.jsonl.gz' --text-column body --id-column url --output parsed",
        "headwise corpus docs.parquet --format parquet --workers 8 --output parsed",
        "headwise corpus s3://bucket/crawl --address auto --output /shared/parsed",
    ),
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A new folder, or the folder of an interrupted run to continue.",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    shell_complete=complete_models,
    help="Name or folder.",
)
@click.option(
    "--input",
    "input_format",
    type=click.Choice(["auto", "text", "jsonl", "parquet", "conllu"]),
    default="auto",
    show_default=True,
    help="Format of the inputs. auto: by the name of each file, otherwise text.",
)
@click.option(
    "--split",
    type=click.Choice(["paragraph", "line", "file"]),
    default="paragraph",
    show_default=True,
    help="What a document is in text files: the text between blank lines, a line, or a file.",
)
@click.option(
    "--text-column",
    default="text",
    show_default=True,
    help="Column with the text in JSONL and Parquet.",
)
@click.option(
    "--id-column",
    help="Column with the document id in JSONL and Parquet.  [default: file and position]",
)
@click.option(
    "--format",
    "shard_format",
    type=click.Choice(["conllu", "parquet"]),
    default="conllu",
    show_default=True,
    help="Format of the shards.",
)
@click.option(
    "--compression",
    type=click.Choice(["xz", "zstd", "gzip", "snappy", "none"]),
    help="Compression of the shards.  [default: xz for conllu, zstd for parquet]",
)
@click.option(
    "--unit-size",
    type=click.FloatRange(0, 2**20, min_open=True),
    default=4,
    show_default=True,
    metavar="MIB",
    help="Input for one shard. If a worker dies, at most this much is repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 100_000),
    help="Number of processes that parse; 0: only this one, without Ray. The output does not "
    "depend on it.  [default: one for each core]",
)
@click.option(
    "--address", help="Address of a Ray cluster to join.  [default: start Ray on this machine]"
)
@click.option(
    "--gpus-per-worker",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="With --device cuda. With 0.25, four workers share a GPU.",
)
@how_to_parse
@click.option("--quiet", is_flag=True, help="Show no progress and no summary on stderr.")
def corpus(
    inputs: tuple[str, ...],
    output: Path,
    models: tuple[str, ...],
    input_format: 'InputFormat | Literal["auto"]',
    split: "DocumentSplit",
    text_column: str,
    id_column: str | None,
    shard_format: "ShardFormat",
    compression: "Compression | None",
    unit_size: float,
    workers: int | None,
    address: str | None,
    gpus_per_worker: float,
    keep: str,
    keep_tags: bool | None,
    lemmas: str | None,
    probabilities: bool,
    decoder: Decoder | None,
    single_root: bool | None,
    precision: Precision,
    device: str,
    quiet: bool,
) -> None:
    """Parse INPUTs of any size into the shards of a folder, on all cores or on a Ray cluster.

    INPUTs are files, folders or patterns of text, JSONL, Parquet or CoNLL-U, plain, gz, xz or
    zstd, local or by URI. To continue an interrupted run, give the same command again. Documents
    that cannot be parsed are listed in _quarantine.jsonl, and the others are parsed.
    """
    _check_flags(models, output, workers, address)
    try:
        from headwise.corpus.engine import Engine
        from headwise.corpus.plan import CorpusJob, model_fingerprint, portable_model_name
        from headwise.corpus.run import plan_corpus
    except ModuleNotFoundError as error:
        what = f"headwise corpus needs {error.name}, which is not installed"
        raise ConfigError(what, install("corpus")) from error
    (model,) = models
    (bundle,) = open_models(models, quiet)
    if keep_tags is False:
        check_tags(bundle, model)
    job = CorpusJob(
        model=portable_model_name(bundle.path),
        model_sha256=model_fingerprint(bundle),
        precision=precision,
        device=device,
        decode=chosen_decode(bundle, decoder, single_root),
        keep=chosen_columns(keep, keep_tags),
        lemmas=os.path.abspath(lemmas) if lemmas else "",
        lemmas_sha256=lemmas_fingerprint(read_lemmas(lemmas)) if lemmas else "",
        probabilities=probabilities,
        split=split,
        text_column=text_column,
        id_column=id_column,
        format=shard_format,
        compression=compression or ("zstd" if shard_format == "parquet" else "xz"),
        unit_bytes=max(round(unit_size * 2**20), 1),
    )
    del bundle  # the bytes of the model, which the workers read again
    plan = plan_corpus(inputs, None if input_format == "auto" else input_format, job)
    _run_and_report(plan, output, Engine(workers, address, gpus_per_worker), quiet)


def _check_flags(
    models: tuple[str, ...], output: Path, workers: int | None, address: str | None
) -> None:
    """Refuse flags that would be ignored silently."""
    if len(models) > 1:
        what = "--model: headwise corpus takes one model"
        raise ConfigError(what, "headwise parse takes several as an ensemble")
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(output), re.IGNORECASE):
        hint = "choose a folder that all machines share; docs/corpus.md has an alternative"
        raise ConfigError(f"--output {output}: shards are written to folders only", hint)
    if workers == 0 and address is not None:
        raise ConfigError("--workers 0 and --address: choose one", "--workers 0 does not use Ray")


def _run_and_report(plan: "CorpusPlan", output: Path, engine: "Engine", quiet: bool) -> None:
    """Run a plan, show its progress, and print a summary."""
    from headwise.corpus.run import read_manifest, run_plan

    line, started, n_bytes = ProgressLine(also_in_logs=True), time.monotonic(), max(plan.n_bytes, 1)
    n_done, n_new, n_words, n_kept = 0, 0, 0, 0
    # Ray reports workers that died on stdout.
    with redirect_stdout(sys.stderr), closing(run_plan(plan, output, engine)) as results:
        for result in results:
            n_done += result.n_bytes
            if result.is_new and result.record is not None:
                n_new += result.n_bytes
                n_words += result.record.n_words
            else:
                n_kept += 1
            if not quiet:
                seconds = time.monotonic() - started
                done = f"{min(n_done / n_bytes, 1.0):.0%}, {plural(n_words, 'word')}"
                left = ""
                if n_new:
                    left = f", {duration(seconds / n_new * max(n_bytes - n_done, 0))} left"
                line.show(f"{done}, {_speed(n_words, seconds)}{left}")
    line.clear()
    totals = read_manifest(output).totals
    if not quiet:
        counts = [
            plural(totals.n_documents, "document"),
            plural(totals.n_sentences, "sentence"),
            plural(totals.n_words, "word"),
            plural(totals.n_shards, "shard"),
        ]
        if n_kept:
            counts.append(f"{n_kept:,} of them from an earlier run")
        seconds = time.monotonic() - started
        speed = f"{duration(seconds)}, {_speed(n_words, seconds)}"
        click.echo(f"{output}: {', '.join(counts)}; {speed}", err=True)
        if totals.n_quarantined:
            n_documents = plural(totals.n_quarantined, "document")
            path = output / "_quarantine.jsonl"
            click.echo(f"quarantined: {n_documents}, see {path}", err=True)
    if totals.n_quarantined and not totals.n_documents:
        hint = "_quarantine.jsonl in this folder lists the errors"
        raise DataError("no document could be parsed", str(output), hint=hint)


def _speed(n_words: int, seconds: float) -> str:
    return f"{n_words / max(seconds, 1e-9):,.0f} words/s"
