"""Our forward pass of MPNet gives what that of transformers gives."""

from pathlib import Path
from typing import Any

import pytest
import torch
from made_encoders import N_IDS, write_mpnet
from torch import Tensor

from headwise.learn.fit.pretrained import read_encoder, set_weights
from headwise.network.encoder import Encoder
from headwise.network.mpnet import distance_buckets

LENGTHS = torch.tensor([150, 149, 40, 1])
MASK = torch.arange(150) < LENGTHS[:, None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    path = tmp_path_factory.mktemp("encoders") / "mpnet"
    return write_mpnet(path, initializer_range=0.5, **none)


@pytest.fixture
def encoder(folder: Path) -> Encoder:
    made = Encoder(read_encoder(folder).settings)
    set_weights(made, folder)
    return made


@pytest.fixture
def ids() -> Tensor:
    return torch.randint(2, N_IDS, MASK.shape, generator=torch.Generator().manual_seed(1))


def own_states(model: Any, ids: Tensor) -> Tensor:
    states: Tensor = model(input_ids=ids, attention_mask=MASK.long()).last_hidden_state
    return states


def test_buckets_are_those_of_transformers() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    distances = torch.arange(-511, 512)
    expected = MPNetEncoder.relative_position_bucket(distances)
    assert torch.equal(distance_buckets(512), expected)
    assert distance_buckets(3).tolist() == [2, 1, 0, 17, 18]


def test_a_window_is_as_long_as_there_are_positions(folder: Path) -> None:
    assert read_encoder(folder).settings.window == 150


@pytest.mark.parametrize("fused", [True, False])
def test_states_and_gradients_are_those_of_transformers(
    fused: bool, encoder: Encoder, ids: Tensor
) -> None:
    read = encoder if fused else encoder.for_export()
    assert read.fused is fused
    gradients = []
    found, expected = read.states(ids, MASK)[MASK], own_states(encoder.model, ids)[MASK]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for states, network in ((found, read), (expected, encoder)):
        for weight in network.parameters():
            weight.grad = None
        (states * torch.linspace(-1, 1, states.numel()).view_as(states)).sum().backward()
        gradients.append(
            {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
        )
    assert gradients[0].keys() == gradients[1].keys() == dict(encoder.named_parameters()).keys()
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], atol=2e-3, rtol=1e-3, msg=name)


def test_what_is_ahead_is_told_from_what_is_behind(encoder: Encoder, ids: Tensor) -> None:
    before = encoder.states(ids, MASK)
    biases = encoder.model.encoder.relative_attention_bias.weight
    with torch.no_grad():
        biases.copy_(biases.roll(16, 0))
    assert (encoder.states(ids, MASK) - before)[MASK].abs().max() > 0.1


def test_bfloat16_is_close(encoder: Encoder, ids: Tensor) -> None:
    exact = encoder.states(ids, MASK)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = encoder.states(ids, MASK)
    assert (rounded.float() - exact)[MASK].abs().max() < 0.3
    assert (rounded.float() - exact)[MASK].abs().mean() < 0.03


def test_dropout_is_drawn_in_training_only(encoder: Encoder, ids: Tensor) -> None:
    for layer in encoder.model.encoder.layer:
        layer.attention.attn.dropout.p = 0.5
    encoder.eval()
    assert torch.equal(encoder.states(ids, MASK), encoder.states(ids, MASK))
    encoder.train()
    for read in (encoder, encoder.for_export()):
        assert not torch.equal(read.states(ids, MASK), read.states(ids, MASK))


def test_buckets_are_no_weights(encoder: Encoder, folder: Path) -> None:
    from transformers import AutoModel

    own = AutoModel.from_pretrained(folder).state_dict()
    assert {f"model.{n}" for n in own if not n.startswith("pooler.")} == encoder.state_dict().keys()
