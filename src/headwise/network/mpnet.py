"""The forward pass of MPNet, on the layers that transformers builds.

MPNet has positions twice: a vector for each position, added to the subwords, and a bias for each
distance between two positions, added to the scores of attention. Distances share 32 buckets, and
all layers share the biases.

transformers has the plain formula of attention only, and adds biases and mask anew in each layer.
Here both are added up once, and PyTorch's fused attention takes the sum. It runs without waiting
for the GPU, so a step can be recorded. The plain formula is what is exported.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

N_BUCKETS = 32
FAR = 128
"""All distances from here on are in one bucket."""


def distance_buckets(longest: int) -> Tensor:
    """Give the bucket of each distance from -(longest - 1) to longest - 1: int64 [2 longest - 1].

    Words behind have the first 16 buckets, words ahead the others. Eight of each are for single
    distances, and the rest for ranges that grow with the distance.
    """
    distances = torch.arange(1 - longest, longest)
    steps = distances.abs()
    n_each, n_exact = N_BUCKETS // 2, N_BUCKETS // 4
    share = torch.log(steps.clamp(min=1) / n_exact) / math.log(FAR / n_exact)
    ranged = (n_exact + (share * (n_each - n_exact)).long()).clamp(max=n_each - 1)
    return torch.where(steps < n_exact, steps, ranged) + (distances > 0) * n_each


def read_mpnet(
    model: Any, embedded: Tensor, mask: Tensor | None, buckets: Tensor, fused: bool
) -> Tensor:
    """Read subword vectors [V, L, k]: the last states [V, L, k].

    `mask` [V, 1, 1, L] is added to the scores of attention, `buckets` are `distance_buckets`.
    """
    numbers = torch.arange(embedded.shape[1], device=embedded.device)
    below = model.embeddings
    positions = below.position_embeddings(numbers + below.position_embeddings.padding_idx + 1)
    states: Tensor = below.dropout(below.LayerNorm(embedded + positions))
    distances = numbers - numbers[:, None] + len(buckets) // 2  # [L, L], [reader, read]
    biases = model.encoder.relative_attention_bias(buckets[distances])  # [L, L, heads]
    biases = biases.permute(2, 0, 1)[None].contiguous()  # [1, heads, L, L]
    if mask is not None:
        biases = biases + mask  # [V, heads, L, L]
    if torch.is_autocast_enabled(embedded.device.type):
        biases = biases.to(torch.get_autocast_dtype(embedded.device.type))
    for layer in model.encoder.layer:
        attention = layer.attention
        attended = _attend(attention.attn, states, biases, fused)
        states = attention.LayerNorm(attention.dropout(attended) + states)
        states = layer.output(layer.intermediate(states), states)
    return states


def _attend(attention: Any, states: Tensor, biases: Tensor, fused: bool) -> Tensor:
    query, key, value = (
        part(states).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part in (attention.q, attention.k, attention.v)
    )  # [V, heads, L, k / heads]
    share = attention.dropout.p if attention.training else 0.0
    if fused:
        read = functional.scaled_dot_product_attention(query, key, value, biases, share)
    else:
        scores = query / math.sqrt(query.shape[-1]) @ key.transpose(-1, -2) + biases
        read = functional.dropout(scores.softmax(-1), share) @ value
    mixed: Tensor = attention.o(read.transpose(1, 2).flatten(2))
    return mixed
