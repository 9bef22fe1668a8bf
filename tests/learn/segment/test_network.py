"""A score depends on the characters in reach, and on no others."""

import torch

from headwise.learn.segment.network import SegmentNetwork
from headwise.settings.training import SegmentConfig
from headwise.text.scan import make_alphabet


def test_reach_is_how_far_the_network_sees() -> None:
    torch.manual_seed(1)
    alphabet = make_alphabet("ab")
    network = SegmentNetwork(SegmentConfig(channels=8, layers=3), alphabet).eval()
    assert network.reach == 2 + 1 + 2 + 4
    ids = torch.randint(1, alphabet.size, (1, 61))
    scores = network(ids)[0]
    for position in (0, 30, 60):
        other = ids.clone()
        other[0, position] = alphabet.size - int(ids[0, position])
        is_changed = (network(other)[0] != scores).any(dim=1).nonzero().flatten() + network.reach
        assert (is_changed - position).abs().max() == network.reach
