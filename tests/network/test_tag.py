"""Tags out of the representation: distributions over real tags, and a loss of real tags."""

import pytest
import torch

from headwise.network.tag import Tagger, tag_loss
from headwise.vocabulary.vocab import N_SPECIALS, PAD, ROOT, UNK, Index

PREDICTED = {"xpos": Index(["NN", "VB", "DT"]), "upos": Index(["NOUN", "VERB"])}


def test_each_column_has_a_distribution_over_its_tags() -> None:
    tagger = Tagger(6, PREDICTED)  # type: ignore[arg-type]
    told = tagger(torch.randn(2, 5, 6))
    assert [tuple(scores.shape) for scores in told] == [(2, 5, 3), (2, 5, 2)]
    for scores in told:
        torch.testing.assert_close(scores.exp().sum(dim=-1), torch.ones(2, 5))
    layer = tagger.columns["upos"]
    state = torch.randn(6)
    torch.testing.assert_close(tagger(state)[1], torch.log_softmax(layer(state), dim=0))


def test_a_model_that_predicts_nothing_has_no_columns() -> None:
    assert Tagger(6, {})(torch.randn(1, 2, 6)) == []


def test_loss_counts_real_tags_only_and_is_divided_by_sentences() -> None:
    torch.manual_seed(3)
    xpos, upos = (torch.randn(2, 4, n).log_softmax(-1).requires_grad_() for n in (3, 2))
    gold_xpos = torch.tensor([[ROOT, 3, 5, UNK], [ROOT, 4, PAD, PAD]])
    gold_upos = torch.tensor([[ROOT, UNK, 4, 3], [ROOT, 3, PAD, PAD]])
    loss = tag_loss([xpos, upos], [gold_xpos, gold_upos])
    by_hand = xpos[0, 1, 0] + xpos[0, 2, 2] + xpos[1, 1, 1]
    by_hand = by_hand + upos[0, 2, 1] + upos[0, 3, 0] + upos[1, 1, 0]
    assert loss.item() == pytest.approx(-by_hand.item() / 2, rel=1e-6)
    loss.backward()  # type: ignore[no-untyped-call]
    assert xpos.grad is not None
    assert torch.equal(xpos.grad.any(dim=-1), gold_xpos >= N_SPECIALS)


def test_sentences_of_unknown_tags_cost_nothing() -> None:
    scores = torch.randn(2, 3, 3).log_softmax(-1)
    assert tag_loss([scores], [torch.full((2, 3), UNK)]) == 0
