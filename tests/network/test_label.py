"""Labels and tags: distributions over real strings, and a loss of real strings."""

from typing import Any

import numpy as np
import pytest
import torch

from headwise.network.label import Labeller, Tagger, arc_features, label_loss
from headwise.vocabulary.features import Features
from headwise.vocabulary.vocab import EMPTY_INDEX, N_SPECIALS, PAD, ROOT, UNK, Index, Vocab


def test_labels_of_arcs_are_distributions() -> None:
    states, inputs = torch.arange(6.0).reshape(3, 2), 10 * torch.arange(3.0).reshape(3, 1)
    arcs = arc_features(states, inputs, torch.tensor([1, 2]), torch.tensor([2, 0]))
    assert arcs.tolist() == [[2, 3, 4, 5, 10, 20], [4, 5, 0, 1, 20, 0]]
    log_probs = Labeller(3, 6, N_SPECIALS + 2)(arcs).detach()
    assert log_probs.shape == (2, 2)
    np.testing.assert_allclose(log_probs.exp().sum(1), 1, rtol=1e-6)


def tagging(**columns: Any) -> Vocab:
    return Vocab(EMPTY_INDEX, EMPTY_INDEX, Index(["root"]), "none", **columns)


FEATURES = Features({"Case": ("Nom", "Acc", "Dat"), "Number": ("Sing",)})


def test_each_column_has_a_distribution_over_its_tags() -> None:
    vocab = tagging(
        predicted={"xpos": Index(["NN", "VB", "DT"]), "upos": Index(["NOUN", "VERB"])},
        rules=Index(["lower||", "keep||"]),
    )
    tagger = Tagger(6, 4, vocab)
    scores = tagger(torch.randn(2, 5, 4), torch.randn(2, 5, 2))
    assert [tuple(column.shape) for column in scores] == [(2, 5, 3), (2, 5, 2), (2, 5, 2)]
    for column in scores:
        torch.testing.assert_close(column.exp().sum(dim=-1), torch.ones(2, 5))
    state, word = torch.randn(4), torch.randn(2)
    hidden = torch.relu(tagger.hidden["upos"](torch.cat([state, word])))
    expected = torch.log_softmax(tagger.last["upos"](hidden), dim=0)
    torch.testing.assert_close(tagger(state, word)[1], expected)
    assert Tagger(6, 4, tagging())(torch.randn(1, 2, 4), torch.randn(1, 2, 2)) == []


def test_each_feature_has_a_distribution_over_its_own_values() -> None:
    tagger = Tagger(3, 4, tagging(features=FEATURES))
    (probs,) = (column.detach().exp() for column in tagger(torch.randn(5, 2), torch.randn(5, 1)))
    assert probs.shape == (5, 2, 4)
    torch.testing.assert_close(probs.sum(dim=-1), torch.ones(5, 2))
    assert (probs[:, 1, 2:] == 0).all()  # Number has one value
    assert (probs[:, 0] > 0).all()
    scores = torch.arange(6.0)  # those of Case, then those of Number
    log_probs = tagger.distribution("feats", scores)
    torch.testing.assert_close(log_probs[0], torch.log_softmax(scores[:4], dim=0))
    torch.testing.assert_close(log_probs[1, :2], torch.log_softmax(scores[4:], dim=0))


def test_a_column_is_divided_by_its_own_temperature() -> None:
    torch.manual_seed(1)
    tagger = Tagger(3, 4, tagging(features=FEATURES, rules=Index(["lower||", "keep||", "!be"])))
    given = torch.randn(5, 2), torch.randn(5, 1)
    feats, rules = (column.detach() for column in tagger(*given))
    tagger.divide_scores("lemma", 2.0)
    feats_after, rules_after = (column.detach() for column in tagger(*given))
    torch.testing.assert_close(feats_after, feats)
    torch.testing.assert_close(rules_after, torch.log_softmax(rules / 2, dim=-1))


def test_hidden_units_are_dropped_in_training_only() -> None:
    torch.manual_seed(1)
    tagger = Tagger(3, 50, tagging(rules=Index(["lower||", "keep||"])))
    given = torch.randn(5, 2), torch.randn(5, 1)
    tagger.dropout = 0.5
    assert not torch.equal(tagger(*given)[0], tagger(*given)[0])
    tagger.eval()
    assert torch.equal(tagger(*given)[0], tagger(*given)[0])


def test_the_loss_of_features_is_that_of_each_of_them() -> None:
    torch.manual_seed(3)
    scores = torch.randn(2, 3, 2, 4).log_softmax(-1)
    absent = N_SPECIALS
    gold = torch.tensor(
        [[[ROOT] * 2, [absent, absent + 1], [absent + 2, UNK]], [[ROOT] * 2, [PAD] * 2, [PAD] * 2]]
    )
    by_hand = scores[0, 1, 0, 0] + scores[0, 1, 1, 1] + scores[0, 2, 0, 2]
    torch.testing.assert_close(label_loss(scores, gold), -by_hand / 2)


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
