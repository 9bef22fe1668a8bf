"""The vector of a word depends on its letters and their order, and on nothing beside it."""

import pytest
import torch
from torch import Tensor, nn

from headwise.network.letters import LetterReader
from headwise.vocabulary.letters import Letters

ALPHABET = Letters("abcdefgh")
WORDS = ["abc", "a", "abcdefgh", "cba", "", "hhhhhhhh", "abd"]


@pytest.fixture
def reader() -> LetterReader:
    torch.manual_seed(1)
    return LetterReader(len(ALPHABET), 5, 6, 7).eval()


def letters(words: list[str], width: int = 0) -> Tensor:
    rows = [torch.from_numpy(ALPHABET.ids_of(word)).long() for word in words]
    padded = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return nn.functional.pad(padded, (0, max(0, width - padded.shape[1])))


def test_a_word_is_read_in_both_directions_as_pytorch_does(reader: LetterReader) -> None:
    both = nn.LSTM(5, 6, bidirectional=True, batch_first=True)
    back = {f"{name}_reverse": value for name, value in reader.back.named_parameters()}
    both.load_state_dict(dict(reader.ahead.named_parameters()) | back)
    ids = letters(["abcd"])
    states = both(reader.table(ids))[0][0]  # [letters, 2 units]
    parts = [states.amax(dim=0), states[-1, :6], states[0, 6:]]
    expected = torch.tanh(reader.out(torch.cat(parts)))
    torch.testing.assert_close(reader.read(ids)[0], expected)


def test_padding_and_other_words_change_nothing(reader: LetterReader) -> None:
    together = reader.read(letters(WORDS, 30))
    for word, read in zip(WORDS, together, strict=True):
        torch.testing.assert_close(reader.read(letters([word]))[0], read)


def test_words_that_come_twice_are_read_once_and_with_those_of_their_length(
    reader: LetterReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = letters([*WORDS, *WORDS[::-1]], 20).view(2, len(WORDS), -1)
    plain = reader.read(ids.flatten(0, 1)).view(2, len(WORDS), -1)
    n_read = []
    read = reader.read

    def counted(some: Tensor) -> Tensor:
        n_read.append(tuple(some.shape))
        return read(some)

    monkeypatch.setattr(reader, "read", counted)
    torch.testing.assert_close(reader(ids), plain)
    # Words of similar length together, and none longer than the longest of them; two marks each.
    assert n_read == [(2, 3), (2, 5), (2, 10), (1, 10)]


def test_slots_of_padding_alone_are_read_too(reader: LetterReader) -> None:
    ids = torch.zeros(2, 3, 4, dtype=torch.long)
    read = reader(ids)
    assert read.shape == (2, 3, 7)
    assert torch.isfinite(read).all()


def test_order_and_every_letter_count(reader: LetterReader) -> None:
    read = reader.read(letters(["abc", "cba", "abd", "abcc", "bac"]))
    distances = torch.cdist(read, read) + torch.eye(len(read))
    assert distances.min() > 1e-3


def test_values_are_between_minus_one_and_one(reader: LetterReader) -> None:
    with torch.no_grad():
        reader.out.weight.mul_(100)
    assert reader.read(letters(WORDS)).abs().max() <= 1


def test_gradients_reach_every_letter(reader: LetterReader) -> None:
    ids = letters(["abc", "abc", "de"]).view(1, 3, -1)
    reader.train()(ids).sum().backward()
    assert reader.table.weight.grad is not None
    moved = reader.table.weight.grad.abs().sum(dim=1) > 0
    assert set(moved.nonzero().flatten().tolist()) == set(ids.unique().tolist()) - {0}
