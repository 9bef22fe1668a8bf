"""`headwise corpus`."""

import re
import sys
import time
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from headwise.cli.choices import check_tags, chosen_decode, how_to_parse
from headwise.cli.terminal import ProgressLine, duration, examples
from headwise.errors import ConfigError, DataError, install, plural
from headwise.model.bundle import DEFAULT_MODEL, find_model, load_bundle

if TYPE_CHECKING:
    from headwise.corpus.engine import Engine
    from headwise.corpus.plan import Compression, Form, Job, Plan
    from headwise.corpus.run import Totals
    from headwise.corpus.work import Outcome

MIB = 2**20


@click.command(
    short_help="Parse corpora of any size.",
    epilog=examples(
        "headwise corpus crawl/ --output parsed",
        "headwise corpus 'crawl/*.jsonl.gz' --text-column body --id-column url --output parsed",
        "headwise corpus docs.parquet --format parquet --workers 8 --output parsed",
        "headwise corpus s3://bucket/crawl --address auto --output /shared/parsed",
    ),
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR",
    help="A new folder, or one that was begun: it goes on there.",
)  # fmt: skip
@click.option(
    "-m", "--model", "models", multiple=True, default=[DEFAULT_MODEL], show_default=True,
    help="Name or folder.",
)  # fmt: skip
@click.option(
    "--input",
    "form",
    type=click.Choice(["auto", "text", "jsonl", "parquet", "conllu"]),
    default="auto",
    show_default=True,
    help="auto: by the name of each file; text where that says nothing.",
)
@click.option(
    "--split",
    type=click.Choice(["paragraph", "line", "file"]),
    default="paragraph",
    show_default=True,
    help="What is a document in text: what stands between blank lines, a line, or a file.",
)
@click.option("--text-column", default="text", show_default=True, help="In JSONL and Parquet.")
@click.option("--id-column", help="In JSONL and Parquet.  [default: file and position]")
@click.option(
    "--format",
    type=click.Choice(["conllu", "parquet"]),
    default="conllu",
    show_default=True,
    help="Of the shards.",
)
@click.option(
    "--compression",
    type=click.Choice(["xz", "zstd", "gzip", "snappy", "none"]),
    help="Of the shards.  [default: xz for conllu, zstd for parquet]",
)
@click.option(
    "--unit-size",
    type=click.FloatRange(0, 2**20, min_open=True),
    default=4,
    show_default=True,
    metavar="MIB",
    help="Input of one shard; so much is lost when a worker dies.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 100_000),
    help="Processes that parse; 0: this one alone, without Ray. The output does not depend on it.  "
    "[default: one a core]",
)
@click.option("--address", help="Of a Ray cluster to join.  [default: a Ray on this machine]")
@click.option(
    "--gpus-per-worker",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="With --device cuda; 0.25: four workers on each GPU.",
)
@how_to_parse
@click.option("--quiet", is_flag=True, help="No progress and no summary on stderr.")
def corpus(
    inputs: tuple[str, ...],
    output: Path,
    models: tuple[str, ...],
    form: 'Form | Literal["auto"]',
    workers: int | None,
    address: str | None,
    gpus_per_worker: float,
    quiet: bool,
    **flags: Any,
) -> None:
    """Parse INPUTs of any size into the shards of a folder, on all cores or on a Ray cluster.

    INPUTs are files, folders or patterns of text, JSONL, Parquet or CoNLL-U, plain, gz, xz or
    zstd, here or under a URI. A run that was interrupted goes on when the command is given again. A
    document that cannot be parsed is told in _quarantine.jsonl, and the others are parsed.
    """
    _check_flags(models, output, workers, address)
    try:
        from headwise.corpus.engine import Engine
        from headwise.corpus.run import plan_corpus
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"headwise corpus needs {error.name}, which is not installed",
            install("corpus"),
        ) from error
    plan = plan_corpus(inputs, None if form == "auto" else form, _make_job(models[0], flags))
    follow(plan, output, Engine(workers, address, gpus_per_worker), quiet)


def _check_flags(
    models: tuple[str, ...], output: Path, workers: int | None, address: str | None
) -> None:
    """Refuse what would be passed over in silence."""
    if len(models) > 1:
        raise ConfigError("--model: one model", "headwise parse takes several as an ensemble")
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(output), re.IGNORECASE):
        hint = "write to a folder that all machines see; docs/scale.md says how else"
        raise ConfigError(f"--output {output}: shards go to a folder", hint)
    if workers == 0 and address is not None:
        raise ConfigError("--workers 0 and --address: one of them", "0 is without Ray")


def _make_job(model: str, flags: dict[str, Any]) -> "Job":
    """Turn flags into a job; those that are not taken out here have the names of its fields."""
    from headwise.corpus.plan import Job, fingerprint, portable_name

    bundle = load_bundle(find_model(model))
    keep_tags = flags.pop("keep_tags")
    check_tags(bundle, model, keep_tags)
    usual: Compression = "zstd" if flags["format"] == "parquet" else "xz"
    return Job(
        model=portable_name(bundle.path),
        model_sha256=fingerprint(bundle),
        decode=chosen_decode(bundle, flags.pop("decoder"), flags.pop("single_root")),
        keep_tags=bool(keep_tags),
        compression=flags.pop("compression") or usual,
        unit_bytes=max(round(flags.pop("unit_size") * MIB), 1),
        **flags,
    )


def follow(plan: "Plan", output: Path, engine: "Engine", quiet: bool) -> None:
    """Run a plan, show how far it is, and say what came of it."""
    from headwise.corpus.run import read_manifest, run_plan

    shown = _Shown(plan.n_bytes)
    # Ray tells of workers that died on stdout.
    with redirect_stdout(sys.stderr), closing(run_plan(plan, output, engine)) as outcomes:
        for outcome in outcomes:
            shown.count(outcome)
            if not quiet:
                shown.show()
    shown.clear()
    totals = read_manifest(output).totals
    if not quiet:
        click.echo(shown.summary(totals, output), err=True)
    if totals.n_quarantined and not totals.n_documents:
        raise DataError(
            "no document could be parsed",
            str(output),
            hint="_quarantine.jsonl there says what was wrong with each",
        )


class _Shown:
    """Counts units, and shows on a terminal how far they are."""

    def __init__(self, n_bytes: int) -> None:
        self._progress = ProgressLine()
        self._n_bytes, self._started = max(n_bytes, 1), time.monotonic()
        self._n_done, self._n_new, self._n_words, self._n_kept = 0, 0, 0, 0

    def count(self, outcome: "Outcome") -> None:
        self._n_done += outcome.n_bytes
        if outcome.is_new and outcome.record is not None:
            self._n_new += outcome.n_bytes
            self._n_words += outcome.record.n_words
        else:
            self._n_kept += 1

    def show(self) -> None:
        share = min(self._n_done / self._n_bytes, 1.0)
        left = ""
        if self._n_new:
            seconds = (time.monotonic() - self._started) / self._n_new
            left = f", {duration(seconds * max(self._n_bytes - self._n_done, 0))} left"
        self._progress.show(f"{share:.0%}, {self._speed()}{left}")

    def clear(self) -> None:
        self._progress.clear()

    def _speed(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        return f"{plural(self._n_words, 'word')}, {self._n_words / seconds:,.0f} words/s"

    def summary(self, totals: "Totals", output: Path) -> str:
        parts = [
            plural(totals.n_documents, "document"),
            plural(totals.n_sentences, "sentence"),
            plural(totals.n_words, "word"),
            plural(totals.n_shards, "shard"),
        ]
        if self._n_kept:
            parts.append(f"{self._n_kept:,} of them there already")
        taken = duration(time.monotonic() - self._started)
        lines = f"{output}: {', '.join(parts)}; {taken}, {self._speed().rpartition(', ')[2]}"
        if totals.n_quarantined:
            n = plural(totals.n_quarantined, "document")
            lines += f"\nquarantined: {n}, see {output / '_quarantine.jsonl'}"
        return lines
