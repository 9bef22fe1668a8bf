"""A transformer reads each word where it stands; padding and batch mates change nothing."""

import sys
from pathlib import Path

import msgspec
import pytest
import torch
from made_encoders import settings
from torch import Tensor

from headwise.errors import ConfigError, HeadwiseError, install
from headwise.learn.fit.pretrained import read_encoder, set_weights
from headwise.network.encoder import PLAIN_KINDS, Encoder, put_windows, store_windows
from headwise.vocabulary.subwords import Subwords, Windows

CPU = torch.device("cpu")
FORMS = [
    ["Kids", "love", "candy"],
    ["loving"] * 20,
    ["the"],
    ["a", "somewhat", "longer", "one", "!"],
]


@pytest.fixture(scope="module")
def subwords(some_encoder: Path) -> Subwords:
    return read_encoder(some_encoder)


@pytest.fixture(scope="module")
def encoder(some_encoder: Path, subwords: Subwords) -> Encoder:
    made = Encoder(subwords.settings)
    set_weights(made, some_encoder)
    return made.eval()


@pytest.fixture(scope="module")
def laid(subwords: Subwords) -> list[Windows]:
    return [subwords.windows_of(forms) for forms in FORMS]


def read(encoder: Encoder, sentences: list[Windows]) -> Tensor:
    with torch.inference_mode():
        states: Tensor = encoder(put_windows(sentences, 21, CPU))
    return states


def test_a_word_has_the_state_of_its_first_subword(encoder: Encoder, laid: list[Windows]) -> None:
    assert [len(windows.ids) for windows in laid] == [1, 4, 1, 1]
    found = read(encoder, laid)
    assert found.shape == (4, 21, 16)
    for windows, states in zip(laid, found, strict=True):
        ids = torch.from_numpy(windows.ids).long()
        with torch.inference_mode():
            alone = encoder.model(input_ids=ids).last_hidden_state.flatten(0, 1)
        expected = alone[torch.from_numpy(windows.reads).long()]
        torch.testing.assert_close(states[: len(expected)], expected, atol=1e-5, rtol=1e-4)


def test_padding_and_batch_mates_change_nothing(encoder: Encoder, laid: list[Windows]) -> None:
    together, turned = read(encoder, laid), read(encoder, laid[::-1])
    for i, windows in enumerate(laid):
        n = len(windows.reads)
        alone = read(encoder, [windows])[0, :n]
        for states in (together[i, :n], turned[3 - i, :n]):
            torch.testing.assert_close(states, alone, atol=1e-5, rtol=1e-4)


def plain_encoder(kind: str) -> Encoder:
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2}
    if kind == "distilbert":
        sizes = {"dim": 16, "n_heads": 2, "n_layers": 2, "hidden_dim": 24}
    network = {"model_type": kind, "vocab_size": 50, "max_position_embeddings": 40, **sizes}
    torch.manual_seed(1)
    made = Encoder(settings(network=network, n_ids=50, size=16)).eval()
    assert made.is_plain
    return made


MASK = torch.arange(8) < torch.tensor([8, 5, 1])[:, None]


@pytest.mark.parametrize("kind", PLAIN_KINDS)
def test_plain_kinds_take_vectors_and_a_mask_as_it_is_added(kind: str) -> None:
    """Their own way of making it waits for a GPU, so that no step could be recorded."""
    made = plain_encoder(kind)
    ids = torch.randint(3, 50, (3, 8))
    with torch.inference_mode():
        expected = made.model(input_ids=ids, attention_mask=MASK.long()).last_hidden_state
        torch.testing.assert_close(made.states(ids, MASK)[MASK], expected[MASK])
        exported = made.for_export()
        torch.testing.assert_close(exported.read(made.embed(ids), MASK)[MASK], expected[MASK])
    assert made.fused
    assert not exported.fused
    assert made.is_mpnet or made.model.config._attn_implementation == "sdpa"
    assert exported.model.config._attn_implementation == "eager"


@pytest.mark.parametrize("kind", PLAIN_KINDS)
def test_no_step_of_a_plain_kind_depends_on_values(kind: str) -> None:
    """A value that decides what runs next would have to be waited for on a GPU."""
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    made = plain_encoder(kind).train()
    with FakeTensorMode(allow_non_fake_inputs=True) as without_values:
        ids, mask = without_values.from_tensor(torch.ones(3, 8).long()), MASK
        made.states(ids, without_values.from_tensor(mask)).sum().backward()  # type: ignore[no-untyped-call]
        with pytest.raises(DataDependentOutputException):
            bool(ids.all())


def test_what_is_stored_is_selected_in_a_shape_that_the_size_decides(
    encoder: Encoder, laid: list[Windows]
) -> None:
    stored = store_windows(laid, CPU)
    whole = read(encoder, laid)
    assert stored.sizes == [windows.ids.size for windows in laid]
    shapes = {}
    for chosen in ([0, 2], [2, 2], [3, 1], [1, 0, 3], [0, 2, 3]):
        largest = max(stored.sizes[i] for i in chosen)
        for size in (largest, largest + 3):  # batches are rounded up
            windows = stored.select(torch.tensor(chosen), size)
            assert windows.mask.any(dim=1).all()
            shapes[len(chosen), size] = windows.ids.shape
            with torch.inference_mode():
                states = encoder(windows)
            for row, i in zip(states, chosen, strict=True):
                n = len(laid[i].reads)
                torch.testing.assert_close(row[:n], whole[i, :n], atol=1e-5, rtol=1e-4)
    assert stored.sizes == [5, 4 * 39, 3, 21]
    assert shapes[2, 5] == shapes[2, 8] == (2, 8)  # padded to a multiple of 8
    assert shapes[3, 21] == shapes[3, 24] == (3, 24)
    assert shapes[2, 4 * 39] == shapes[2, 4 * 39 + 3] == (8, 39)  # never beyond the widest


def test_a_transformer_that_cannot_be_built_is_refused(subwords: Subwords) -> None:
    own = subwords.settings.network
    for network, what in (
        ({"model_type": "no-such-model"}, "not the configuration"),
        ({}, "not the configuration"),
        (own | {"num_attention_heads": 3}, "cannot build the encoder"),
        (own | {"hidden_size": 32}, "do not match its network"),
        (own | {"num_hidden_layers": 10**9}, "num_hidden_layers is too large"),
    ):
        changed = msgspec.structs.replace(subwords.settings, network=network)
        with pytest.raises(HeadwiseError, match=what):
            Encoder(changed)


def test_settings_never_name_code(subwords: Subwords) -> None:
    code = {"auto_map": {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}}
    changed = msgspec.structs.replace(subwords.settings, network=subwords.settings.network | code)
    assert type(Encoder(changed).model).__name__ == "BertModel"


def test_without_the_package_the_error_says_how_to_get_it(
    subwords: Subwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match="needs transformers") as caught:
        Encoder(subwords.settings)
    assert caught.value.hint == install("train-encoder")
