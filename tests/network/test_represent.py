"""What is dropped between layers: anew at each word, or the same throughout a sentence."""

import pytest
import torch

from headwise.network.represent import BiLstm
from headwise.settings.model import ModelConfig

CONFIG = ModelConfig(word_size=5, hidden_size=4, layers=2, stacks="interleaved")


def made(**settings: object) -> BiLstm:
    torch.manual_seed(1)
    represent = BiLstm(CONFIG, 8)
    for name, value in settings.items():
        setattr(represent, name, value)
    return represent.train()


def test_dropout_is_drawn_anew_at_each_word_or_locked_in_a_sentence() -> None:
    assert len(made(dropout=0.5)._drop(torch.ones(1, 60, 8))[0].unique(dim=0)) > 20
    dropped = made(dropout=0.5, locked=True)._drop(torch.ones(30, 6, 8))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert len(dropped[:, 0].unique(dim=0)) > 10
    assert set(dropped.flatten().tolist()) == {0.0, 2.0}


def test_locked_dropout_drops_some_of_a_as_well() -> None:
    represent = made(dropout=0.5, locked=True)
    states = represent(torch.randn(20, 6, 8), None)
    is_dropped = states == 0
    assert torch.equal(is_dropped, is_dropped[:, :1].expand_as(is_dropped))
    assert 0.3 < is_dropped.float().mean() < 0.7
    represent.locked = False
    assert (represent(torch.randn(20, 6, 8), None) != 0).all()


def test_nothing_is_dropped_when_parsing() -> None:
    represent = made(dropout=0.5, locked=True, recurrent_dropout=0.3).eval()
    x = torch.randn(2, 6, 8)
    before = represent(x, None)
    represent.locked, represent.dropout, represent.recurrent_dropout = False, 0.0, 0.0
    assert torch.equal(represent(x, None), before)


def test_without_recurrent_dropout_the_plain_lstm_gives_the_same() -> None:
    x, lengths = torch.randn(2, 6, 8), torch.tensor([6, 4])
    represent = made()
    plain = represent(x, lengths)
    represent.recurrent_dropout = 1e-12  # takes the other way, and drops nothing
    other = represent(x, lengths)
    torch.testing.assert_close(plain[0], other[0])
    torch.testing.assert_close(plain[1, :4], other[1, :4])


@pytest.mark.parametrize("locked", [False, True])
def test_without_layers_words_are_represented_by_their_inputs(locked: bool) -> None:
    represent = BiLstm(ModelConfig(layers=0, encoder="bert", hidden_size=4), 8)
    represent.dropout, represent.locked = 0.5, locked
    inputs = torch.ones(3, 5, 8)
    assert represent.size == 8
    assert set(represent(inputs, torch.tensor([5, 4, 2])).flatten().tolist()) == {0.0, 2.0}
    assert torch.equal(represent.eval()(inputs, None), inputs)
