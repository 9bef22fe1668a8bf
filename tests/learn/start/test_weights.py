"""Weights are moved by the names of what they stand for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_runs import changed

from headwise.learn.data.treebanks import load_data
from headwise.learn.start.weights import name_axes, take_weights
from headwise.network.network import Network, build_network
from headwise.settings.recipe import Recipe
from headwise.vocabulary.features import Features
from headwise.vocabulary.letters import Letters
from headwise.vocabulary.vocab import Index, Vocab

ALL: dict[str, object] = {
    "predicted_tags": ["upos", "xpos", "feats", "lemma"],
    "letters": 8,
    "letter_size": 4,
    "letters_size": 6,
    "prior_size": 5,
    "marks": ("feats", "treebank"),
    "mark_size": 4,
}


def made(recipe: Recipe, vocab: Vocab, seed: int) -> Network:
    train = changed(recipe, train={"seed": seed}).train
    return build_network(recipe.model, vocab, train, recipe.label, torch.device("cpu"))


def turned(vocab: Vocab) -> Vocab:
    """The same strings in the opposite order."""

    def turn(index: Index) -> Index:
        return Index(index.strings[::-1])

    assert vocab.features is not None
    assert vocab.rules is not None
    return replace(
        vocab,
        words=turn(vocab.words),
        labels=turn(vocab.labels),
        marks=turn(vocab.marks),
        predicted={column: turn(index) for column, index in vocab.predicted.items()},
        rules=turn(vocab.rules),
        alphabet=Letters(vocab.alphabet.letters[::-1]),
        features=Features(
            {name: values[::-1] for name, values in vocab.features.values.items()},
            vocab.features.allowed,
        ),
    )


@pytest.fixture(scope="module")
def recipe(full_recipe: Recipe) -> Recipe:
    return changed(full_recipe, model=ALL)


@pytest.fixture(scope="module")
def vocab(recipe: Recipe) -> Vocab:
    return load_data(recipe.data, recipe.model, recipe.train).vocab


def test_names_fit_the_tensors_and_are_distinct(recipe: Recipe, vocab: Vocab) -> None:
    network = made(recipe, vocab, 1)
    axes = name_axes(network, vocab)
    named = {name: axes[name] for name, _ in network.named_parameters() if name in axes}
    assert len(named) == len(axes) - 1  # no tags are read
    for name, parameter in network.named_parameters():
        for size, names in zip(parameter.shape, named.get(name, ()), strict=False):
            assert names is None or len(names) == len(set(names)) == size, name


def test_the_order_of_strings_does_not_matter(recipe: Recipe, vocab: Vocab) -> None:
    old, new = made(recipe, vocab, 1), made(recipe, turned(vocab), 2)
    rows, _, anew, unused = take_weights(new, turned(vocab), old, vocab)
    assert (anew, unused) == ([], [])
    assert all(known == n for known, n in rows.values())
    assert not torch.equal(old.label.last.bias, new.label.last.bias)
    back = made(recipe, vocab, 3)
    take_weights(back, vocab, new, turned(vocab))
    for name, parameter in back.named_parameters():
        assert torch.equal(parameter, old.get_parameter(name)), name


def test_new_strings_and_parts_are_drawn_and_others_found(recipe: Recipe, vocab: Vocab) -> None:
    words = Index(["neverseen", *vocab.words.strings[5:]])
    smaller = replace(vocab, words=words, mark_columns=(), marks=Index(()))
    without_marks = changed(recipe, model={"marks": (), "letters_size": 7})
    old, new = made(recipe, vocab, 1), made(without_marks, smaller, 2)
    drawn = made(without_marks, smaller, 2)
    rows, _, anew, unused = take_weights(new, smaller, old, vocab)
    assert rows["words"] == (len(words.strings) - 1, len(words.strings))
    assert anew == ["inputs.letters.out.weight", "inputs.letters.out.bias"]
    assert unused == ["inputs.mark.table.weight"]
    at = words.id_of("neverseen")
    assert torch.equal(new.inputs.word.weight[at], drawn.inputs.word.weight[at])
    some = words.strings[1]
    known = old.inputs.word.weight[vocab.words.id_of(some)]
    assert torch.equal(new.inputs.word.weight[words.id_of(some)], known)
    # Columns of the LSTM are found by the part of the input that they read.
    lstm, old_lstm, drawn_lstm = (
        network.get_parameter("represent.forward_stack.0.weight_ih_l0")
        for network in (new, old, drawn)
    )
    starts = {
        name: np.cumsum([0, *network.inputs.part_sizes.values()])
        for name, network in (("new", new), ("old", old))
    }
    for i, (part, size) in enumerate(new.inputs.part_sizes.items()):
        mine = lstm[:, starts["new"][i] : starts["new"][i] + size]
        if part == "letters":
            assert torch.equal(mine, drawn_lstm[:, starts["new"][i] : starts["new"][i] + size])
        else:
            j = starts["old"][list(old.inputs.part_sizes).index(part)]
            assert torch.equal(mine, old_lstm[:, j : j + size]), part


def test_other_sizes_start_anew(recipe: Recipe, vocab: Vocab) -> None:
    larger = changed(recipe, model={"hidden_size": 40})
    old, new, drawn = made(recipe, vocab, 1), made(larger, vocab, 2), made(larger, vocab, 2)
    _, _, anew, _ = take_weights(new, vocab, old, vocab)
    assert "represent.forward_stack.0.weight_ih_l0" in anew
    assert torch.equal(new.select.U_a.weight, drawn.select.U_a.weight)
    assert torch.equal(new.inputs.word.weight, old.inputs.word.weight)


def test_fixed_and_skipped_weights_stay(recipe: Recipe, vocab: Vocab) -> None:
    old, new, drawn = (made(recipe, vocab, seed) for seed in (1, 2, 2))
    fixed = np.zeros(len(vocab.words), np.bool_)
    fixed[7] = True
    take_weights(new, vocab, old, vocab, {"label.last.bias"}, fixed)
    assert torch.equal(new.label.last.bias, drawn.label.last.bias)
    assert torch.equal(new.inputs.word.weight[7], drawn.inputs.word.weight[7])
    assert torch.equal(new.inputs.word.weight[8], old.inputs.word.weight[8])


def test_a_model_folder_is_read_by_its_own_vocabulary(full_run: Path) -> None:
    from headwise.learn.scorer import load_network
    from headwise.model.bundle import load_bundle

    bundle = load_bundle(full_run / "model")
    network = load_network(bundle, torch.device("cpu"))
    assert name_axes(network, bundle.vocab)["label.last.bias"] == (bundle.vocab.labels.strings,)
