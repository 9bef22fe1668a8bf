"""Labels and tags: distributions over real strings, and a loss of real strings."""

import numpy as np
import pytest
import torch

from headwise.network.label import Labeller, Tagger, arc_features, label_loss
from headwise.vocabulary.vocab import N_SPECIALS, PAD, ROOT, UNK, Index


def test_labels_of_arcs_are_distributions() -> None:
    states, inputs = torch.arange(6.0).reshape(3, 2), 10 * torch.arange(3.0).reshape(3, 1)
    arcs = arc_features(states, inputs, torch.tensor([1, 2]), torch.tensor([2, 0]))
    assert arcs.tolist() == [[2, 3, 4, 5, 10, 20], [4, 5, 0, 1, 20, 0]]
    log_probs = Labeller(3, 6, N_SPECIALS + 2)(arcs).detach()
    assert log_probs.shape == (2, 2)
    np.testing.assert_allclose(log_probs.exp().sum(1), 1, rtol=1e-6)


def test_each_column_has_a_distribution_over_its_tags() -> None:
    tagger = Tagger(6, {"xpos": Index(["NN", "VB", "DT"]), "upos": Index(["NOUN", "VERB"])})
    scores = tagger(torch.randn(2, 5, 6))
    assert [tuple(column.shape) for column in scores] == [(2, 5, 3), (2, 5, 2)]
    for column in scores:
        torch.testing.assert_close(column.exp().sum(dim=-1), torch.ones(2, 5))
    state = torch.randn(6)
    expected = torch.log_softmax(tagger.columns["upos"](state), dim=0)
    torch.testing.assert_close(tagger(state)[1], expected)
    assert Tagger(6, {})(torch.randn(1, 2, 6)) == []


def test_loss_counts_real_strings_only_and_is_divided_by_sentences() -> None:
    torch.manual_seed(3)
    scores = torch.randn(2, 4, 3).log_softmax(-1).requires_grad_()
    gold = torch.tensor([[ROOT, 3, 5, UNK], [ROOT, 4, PAD, PAD]])
    loss = label_loss(scores, gold)
    by_hand = scores[0, 1, 0] + scores[0, 2, 2] + scores[1, 1, 1]
    assert loss.item() == pytest.approx(-by_hand.item() / 2, rel=1e-6)
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert torch.equal(scores.grad.any(dim=-1), gold >= N_SPECIALS)
    assert label_loss(scores, torch.full((2, 4), UNK)) == 0
