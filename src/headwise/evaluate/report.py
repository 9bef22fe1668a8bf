"""Scores as plain tables and as JSON.

Both leave out the counts of single sentences and passages, which only `significance` needs.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from headwise.errors import escape_controls, plural
from headwise.evaluate.agreement import Agreement, Confusion, SentenceDifference, WordDifference
from headwise.evaluate.calibration import CalibrationTable, ColumnCalibration
from headwise.evaluate.metrics import WORD_METRICS
from headwise.evaluate.raw import METRICS, Metric, RawScores
from headwise.evaluate.scores import Scores
from headwise.evaluate.significance import Difference, RawSignificance, Significance

_N_DECIMALS = 4
_MOST_CONFUSIONS = 20
_LEFT_OUT = {
    "none": "every word counts",
    "ptb": "without the gold tags `` '' . , : PU",
    "conllx": "without words made of punctuation characters only",
    "ud": "without the gold tag PUNCT",
}

_MEASURED_NAMES = {
    "heads": "Heads",
    "labels": "Labels",
    "arcs": "Arcs",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "FEATS",
    "lemma": "Lemmas",
}


def scores_to_json(scores: Scores | RawScores) -> bytes:
    """Write scores as JSON, percentages to four decimals; null if there was nothing to score."""
    plain = msgspec.to_builtins(scores, enc_hook=lambda per_sentence: None)
    for counts in ("per_sentence", "per_passage"):
        plain.pop(counts, None)
    data = msgspec.json.encode(_rounded(plain))
    return msgspec.json.format(data, indent=2) + b"\n"


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, _N_DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def scores_to_text(scores: Scores, details: bool) -> str:
    """Write scores as plain tables; `details` adds one by relation and one by sentence length."""
    shares = [
        ("UAS", _number(scores.uas), "words with the right head"),
        ("LAS", _number(scores.las), "words with the right head and label"),
        ("Labels", _number(scores.label_accuracy), "words with the right label"),
        ("UEM", _number(scores.uem), "sentences with all heads right"),
        ("LEM", _number(scores.lem), "sentences with all heads and labels right"),
    ]
    columns = [
        ("UPOS", _number(scores.upos), "words with the right UPOS"),
        ("XPOS", _number(scores.xpos), "words with the right XPOS"),
        ("UFeats", _number(scores.ufeats), "words with the right universal features"),
        ("AllTags", _number(scores.alltags), "words with all three right"),
        ("Lemmas", _number(scores.lemmas), "words with the right lemma"),
        ("CLAS", _number(scores.clas), "LAS of content words, F1"),
        ("MLAS", _number(scores.mlas), "CLAS with UPOS, UFeats and function words right, F1"),
        ("BLEX", _number(scores.blex), "CLAS with the lemma right, F1"),
    ]
    trees = [
        ("Trees", _number(scores.tree_rate), "sentences whose predicted heads form a tree"),
        ("Projective", _number(scores.projective_rate), "a tree without crossing arcs"),
        ("One root", _number(scores.single_root_rate), "a tree with one word on ROOT"),
    ]
    scope = (
        f"{plural(scores.n_words, 'word')} in {plural(scores.n_sentences, 'sentence')}, "
        f"{_LEFT_OUT[scores.punctuation]}; {_labels(scores)}."
    )
    parts = [_table(shares, "<><"), _table(columns, "<><"), _table(trees, "<><"), scope]
    if details:
        parts += [_relation_table(scores), _length_table(scores)]
    return "\n\n".join(parts) + "\n"


def _labels(scores: Scores | RawScores) -> str:
    extent = "up to the first ':'" if scores.universal_labels else "in full"
    return f"labels compared {extent}"


def _relation_table(scores: Scores) -> str:
    rows = [["Relation", "Words", "UAS", "LAS", "Precision", "F1"]]
    for found in scores.relations:
        shares = map(_number, (found.uas, found.las, found.precision, found.f1))
        rows.append([found.label, str(found.count), *shares])
    return escape_controls(_table(rows, "<>>>>>"))


def _length_table(scores: Scores) -> str:
    rows = [["Length up to", "Sentences", "Words", "UAS", "LAS"]]
    for found in scores.lengths:
        counts = map(str, (found.last_length, found.n_sentences, found.n_words))
        rows.append([*counts, _number(found.uas), _number(found.las)])
    return _table(rows, ">>>>>")


def raw_scores_to_text(scores: RawScores) -> str:
    """Write the scores of output from raw text as a plain table."""
    rows = [["", "Precision", "Recall", "F1", "Aligned"]]
    for field, name in METRICS.items():
        metric: Metric = getattr(scores, field)
        shares = (metric.precision, metric.recall, metric.f1, metric.aligned_accuracy)
        rows.append([name, *map(_number, shares)])
    words, sentences = scores.words, scores.sentences
    return (
        f"{_table(rows, '<>>>>')}\n\n"
        f"Gold: {words.n_gold} words in {sentences.n_gold} sentences; "
        f"predicted: {words.n_predicted} in {sentences.n_predicted}; "
        f"{words.n_right} words aligned by characters.\n"
        f"Aligned: accuracy on the aligned words; {_labels(scores)}.\n"
    )


def calibration_to_text(calibration: CalibrationTable, details: bool) -> str:
    """Write the calibration of each column as a plain table; `details` adds one for each column."""
    rows = [["", "Words", "Right", "Probability", "Error"]]
    for name, found in calibration.items():
        shares = map(_number, (found.accuracy, found.probability, found.error))
        rows.append([_MEASURED_NAMES[name], str(found.n_words), *shares])
    legend = (
        "Right: values that are right, in percent; Probability: their mean probability.\n"
        "Error: expected calibration error in points.\n"
        "Labels count where the head is right; an arc is right if head and label are."
    )
    parts = [_table(rows, "<>>>>"), legend]
    if details:
        parts += [_range_table(name, found) for name, found in calibration.items()]
    return "\n\n".join(parts) + "\n"


def _range_table(name: str, found: ColumnCalibration) -> str:
    rows = [[_MEASURED_NAMES[name], "Words", "Probability", "Right"]]
    for part in found.ranges:
        shares = map(_number, (part.share, part.probability, part.accuracy))
        rows.append([f"{part.low:.0%} to {part.high:.0%}", *shares])
    return _table(rows, "<>>>")


def calibration_to_json(calibration: CalibrationTable) -> bytes:
    """Write the calibration of each column as JSON, percentages to four decimals."""
    data = msgspec.json.encode(_rounded(msgspec.to_builtins(calibration)))
    return msgspec.json.format(data, indent=2) + b"\n"


def significance_to_text(significance: Significance | RawSignificance) -> str:
    """Write the differences between two parsers as a plain table."""
    if isinstance(significance, RawSignificance):
        names, units = METRICS, f"F1, paired bootstrap over {significance.n_passages} passages"
    else:
        names, units = WORD_METRICS, f"Paired bootstrap over {significance.n_sentences} sentences"
    rows = [["", "first", "second", "difference", "95% interval", "p"]]
    for field, name in names.items():
        found: Difference = getattr(significance, field)
        numbers = _number(found.first), _number(found.second), f"{found.points:+.2f}"
        interval = f"{found.low:+.2f} to {found.high:+.2f}"
        rows.append([name, *numbers, interval, f"{found.p_value:.4f}"])
    return (
        f"{_table(rows, '<>>>><')}\n\n"
        f"{units}, {significance.n_samples} samples, seed {significance.seed}.\n"
    )


def differences_to_text(differences: Iterable[SentenceDifference]) -> Iterator[str]:
    """Write each sentence that differs: where it is, its text, and a line for each value."""
    for found in differences:
        one, two = found.first, found.second
        name = one.metadata.get("sent_id", "")
        places = f"{one.source}:{one.first_line}, {two.source}:{two.first_line}"
        rows = [
            [str(word.position), word.first.form, *cells]
            for word in found.words
            for cells in _values(found, word)
        ]
        lines = [f"# {found.number} {name}".rstrip() + f" ({places})", one.text]
        yield escape_controls("\n".join([*lines, _table(rows, "><<<<")])) + "\n"


def _values(found: SentenceDifference, word: WordDifference) -> Iterator[tuple[str, str, str]]:
    for column in word.columns:
        values = getattr(word.first, column), getattr(word.second, column)
        if column == "head":
            values = _head(found, values[0]), _head(found, values[1])
        yield column.upper(), *values


def _head(found: SentenceDifference, head: str) -> str:
    """Write a head with its form: `7 saw`."""
    return f"{head} {found.first.words[int(head) - 1].form}" if head != "0" else "0 ROOT"


def agreement_to_text(agreement: Agreement) -> str:
    """Write how far two files agree, and what is confused most often, as plain tables."""
    rows = [
        ["", "same", "kappa"],
        ["Heads (UAS)", _number(agreement.uas), _kappa(agreement.head_kappa)],
        ["Labels", _number(agreement.label_accuracy), _kappa(agreement.label_kappa)],
        ["Both (LAS)", _number(agreement.las), ""],
        ["UPOS", _number(agreement.upos), _kappa(agreement.upos_kappa)],
    ]
    scope = (
        f"{plural(agreement.n_different_words, 'word')} in "
        f"{plural(agreement.n_different_sentences, 'sentence')} differ, of "
        f"{plural(agreement.n_words, 'word')} in {plural(agreement.n_sentences, 'sentence')}."
    )
    parts = [_table(rows, "<>>"), scope]
    named = {"Labels": agreement.label_confusions, "UPOS": agreement.upos_confusions}
    parts += [_confusion_table(name, found) for name, found in named.items() if found]
    return "\n\n".join(parts) + "\n"


def _confusion_table(name: str, confusions: Sequence[Confusion]) -> str:
    rows = [[name, "first", "second"]]
    rows += [[str(found.n_words), found.first, found.second] for found in confusions]
    table = escape_controls(_table(rows[: _MOST_CONFUSIONS + 1], "><<"))
    n_more = len(confusions) - _MOST_CONFUSIONS
    return table if n_more <= 0 else f"{table}\n{n_more} more pairs: --format json"


def agreement_to_json(agreement: Agreement, differences: Iterable[SentenceDifference]) -> bytes:
    """Write how far two files agree, and each word that differs, as JSON."""
    words = [
        {
            "sentence": found.number,
            "sent_id": found.first.metadata.get("sent_id"),
            "word": word.position,
            "form": word.first.form,
            "first": {column: getattr(word.first, column) for column in word.columns},
            "second": {column: getattr(word.second, column) for column in word.columns},
        }
        for found in differences
        for word in found.words
    ]
    plain = _rounded(msgspec.to_builtins(agreement))
    data = msgspec.json.encode({"agreement": plain, "words": words})
    return msgspec.json.format(data, indent=2) + b"\n"


def _kappa(kappa: float | None) -> str:
    return "-" if kappa is None else f"{kappa:.4f}"


def _number(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.2f}"


def _table(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Align columns to the left `<` or the right `>`, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        columns = zip(row, sides, widths, strict=True)
        lines.append("  ".join(f"{cell:{side}{width}}" for cell, side, width in columns).rstrip())
    return "\n".join(lines)
