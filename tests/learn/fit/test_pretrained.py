"""Hugging Face folders of several kinds are read; what is none is refused with a remedy."""

import json
import shutil
from pathlib import Path
from typing import Any

import made_encoders
import numpy as np
import pytest
import torch
from made_encoders import byte_pairs, unigrams, word_pieces, write_bert, write_folder

from headwise.errors import ConfigError, HeadwiseError
from headwise.learn.fit.checkpoint import CHECKPOINT
from headwise.learn.fit.pretrained import find_subwords, read_encoder, set_weights
from headwise.network.encoder import Encoder

SMALL = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 8, "intermediate_size": 8}


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


def kinds() -> dict[str, tuple[Any, Any, bytes, int, int]]:
    """Name transformers of other kinds, with a tokenizer, the window and the size of each."""
    from transformers import (
        DistilBertConfig,
        DistilBertModel,
        ElectraConfig,
        ElectraModel,
        RobertaConfig,
        RobertaModel,
        XLMRobertaConfig,
        XLMRobertaModel,
    )

    positions = {"max_position_embeddings": 514}
    of_bytes = RobertaConfig(vocab_size=280, pad_token_id=2, **SMALL, **positions)
    marked = XLMRobertaConfig(vocab_size=60, pad_token_id=1, **SMALL, **positions)
    distilled = DistilBertConfig(vocab_size=120, dim=8, n_layers=1, n_heads=2, hidden_dim=8)
    electric = ElectraConfig(vocab_size=120, embedding_size=4, **SMALL)
    return {
        "roberta": (RobertaModel, of_bytes, byte_pairs(), 511, 8),
        "xlm-roberta": (XLMRobertaModel, marked, unigrams(), 512, 8),
        "distilbert": (DistilBertModel, distilled, word_pieces(), 511, 8),
        "electra": (ElectraModel, electric, word_pieces(), 511, 8),
    }


@pytest.mark.parametrize("name", ["roberta", "xlm-roberta", "distilbert", "electra"])
def test_other_kinds_of_transformers_are_read(name: str, tmp_path: Path) -> None:
    kind, config, tokenizer, window, size = kinds()[name]
    subwords = read_encoder(write_folder(tmp_path / name, kind, config, tokenizer))
    assert (subwords.settings.window, subwords.settings.size) == (window, size)
    encoder = Encoder(subwords.settings).eval()
    set_weights(encoder, tmp_path / name)
    full = subwords.windows_of(["kids", "love", "!"] * 500)
    assert full.ids.shape[1] == window
    with torch.inference_mode():  # the longest window fits
        assert encoder.states(torch.from_numpy(full.ids[:1]).long()).shape == (1, window, size)


def test_each_word_of_a_byte_level_tokenizer_has_its_space(tmp_path: Path) -> None:
    kind, config, tokenizer, *_ = kinds()["roberta"]
    subwords = read_encoder(write_folder(tmp_path / "m", kind, config, tokenizer))
    from tokenizers import Tokenizer

    original = Tokenizer.from_buffer(tokenizer)
    whole = original.encode(" kids love candy , the").ids
    assert subwords.windows_of(["kids", "love", "candy", ",", "the"]).ids[0].tolist() == whole
    assert subwords.settings.unknown == subwords.settings.before[0]  # it spells everything
    assert len(subwords.ids_of("走る")) == 7


def test_unknown_is_found_in_every_kind(tmp_path: Path) -> None:
    kind, config, tokenizer, *_ = kinds()["xlm-roberta"]
    subwords = read_encoder(write_folder(tmp_path / "m", kind, config, tokenizer))
    assert subwords.settings.unknown == 2
    assert np.array_equal(subwords.ids_of("kids"), subwords.ids_of("kids"))


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
    (folder / "tokenizer.json").write_text("[]")
    assert "not a tokenizer" in refused(folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "not a tokenizer" in refused(folder)
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json: No such file" in refused(folder)
    assert "hint: AutoTokenizer" in refused(folder)
    for text in ("", "[]", "{}", '{"model_type": "no-such-model"}', '{"model_type": "vit"}'):
        (folder / "config.json").write_text(text)
        assert "not the configuration of a t" in refused(folder)
    (folder / "config.json").write_bytes(b" " * (2**20 + 1))
    assert "larger than 1 MiB" in refused(folder)


def test_sizes_of_a_transformer_are_bounded(folder: Path) -> None:
    table = json.loads((folder / "config.json").read_text())
    for name, value in (("num_hidden_layers", 10**9), ("intermediate_size", 10**9)):
        (folder / "config.json").write_text(json.dumps(table | {name: value}))
        assert f"{name} is too large" in refused(folder)
    (folder / "config.json").write_text(json.dumps(table | {"hidden_size": "wide"}))
    assert "not the configuration of a transformer" in refused(folder)


@pytest.mark.parametrize("name", ["dtype", "torch_dtype"])
def test_weights_are_learned_in_full_precision(name: str, folder: Path) -> None:
    table = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(table | {name: "bfloat16"}))
    encoder = Encoder(read_encoder(folder).settings)
    set_weights(encoder, folder)
    assert {weight.dtype for weight in encoder.parameters()} == {torch.float32}


def test_a_tokenizer_without_cls_is_refused(folder: Path) -> None:
    table = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(table | {"post_processor": None}))
    assert "nothing like [CLS]" in refused(folder)


def test_weights_that_are_missing_or_pickled_are_refused(folder: Path, tmp_path: Path) -> None:
    larger = write_bert(tmp_path / "larger", num_hidden_layers=3)
    shutil.copy(larger / "config.json", folder / "config.json")
    assert "weights are missing, such as encoder.layer.2" in refused(folder)
    (folder / "model.safetensors").write_bytes(b"nonsense")
    assert "its weights do not load" in refused(folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "its weights do not load" in refused(folder)


def test_a_window_without_room_is_refused(tmp_path: Path) -> None:
    assert "room" in refused(write_bert(tmp_path / "narrow", max_position_embeddings=4))


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
