"""The loss of a batch: Eq. 7 for heads, and the same likelihood for labels and tags.

What is not annotated (see `vocabulary.encode.Gold`) adds nothing. With soft targets each term is
mixed with a cross-entropy (`learn.distil.soft_targets`).
"""

import torch
from torch import Tensor

from headwise.learn.compute import Compute
from headwise.learn.data.on_device import Treebank
from headwise.learn.distil.soft_targets import NO_TARGETS, SoftTargets
from headwise.network.label import arc_features, label_loss
from headwise.network.network import Network
from headwise.network.select import head_loss
from headwise.vocabulary.vocab import PAD


def batch_loss(
    network: Network,
    treebank: Treebank,
    compute: Compute,
    chosen: Tensor,
    size: int,
    with_labels: bool,
    tag_weight: float,
    soft_targets: SoftTargets | None = None,
) -> Tensor:
    """Sum the terms over the sentences `chosen` [B] of a treebank, divided by sentences.

    `size` is that of the largest sentence, or more.
    Labels have weight 1, if they are learned too.
    """
    longest = treebank.n_slots(size)
    heads = treebank.heads[chosen, :longest]
    targets = soft_targets.batch(chosen, longest) if soft_targets else NO_TARGETS
    with compute.autocast():
        log_probs, states, inputs = network(*treebank.batch(chosen, size))
        loss = targets.mix(head_loss(log_probs, heads), log_probs, targets.heads)
        if with_labels:
            labels = torch.where(heads < 0, PAD, treebank.labels[chosen, :longest])
            named = _label_gold_arcs(network, states, inputs, heads)
            loss = loss + targets.mix(label_loss(named, labels), named, targets.labels)
        if treebank.gold_tags and tag_weight:
            columns = zip(network.tag(states, inputs), treebank.gold_tags, strict=True)
            for i, (scores, ids) in enumerate(columns):
                of_tags = label_loss(scores, ids[chosen, :longest])
                loss = loss + tag_weight * targets.mix(of_tags, scores, targets.tag(i))
    return loss


def _label_gold_arcs(network: Network, states: Tensor, inputs: Tensor, heads: Tensor) -> Tensor:
    """Label gold arcs: log-probabilities [B, N+1, R]; words without a head get any."""
    n_sentences, n_slots = heads.shape
    starts = torch.arange(n_sentences, device=heads.device)[:, None] * n_slots
    dependents = (starts + torch.arange(n_slots, device=heads.device)).flatten()
    head_slots = (starts + heads.clamp(min=0)).flatten()
    arcs = arc_features(states.flatten(0, 1), inputs.flatten(0, 1), dependents, head_slots)
    log_probs: Tensor = network.label(arcs)
    return log_probs.view(n_sentences, n_slots, -1)
