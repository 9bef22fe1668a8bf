"""The forms of the training treebank, with what was annotated there: tags, features, lemmas.

It serves two ends. The lemma of a form with a given UPOS and FEATS is looked up here first. And the
network reads what training has seen for a form, and for its ending, as an input: the share of each
tag and of each value of a feature. In training a word does not count among what was seen for it,
or the network would learn to trust the treebank more than it can trust a lexicon later.

Forms are sorted by their last letters, so that all forms with one ending are neighbours, and an
ending is found by bisection instead of in a table of its own.
"""

import lzma
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.errors import ModelError
from headwise.treebank.sentence import BLANK, Word
from headwise.vocabulary.features import Features, collect_features, has_analysis
from headwise.vocabulary.lemma_rules import apply_rule, is_rule, rule_of

MAX_ENDING = 6
"""Letters of the longest ending that is looked up."""
MIN_ENDING_COUNT = 2
"""An ending seen less often than this says nothing; a shorter one is tried."""
MAX_RARE = 20
"""More frequent forms do not count for their ending: new words are not like them."""
MAX_PER_FORM = 3
"""The most that one analysis of a form counts for its ending."""
MAX_CACHED_ENDINGS = 10_000
MAX_CACHED_PRIORS = 8_192
MAX_VALUES = 2**26
"""Numbers in the table of analyses and their values; the largest treebanks have under 2**21."""
MAX_JSON_BYTES = 2**26
"""Of an unpacked lexicon; the largest treebanks have under 2**23."""
_UNPACKER_BYTES = 2**24
_MAX_COUNT = 2**31 - 1
N_COUNTS = 2
"""Numbers at the end of a prior that are not shares: a count and a length."""
_NO_RULE = -1
_LAST_LETTER = chr(0x10FFFF)
Accuracy = tuple[float, float]
Numbers = NDArray[np.integer[Any]]
Analysis = tuple[str, str]
"""UPOS and FEATS."""
_Seen = dict[str, dict[Analysis, Counter[str | None]]]
"""For each form, how often each analysis was seen with which lemma rule."""


@dataclass(slots=True)
class _Ending:
    """The forms from `first` to `last`, what they count together, and their values [P]."""

    first: int
    last: int
    weight: float
    total: FloatArray | None = None


class Lexicon:
    """Analyses of forms, which are sorted by their last letters.

    The entries of form `i` are `starts[i]` to `starts[i + 1]`, the most frequent first. Each has an
    analysis, a count, and the rule of its usual lemma, or -1. `accuracy` is the share of its lemmas
    that were right on dev: of those that the network would have chosen too, and of the others.
    """

    def __init__(
        self,
        analyses: Sequence[Analysis],
        rules: Sequence[str],
        forms: Sequence[str],
        starts: Numbers,
        entries: Numbers,
        accuracy: Accuracy = (1.0, 1.0),
    ) -> None:
        """Take `starts` [forms + 1] and `entries` [3, entries]."""
        self.analyses, self.rules, self.forms = tuple(analyses), tuple(rules), tuple(forms)
        self.starts, self.entries = starts, entries
        self.accuracy = accuracy
        self._at = {form: i for i, form in enumerate(self.forms)}
        self._analysis_ids = {analysis: i for i, analysis in enumerate(self.analyses)}
        self._endings: dict[str, _Ending] = {}
        self._priors: dict[tuple[str, Analysis | None], FloatArray] = {}

    def __len__(self) -> int:
        """Count the forms."""
        return len(self.forms)

    def lemma_of(self, form: str, upos: str, feats: str) -> str | None:
        """Look up the lemma of a form with this analysis; None if training never saw it."""
        analysis = self._analysis_ids.get((upos, feats))
        at = self._at.get(form)
        if analysis is None or at is None:
            return None
        rule = self._rule_ids.get((at, analysis), _NO_RULE)
        return None if rule == _NO_RULE else apply_rule(form, self.rules[rule])

    def with_accuracy(self, accuracy: Accuracy) -> "Lexicon":
        """Copy the lexicon with other shares of right lemmas."""
        parts = (self.analyses, self.rules, self.forms, self.starts, self.entries)
        return Lexicon(*parts, accuracy)

    @property
    def prior_names(self) -> list[tuple[str, ...]]:
        """Name the numbers of `prior_of`."""
        tags, features = self._layout
        names = [("upos", upos) for upos in tags] + features.score_names
        of_both = [(part, *name) for part in ("form", "ending") for name in names]
        return [*of_both, ("count",), ("length",)]

    @property
    def prior_size(self) -> int:
        """The length of `prior_of`."""
        return 2 * self._n_values + N_COUNTS

    def prior_of(self, form: str, own: Analysis | None = None) -> FloatArray:
        """Sum up what was seen for a form and for its ending: float32 [2 P + 2].

        The first P numbers are shares of tags and values for the form, or for the form in lower
        case; the next P the same for its longest known ending; then the logarithm of the form's
        count, and the length of the ending. `own` is the analysis of a word of the treebank itself,
        which does not count. The result is shared, so it cannot be written to.
        """
        prior = self._priors.get((form, own))
        if prior is None:
            prior = np.zeros(self.prior_size, np.float32)
            self.fill_prior(prior, form, own)
            prior.setflags(write=False)
            if len(self._priors) >= MAX_CACHED_PRIORS:
                self._priors.clear()
            self._priors[form, own] = prior
        return prior

    def fill_prior(self, prior: FloatArray, form: str, own: Analysis | None = None) -> None:
        """Write `prior_of` a form into zeros [2 P + 2]."""
        n_values = self._n_values
        own_id = None if own is None else self._analysis_ids.get(own)
        lowered = form.lower()
        total = self._add_form(prior[:n_values], form, own_id)
        if not total and lowered != form:
            total = self._add_form(prior[:n_values], lowered, None)
        prior[-2] = math.log1p(total)
        prior[-1] = self._add_ending(prior[n_values:-2], form, lowered, own_id)

    def _add_form(self, shares: FloatArray, form: str, own_id: int | None) -> int:
        """Write the shares [P] of a form, and return how often it was seen."""
        at = self._at.get(form)
        if at is None:
            return 0
        start, end = self._bounds[at], self._bounds[at + 1]
        analyses, counts, _ = self.entries[:, start:end]
        if end - start == 1 and own_id is None:  # most forms have one analysis
            shares[:] = self._values[analyses[0]]
            return int(counts[0])
        if own_id is not None:
            counts = counts - (analyses == own_id)
        total = int(counts.sum())
        if total:
            np.dot((counts / total).astype(np.float32), self._values[analyses], out=shares)
        return total

    def _add_ending(self, shares: FloatArray, form: str, lowered: str, own_id: int | None) -> float:
        """Write the shares [P] of the longest ending that was seen often enough.

        Returns its length, as a share of the longest one.
        """
        key = lowered[: -MAX_ENDING - 1 : -1]
        own = None if own_id is None else self._own_values(form, own_id)
        n_own = 0.0 if own is None else own[1]
        ending, longest, known = self._all_forms, 0, self._endings
        for n in range(1, len(key) + 1):
            longer = known.get(key[:n]) or self._find_ending(key[:n], ending)
            if longer.weight - n_own < MIN_ENDING_COUNT:
                break
            ending, longest = longer, n
        if not longest:
            return 0.0
        total = ending.total
        if total is None:
            _, weights = self._weights
            some = slice(self._bounds[ending.first], self._bounds[ending.last])
            total = weights[some] @ self._values[self.entries[0, some]]
            ending.total = total
        if own is not None:
            total = total - own[0]
        np.divide(total, ending.weight - n_own, out=shares)
        return longest / MAX_ENDING

    def _find_ending(self, key: str, shorter: "_Ending") -> "_Ending":
        """Find the forms with an ending, given backwards, among those with a shorter one."""
        keys, (before, _) = self._keys, self._weights
        first = bisect_left(keys, key, shorter.first, shorter.last)
        last = bisect_left(keys, key + _LAST_LETTER, first, shorter.last)
        ending = _Ending(first, last, before[last] - before[first])
        if len(self._endings) >= MAX_CACHED_ENDINGS:
            self._endings.clear()
        self._endings[key] = ending
        return ending

    def _own_values(self, form: str, own_id: int) -> tuple[FloatArray, float] | None:
        """Return how much less a form counts for its ending without one word of that analysis.

        Returns values [P] and a count, or None if there is no such word.
        """
        at = self._at.get(form)
        if at is None:
            return None
        analyses, counts, _ = self.entries[:, self._bounds[at] : self._bounds[at + 1]]
        weights = _ending_weights(counts) - _ending_weights(counts - (analyses == own_id))
        return weights @ self._values[analyses], float(weights.sum())

    @cached_property
    def _rule_ids(self) -> dict[tuple[int, int], int]:
        """The rule of each form with each of its analyses, by number."""
        forms = np.repeat(np.arange(len(self)), np.diff(self.starts))
        analyses, _, rules = self.entries.tolist()
        return dict(zip(zip(forms.tolist(), analyses, strict=True), rules, strict=True))

    @cached_property
    def _bounds(self) -> list[int]:
        bounds: list[int] = self.starts.tolist()
        return bounds

    @cached_property
    def _all_forms(self) -> "_Ending":
        return _Ending(0, len(self), self._weights[0][-1])

    @cached_property
    def _keys(self) -> list[str]:
        return [_reversed(form) for form in self.forms]

    @cached_property
    def _weights(self) -> tuple[list[float], FloatArray]:
        """Return how much an entry counts for its ending: sums before each form, and [entries]."""
        counts = self.entries[1]
        totals = np.add.reduceat(counts, self.starts[:-1]) if len(self) else counts
        is_rare = np.repeat(totals <= MAX_RARE, np.diff(self.starts))
        weights = np.where(is_rare, np.minimum(counts, MAX_PER_FORM), 0).astype(np.float32)
        sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
        return sums[self.starts].tolist(), weights

    @cached_property
    def _layout(self) -> tuple[dict[str, int], Features]:
        """Number the tags; the scores of features come after them."""
        tags = dict.fromkeys(upos for upos, _ in self.analyses)
        return {upos: i for i, upos in enumerate(tags)}, collect_features(self.analyses)

    @cached_property
    def _values(self) -> FloatArray:
        """Give each analysis a row: 1 for its tag and for each value that it has; [analyses, P]."""
        tags, features = self._layout
        layout = features.layout + len(tags)
        values = np.zeros((len(self.analyses), self._n_values), np.float32)
        for row, (upos, feats) in zip(values, self.analyses, strict=True):
            row[tags[upos]] = 1
            positions = np.array(features.positions_of(feats), np.intp)
            given = np.flatnonzero(positions)
            row[layout[given, positions[given]]] = 1
        return values

    @cached_property
    def _n_values(self) -> int:
        """P: one number for each tag and each value of each feature."""
        tags, features = self._layout
        return len(tags) + features.n_scores


def _ending_weights(counts: Numbers) -> FloatArray:
    """Return how much the analyses of one form count for its ending: float32 [analyses]."""
    if counts.sum() > MAX_RARE:
        return np.zeros(len(counts), np.float32)
    return np.minimum(counts, MAX_PER_FORM).astype(np.float32)


def _reversed(form: str) -> str:
    return form.lower()[::-1]


def build_lexicon(words: Iterable[Word]) -> Lexicon:
    """Collect the forms of a treebank; words without UPOS and FEATS are left out."""
    seen = _nothing_seen()
    for word in filter(has_analysis, words):
        seen[word.form][word.upos, word.feats][rule_of(word)] += 1
    return _from_counts(seen)


def join_lexicons(one: Lexicon, other: Lexicon) -> Lexicon:
    """Add up what two treebanks have seen."""
    seen = _nothing_seen()
    for lexicon in (one, other):
        for form, start, end in zip(lexicon.forms, *_bounds(lexicon), strict=True):
            for analysis, count, rule in lexicon.entries[:, start:end].T.tolist():
                name = None if rule == _NO_RULE else lexicon.rules[rule]
                seen[form][lexicon.analyses[analysis]][name] += count
    return _from_counts(seen)


def _bounds(lexicon: Lexicon) -> tuple[list[int], list[int]]:
    starts: list[int] = lexicon.starts.tolist()
    return starts[:-1], starts[1:]


def _nothing_seen() -> _Seen:
    return defaultdict(lambda: defaultdict(Counter))


def _from_counts(seen: _Seen) -> Lexicon:
    """Number analyses and rules by frequency, and sort the forms."""
    by_count: Counter[Analysis] = Counter()
    rule_counts: Counter[str] = Counter()
    for analyses in seen.values():
        for analysis, rules in analyses.items():
            by_count[analysis] += rules.total()
            rule_counts.update({rule: n for rule, n in rules.items() if rule is not None})
    analysis_ids = {a: i for i, a in enumerate(sorted(by_count, key=lambda a: (-by_count[a], a)))}
    names = sorted(rule_counts, key=lambda rule: (-rule_counts[rule], rule))
    rule_ids = {rule: i for i, rule in enumerate(names)}
    forms = sorted(seen, key=lambda form: (_reversed(form), form))
    entries: list[tuple[int, int, int]] = []
    sizes = []
    for form in forms:
        of_form = []
        for analysis, rules in seen[form].items():
            known = [(-n, rule_ids[rule]) for rule, n in rules.items() if rule is not None]
            rule = min(known)[1] if known else _NO_RULE
            of_form.append((analysis_ids[analysis], min(rules.total(), _MAX_COUNT), rule))
        entries += sorted(of_form, key=lambda entry: (-entry[1], entry[0]))
        sizes.append(len(of_form))
    numbers = np.array(entries, np.int32).reshape(-1, 3).T.copy()
    return Lexicon(list(analysis_ids), names, forms, np.cumsum([0, *sizes]), numbers)


_Share = Annotated[float, Meta(ge=0, le=1)]
_Number = Annotated[int, Meta(ge=-1, le=_MAX_COUNT)]


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`lexicon.json`: `sizes` count the entries of each form, `entries` has three numbers each."""

    analyses: list[tuple[str, str]]
    rules: list[str]
    forms: list[str]
    sizes: list[_Number]
    entries: list[_Number]
    accuracy: tuple[_Share, _Share] = (1.0, 1.0)


def pack_lexicon(lexicon: Lexicon) -> bytes:
    """Write a lexicon as packed JSON, the same bytes each time."""
    stored = _Stored(
        list(lexicon.analyses),
        list(lexicon.rules),
        list(lexicon.forms),
        np.diff(lexicon.starts).tolist(),
        lexicon.entries.T.ravel().tolist(),
        lexicon.accuracy,
    )
    return lzma.compress(msgspec.json.encode(stored) + b"\n")


def unpack_lexicon(data: bytes, where: str) -> Lexicon:
    """Read a lexicon, strictly."""
    hint = "the model folder is damaged; fetch it again"
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACKER_BYTES)
    try:
        json = unpacker.decompress(data, MAX_JSON_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            limit = f"{MAX_JSON_BYTES >> 20} MiB"
            raise ModelError(f"{where}: cut off, or more than {limit} when unpacked", hint)
        stored = msgspec.json.decode(json, type=_Stored)
    except (lzma.LZMAError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{where}: {error}", hint) from error
    numbers = np.array(stored.entries, np.int32)
    starts = np.cumsum([0, *stored.sizes])
    fits = (
        len(stored.forms) == len(stored.sizes) == len(set(stored.forms))
        and 3 * starts[-1] == len(numbers)
        and min(stored.sizes, default=1) >= 1
        and len(set(stored.analyses)) == len(stored.analyses)
    )
    if fits:
        entries = numbers.reshape(-1, 3).T.copy()
        sizes = (len(stored.analyses), _MAX_COUNT + 1, len(stored.rules))
        fits = (
            bool((entries.min(axis=1, initial=1) >= (0, 1, _NO_RULE)).all())
            and bool((entries.max(axis=1, initial=-1) < sizes).all())
            and all(map(is_rule, stored.rules))
            and all(_is_value(part) for analysis in stored.analyses for part in analysis)
        )
    keys = list(map(_reversed, stored.forms))
    if not fits or keys != sorted(keys):
        raise ModelError(f"{where}: not a lexicon", hint)
    parts = (stored.analyses, stored.rules, stored.forms, starts, entries)
    lexicon = Lexicon(*parts, stored.accuracy)
    if len(lexicon.analyses) * lexicon.prior_size > MAX_VALUES:
        raise ModelError(f"{where}: more than {MAX_VALUES:,} values of analyses", hint)
    return lexicon


def _is_value(value: str) -> bool:
    return value == BLANK or (bool(value) and {"\t", "\n", "\r"}.isdisjoint(value))
