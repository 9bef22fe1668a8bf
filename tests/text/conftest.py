"""A segmenter with random weights: it cuts anywhere, yet its output must be well-formed."""

import pytest

from headwise.settings.training import SegmentConfig
from headwise.text.expand import Expansions
from headwise.text.scan import make_alphabet
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS, Segmenter

EXPANSIONS = Expansions(
    {"do": ("de", "o"), "im": ("in", "dem")},
    {"a": ("", "x"), "b-lo": ("r", "lo")},
    {"c": ("d", "")},
)


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    import torch

    from headwise.learn.segment.network import SegmentNetwork
    from headwise.learn.segment.train import TrainedSegmenter, export_segmenter

    torch.manual_seed(5)
    alphabet = make_alphabet(" .?!abcdefghijklmnopqrstuvwxyz")
    config = SegmentConfig(embedding_size=6, channels=8, layers=3)
    network = SegmentNetwork(config, alphabet)
    with torch.no_grad():
        for layer in (network.first, *network.layers, network.last):
            layer.weight.mul_(4)
        network.last.bias.copy_(torch.tensor([1.0, 0.0, 0.0, -0.5, -0.5]))
    return export_segmenter(TrainedSegmenter(network, alphabet, True, EXPANSIONS))


@pytest.fixture(scope="session")
def segmenter(files: dict[str, bytes]) -> Segmenter:
    return Segmenter(files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS])
