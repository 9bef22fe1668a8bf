"""A pre-trained transformer, read from a Hugging Face folder: settings, tokenizer and weights.

All three are checked. Only files on disk are read, never a pickle, and never code. A run and a
model keep the two files of `vocabulary.subwords`; the weights are among those of the network.
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from headwise.errors import ConfigError
from headwise.files import whole_file
from headwise.learn.fit.checkpoint import CHECKPOINT
from headwise.network.encoder import (
    FOLDER,
    Encoder,
    import_transformers,
    read_network,
    without_code,
)
from headwise.vocabulary.subwords import (
    MAX_TOKENIZER_BYTES,
    MAX_WINDOW,
    SETTINGS,
    TOKENIZER,
    EncoderSettings,
    Subwords,
    open_tokenizer,
    read_subwords,
    subword_files,
)

CONFIG = "config.json"
MAX_CONFIG_BYTES = 2**20
HINTS = {
    TOKENIZER: "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes one where "
    "transformers has a fast tokenizer for the model"
}


def find_subwords(run: Path, encoder: str, keep: bool = True) -> Subwords | None:
    """Read what belongs to the encoder of a recipe, if it has one.

    From `run`, the folder of a run that has a checkpoint; else from the encoder's own, and then it
    is kept in `run`, unless another process does that.
    """
    if not encoder:
        return None
    is_under_way = (run / CHECKPOINT).exists()
    if is_under_way and (run / SETTINGS).exists():
        return read_subwords(lambda name: _read(run / name, MAX_TOKENIZER_BYTES), str(run))
    subwords = read_encoder(Path(encoder))
    for name, data in subword_files(subwords).items() if keep and not is_under_way else ():
        with whole_file(run / name) as stream:
            stream.write(data)
    return subwords


def read_encoder(folder: Path) -> Subwords:
    """Read the settings and the tokenizer of a Hugging Face folder."""
    written = _read(folder / CONFIG, MAX_CONFIG_BYTES)
    try:
        network = without_code(json.loads(written))
        config = read_network(network)
        n_ids, size, window = int(config.vocab_size), int(config.hidden_size), _window(config)
    except ConfigError as error:
        raise ConfigError(f"{folder / CONFIG}: {error.what}", error.hint) from error
    except (TypeError, ValueError, AttributeError) as error:
        what = f"{folder / CONFIG}: not the configuration of a text encoder: {error}"
        raise ConfigError(what, FOLDER) from error
    data = _with_spaces(_read(folder / TOKENIZER, MAX_TOKENIZER_BYTES), folder)
    before, after = _around(data, folder)
    try:
        settings = EncoderSettings(
            before=before,
            after=after,
            unknown=_unknown(data, before[0]),
            n_ids=n_ids,
            window=window,
            size=size,
            network=network,
        )
    except ValueError as error:
        raise ConfigError(f"{folder}: {error}", FOLDER) from error
    return Subwords(settings, data, str(folder))


def _window(config: Any) -> int:
    """Count the ids that a window may have: all positions, but for those up to that of padding.

    RoBERTa and its like number positions from there; the others could use those few too.
    """
    n_positions: int | None = getattr(config, "max_position_embeddings", None)
    if n_positions is None:  # they are relative
        return MAX_WINDOW
    padding: int = getattr(config, "pad_token_id", None) or 0
    return min(MAX_WINDOW, n_positions - (padding + 1 if padding < n_positions / 2 else 0))


def _read(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise ConfigError(f"{path}: larger than {most >> 20} MiB", FOLDER)
        return path.read_bytes()
    except OSError as error:
        hint = HINTS.get(path.name, FOLDER)
        raise ConfigError(f"{path}: {error.strerror}", hint) from error


def _with_spaces(data: bytes, folder: Path) -> bytes:
    """Let a byte-level tokenizer put a space before each word, as in the text it learned from.

    It is cut word by word here, and would take every word for the middle of a longer one.
    """
    try:
        table = json.loads(data)
        step = table.get("pre_tokenizer") or {}
        parts = [step, *step.get("pretokenizers", [])]
        bytewise = [part for part in parts if part.get("type") == "ByteLevel"]
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigError(f"{folder / TOKENIZER}: not a tokenizer", FOLDER) from error
    if not bytewise:
        return data
    for part in bytewise:
        part["add_prefix_space"] = True
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()


def _around(data: bytes, folder: Path) -> tuple[list[int], list[int]]:
    """Find the ids that the tokenizer puts before and after a sentence."""
    cut = open_tokenizer(data, str(folder)).encode(["a"], is_pretokenized=True)
    words = [i for i, word in enumerate(cut.word_ids) if word is not None]
    if not words or not words[0]:
        raise ConfigError(
            f"{folder / TOKENIZER}: it puts nothing like [CLS] before a sentence",
            "choose a BERT or its like",
        )
    return cut.ids[: words[0]], cut.ids[words[-1] + 1 :]


def _unknown(data: bytes, otherwise: int) -> int:
    """Find the id of what cannot be spelled; some tokenizers spell everything."""
    model = json.loads(data)["model"]
    if isinstance(model.get("unk_id"), int):
        return int(model["unk_id"])
    found = open_tokenizer(data, "").token_to_id(str(model.get("unk_token")))
    return otherwise if found is None else found


def set_weights(encoder: Encoder, folder: Path) -> None:
    """Put the pre-trained weights of a Hugging Face folder in place, all of them."""
    transformers = import_transformers()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        # Never from a pickle, and never from outside.
        found, report = transformers.AutoModel.from_pretrained(
            str(folder), use_safetensors=True, local_files_only=True, output_loading_info=True
        )
        weights = {k: v for k, v in found.state_dict().items() if not k.startswith("pooler.")}
        encoder.model.load_state_dict(weights)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ConfigError(f"{folder}: its weights do not load: {error}", FOLDER) from error
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler.")]
    if missing:
        raise ConfigError(
            f"{folder}: {len(missing)} weights are missing, such as {min(missing)}", FOLDER
        )
