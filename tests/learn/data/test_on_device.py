"""A selection from a treebank on the device is the batch of the same sentences."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from headwise.learn.data.on_device import put_on_device
from headwise.learn.data.treebanks import Data, load_data
from headwise.learn.fit.pretrained import read_encoder
from headwise.settings.recipe import Recipe
from headwise.vocabulary.encode import pad, stack_ids
from headwise.vocabulary.vocab import PAD

CPU = torch.device("cpu")


def load(recipe: Recipe) -> Data:
    encoder = recipe.model.encoder
    subwords = read_encoder(Path(encoder)) if encoder else None
    return load_data(recipe.data, recipe.model, recipe.train, subwords)


@pytest.fixture(
    scope="module", params=["tiny_recipe", "full_recipe", "marked_recipe", "encoder_recipe"]
)
def data(request: pytest.FixtureRequest) -> Data:
    return load(request.getfixturevalue(request.param))


@pytest.mark.parametrize("chosen", [[3, 1, 2], [5, 5]])
def test_a_selection_is_the_batch_of_the_same_sentences(chosen: list[int], data: Data) -> None:
    treebank = put_on_device(data.train, CPU)
    batch = stack_ids([data.train.encoded[i].ids for i in chosen])
    size = max(treebank.sizes[i] for i in chosen)
    ids, lengths, windows = treebank.batch(torch.tensor(chosen), size)
    assert ids.words.shape == (len(chosen), treebank.n_slots(size))
    if windows is None:
        assert treebank.sizes == [len(sentence) for sentence in data.train.encoded]
    else:
        assert windows.reads.shape == ids.words.shape
        assert windows.ids.shape[1] - size < 8
        laid = [sentence.windows for sentence in data.train.encoded]
        assert treebank.sizes == [one.ids.size for one in laid if one is not None]
    for own, expected in zip(ids.by_name().values(), batch.by_name().values(), strict=True):
        slots, width = expected.shape[1], expected.shape[-1]
        assert np.array_equal(own[:, :slots][..., :width].numpy(), expected)
        assert (own[:, slots:] == PAD).all()
        assert (own[..., width:] == PAD).all()
    assert lengths.tolist() == [len(data.train.encoded[i]) for i in chosen]
    labels = pad([gold.labels for gold in data.train.gold])
    assert np.array_equal(treebank.labels.numpy(), labels)
    assert len(treebank.gold_tags) == len(data.vocab.predicted)
    for i, gold in enumerate(data.train.gold):
        n = len(gold.heads)
        assert treebank.heads[i, :n].tolist() == [-1, *gold.heads[1:].tolist()]
        assert (treebank.heads[i, n:] == -1).all()
        for column, tags in zip(treebank.gold_tags, gold.tags, strict=True):
            assert column[i, :n].tolist() == tags.tolist()


def test_every_spelling_is_stored_once(full_recipe: Recipe, tmp_path: Path) -> None:
    twice = tmp_path / "twice.conllu"
    text = Path(full_recipe.data.train).read_text(encoding="utf-8")
    twice.write_text(text * 2, encoding="utf-8")
    doubled = msgspec.structs.replace(full_recipe.data, train=str(twice))
    recipe = msgspec.structs.replace(full_recipe, data=doubled)
    once, both = (put_on_device(load(r).train, CPU) for r in (full_recipe, recipe))
    assert torch.equal(once.ngrams, both.ngrams)
    assert len(both.ids.words) == 2 * len(once.ids.words)
