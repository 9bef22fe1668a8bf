"""Tags from the representation a_i, in the same pass as heads."""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn import functional

from headwise.settings.choices import PredictedTag
from headwise.vocabulary.vocab import N_SPECIALS, Index


class Tagger(nn.Module):
    """One linear layer for each column; PAD, UNK and ROOT are never predicted."""

    def __init__(self, size: int, predicted: Mapping[PredictedTag, Index]) -> None:
        """Make the layers; `size` is that of a_i."""
        super().__init__()
        self.columns = nn.ModuleDict(
            {column: nn.Linear(size, len(index.strings)) for column, index in predicted.items()}
        )

    def forward(self, states: Tensor) -> list[Tensor]:
        """Give log-probabilities [..., tags] for states [..., 2d], a tensor for each column."""
        return [
            functional.log_softmax(layer(states).float(), dim=-1) for layer in self.columns.values()
        ]


def tag_loss(log_probs: list[Tensor], gold: list[Tensor]) -> Tensor:
    """Sum the negative log-likelihood over columns and words, divided by sentences.

    `log_probs` [B, N+1, tags]; of `gold` ids [B, N+1] specials (ROOT, PAD, UNK) do not count.
    """
    total = log_probs[0].new_zeros(())
    for scores, ids in zip(log_probs, gold, strict=True):
        targets = (ids.long() - N_SPECIALS).clamp(min=-1).flatten()
        flat = scores.flatten(0, -2)
        total = total + functional.nll_loss(flat, targets, ignore_index=-1, reduction="sum")
    return total / len(gold[0])
