"""Choose a model by the language of a text, and tell when a text is not in a model's language."""

import math
from contextlib import suppress
from dataclasses import dataclass, field

from headwise.errors import ModelError
from headwise.model.find import (
    AUTO,
    DEFAULT_MODEL,
    describe_model,
    how_to_install,
    named_models,
    release_index,
)
from headwise.model.languages import language_name
from headwise.text.identify import letters_of, load_identifier

CLEAR = 0.9
"""A language that is this likely is beyond doubt."""
UNLIKELY = 0.01
"""A language that is less likely than this is ruled out."""
SHORT = 30
"""Texts with fewer letters must leave a tenth of that doubt: names weigh much in them."""
FEWEST_LETTERS = 12
"""Texts with fewer letters are never called clear."""
FEWEST_TO_CHOOSE = 20
"""So few do where the user asked for a choice, and a wrong model would be no help."""


SURE_OF_FEW_LETTERS = 0.999
"""So likely must the language of fewer letters be, among those that can be chosen."""


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """What language a text is in, and how sure that is."""

    language: str
    probability: float
    n_letters: int
    log_probs: dict[str, float] = field(repr=False)
    """Of all languages that can be told apart."""

    @property
    def is_clear(self) -> bool:
        """Whether the text is long enough, and its language beyond doubt."""
        enough = self.n_letters >= FEWEST_LETTERS
        return enough and self.probability >= 1 - (1 - CLEAR) * self.doubt

    @property
    def doubt(self) -> float:
        """The share of the usual doubt that a text of this length may leave."""
        return 1.0 if self.n_letters >= SHORT else 0.1


def guess_language(text: str) -> LanguageGuess:
    """Guess the language of a text from its first letters."""
    identifier = load_identifier()
    log_probs = dict(zip(identifier.languages, identifier.log_probs(text).tolist(), strict=True))
    best = max(log_probs, key=log_probs.__getitem__)
    n_letters = len(letters_of(text).replace(" ", ""))
    return LanguageGuess(best, math.exp(log_probs[best]), n_letters, log_probs)


def other_language(text: str, language: str) -> str | None:
    """Name the language that a text is clearly in, if it is not this one."""
    guess = guess_language(text)
    if language not in guess.log_probs:
        return None
    is_ruled_out = guess.log_probs[language] < math.log(UNLIKELY * guess.doubt)
    is_other = guess.language != language and is_ruled_out
    return guess.language if is_other and guess.is_clear else None


def choose_model(text: str, languages: dict[str, str]) -> str:
    """Choose the model of the language of a text; `languages` has that of each model.

    A text that is clearly in a language without a model is an error; a short or doubtful one gets
    the likeliest of the languages that there are. If a text has only a few letters and leaves some
    doubt among these, the built-in model is chosen.
    """
    models = {language: name for name, language in reversed(languages.items())}
    models |= {name: name for name, language in languages.items() if name == language}
    guess = guess_language(text)
    is_known = guess.language in models
    if not is_known and guess.probability >= CLEAR and guess.n_letters >= FEWEST_TO_CHOOSE:
        raise _missing(guess.language)
    known = {code: value for code, value in guess.log_probs.items() if code in models}
    if not guess.n_letters or not known:
        return DEFAULT_MODEL
    best = max(known, key=known.__getitem__)
    share = 1 / sum(math.exp(value - known[best]) for value in known.values())
    is_doubtful = guess.n_letters < FEWEST_LETTERS and share < SURE_OF_FEW_LETTERS
    return DEFAULT_MODEL if is_doubtful and DEFAULT_MODEL in languages else models[best]


def _missing(language: str) -> ModelError:
    name = language_name(language)
    what = f"the text looks {name}, but no model for it is installed"
    offers = [offer.name for offer in release_index().values() if offer.about.language == language]
    if offers:
        return ModelError(what, how_to_install(min(offers, key=len)))
    hint = f"there is none in this release; name a model instead of {AUTO}, or train one"
    return ModelError(what, hint)


def installed_languages() -> dict[str, str]:
    """Give the language of each model that has a name."""
    languages = {}
    for name, path in sorted(named_models().items()):
        with suppress(ModelError):  # a damaged model is skipped; naming it gives the error
            languages[name] = describe_model(name, path).about.language
    return {name: language for name, language in languages.items() if language}
