"""What the network looks like."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count, Mark, PredictedColumn, Size, TagColumn


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The network of Eq. 1-6 and the label network."""

    representation: Literal["bilstm", "pei"] = "bilstm"
    """How a word is represented: `bilstm` (Eq. 1-4) or `pei` (a window of five words)."""
    stacks: Literal["independent", "interleaved"] = "independent"
    """Forward and backward LSTMs are joined only at the top (`independent`, the paper) or after
    every layer (`interleaved`)."""
    word_size: Size = 300
    """s: length of a word vector."""
    tag_size: Size = 30
    """q: length of a tag vector."""
    hidden_size: Size = 300
    """d: units of an LSTM in one direction; for `pei`, units of the hidden layer."""
    layers: Annotated[int, Meta(ge=0, le=8)] = 2
    """LSTM layers in each direction; 0 for none, which needs an encoder."""
    label_size: Size = 800
    """Units in each of the two hidden layers of the label network."""
    tag_column: TagColumn = "xpos"
    """Column of the input from which t_i is read: `xpos`, `upos`, `upos+xpos` (the pair), or `none`
    for no tags."""
    predicted_tags: list[PredictedColumn] = []
    """Columns that the parser predicts: any of `upos`, `xpos`, `feats`, `lemma`. A column that is
    blank in the whole training treebank is left out."""
    column_size: Size = 200
    """Units of the hidden layer of each predicted column."""
    marks: tuple[Mark, ...] = ()
    """Other known properties of a word: `upos`, `xpos` (its parts between `+`), `feats` (each
    `Name=Value`) and `treebank` (the one it comes from). Each has a vector; their sum is one more
    input."""
    mark_size: Size = 50
    """Length of these vectors."""
    pieces: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Buckets for hashed character n-grams of a word, which are an input; 0 for none."""
    piece_size: Size = 100
    """Length of the vector made from the n-grams."""
    letters: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Units, in one direction, of a BiLSTM that reads the letters of a word and is an input; 0 for
    none."""
    letter_size: Size = 64
    """Length of the vector of a letter."""
    letters_size: Size = 150
    """Length of the vector made from the letters of a word."""
    prior_size: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Length of an input made from the tags and features seen in training for the form and for its
    ending; 0 for none."""
    selector_size: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Length of U_a a_j and W_a a_i in Eq. 6; 0 for 2d, as in the paper."""
    min_count: Count = 2
    """Words seen fewer times in training become UNK."""
    vectors: str = ""
    """Pre-trained word vectors: GloVe or word2vec text, word2vec binary, or a folder (npz). Words
    in the file keep their vector; the others learn one."""
    vector_words: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Keep the vectors of this many words, counted from the start of the file, as a separate input
    besides the learned word vector. This includes words that are not in the training data. 0 puts
    the vectors into W_e, as the paper does."""
    vector_size: Size = 100
    """Length of the pre-trained vectors."""
    encoder: str = ""
    """Folder of a pre-trained transformer (Hugging Face; BERT or similar). Its last states are an
    input of each word, and it is fine-tuned with the rest."""

    def __post_init__(self) -> None:
        """Refuse words that never see each other, and an encoder that nothing would read."""
        if self.encoder and self.representation == "pei":
            raise ValueError("model.encoder needs representation 'bilstm', not 'pei'")
        if not self.layers and not self.encoder:
            raise ValueError("model.layers is 0 and there is no model.encoder: no word has context")
