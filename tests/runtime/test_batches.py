"""Sentences side by side: no sentence can tell its company, bit for bit."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise import Sentence
from headwise.errors import ModelError
from headwise.model.bundle import Bundle, load_bundle
from headwise.runtime.batches import BATCH, BATCH_SLOTS, BatchScorer, batches, load_scorer
from headwise.runtime.scorer import Selection
from headwise.vocabulary.encode import encode


@pytest.fixture(scope="module", params=["tiny_run", "full_run", "marked_run"])
def bundle(request: pytest.FixtureRequest) -> Bundle:
    folder: Path = request.getfixturevalue(request.param)
    return load_bundle(folder / "model")


@pytest.fixture(scope="module", params=["int8", "float32"])
def scorer(request: pytest.FixtureRequest, bundle: Bundle) -> BatchScorer:
    loaded = load_scorer(bundle, request.param)
    assert isinstance(loaded, BatchScorer)
    return loaded


def assert_same(one: Selection, other: Selection) -> None:
    assert one.head_log_probs.tobytes() == other.head_log_probs.tobytes()
    assert one.features.tobytes() == other.features.tobytes()
    assert [tags.tolist() for tags in one.tags] == [tags.tolist() for tags in other.tags]


def test_company_changes_nothing(scorer: BatchScorer, ewt_sentences: list[Sentence]) -> None:
    together = scorer.select(ewt_sentences)
    assert len({len(sentence) for sentence in ewt_sentences}) > 10
    heads = [selection.head_log_probs.argmax(1).astype(np.int32) for selection in together]
    labels = scorer.label(together, heads)
    for i, (sentence, selection) in enumerate(zip(ewt_sentences, together, strict=True)):
        (alone,) = scorer.select([sentence])
        assert_same(alone, selection)
        (ours,) = scorer.label([alone], [heads[i]])
        assert ours.tobytes() == labels[i].tobytes()
    assert scorer.label([], []) == []


def test_order_and_threads_change_nothing(
    scorer: BatchScorer, ewt_sentences: list[Sentence]
) -> None:
    once = scorer.select(ewt_sentences)
    back = scorer.select(ewt_sentences[::-1])[::-1]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(scorer.select, [ewt_sentences[i::4] for i in range(4)]))
    for i, selection in enumerate(once):
        assert_same(back[i], selection)
        assert_same(parts[i % 4][i // 4], selection)


def test_ids_do_as_well_as_words(
    scorer: BatchScorer, bundle: Bundle, ewt_sentences: list[Sentence]
) -> None:
    mixed = [encode(s, bundle.vocab) if i % 2 else s for i, s in enumerate(ewt_sentences)]
    for one, other in zip(scorer.select(mixed), scorer.select(ewt_sentences), strict=True):
        np.testing.assert_allclose(one.head_log_probs, other.head_log_probs, atol=1e-3)
    assert scorer.select([]) == []


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 3 * BATCH_SLOTS), max_size=60))
def test_batches_hold_each_sentence_once(lengths: list[int]) -> None:
    made = list(batches(lengths, BATCH))
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        own = [lengths[i] for i in batch]
        assert own == sorted(own)
        assert len(batch) <= BATCH
        assert len(batch) == 1 or len(batch) * own[-1] <= BATCH_SLOTS
        assert own[-1] <= 1.25 * own[0] + 1


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"v_a": ["x"]}', b"\xff", b'{"v_a": [1.0]}'])
def test_weights_that_are_none_are_refused(data: bytes, tiny_run: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny_run / "model", tmp_path / "model"))
    (model / "select.json").write_bytes(data)
    manifest = json.loads((model / "model.json").read_text())
    manifest["files"]["select.json"] = {"size": len(data), "sha256": sha256(data).hexdigest()}
    (model / "model.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelError):
        load_scorer(load_bundle(model))
