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
from headwise.model.find import CHECKPOINT
from headwise.network.encoder import (
    ENCODER_HINT,
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
_MAX_CONFIG_BYTES = 2**20
_HINTS = {
    TOKENIZER: "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes one where "
    "transformers has a fast tokenizer for the model"
}


def find_subwords(
    run: Path, encoder: str, keep: bool = True, known: Subwords | None = None
) -> Subwords | None:
    """Read the tokenizer and the settings of a recipe's encoder, if it has one.

    They come from the folder `run` if that has a checkpoint, and otherwise from the model that
    training starts from (`known`) or the encoder's own folder; then `run` gets a copy, if `keep`.
    """
    if not encoder:
        return None
    is_resumed = (run / CHECKPOINT).exists()
    if is_resumed and (run / SETTINGS).exists():
        return read_subwords(lambda name: _read(run / name, MAX_TOKENIZER_BYTES), str(run))
    subwords = known or read_encoder(Path(encoder))
    for name, data in subword_files(subwords).items() if keep and not is_resumed else ():
        with whole_file(run / name) as stream:
            stream.write(data)
    return subwords


def read_encoder(folder: Path) -> Subwords:
    """Read the settings and the tokenizer of a Hugging Face folder."""
    written = _read(folder / CONFIG, _MAX_CONFIG_BYTES)
    try:
        network = without_code(json.loads(written))
        config = read_network(network)
        n_ids, size, window = int(config.vocab_size), int(config.hidden_size), _window(config)
    except ConfigError as error:
        raise ConfigError(f"{folder / CONFIG}: {error.what}", error.hint) from error
    except (TypeError, ValueError, AttributeError) as error:
        what = f"{folder / CONFIG}: not the configuration of a text encoder: {error}"
        raise ConfigError(what, ENCODER_HINT) from error
    data = _with_spaces(_read(folder / TOKENIZER, MAX_TOKENIZER_BYTES), folder)
    tokenizer = open_tokenizer(data, str(folder))
    cut = tokenizer.encode(["a"], is_pretokenized=True)
    words = [i for i, word in enumerate(cut.word_ids) if word is not None]
    if not words or not words[0]:
        raise ConfigError(
            f"{folder / TOKENIZER}: it puts no token like [CLS] before a sentence",
            "choose BERT or a similar model",
        )
    model = json.loads(data)["model"]
    unknown = model.get("unk_id")
    if not isinstance(unknown, int):
        unknown = tokenizer.token_to_id(str(model.get("unk_token")))
    try:
        settings = EncoderSettings(
            before=cut.ids[: words[0]],
            after=cut.ids[words[-1] + 1 :],
            unknown=cut.ids[0] if unknown is None else unknown,  # it can spell every word
            n_ids=n_ids,
            window=window,
            size=size,
            network=network,
        )
    except ValueError as error:
        raise ConfigError(f"{folder}: {error}", ENCODER_HINT) from error
    return Subwords(settings, data, str(folder))


def _window(config: Any) -> int:
    """Count the ids that fit into a window: all positions after that of padding.

    RoBERTa and similar models number positions from there; the others could use those few too.
    """
    n_positions: int | None = getattr(config, "max_position_embeddings", None)
    if n_positions is None:  # positions are relative
        return MAX_WINDOW
    padding: int = getattr(config, "pad_token_id", None) or 0
    return min(MAX_WINDOW, n_positions - (padding + 1 if padding < n_positions / 2 else 0))


def _read(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise ConfigError(f"{path}: larger than {most >> 20} MiB", ENCODER_HINT)
        return path.read_bytes()
    except OSError as error:
        hint = _HINTS.get(path.name, ENCODER_HINT)
        raise ConfigError(f"{path}: {error.strerror}", hint) from error


def _with_spaces(data: bytes, folder: Path) -> bytes:
    """Let a byte-level tokenizer put a space before each word, as in the text it learned from.

    We cut word by word; without the space it would take every word for the middle of a longer one.
    """
    try:
        table = json.loads(data)
        step = table.get("pre_tokenizer") or {}
        parts = [step, *step.get("pretokenizers", [])]
        byte_level = [part for part in parts if part.get("type") == "ByteLevel"]
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigError(f"{folder / TOKENIZER}: not a tokenizer", ENCODER_HINT) from error
    if not byte_level:
        return data
    for part in byte_level:
        part["add_prefix_space"] = True
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()


def set_weights(encoder: Encoder, folder: Path) -> None:
    """Load the pre-trained weights of a Hugging Face folder, all of them."""
    transformers = import_transformers()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        # Never from a pickle, and never from the network.
        pretrained, report = transformers.AutoModel.from_pretrained(
            str(folder), use_safetensors=True, local_files_only=True, output_loading_info=True
        )
        weights = {k: v for k, v in pretrained.state_dict().items() if not k.startswith("pooler.")}
        encoder.model.load_state_dict(weights)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ConfigError(f"{folder}: its weights do not load: {error}", ENCODER_HINT) from error
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler.")]
    if missing:
        raise ConfigError(
            f"{folder}: {len(missing)} weights are missing, such as {min(missing)}", ENCODER_HINT
        )
