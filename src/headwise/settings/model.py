"""What the network looks like."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count, Mark, PredictedColumn, Size, TagColumn


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The network of Eq. 1-6 and the label network."""

    representation: Literal["bilstm", "pei"] = "bilstm"
    """What a word is represented by: `bilstm` (Eq. 1-4) or `pei` (a window of five words)."""
    stacks: Literal["independent", "interleaved"] = "independent"
    """Forward and backward LSTMs joined at the top only (the paper) or after every layer."""
    word_size: Size = 300
    """s: length of a word vector."""
    tag_size: Size = 30
    """q: length of a tag vector."""
    hidden_size: Size = 300
    """d: units of an LSTM in one direction; for `pei`, units of the hidden layer."""
    layers: Annotated[int, Meta(ge=0, le=8)] = 2
    """LSTMs on top of each other in one direction; 0, with an encoder, for none."""
    label_size: Size = 800
    """Units in each of the two hidden layers of the label network."""
    tag_column: TagColumn = "xpos"
    """What t_i is read from: `xpos`, `upos`, `upos+xpos` (the pair), or `none` for no tags."""
    predicted_tags: list[PredictedColumn] = []
    """Columns that the parser fills in: `upos`, `xpos`, `feats`, `lemma`, or some of them. A column
    that is blank in the whole training treebank is left out."""
    column_size: Size = 200
    """Units of the hidden layer of each of these columns."""
    marks: tuple[Mark, ...] = ()
    """What else is known of a word, as one more input, the sum of a vector for each: `upos`, `xpos`
    (its parts between `+`), `feats` (each `Name=Value`) and `treebank`, where it stems from."""
    mark_size: Size = 50
    """Length of those vectors."""
    pieces: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Buckets for hashed character n-grams of a word, its spelling as an input; 0 for none."""
    piece_size: Size = 100
    """Length of the vector of a spelling."""
    letters: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Units, in one direction, of a BiLSTM that reads the letters of a word in order, its spelling
    as an input; 0 for none."""
    letter_size: Size = 64
    """Length of the vector of a letter."""
    letters_size: Size = 150
    """Length of the vector that comes of the letters of a word."""
    prior_size: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Length of an input made of the tags and features that training has seen for a form and for
    its ending; 0 for none."""
    selector_size: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Length of U_a a_j and W_a a_i in Eq. 6; 0 for 2d, as in the paper."""
    min_count: Count = 2
    """Words seen fewer times in training become UNK."""
    vectors: str = ""
    """Pre-trained word vectors: GloVe or word2vec text, word2vec binary, or a folder (npz).
    Words that have one keep it; the others learn theirs."""
    vector_words: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Keep the vectors of so many words, the first in the file, as an input of its own beside the
    learned word vector, for words that training never saw too; 0 to put them into W_e, as the paper
    does."""
    vector_size: Size = 100
    """Length of those vectors."""
    encoder: str = ""
    """Folder of a pre-trained transformer (Hugging Face; BERT and its like), whose last states are
    an input of each word, and which is learned on with the rest."""

    def __post_init__(self) -> None:
        """Refuse words that never see each other, and an encoder that nothing would read."""
        if self.encoder and self.representation == "pei":
            raise ValueError("model.encoder goes with representation 'bilstm', not with 'pei'")
        if not self.layers and not self.encoder:
            raise ValueError("model.layers is 0 and there is no model.encoder: no word has context")
