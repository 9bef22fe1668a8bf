"""`headwise info`."""

import click
import msgspec

from headwise.cli.models.choice import complete_models, find_or_export
from headwise.cli.terminal import help_examples, put
from headwise.errors import escape_controls
from headwise.model.bundle import load_bundle
from headwise.model.card import licence_line
from headwise.model.languages import language_name
from headwise.text.segmenter import SEGMENTER_GRAPH
from headwise.vocabulary.subwords import Subwords


@click.command(
    short_help="Describe a model.",
    epilog=help_examples("headwise info en", "headwise info runs/paper-ewt-1"),
)
@click.argument("model", shell_complete=complete_models)
@click.option(
    "--format",
    "out_form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the description.",
)
def info(model: str, out_form: str) -> None:
    """Describe MODEL: what it can do, where it comes from; check that its files are complete.

    To list all models, use headwise models.
    """
    bundle = load_bundle(find_or_export(model))
    manifest = bundle.manifest
    if out_form == "json":
        put(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
        return
    vocab = bundle.vocab
    rows = [
        ("model", str(bundle.path)),
        ("language", language_name(manifest.about.language) or "not stated"),
        ("licence", licence_line(manifest.about)),
        ("format", f"{manifest.format_version} (headwise {manifest.headwise_version})"),
        ("text", "finds words in raw text" if SEGMENTER_GRAPH in manifest.files else "needs words"),
        ("reads tags", ", ".join(column.upper() for column in vocab.reads) or "none"),
        ("treebanks", ", ".join(vocab.treebanks) or "tells none apart"),
        ("fills in", ", ".join([*map(str.upper, vocab.outputs), "HEAD", "DEPREL"])),
        (
            "knows",
            f"{len(vocab.words.strings):,} words, {len(vocab.labels.strings)} labels, "
            f"{len(vocab.vectors.strings):,} pre-trained vectors",
        ),
        *([("transformer", _transformer(vocab.subwords))] if vocab.subwords else []),
        ("network", _settings(manifest.model)),
        ("trees", _settings(manifest.decode)),
        *((key, value) for key, value in manifest.provenance.items()),
        *((key, f"{value:.2f}") for key, value in manifest.scores.items()),
        *((name, f"{entry.size:,} bytes, whole") for name, entry in manifest.files.items()),
    ]
    width = max(len(key) for key, _ in rows)
    put("\n".join(escape_controls(f"{key:{width}}  {value}") for key, value in rows))


def _transformer(subwords: Subwords) -> str:
    settings = subwords.settings
    kind = str(settings.network.get("model_type", "unknown"))
    sizes = f"states of {settings.size}, windows of {settings.window}"
    return f"{kind}, {settings.n_ids:,} subwords, {sizes}"


def _settings(struct: msgspec.Struct) -> str:
    pairs = msgspec.structs.asdict(struct).items()
    return ", ".join(f"{key} {_plain(value)}" for key, value in pairs if value not in ("", (), []))


def _plain(value: object) -> str:
    return "+".join(value) if isinstance(value, list | tuple) else str(value).lower()
