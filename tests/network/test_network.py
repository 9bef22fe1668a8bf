"""The network against the equations of the paper, written out naively."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headwise.network.network import Network, build_network, initialise
from headwise.network.pei import MAX_DISTANCE, PeiSelector, Window
from headwise.network.represent import BiLstm, reverse
from headwise.network.select import AdditiveSelector, head_distribution, head_loss
from headwise.settings.model import ModelConfig
from headwise.settings.training import LabelConfig, TrainConfig
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.vocab import PAD, Index, Vocab

VOCAB = Vocab(Index("abcdef"), Index("NVD"), Index(["nsubj", "root"]), "xpos")
SMALL = ModelConfig(word_size=5, tag_size=3, hidden_size=4, label_size=6)


def network(config: ModelConfig = SMALL) -> Network:
    made = Network(config, VOCAB)
    initialise(made, 0.5, seed=1)
    return made.eval()


def ids(*rows: list[int]) -> tuple[WordIds[Tensor], Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    words = torch.full((len(rows), int(lengths.max())), PAD)
    for i, row in enumerate(rows):
        words[i, : len(row)] = torch.tensor(row)
    tags = words.clamp(max=5)
    nothing = torch.zeros(*words.shape, 0)
    given = (words, tags, words[..., None], tags, tags[..., None], nothing.long(), nothing)
    return WordIds(*given), lengths


def test_scores_are_equation_6() -> None:
    torch.manual_seed(1)
    select = AdditiveSelector(6, 6)
    a = torch.randn(4, 6)
    heads, dependents = select.project(a[None])
    scores = select(dependents, heads, torch.arange(4))[0].detach()
    for i in range(4):
        for j in range(4):
            hidden = torch.tanh(select.U_a(a[j]) + select.W_a(a[i]))
            assert scores[i, j] == pytest.approx(
                float((select.v_a.weight[0] @ hidden).detach()), abs=1e-5
            )


def test_head_distribution_is_equation_5_and_leaves_padding_out() -> None:
    scores = torch.tensor([[[1.0, 2.0, 3.0, 9.0]] * 4])
    log_probs = head_distribution(scores, torch.tensor([3]))
    expected = np.exp([1.0, 2.0, 3.0]) / np.exp([1.0, 2.0, 3.0]).sum()
    np.testing.assert_allclose(log_probs[0, 1, :3].exp(), expected, rtol=1e-6)
    assert log_probs[0, 1, 3] == -torch.inf


def test_loss_is_equation_7() -> None:
    torch.manual_seed(1)
    log_probs = torch.log_softmax(torch.randn(2, 3, 3), dim=-1)
    gold = torch.tensor([[-1, 2, 0], [-1, 0, -1]])
    by_hand = log_probs[0, 1, 2] + log_probs[0, 2, 0] + log_probs[1, 1, 0]
    assert head_loss(log_probs, gold) == pytest.approx(float(-by_hand / 2))


@pytest.mark.parametrize("stacks", ["independent", "interleaved"])
def test_stacks_agree_with_pytorch(stacks: str) -> None:
    config = ModelConfig(word_size=5, tag_size=3, hidden_size=4, stacks=stacks)  # type: ignore[arg-type]
    ours = BiLstm(config, 8).eval()
    x = torch.randn(1, 6, 8)

    def weights(stack: nn.ModuleList, suffix: str = "") -> dict[str, Tensor]:
        return {
            name.replace("_l0", f"_l{layer}{suffix}"): value
            for layer, lstm in enumerate(stack)
            for name, value in lstm.named_parameters()
        }

    if stacks == "interleaved":
        whole = nn.LSTM(8, 4, num_layers=2, bidirectional=True, batch_first=True)
        whole.load_state_dict(
            weights(ours.forward_stack) | weights(ours.backward_stack, "_reverse")
        )
        expected = whole(x)[0]
    else:
        ahead, back = (nn.LSTM(8, 4, num_layers=2, batch_first=True) for _ in range(2))
        ahead.load_state_dict(weights(ours.forward_stack))
        back.load_state_dict(weights(ours.backward_stack))
        expected = torch.cat([ahead(x)[0], back(x.flip(1))[0].flip(1)], dim=-1)
    torch.testing.assert_close(ours(x, None), expected)


def test_training_without_dropout_computes_what_parsing_does() -> None:
    made = network()
    given, lengths = ids([2, 3, 4, 5], [2, 6, 7])
    parsing = made(given, lengths)[0]
    made.train()
    training = made(given, lengths)[0]
    torch.testing.assert_close(training[1, :3, :3], parsing[1, :3, :3])
    torch.testing.assert_close(training[0], parsing[0])


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        ModelConfig(word_size=5, tag_size=3, hidden_size=4, stacks="interleaved"),
        ModelConfig(word_size=5, tag_size=3, hidden_size=4, representation="pei"),
    ],
)
def test_batch_mates_and_padding_change_nothing(config: ModelConfig) -> None:
    made = network(config)
    together = made(*ids([2, 3, 4, 5, 6, 7], [2, 6, 7], [2, 3]))
    alone = made(*ids([2, 6, 7]))
    for whole, own in zip(together, alone, strict=True):
        torch.testing.assert_close(whole[1, :3, : own.shape[-1]], own[0])


def test_dropout_is_fresh_and_only_in_training() -> None:
    made = network()
    made.set_dropout(TrainConfig(dropout=0.5, recurrent_dropout=0.5), LabelConfig())
    given, lengths = ids([2, 3, 4, 5])
    assert torch.equal(made(given, lengths)[0], made(given, lengths)[0])
    made.train()
    assert not torch.equal(made(given, lengths)[0], made(given, lengths)[0])


def test_long_sentences_are_scored_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = network(ModelConfig(representation="pei", word_size=5, tag_size=3, hidden_size=4))
    given, lengths = ids([2, 3, 4, 5, 6, 7, 3, 4, 5])
    with torch.no_grad():
        whole = made(given, lengths)[0]
        monkeypatch.setattr(made.select, "max_pair_bytes", 4 * 9 * 8 * 2)
        blocks = made(given, lengths)[0]
    torch.testing.assert_close(whole, blocks)


def test_parameters_start_uniform_and_the_same() -> None:
    first, second = Network(SMALL, VOCAB), Network(SMALL, VOCAB)
    for made in (first, second):
        initialise(made, 0.1, seed=3)
    values = torch.cat([p.detach().flatten() for p in first.parameters()])
    assert values.abs().max() <= 0.1
    assert values.std() == pytest.approx(0.1 / 3**0.5, rel=0.1)
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )


def test_pre_trained_vectors_stay_and_the_others_learn() -> None:
    found = np.arange(len(VOCAB.words)) == 3
    vectors = np.full((len(found), 5), 7.0, np.float32)
    own = np.arange(12, dtype=np.float32).reshape(6, 2)
    config = msgspec.structs.replace(SMALL, vector_words=3, vector_size=2)
    made = build_network(
        config,
        replace(VOCAB, vectors=Index("abx")),
        TrainConfig(),
        LabelConfig(),
        torch.device("cpu"),
        own,
        (vectors, found),
    )
    assert made.inputs.vector is not None
    assert made.inputs.vector.weight.tolist() == own.tolist()
    for part in ("all", "heads", "labels"):
        parameters = made.parameters_of(part)
        assert all(parameter is not made.inputs.vector.weight for parameter in parameters)
    before = made.inputs.word.weight.detach().clone()
    assert before[3].tolist() == [7.0] * 5
    optimiser = torch.optim.Adam(made.parameters(), lr=0.1)
    given, lengths = ids([2, 3, 4])
    head_loss(made(given, lengths)[0], torch.tensor([[-1, 0, 1]])).backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    after = made.inputs.word.weight
    assert torch.equal(after[3], before[3])
    assert not torch.equal(after[4], before[4])
    assert made.inputs.vector.weight.tolist() == own.tolist()


def test_parameters_are_of_heads_or_of_labels() -> None:
    made = Network(SMALL, replace(VOCAB, predicted={"upos": Index("NV")}))
    n_heads, n_labels, n_all = (
        len(made.parameters_of(part)) for part in ("heads", "labels", "all")
    )
    assert n_heads + n_labels == n_all == len(list(made.parameters()))
    tagger = made.tag.last["upos"].weight
    assert any(parameter is tagger for parameter in made.parameters_of("heads"))


def test_selector_size_makes_pairs_smaller() -> None:
    config = ModelConfig(word_size=5, tag_size=3, hidden_size=4, selector_size=3)
    made = network(config)
    assert isinstance(made.select, AdditiveSelector)
    assert made.select.U_a.weight.shape == (3, 8)
    given, lengths = ids([2, 3, 4], [2, 5])
    log_probs = made(given, lengths)[0].detach()
    np.testing.assert_allclose(log_probs.exp().sum(-1), 1, rtol=1e-5)
    paper = network().select
    assert isinstance(paper, AdditiveSelector)
    assert paper.U_a.weight.shape == (8, 8)


def test_pei_pairs_are_the_concatenated_features() -> None:
    """A[h] + B[m] + D[distance, direction] is a linear layer over all 21 features at once."""
    torch.manual_seed(4)
    window = Window(3)
    nn.init.normal_(window.outside)
    select = PeiSelector(window.size, 7).eval()
    nn.init.normal_(select.distance)
    nn.init.normal_(select.v)
    x = torch.randn(1, 60, 3)
    states = window(x, None)
    heads, dependents = select.project(states)
    scores = select(dependents, heads, torch.arange(60))[0].detach()
    padded = torch.cat([window.outside[:1].expand(2, 3), x[0], window.outside[1:].expand(2, 3)])
    for m, h in [(1, 0), (5, 9), (9, 5), (3, 3), (58, 1)]:
        side = 0 if h < m else 1
        rows = slice(7 * side, 7 * side + 7)
        around = torch.cat([padded[h : h + 5].flatten(), padded[m : m + 5].flatten()])
        matrix = torch.cat([select.head.weight[rows], select.dependent.weight[rows]], dim=1)
        hidden = matrix @ around + select.head.bias[rows]
        hidden = hidden + select.distance[side, min(abs(h - m), MAX_DISTANCE)]
        expected = torch.tanh(hidden**3 + hidden) @ select.v[side]
        assert scores[m, h] == pytest.approx(float(expected.detach()), abs=1e-4)


def test_reverse_turns_each_sentence_within_its_length() -> None:
    values = torch.arange(8.0).reshape(2, 4, 1)
    turned = reverse(values, torch.tensor([4, 2]))[..., 0]
    assert turned.tolist() == [[3, 2, 1, 0], [5, 4, 6, 7]]


@pytest.mark.parametrize("selector", [AdditiveSelector(6, 4), PeiSelector(6, 4)])
def test_a_selector_divides_all_its_scores(selector: AdditiveSelector | PeiSelector) -> None:
    torch.manual_seed(3)
    for own in selector.parameters():
        torch.nn.init.normal_(own)
    heads, dependents = selector.project(torch.randn(2, 5, 6))
    before = selector(dependents, heads, torch.arange(5))
    selector.divide_scores(2.5)
    after = selector(dependents, heads, torch.arange(5))
    np.testing.assert_allclose(after.detach(), before.detach() / 2.5, rtol=1e-5, atol=1e-6)
