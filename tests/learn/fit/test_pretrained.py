"""Hugging Face folders of several kinds are read; what is none is refused with a remedy."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import made_encoders
import pytest
import torch
from made_encoders import byte_pairs, unigrams, word_pieces, write_bert, write_folder

from headwise.errors import ConfigError, HeadwiseError
from headwise.learn.fit.pretrained import find_subwords, read_encoder, set_weights
from headwise.model.find import CHECKPOINT
from headwise.network.encoder import Encoder

SMALL = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 8, "intermediate_size": 8}
DISTILLED = {"dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8}
POSITIONS = {"max_position_embeddings": 514}


def test_settings_are_those_of_the_folder(some_encoder: Path) -> None:
    settings = read_encoder(some_encoder).settings
    assert (settings.before, settings.after, settings.unknown) == ([2], [3], 1)
    assert (settings.n_ids, settings.size, settings.window) == (made_encoders.N_IDS, 16, 39)
    assert settings.network["model_type"] == "bert"
    assert "_name_or_path" not in settings.network


def test_weights_are_those_of_the_folder(some_encoder: Path) -> None:
    from transformers import AutoModel

    encoder = Encoder(read_encoder(some_encoder).settings)
    set_weights(encoder, some_encoder)
    original = AutoModel.from_pretrained(some_encoder).state_dict()
    own = encoder.model.state_dict()
    assert {name for name in original if name not in own} == {
        "pooler.dense.weight",
        "pooler.dense.bias",
    }
    assert all(torch.equal(tensor, original[name]) for name, tensor in own.items())


def write_kind(folder: Path, kind: str, sizes: dict[str, int], tokenizer: bytes) -> Path:
    import transformers

    config = getattr(transformers, f"{kind}Config")(**sizes)
    return write_folder(folder, getattr(transformers, f"{kind}Model"), config, tokenizer)


@pytest.mark.parametrize(
    ("kind", "sizes", "tokenizer", "window", "unknown"),
    [
        ("Roberta", {"vocab_size": 280, "pad_token_id": 2} | SMALL | POSITIONS, byte_pairs, 511, 0),
        ("XLMRoberta", {"vocab_size": 60, "pad_token_id": 1} | SMALL | POSITIONS, unigrams, 512, 2),
        ("DistilBert", {"vocab_size": 120} | DISTILLED, word_pieces, 511, 1),
        ("Electra", {"vocab_size": 120, "embedding_size": 4} | SMALL, word_pieces, 511, 1),
    ],
)
def test_other_kinds_of_transformers_are_read(
    kind: str,
    sizes: dict[str, int],
    tokenizer: Callable[[], bytes],
    window: int,
    unknown: int,
    tmp_path: Path,
) -> None:
    subwords = read_encoder(write_kind(tmp_path / "m", kind, sizes, tokenizer()))
    settings = subwords.settings
    assert (settings.window, settings.size, settings.unknown) == (window, 8, unknown)
    encoder = Encoder(settings).eval()
    set_weights(encoder, tmp_path / "m")
    full = subwords.windows_of(["kids", "love", "!"] * 500)
    assert full.ids.shape[1] == window
    with torch.inference_mode():  # the longest window fits
        assert encoder.states(torch.from_numpy(full.ids[:1]).long()).shape == (1, window, 8)


def test_each_word_of_a_byte_level_tokenizer_has_its_space(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    data = byte_pairs()
    sizes = {"vocab_size": 280, "pad_token_id": 2} | SMALL
    subwords = read_encoder(write_kind(tmp_path / "m", "Roberta", sizes, data))
    whole = Tokenizer.from_buffer(data).encode(" kids love candy , the").ids
    assert subwords.windows_of(["kids", "love", "candy", ",", "the"]).ids[0].tolist() == whole
    assert len(subwords.ids_of("走る")) == 7  # it spells everything


def refused(folder: Path) -> str:
    with pytest.raises(HeadwiseError) as caught:
        set_weights(Encoder(read_encoder(folder).settings), folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


@pytest.fixture
def folder(some_encoder: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(some_encoder, tmp_path / "bert"))


def test_what_is_no_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nothing")
    assert "hint: --set model.encoder=FOLDER" in refused(tmp_path / "nothing")
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json: No such file" in refused(folder)
    assert "hint: AutoTokenizer" in refused(folder)
    assert "room" in refused(write_bert(tmp_path / "narrow", max_position_embeddings=4))


@pytest.mark.parametrize("text", ["[]", "{}"])
def test_what_is_no_tokenizer_is_refused(text: str, folder: Path) -> None:
    (folder / "tokenizer.json").write_text(text)
    assert "not a tokenizer" in refused(folder)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("tokenizer.json", {"post_processor": None}, "no token like [CLS]"),
        ("config.json", {"model_type": "no-such-model"}, "not the configuration of a transformer"),
        ("config.json", {"hidden_size": "wide"}, "not the configuration of a transformer"),
        ("config.json", {"num_hidden_layers": 10**9}, "num_hidden_layers is too large"),
        ("config.json", {"intermediate_size": 10**9}, "intermediate_size is too large"),
    ],
)
def test_bad_settings_are_refused(
    name: str, changes: dict[str, object], message: str, folder: Path
) -> None:
    table = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(table | changes))
    assert message in refused(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model_type": "vit"}', " " * (2**20 + 1)])
def test_what_is_no_configuration_is_refused(text: str, folder: Path) -> None:
    (folder / "config.json").write_text(text)
    message = "larger than 1 MiB" if len(text) > 2**20 else "not the configuration of a t"
    assert message in refused(folder)


@pytest.mark.parametrize("name", ["dtype", "torch_dtype"])
def test_weights_are_learned_in_full_precision(name: str, folder: Path) -> None:
    table = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(table | {name: "bfloat16"}))
    encoder = Encoder(read_encoder(folder).settings)
    set_weights(encoder, folder)
    assert {weight.dtype for weight in encoder.parameters()} == {torch.float32}


def test_weights_that_are_missing_or_pickled_are_refused(folder: Path, tmp_path: Path) -> None:
    larger = write_bert(tmp_path / "larger", num_hidden_layers=3)
    shutil.copy(larger / "config.json", folder / "config.json")
    assert "weights are missing, such as encoder.layer.2" in refused(folder)
    (folder / "model.safetensors").write_bytes(b"nonsense")
    assert "its weights do not load" in refused(folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "its weights do not load" in refused(folder)


def test_a_run_keeps_what_it_needs_and_goes_on_without_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    assert find_subwords(run, "") is None
    first = find_subwords(run, str(folder))
    assert sorted(path.name for path in run.iterdir()) == ["encoder.json", "tokenizer.json"]
    shutil.rmtree(folder)
    with pytest.raises(ConfigError):  # what lies there without a checkpoint is of another try
        find_subwords(run, str(folder))
    (run / CHECKPOINT).write_bytes(b"")
    (run / "encoder.json").rename(run / "aside")  # as in a run of a recipe without an encoder
    with pytest.raises(ConfigError):
        find_subwords(run, str(folder))
    (run / "aside").rename(run / "encoder.json")
    again = find_subwords(run, str(folder))
    assert first is not None
    assert again is not None
    assert again.settings == first.settings
    assert again.tokenizer == first.tokenizer
