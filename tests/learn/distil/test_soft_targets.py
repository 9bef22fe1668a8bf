"""Soft targets are gathered for any batch, and mixed with the gold."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from headwise.learn.distil.soft_targets import NO_TARGETS, BatchTargets, SoftTargets, cross_entropy

LENGTHS = st.lists(st.integers(2, 6), min_size=1, max_size=6)


def made(lengths: list[int]) -> tuple[SoftTargets, list[torch.Tensor], torch.Tensor]:
    """Distributions that are all different, flat as they are kept and sentence by sentence."""
    torch.manual_seed(3)
    heads = [torch.rand(n - 1, n).half() for n in lengths]
    labels = torch.rand(sum(lengths) - len(lengths), 4).half()
    slots = torch.tensor(lengths)
    words, pairs = slots - 1, (slots - 1) * slots
    targets = SoftTargets(
        torch.cat([part.flatten() for part in heads]),
        labels,
        (labels[:, :2], None),
        pairs.cumsum(0) - pairs,
        words.cumsum(0) - words,
        slots,
        weight=0.25,
        temperature=1.0,
        key="k",
    )
    return targets, heads, labels


@settings(derandomize=True, database=None, deadline=None)
@given(LENGTHS, st.data())
def test_a_batch_gathers_its_own(lengths: list[int], data: st.DataObject) -> None:
    targets, heads, labels = made(lengths)
    numbers = st.integers(0, len(lengths) - 1)
    chosen = data.draw(st.lists(numbers, min_size=1, max_size=4))
    longest = max(lengths[i] for i in chosen) + data.draw(st.integers(0, 3))
    batch = targets.batch(torch.tensor(chosen), longest)
    assert batch.heads is not None
    assert batch.labels is not None
    assert batch.tag(1) is None
    assert batch.heads.shape == (len(chosen), longest, longest)
    for k, i in enumerate(chosen):
        n = lengths[i]
        first = sum(lengths[:i]) - i
        expected = torch.zeros(longest, longest)
        expected[1:n, :n] = heads[i].float()
        assert torch.equal(batch.heads[k], expected)
        named = torch.zeros(longest, 4)
        named[1:n] = labels[first : first + n - 1].float()
        assert torch.equal(batch.labels[k], named)
        tags = batch.tag(0)
        assert tags is not None
        assert torch.equal(tags[k], named[:, :2])


def test_the_loss_is_weighed() -> None:
    log_probs = functional.log_softmax(torch.randn(2, 3, 5), dim=-1)
    targets = torch.softmax(torch.randn(2, 3, 5), dim=-1)
    batch = BatchTargets(weight=0.25)
    gold = torch.tensor(7.0)
    expected = 0.75 * 7 - 0.25 * (targets * log_probs).sum() / 2
    torch.testing.assert_close(batch.mix(gold, log_probs, targets), expected)
    assert batch.mix(gold, log_probs, None) is gold
    assert NO_TARGETS.mix(gold, log_probs, NO_TARGETS.heads) is gold
    assert NO_TARGETS.tag(3) is None


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_padding_and_words_that_are_without_targets_have_no_gradient(temperature: float) -> None:
    scores = torch.randn(3, 4, requires_grad=True)
    is_padding = torch.tensor([False, False, False, True])
    log_probs = functional.log_softmax(scores.masked_fill(is_padding, -torch.inf), dim=-1)
    targets = torch.tensor([[0.5, 0.25, 0.25, 0.0], [0.0] * 4, [0.0, 1.0, 0.0, 0.0]])
    loss = cross_entropy(log_probs, targets, temperature)
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert torch.isfinite(loss)
    assert torch.isfinite(scores.grad).all()
    assert scores.grad[1].abs().sum() == 0
    assert scores.grad[:, 3].abs().sum() == 0


def test_a_student_that_says_the_same_has_nothing_to_learn() -> None:
    scores = torch.randn(3, 4, requires_grad=True)
    targets = torch.softmax(scores.detach() / 2, dim=-1)
    cross_entropy(functional.log_softmax(scores, dim=-1), targets, 2.0).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.zeros_like(scores), atol=1e-6, rtol=0)
