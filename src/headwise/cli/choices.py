"""Flags that several commands share, and their settings."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import click
import msgspec

from headwise.errors import ConfigError
from headwise.model.bundle import Bundle
from headwise.settings.choices import Column, Decoder
from headwise.settings.parsing import TAGS, DecodeConfig, columns_to_keep
from headwise.text.segmenter import name_columns

_FLAGS = (
    click.option(
        "--keep",
        default="",
        metavar="COLUMNS",
        help="Keep the values of these columns and fill in only blanks: lemma, upos, xpos, feats, "
        "heads, labels, separated by commas. Trees are built around given heads.",
    ),
    click.option(
        "--keep-tags/--no-keep-tags",
        default=None,
        help="Same as --keep upos,xpos. By default the model replaces them, unless it reads tags.",
    ),
    click.option(
        "--lemmas",
        metavar="FILE",
        help="File with lemmas that override the model's: lines of form, UPOS (or _ for any) and "
        "lemma, separated by tabs.",
    ),
    click.option(
        "--probabilities",
        is_flag=True,
        help="Write the probability of each value to MISC of CoNLL-U: HeadProb, LabelProb, "
        "UposProb, XposProb, FeatsProb, LemmaProb.",
    ),
    click.option(
        "--decoder",
        type=click.Choice(["greedy", "mst", "eisner"]),
        help="greedy: each word's best head, whether or not this is a tree; mst: repair what is "
        "not a tree; eisner: repair what is not a projective tree. Default: the setting of the "
        "model.",
    ),
    click.option(
        "--single-root/--multi-root",
        default=None,
        help="Exactly one root in a sentence, or any number. Default: the setting of the model.",
    ),
    click.option(
        "--precision",
        type=click.Choice(["int8", "float32"]),
        default="int8",
        show_default=True,
        help="Precision of the network on a CPU. The model must have it.",
    ),
    click.option(
        "--device",
        default="cpu",
        show_default=True,
        help="cpu, or cuda, which needs headwise[train].",
    ),
)


def how_to_parse(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags for how to use a model."""
    return reduce(lambda decorated, flag: flag(decorated), reversed(_FLAGS), command)


def chosen_decode(
    bundle: Bundle, decoder: Decoder | None, single_root: bool | None
) -> DecodeConfig:
    """Return the decoding settings of a model, changed by the flags that were given."""
    changes = {"decoder": decoder, "single_root": single_root}
    return msgspec.structs.replace(
        bundle.manifest.decode, **{k: v for k, v in changes.items() if v is not None}
    )


def chosen_columns(keep: str, keep_tags: bool | None) -> tuple[Column, ...]:
    """Return the columns to keep by both flags."""
    columns = columns_to_keep(keep, bool(keep_tags))
    if keep_tags is False and not set(TAGS).isdisjoint(columns):
        raise ConfigError(f"--keep {keep} and --no-keep-tags: choose one", "leave out the latter")
    return columns


def check_tags(bundle: Bundle, model: str) -> None:
    """Raise an error if a model reads the tags that it should replace."""
    if bundle.vocab.reads:
        raise ConfigError(
            f"--no-keep-tags: model {model} reads {name_columns(bundle.vocab.reads)}",
            "choose a model that needs no tags",
        )
