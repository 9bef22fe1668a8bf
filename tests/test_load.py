"""`headwise.load`, and what is passed to a parser by mistake."""

import io
from pathlib import Path
from typing import Any

import pytest

import headwise
from headwise.errors import ConfigError
from headwise.learn.scorer import TorchScorer
from headwise.model.bundle import load_bundle
from headwise.model.find import find_model
from headwise.runtime.scorer import BatchScorer
from headwise.settings.parsing import DecodeConfig, columns_to_keep


def test_the_cpu_needs_nothing_else() -> None:
    parser = headwise.load(load_bundle(find_model("en")), keep_tags=True)
    assert isinstance(parser.scorer, BatchScorer)
    assert parser.settings.keep == ("upos", "xpos")


@pytest.mark.parametrize("keep", ["heads, lemma,upos", ["heads", "upos", "lemma", "upos"]])
def test_columns_to_keep_are_a_list_or_a_string(keep: Any) -> None:
    assert columns_to_keep(keep) == ("lemma", "upos", "heads")
    assert columns_to_keep("feats", keep_tags=True) == ("upos", "xpos", "feats")
    assert columns_to_keep("") == columns_to_keep([]) == ()


def test_other_devices_are_those_of_torch(tiny_run: Path) -> None:
    parser = headwise.load(tiny_run, device="cpu:0")
    assert isinstance(parser.scorer, TorchScorer)
    assert parser.settings.look_ahead == 1  # it sorts its chunks by itself


def test_impossible_values_are_refused() -> None:
    with pytest.raises(ConfigError, match="decode: Invalid enum value 'best'"):
        headwise.load(decode=DecodeConfig(decoder="best"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="keep: there is no column 'head'"):
        headwise.load(keep="lemma,head")
    with pytest.raises(ConfigError, match="memory_budget is -5"):
        headwise.load(memory_budget=-5)
    with pytest.raises(ConfigError, match="threads is 0"):
        list(headwise.load().annotate_text("Kids play.", threads=0))
    with pytest.raises(ConfigError, match="on_error is 'ignore'"):
        list(headwise.read_conllu(io.BytesIO(), on_error="ignore"))  # type: ignore[arg-type]


def test_what_is_often_passed_by_mistake_is_refused() -> None:
    parser = headwise.load()
    ((sentence, _),) = parser.annotate_text("Kids love candy.")
    for wrong in ("Kids love candy.", sentence):
        with pytest.raises(TypeError, match=r"for text there is annotate_text"):
            next(parser.annotate(wrong))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="decode bytes first"):
        next(parser.annotate_text(b"Kids"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"parse\(\[sentence\]\)"):
        parser.parse(sentence)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="show takes a sentence"):
        headwise.show("Kids")  # type: ignore[arg-type]
