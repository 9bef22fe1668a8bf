"""Sentences changed at random, so that the network meets what a treebank has little of.

Contractions lose their apostrophe (`dont`, still two words), an abbreviation stands among the words
(`cities, e.g. Paris`), an emoji before the last mark (`So good 🎉.`). Each sentence still ends
where it ended.
"""

from dataclasses import replace

import numpy as np

from headwise.learn.segment.data import GoldSentence, GoldToken
from headwise.settings.training import SegmentConfig

_APOSTROPHES = str.maketrans("", "", "'\N{RIGHT SINGLE QUOTATION MARK}")
_EMOJI = "😀😂👍🎉😍🙂😢🔥✨🙏"
_MARKS = frozenset(".!?")
_Tokens = tuple[GoldToken, ...]


def vary_sentence(
    sentence: GoldSentence, config: SegmentConfig, random: np.random.Generator
) -> GoldSentence:
    """Draw which changes to make; without any, the sentence itself is returned."""
    tokens = sentence.tokens
    shares = (config.apostrophes, config.abbreviations, config.emoji)
    loses_apostrophes, has_abbreviation, has_emoji = random.random(3) < shares
    if loses_apostrophes:
        tokens = tuple(map(_without_apostrophe, tokens))
    if has_abbreviation:
        tokens = _with_abbreviation(tokens, random)
    if has_emoji:
        tokens = _with_emoji(tokens, _EMOJI[random.integers(len(_EMOJI))])
    return sentence if tokens == sentence.tokens else replace(sentence, tokens=tokens)


def _without_apostrophe(token: GoldToken) -> GoldToken:
    """Remove the apostrophe of a contraction, unless a word of it would be empty."""
    words = tuple(word.translate(_APOSTROPHES) for word in token.words)
    if len(words) < 2 or not all(words) or token.expands:
        return token
    return replace(token, form="".join(words), words=words)


def _with_abbreviation(tokens: _Tokens, random: np.random.Generator) -> _Tokens:
    """Put two letters with full stops before a word; half of the time the word gets a capital.

    The letters are the first ones of two words, so that they are of the right script. A sentence
    without lower-case letters stays as it is.
    """
    places = [
        i for i, token in enumerate(tokens) if i and tokens[i - 1].has_space and _is_word(token)
    ]
    letters = [t.form[0].lower() for t in tokens if t.form[0].lower().islower()]
    if not places or not letters:
        return tokens
    first, second = (letters[i] for i in random.integers(len(letters), size=2))
    place = places[random.integers(len(places))]
    form = f"{first}.{second}."
    word = _with_capital(tokens[place]) if random.random() < 0.5 else tokens[place]
    return (*tokens[:place], GoldToken(form, (form,), True), word, *tokens[place + 1 :])


def _is_word(token: GoldToken) -> bool:
    return token.form[0].islower() and len(token.form[0].upper()) == 1 and not token.expands


def _with_capital(token: GoldToken) -> GoldToken:
    first = token.form[0].upper()
    words = (first + token.words[0][1:], *token.words[1:])
    return replace(token, form=first + token.form[1:], words=words)


def _with_emoji(tokens: _Tokens, emoji: str) -> _Tokens:
    """Put an emoji after the last word, before the final mark if there is one."""
    *before, last = tokens
    if not before or last.form not in _MARKS:
        end = GoldToken(emoji, (emoji,), last.has_space)
        return (*before, replace(last, has_space=True), end)
    word = replace(before[-1], has_space=True)
    return (*before[:-1], word, GoldToken(emoji, (emoji,), False), last)
