"""Tokenizers and transformers, made here: of the real kinds, and very small."""

import string
from pathlib import Path
from typing import Any

from headwise.vocabulary.subwords import EncoderSettings, Subwords

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SPELLED = string.ascii_lowercase + string.digits + ".,-!?'\"()"
WORDS = ["kids", "love", "candy", "the", "##ing", "##ness"]


def word_pieces() -> bytes:
    """Give a tokenizer as BERT has it: a few words, and letters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    strings = [*SPECIALS, *SPELLED, *(f"##{letter}" for letter in SPELLED), *WORDS]
    vocab = {piece: i for i, piece in enumerate(strings)}
    made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.add_special_tokens(SPECIALS)
    made.enable_truncation(5)
    made.enable_padding(length=7)
    return made.to_str().encode()


def byte_pairs() -> bytes:
    """Give a tokenizer as RoBERTa has it: bytes, of which some are joined."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=280,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([" kids love candy, the kids love"] * 3, trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return made.to_str().encode()


def unigrams() -> bytes:
    """Give a tokenizer as XLM-R has it: pieces of a word that begins with a mark."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = ["<s>", "</s>", "<unk>", "▁", "▁kids", "▁lov", "e", *(set(SPELLED) - {"e"})]
    made = Tokenizer(models.Unigram([(piece, -1.0) for piece in sorted(pieces)], 2))
    places = {piece: i for i, piece in enumerate(sorted(pieces))}
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[("<s>", places["<s>"]), ("</s>", places["</s>"])],
    )
    return made.to_str().encode()


N_IDS = len(SPECIALS) + 2 * len(SPELLED) + len(WORDS)


def settings(**changes: Any) -> EncoderSettings:
    """Give the settings that go with `word_pieces`, for a transformer that is not there."""
    told: dict[str, Any] = {
        "before": [2], "after": [3], "unknown": 1, "n_ids": N_IDS, "window": 22, "size": 8,
        "network": {},
    }  # fmt: skip
    return EncoderSettings(**told | changes)


def subwords(**changes: Any) -> Subwords:
    """Give a cutter of words that needs no transformer."""
    return Subwords(settings(**changes), word_pieces(), "here")


def write_bert(folder: Path, **changes: Any) -> Path:
    """Write a BERT with random weights as a Hugging Face folder."""
    from transformers import BertConfig, BertModel

    told = {
        "vocab_size": N_IDS, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 40, "pad_token_id": 0,
    }  # fmt: skip
    return write_folder(folder, BertModel, BertConfig(**told | changes), word_pieces())


def write_mpnet(folder: Path, **changes: Any) -> Path:
    """Write an MPNet with random weights as a Hugging Face folder; its windows are 150 ids long."""
    from transformers import MPNetConfig, MPNetModel

    told = {
        "vocab_size": N_IDS, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 152, "pad_token_id": 1,
    }  # fmt: skip
    return write_folder(folder, MPNetModel, MPNetConfig(**told | changes), word_pieces())


def write_folder(folder: Path, kind: Any, config: Any, tokenizer: bytes) -> Path:
    """Write a transformer of any kind, its weights drawn from one seed."""
    import torch

    torch.manual_seed(1)
    kind(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    return folder
