"""The input of a word: its parts side by side, and what training drops of them."""

from dataclasses import replace

import made_encoders
import numpy as np
import pytest
import torch

from headwise.network.inputs import Inputs, PriorReader, VectorBag, drop_parts, to_device
from headwise.settings.model import ModelConfig
from headwise.treebank.sentence import sentence_from_words
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.letters import END_OF_WORD, START_OF_WORD, Letters
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.ngrams import Ngrams
from headwise.vocabulary.vocab import PAD, ROOT, UNK, Index, Vocab

PLAIN = Vocab(Index("abcdef"), Index("NVD"), Index(["root"]), "xpos")
SEEN = sentence_from_words([("a", "NOUN"), ("b", "VERB")], ["form", "upos"])
LEXICON = build_lexicon(SEEN.words)
VOCAB = replace(
    PLAIN,
    ngrams=Ngrams(20),
    vectors=Index("abxy"),
    marks=Index("mno"),
    alphabet=Letters("abc"),
    lexicon=LEXICON,
)
FULL = ModelConfig(
    word_size=5,
    tag_size=3,
    marks=("upos",),
    mark_size=6,
    pieces=20,
    piece_size=4,
    vectors="v",
    vector_words=4,
    vector_size=2,
    letters=7,
    letter_size=3,
    letters_size=8,
    prior_size=9,
)
WORDS = torch.tensor([[ROOT, 3, 4, 5], [ROOT, 8, UNK, PAD]])
TAGS = torch.tensor([[ROOT, 3, 4, 5], [ROOT, 3, 3, PAD]])
NGRAMS = torch.tensor(
    [[[1, 0], [5, 6], [7, 0], [9, 9]], [[1, 0], [21, 0], [3, 4], [0, 0]]]
)  # fmt: skip
VECTORS = torch.tensor([[ROOT, 3, 4, UNK], [ROOT, 6, 5, PAD]])
MARKS = torch.tensor(
    [[[ROOT, PAD], [3, 4], [5, PAD], [PAD, PAD]], [[ROOT, PAD], [5, 4], [3, PAD], [PAD, PAD]]]
)  # fmt: skip
LETTERS = torch.tensor(
    [
        [
            [START_OF_WORD, END_OF_WORD, 0],
            [START_OF_WORD, 4, END_OF_WORD],
            [START_OF_WORD, 5, END_OF_WORD],
            [0] * 3,
        ],
        [
            [START_OF_WORD, END_OF_WORD, 0],
            [START_OF_WORD, 6, END_OF_WORD],
            [START_OF_WORD, 1, END_OF_WORD],
            [0] * 3,
        ],
    ]
)
PRIOR = torch.rand(2, 4, LEXICON.prior_size, generator=torch.Generator().manual_seed(1))
IDS = WordIds(WORDS, TAGS, NGRAMS, VECTORS, MARKS, LETTERS, PRIOR)


def inputs(config: ModelConfig = FULL, vocab: Vocab = VOCAB) -> Inputs:
    torch.manual_seed(1)
    return Inputs(config, vocab)


@pytest.mark.parametrize(("takes_mean", "divisor"), [(True, 3), (False, 1)])
def test_a_bag_is_the_mean_or_the_sum_and_ignores_padding(takes_mean: bool, divisor: int) -> None:
    torch.manual_seed(1)
    bag = VectorBag(30, 4, takes_mean)
    table = bag.table.weight
    found = bag(torch.tensor([[[7, 9, 9, PAD], [5, PAD, PAD, PAD], [PAD] * 4]]))[0]
    torch.testing.assert_close(found[0], (table[7] + 2 * table[9]) / divisor)
    torch.testing.assert_close(found[1], table[5])
    assert found[2].abs().sum() == 0


def test_parts_stand_side_by_side() -> None:
    made = inputs().eval()
    x = made(IDS)
    assert x.shape == (2, 4, 37)
    assert made.size == 37
    assert made.tag is not None
    assert made.mark is not None
    assert made.spelling is not None
    assert made.letters is not None
    assert made.prior is not None
    assert made.vector is not None
    parts = [made.word(WORDS), made.tag(TAGS), made.mark(MARKS)]
    parts += [made.spelling(NGRAMS), made.letters(LETTERS), made.prior(PRIOR), made.vector(VECTORS)]
    torch.testing.assert_close(x, torch.cat(parts, dim=-1))


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (ModelConfig(word_size=5, tag_size=3), 8),
        (ModelConfig(word_size=5, tag_column="none"), 5),
        (ModelConfig(word_size=5, tag_column="none", pieces=20, piece_size=4), 9),
        (ModelConfig(word_size=5, tag_column="none", vector_words=4, vector_size=2), 7),
        (ModelConfig(word_size=5, tag_column="none", marks=("feats",), mark_size=9), 14),
        (ModelConfig(word_size=5, tag_column="none", letters=7, letters_size=8), 13),
        (ModelConfig(word_size=5, tag_column="none", prior_size=9), 14),
    ],
)
def test_only_the_parts_of_the_config_are_read(config: ModelConfig, size: int) -> None:
    vocab = VOCAB if config.letters else replace(VOCAB, alphabet=Letters())
    made = inputs(config, vocab).eval()
    x = made(IDS)
    assert x.shape == (2, 4, size)
    assert made.size == size
    nothing = torch.zeros_like
    unread = WordIds(
        WORDS,
        TAGS if made.tag else nothing(TAGS),
        NGRAMS if made.spelling else nothing(NGRAMS),
        VECTORS if made.vector else nothing(VECTORS),
        MARKS if made.mark else nothing(MARKS),
        LETTERS if made.letters else nothing(LETTERS),
        PRIOR if made.prior else nothing(PRIOR),
    )
    assert torch.equal(x, made(unread))


def test_what_a_transformer_made_of_a_word_stands_last_and_is_dropped_like_the_rest() -> None:
    config = ModelConfig(word_size=5, tag_column="none", encoder="bert")
    made = inputs(config, replace(PLAIN, subwords=made_encoders.subwords(size=8))).eval()
    in_context = torch.randn(2, 4, 8)
    assert made.size == 13
    assert torch.equal(made(IDS, in_context), torch.cat([made.word(WORDS), in_context], dim=-1))
    made.train()
    made.dropout = 0.5
    parts = [made(IDS, in_context)[..., 5:] for _ in range(50)]
    n_dropped = sum(int((part == 0).all(dim=-1).sum()) for part in parts)
    assert 140 < n_dropped < 260
    assert {scale for part in parts for scale in (part / in_context).unique().tolist()} <= {0, 1, 2}


def test_dropped_words_become_unknown_and_specials_stay() -> None:
    made = inputs(ModelConfig(word_size=5, tag_column="none"), PLAIN).train()
    made.word_dropout = 0.5
    unknown = made.word.weight[UNK]
    n_dropped = 0
    for _ in range(100):
        x = made(IDS)
        for slot, word in zip(x.flatten(0, 1), WORDS.flatten().tolist(), strict=True):
            is_own = torch.equal(slot, made.word.weight[word])
            assert is_own or torch.equal(slot, unknown)
            assert is_own or word >= 3
            n_dropped += not is_own
    assert 140 < n_dropped < 260
    assert torch.equal(made.eval()(IDS), made.word(WORDS))


def test_nothing_is_dropped_when_parsing() -> None:
    made = inputs().eval()
    before = made(IDS)
    made.dropout = made.word_dropout = 0.9
    assert torch.equal(made(IDS), before)
    made.train()
    assert not torch.equal(made(IDS), before)


@pytest.mark.parametrize("n_parts", [1, 2, 4])
def test_parts_are_dropped_whole_and_the_rest_is_scaled_up(n_parts: int) -> None:
    torch.manual_seed(2)
    share, shape = 0.4, (50, 40)
    dropped = drop_parts([torch.ones(*shape, i + 1) for i in range(n_parts)], share)
    for part in dropped:
        assert torch.equal(part, part[..., :1].expand_as(part))
    scales = torch.stack([part[..., 0] for part in dropped], dim=-1)  # [B, N+1, parts]
    n_kept = (scales > 0).sum(dim=-1)
    assert set(n_kept.flatten().tolist()) == set(range(n_parts + 1))
    largest = scales.amax(dim=-1)
    torch.testing.assert_close(largest[n_kept > 0], n_parts / n_kept[n_kept > 0])
    total = scales.sum(dim=-1)
    torch.testing.assert_close(total, n_parts * (n_kept > 0).float())
    # So what is expected of a part is itself, but for words of which nothing is left.
    assert scales.mean().item() == pytest.approx(1 - share**n_parts, abs=0.03)


def test_what_the_lexicon_knows_becomes_values_between_minus_one_and_one() -> None:
    torch.manual_seed(3)
    reader = PriorReader(LEXICON.prior_size, 9)
    read = reader(100 * PRIOR)
    assert read.shape == (2, 4, 9)
    assert read.abs().max() <= 1
    assert read.std() > 0.1


def test_ids_become_int64_and_other_numbers_stay_as_they_are() -> None:
    cpu = torch.device("cpu")
    assert to_device(np.array([1, 2], np.int32), cpu).dtype == torch.int64
    shares = np.array([0.25, 0.5], np.float32)
    assert to_device(shares, cpu).dtype == torch.float32
    assert to_device(shares, cpu).tolist() == [0.25, 0.5]
