"""Letters in ONNX are letters in PyTorch, and in int8 no word depends on those beside it."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor

from headwise.arrays import FloatArray
from headwise.learn.export.batches import bound_of, export_inputs
from headwise.learn.export.graphs import quantise
from headwise.learn.export.lstms import N_BOUNDS, gates_for_onnx, ignore_bounds, with_onnx_letters
from headwise.learn.export.model import Int8Prior
from headwise.model.graph import Graph
from headwise.network.inputs import Inputs
from headwise.settings.model import ModelConfig
from headwise.treebank.sentence import sentence_from_words
from headwise.vocabulary.encode import WordIds, encode
from headwise.vocabulary.letters import Letters
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.vocab import EMPTY_INDEX, Index, Vocab

CONFIG = ModelConfig(
    word_size=3, tag_column="none", letters=9, letter_size=6, letters_size=8, prior_size=5
)
FORMS = ["walks", "a", "walk" * 9, "ba", "ab", "\u0434\u043e\u043c", "Walks", "kk"]
SEEN = sentence_from_words(
    [("walks", "NOUN", "Number=Plur"), ("talk", "VERB", "_")], ["form", "upos", "feats"]
)
VOCAB = Vocab(
    Index(["a", "walks"]),
    EMPTY_INDEX,
    Index(["root"]),
    "none",
    alphabet=Letters("awlksb"),
    lexicon=build_lexicon(SEEN.words),
)


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    torch.manual_seed(1)
    made = Inputs(CONFIG, VOCAB).eval()
    with torch.no_grad():
        assert made.letters is not None
        made.letters.table.weight.mul_(3)
    return made


@pytest.fixture(scope="module")
def graphs(inputs: Inputs) -> dict[str, Graph]:
    plain = export_inputs(inputs, bound_of(inputs), is_int8=False)
    slim = copy.copy(inputs)
    assert inputs.prior is not None
    slim._modules = {**inputs._modules, "prior": Int8Prior(inputs.prior)}
    int8 = quantise(export_inputs(slim, bound_of(inputs), is_int8=True))
    return {"float32": Graph(plain, "float32"), "int8": Graph(int8, "int8")}


def x_of(graph: Graph, forms: list[str], width: int = 0) -> FloatArray:
    """Run a graph on words alone: x [words, s + 2], without ROOT."""
    ids = encode(sentence_from_words([(form,) for form in forms], ["form"]), VOCAB).ids
    feed = ids.by_name()
    more = max(0, width - feed["letters"].shape[1])
    feed["letters"] = np.pad(feed["letters"], ((0, 0), (0, more)))
    return graph.run(feed, len(forms) + 1)[0][1:]


def torch_x(inputs: Inputs, forms: list[str]) -> FloatArray:
    ids = encode(sentence_from_words([(form,) for form in forms], ["form"]), VOCAB).ids
    batch: WordIds[Tensor] = ids.map(lambda part: torch.from_numpy(part)[None])
    with torch.inference_mode():
        x: FloatArray = inputs(batch)[0, 1:].numpy()
    return x


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("int8", 0.06)])
def test_the_graph_reads_as_torch_does(
    precision: str, tolerance: float, inputs: Inputs, graphs: dict[str, Graph]
) -> None:
    found = x_of(graphs[precision], FORMS)
    assert found.shape == (len(FORMS), inputs.size + N_BOUNDS)
    np.testing.assert_allclose(found[:, :-N_BOUNDS], torch_x(inputs, FORMS), atol=tolerance)
    np.testing.assert_allclose(found[:, -N_BOUNDS], bound_of(inputs), rtol=1e-6)


def test_in_int8_other_words_and_padding_change_no_bit(graphs: dict[str, Graph]) -> None:
    together = x_of(graphs["int8"], FORMS, 40)
    for form, x in zip(FORMS, together, strict=True):
        assert x_of(graphs["int8"], [form])[0].tobytes() == x.tobytes()
    back = x_of(graphs["int8"], FORMS[::-1])[::-1]
    assert back.tobytes() == together.tobytes()


def test_a_copy_with_onnx_letters_leaves_the_network_as_it_was(inputs: Inputs) -> None:
    letters = inputs.letters
    copied = with_onnx_letters(inputs)
    assert copied.letters is not letters
    assert inputs.letters is letters
    assert copied.word is inputs.word
    assert with_onnx_letters(copied) is copied


def test_the_bound_of_x_has_room_for_letters_and_the_lexicon(inputs: Inputs) -> None:
    words = float(inputs.word.weight.detach().abs().max())
    assert bound_of(inputs) == max(1.0, words)
    small = Inputs(CONFIG, VOCAB)
    with torch.no_grad():
        small.word.weight.mul_(0.001)
    assert bound_of(small) == 1.0


def test_gates_change_their_order_and_bounds_have_no_weight() -> None:
    gates = gates_for_onnx(torch.arange(8.0))
    assert [gate.tolist() for gate in gates] == [[0, 1], [6, 7], [2, 3], [4, 5]]
    assert ignore_bounds(torch.ones(1, 4), 2).tolist() == [[1, 1, 0, 0, 1, 1, 0, 0]]
