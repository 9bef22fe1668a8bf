"""Rows of characters: all of them, once, with what is around."""

import numpy as np

from headwise.learn.segment.batches import IGNORED, hide_characters, make_batches
from headwise.text.scan import FIRST_CHARACTER, make_alphabet


def test_batches_hold_every_character_once() -> None:
    random = np.random.default_rng(1)
    ids = np.arange(1, 101, dtype=np.int32)
    targets = np.stack([ids] * 3, axis=1).astype(np.int64)
    batches = list(make_batches(ids, targets, 3, (2, 8), random))
    kept = np.concatenate([batch.targets.reshape(-1, 3) for batch in batches])
    assert sorted(kept[kept[:, 0] != IGNORED, 0].tolist()) == ids.tolist()
    for batch in batches:
        middle = batch.ids[:, 3:-3]
        assert middle.shape == batch.targets.shape[:2]
        assert (middle == np.where(batch.targets[..., 0] == IGNORED, 0, middle)).all()
        assert ((middle == batch.targets[..., 0]) | (middle == 0)).all()


def test_hidden_characters_show_their_class() -> None:
    alphabet = make_alphabet("ab")
    ids = np.array([0, 3, FIRST_CHARACTER, FIRST_CHARACTER + 1] * 500, np.int32)
    hidden = hide_characters(ids, alphabet, 0.5, np.random.default_rng(1))
    is_changed = hidden != ids
    assert 400 < is_changed.sum() < 600
    assert (hidden[is_changed] == alphabet.classes[FIRST_CHARACTER]).all()
    assert not is_changed[ids < FIRST_CHARACTER].any()
