"""`headwise evaluate`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
import msgspec

from headwise.cli.terminal import help_examples, put
from headwise.errors import ConfigError, escape_controls
from headwise.evaluate.agreement import (
    ALL_COLUMNS,
    COMPARED_COLUMNS,
    find_differences,
    measure_agreement,
)
from headwise.evaluate.calibration import measure_calibration
from headwise.evaluate.raw import RawScores, score_raw
from headwise.evaluate.report import (
    agreement_to_json,
    agreement_to_text,
    calibration_to_json,
    calibration_to_text,
    differences_to_text,
    raw_scores_to_text,
    scores_to_json,
    scores_to_text,
    significance_to_text,
)
from headwise.evaluate.scores import Scores, score
from headwise.evaluate.significance import (
    RawSignificance,
    Significance,
    paired_bootstrap,
    paired_bootstrap_raw,
)
from headwise.settings.choices import Format, Punctuation
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence


@click.command(
    short_help="Score parses against a treebank.",
    epilog=help_examples(
        "headwise evaluate gold.conllu parsed.conllu",
        "headwise evaluate gold.conllu greedy.conllu repaired.conllu --punctuation ud",
        "headwise evaluate --format json gold.conllu parsed.conllu",
        "headwise evaluate --align --universal gold.conllu from-raw-text.conllu",
        "headwise evaluate --diff first.conllu second.conllu",
        "headwise evaluate --calibration gold.conllu with-probabilities.conllu",
    ),
)
@click.argument("gold", type=click.Path())
@click.argument("predicted", type=click.Path())
@click.argument("second", metavar="[PREDICTED2]", required=False, type=click.Path())
@click.option(
    "--input",
    "form",
    type=click.Choice(["conllu", "conllx"]),
    default="conllu",
    show_default=True,
    help="Format of the files.",
)
@click.option(
    "--punctuation",
    type=click.Choice(["none", "ptb", "conllx", "ud"]),
    default="none",
    show_default=True,
    help="Words that are not scored. ptb: gold XPOS is one of `` '' . , : PU; conllx: all "
    "characters are Unicode punctuation; ud: gold UPOS is PUNCT.",
)
@click.option(
    "--universal",
    is_flag=True,
    help="Compare labels only up to the first colon, as the shared tasks do.",
)
@click.option(
    "--align",
    is_flag=True,
    help="For output from raw text: words and sentences may differ, characters may not. Shows "
    "precision, recall and F1 of Tokens, Sentences and Words, and of all scores of words; with "
    "--universal, the scores of the CoNLL shared tasks of 2017 and 2018.",
)
@click.option(
    "--diff",
    is_flag=True,
    help="Instead of scores, show the words in which two files differ, in their sentences, and "
    "what is confused with what. Neither file is gold: UAS, LAS and Cohen's kappa show how far "
    "they agree. Compares HEAD, DEPREL and UPOS; with --details all columns from LEMMA to DEPREL.",
)
@click.option(
    "--calibration",
    is_flag=True,
    help="Instead of scores, show for each column how reliable the probabilities in MISC of "
    "PREDICTED are (written by headwise parse --probabilities).",
)
@click.option(
    "--details",
    is_flag=True,
    help="Also show scores by relation and by sentence length; with --calibration, by "
    "probability; with --diff, all columns.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of the bootstrap.",
)
@click.option(
    "--format",
    "out_form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the scores.",
)
def evaluate(
    gold: str,
    predicted: str,
    second: str | None,
    form: Format,
    punctuation: Punctuation,
    universal: bool,
    align: bool,
    diff: bool,
    calibration: bool,
    details: bool,
    seed: int,
    out_form: str,
) -> None:
    """Score PREDICTED against GOLD; with PREDICTED2, test the difference (paired bootstrap).

    All files must have the same words, or with --align the same characters.
    """
    sources = [gold, predicted] if second is None else [gold, predicted, gold, second]
    if sources.count("-") > 1:
        raise ConfigError("stdin can be read only once", "give files for the others")
    is_json = out_form == "json"
    if calibration:
        others = {"PREDICTED2": second is not None, "--universal": universal, "--align": align}
        others["--diff"] = diff
        _refuse_beside("--calibration", others, "it compares full values of the same words")
        found = measure_calibration(
            read_sentences(gold, form), read_sentences(predicted, form), punctuation
        )
        put(calibration_to_json(found) if is_json else calibration_to_text(found, details))
        return
    if diff:
        others = {"PREDICTED2": second is not None, "--align": align, "stdin": "-" in sources}
        _refuse_beside("--diff", others, "it compares two files word by word")
        _show_differences(gold, predicted, form, punctuation, universal, details, is_json)
        return
    if align:
        others = {
            f"--punctuation {punctuation}": punctuation != "none",
            "--details": details,
        }
        hint = "--align scores every word, as the shared tasks do"
        _refuse_beside("--align", others, hint)
        raw = [
            score_raw(read_sentences(gold, form), read_sentences(path, form), universal)
            for path in sources[1::2]
        ]
        _show_raw(raw, sources[1::2], seed, is_json)
        return

    def scores_of(path: str) -> Scores:
        return score(read_sentences(gold, form), read_sentences(path, form), punctuation, universal)

    first = scores_of(predicted)
    if second is not None:
        names = (predicted, second)
        _show_both((first, scores_of(second)), names, seed, details, is_json)
    else:
        put(scores_to_json(first) if is_json else scores_to_text(first, details))


def _refuse_beside(flag: str, others: Mapping[str, bool], hint: str) -> None:
    """Refuse what is given and does not go together with a flag."""
    for name, is_given in others.items():
        if is_given:
            raise ConfigError(f"{flag} and {name} do not go together", hint)


def _show_differences(
    first: str,
    second: str,
    form: Format,
    punctuation: Punctuation,
    universal: bool,
    details: bool,
    is_json: bool,
) -> None:
    def both() -> tuple[Iterator[Sentence], Iterator[Sentence]]:
        return read_sentences(first, form), read_sentences(second, form)

    agreement = measure_agreement(*both(), punctuation, universal)
    columns = ALL_COLUMNS if details else COMPARED_COLUMNS
    differences = find_differences(*both(), columns, punctuation, universal)
    if is_json:
        put(agreement_to_json(agreement, differences))
        return
    for text in differences_to_text(differences):
        put(text)
        put("")
    put(agreement_to_text(agreement))


def _show_raw(scores: Sequence[RawScores], names: Sequence[str], seed: int, is_json: bool) -> None:
    if len(scores) == 1:
        put(scores_to_json(scores[0]) if is_json else raw_scores_to_text(scores[0]))
        return
    first, second = scores
    difference = paired_bootstrap_raw(first, second, seed=seed)
    texts = _titled(names, map(raw_scores_to_text, scores))
    _put_both((scores_to_json(first), scores_to_json(second)), texts, difference, is_json)


def _show_both(
    scores: tuple[Scores, Scores], names: Sequence[str], seed: int, details: bool, is_json: bool
) -> None:
    first, second = scores
    difference = paired_bootstrap(first, second, seed=seed)
    texts = _titled(names, (scores_to_text(one, details) for one in scores))
    _put_both((scores_to_json(first), scores_to_json(second)), texts, difference, is_json)


def _titled(names: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Put the name of a file above each table."""
    pairs = zip(names, texts, strict=True)
    return [f"{escape_controls(name)}\n\n{text}" for name, text in pairs]


def _put_both(
    scores: tuple[bytes, bytes],
    texts: Sequence[str],
    difference: Significance | RawSignificance,
    is_json: bool,
) -> None:
    if is_json:
        one, two = map(msgspec.Raw, scores)
        whole = {"predicted": one, "predicted2": two, "difference": difference}
        put(msgspec.json.format(msgspec.json.encode(whole), indent=2))
    else:
        put("\n".join([*texts, significance_to_text(difference)]))
