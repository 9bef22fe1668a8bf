"""`headwise evaluate`."""

from collections.abc import Mapping

import click
import msgspec

from headwise.cli.terminal import help_examples, put
from headwise.errors import ConfigError
from headwise.evaluate.calibration import measure_calibration
from headwise.evaluate.raw import score_raw
from headwise.evaluate.report import (
    calibration_to_json,
    calibration_to_text,
    raw_scores_to_text,
    scores_to_json,
    scores_to_text,
    significance_to_text,
)
from headwise.evaluate.scores import Scores, score
from headwise.evaluate.significance import paired_bootstrap
from headwise.settings.choices import Format, Punctuation
from headwise.treebank.conllu import read_sentences


@click.command(
    short_help="Score parses against a treebank.",
    epilog=help_examples(
        "headwise evaluate gold.conllu parsed.conllu",
        "headwise evaluate gold.conllu greedy.conllu repaired.conllu --punctuation ud",
        "headwise evaluate --format json gold.conllu parsed.conllu",
        "headwise evaluate --align --universal gold.conllu from-raw-text.conllu",
        "headwise evaluate --calibration gold.conllu with-probabilities.conllu",
    ),
)
@click.argument("gold")
@click.argument("predicted")
@click.argument("second", metavar="[PREDICTED2]", required=False)
@click.option(
    "--input",
    "form",
    type=click.Choice(["conllu", "conllx"]),
    default="conllu",
    show_default=True,
)
@click.option(
    "--punctuation",
    type=click.Choice(["none", "ptb", "conllx", "ud"]),
    default="none",
    show_default=True,
    help="Words to leave out. ptb: gold XPOS is one of `` '' . , : PU; conllx: all characters are "
    "Unicode punctuation; ud: gold UPOS is PUNCT.",
)
@click.option(
    "--universal",
    is_flag=True,
    help="Compare labels up to the first colon only, as the shared tasks do.",
)
@click.option(
    "--align",
    is_flag=True,
    help="For output from raw text: words and sentences may differ, characters may not. Shows "
    "precision, recall and F1 of Tokens, Sentences and Words, and of all scores of words; with "
    "--universal, the scores of the CoNLL shared tasks of 2017 and 2018.",
)
@click.option(
    "--calibration",
    is_flag=True,
    help="Instead of scores: how far the probabilities in MISC of PREDICTED are off, for each "
    "column (written by headwise parse --probabilities).",
)
@click.option(
    "--details",
    is_flag=True,
    help="Add scores by relation and by sentence length; with --calibration, by probability.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of the bootstrap.",
)
@click.option(
    "--format", "out_form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def evaluate(
    gold: str,
    predicted: str,
    second: str | None,
    form: Format,
    punctuation: Punctuation,
    universal: bool,
    align: bool,
    calibration: bool,
    details: bool,
    seed: int,
    out_form: str,
) -> None:
    """Score PREDICTED against GOLD; with PREDICTED2, test the difference (paired bootstrap).

    Both files must have the same words, or with --align the same characters.
    """
    sources = [gold, predicted] if second is None else [gold, predicted, gold, second]
    if sources.count("-") > 1:
        raise ConfigError("stdin can be read only once", "give files for the others")
    if calibration:
        others = {"PREDICTED2": second is not None, "--universal": universal, "--align": align}
        _refuse_beside("--calibration", others, "it compares full values of the same words")
        found = measure_calibration(
            read_sentences(gold, form), read_sentences(predicted, form), punctuation
        )
        is_json = out_form == "json"
        put(calibration_to_json(found) if is_json else calibration_to_text(found, details))
        return
    if align:
        others = {
            "PREDICTED2": second is not None,
            f"--punctuation {punctuation}": punctuation != "none",
            "--details": details,
        }
        hint = "--align scores every word of one file, as the shared tasks do"
        _refuse_beside("--align", others, hint)
        raw = score_raw(read_sentences(gold, form), read_sentences(predicted, form), universal)
        put(scores_to_json(raw) if out_form == "json" else raw_scores_to_text(raw))
        return

    def scores_of(path: str) -> Scores:
        return score(read_sentences(gold, form), read_sentences(path, form), punctuation, universal)

    first = scores_of(predicted)
    if second is not None:
        _show_both(first, scores_of(second), seed, details, out_form)
    else:
        put(scores_to_json(first) if out_form == "json" else scores_to_text(first, details))


def _refuse_beside(flag: str, others: Mapping[str, bool], hint: str) -> None:
    """Refuse what is given and does not go together with a flag."""
    for name, is_given in others.items():
        if is_given:
            raise ConfigError(f"{flag} and {name} do not go together", hint)


def _show_both(first: Scores, second: Scores, seed: int, details: bool, out_form: str) -> None:
    difference = paired_bootstrap(first, second, seed=seed)
    if out_form == "json":
        one, two = msgspec.Raw(scores_to_json(first)), msgspec.Raw(scores_to_json(second))
        whole = {"predicted": one, "predicted2": two, "difference": difference}
        put(msgspec.json.format(msgspec.json.encode(whole), indent=2))
    else:
        texts = [scores_to_text(first, details), scores_to_text(second, details)]
        put("\n".join([*texts, significance_to_text(difference)]))
