"""Sentences changed at random for training."""

import re

import numpy as np

from headwise import Sentence
from headwise.learn.segment.data import GoldSentence, GoldToken, encode_sentence, gold_sentences
from headwise.learn.segment.vary import vary_sentence
from headwise.settings.training import SegmentConfig
from headwise.text.scan import TOKEN_END, WORD_END
from headwise.text.symbols import to_text

ALMOST_ALWAYS = 1 - 1e-9
NEVER = {"apostrophes": 0.0, "abbreviations": 0.0, "emoji": 0.0}


def token(form: str, *words: str, has_space: bool = True) -> GoldToken:
    return GoldToken(form, words or (form,), has_space)


DONT = token("Don't", "Do", "n't")
STOP = token(".", has_space=False)
ADVICE = GoldSentence(
    (DONT, token("feed"), token("e.g."), token("dogs", has_space=False), STOP), True
)


def varied(sentence: GoldSentence, **shares: float) -> GoldSentence:
    config = SegmentConfig(**(NEVER | shares))
    return vary_sentence(sentence, config, np.random.default_rng(1))


def test_a_contraction_stays_two_words_without_its_apostrophe() -> None:
    changed = encode_sentence(varied(ADVICE, apostrophes=ALMOST_ALWAYS))
    assert to_text(changed.codes[:4]) == "Dont"
    assert changed.labels[:4].tolist() == [0, WORD_END, 0, TOKEN_END]


def test_a_word_that_is_only_an_apostrophe_keeps_it() -> None:
    sentence = GoldSentence((token("dogs'", "dogs", "'"), token("bowls")), True)
    assert varied(sentence, apostrophes=ALMOST_ALWAYS) == sentence


def test_an_emoji_stands_before_the_last_mark() -> None:
    *before, emoji, mark = varied(ADVICE, emoji=ALMOST_ALWAYS).tokens
    assert [t.form for t in before] == ["Don't", "feed", "e.g.", "dogs"]
    assert before[-1].has_space
    assert not emoji.form.isalnum()
    assert not emoji.has_space
    assert mark == STOP


def test_an_emoji_comes_last_where_there_is_no_mark() -> None:
    sentence = GoldSentence((token("So"), token("good", has_space=False)), True)
    so, good, emoji = varied(sentence, emoji=ALMOST_ALWAYS).tokens
    assert (so.form, good.form, good.has_space, emoji.has_space) == ("So", "good", True, False)


def test_an_abbreviation_stands_before_a_word_with_or_without_a_capital() -> None:
    config = SegmentConfig(**(NEVER | {"abbreviations": ALMOST_ALWAYS}))
    random = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        forms = [t.form for t in vary_sentence(ADVICE, config, random).tokens]
        place = next(i for i, form in enumerate(forms) if re.fullmatch(r"[dfe]\.[dfe]\.", form))
        seen.add(forms.pop(place + 1))
        assert forms[:place] == [t.form for t in ADVICE.tokens[:place]]
    assert seen == {"feed", "Feed", "e.g.", "E.g.", "dogs", "Dogs"}


def test_a_script_without_capitals_gets_no_abbreviation() -> None:
    sentence = GoldSentence((token("我", has_space=True), token("走"), STOP), True)
    assert varied(sentence, abbreviations=ALMOST_ALWAYS) == sentence


def test_without_changes_the_sentence_is_the_same(ewt_sentences: list[Sentence]) -> None:
    for sentence in gold_sentences(ewt_sentences):
        assert varied(sentence) is sentence


def test_changes_keep_tokens_consistent(ewt_sentences: list[Sentence]) -> None:
    shares = dict.fromkeys(NEVER, 0.5)
    random = np.random.default_rng(1)
    n_changed = 0
    for sentence in gold_sentences(ewt_sentences):
        changed = vary_sentence(sentence, SegmentConfig(**shares), random)
        n_changed += changed != sentence
        assert changed.starts_paragraph == sentence.starts_paragraph
        for old, new in zip(sentence.tokens, changed.tokens, strict=False):
            if len(old.words) == len(new.words) and not new.expands:
                assert "".join(new.words) == new.form
        encode_sentence(changed)
    assert n_changed > 30
