"""Eq. 5 and 6 in numpy: the scores of all pairs of words without a tanh, in bounded memory.

With D = exp(-2 W_a a_i) and H = exp(2 U_a a_j) the tanh of a sum is 1 - 2 D / (D + H), so that

    g(a_j, a_i) = v_a . tanh(U_a a_j + W_a a_i) = sum(v_a) - 2 (v_a D) . (1 / (D + H))

which leaves an addition, a division and a product for each pair; sum(v_a) is the same for all
heads, and the softmax of Eq. 5 takes it away. Pairs are scored in blocks that fit into a cache.
"""

import numpy as np

from headwise.arrays import FloatArray

_BLOCK_BYTES = 2**19
"""Size of the array of a block, [dependents, heads, k] in float32."""
_ONE_THREAD = 9_000
"""Numbers in the product of one dependent and a block of heads: BLAS gives more than 9,216 to all
cores, and the number of threads is the caller's choice."""
_LIMIT = 80.0
"""Exponents are clipped here; exp of it, and the sums made of that, are finite in float32."""


def exponentials(pairs: FloatArray) -> FloatArray:
    """Replace `pairs`, the float32 [..., 2k] of `represent`, by their exp: H, then D."""
    np.clip(pairs, -_LIMIT, _LIMIT, out=pairs)
    return np.exp(pairs, out=pairs)


def head_log_probs(both: FloatArray, v_a: FloatArray) -> FloatArray:
    """Return log P_head, float32 [N+1, N+1], from a sentence's exponentials [N+1, 2k] and v_a [k].

    Example: with k = 1, v_a = [1] and all of W_a a_i = U_a a_j = 0, D = H = 1: each pair has
    -2 * 1 / 2 = -1, and each of N+1 heads the probability 1 / (N+1). Row 0, which is never
    read, has that in any case.
    """
    n_slots, k = len(both), len(v_a)
    heads, dependents = both[:, :k].ravel(), both[:, None, k:]  # [(N+1) k], [N+1, 1, k]
    weights = both[:, k:, None] * (-2 * v_a[:, None])  # [N+1, k, 1]
    n_heads = max(1, min(n_slots, _ONE_THREAD // k))
    n_rows = max(1, min(n_slots, _BLOCK_BYTES // (4 * n_heads * k)))
    scores = np.zeros((n_slots, n_slots), np.float32)
    for start in range(0, n_slots, n_heads):
        some = heads[start * k : (start + n_heads) * k]
        block = np.empty((n_rows, len(some) // k, k), np.float32)
        for first in range(1, n_slots, n_rows):
            rows = slice(first, first + n_rows)
            pairs = block[: n_slots - first]
            pairs[:] = dependents[rows]
            flat = pairs.reshape(len(pairs), -1)
            flat += some  # long rows: faster than adding up words one by one
            np.divide(1, flat, out=flat)
            scores[rows, start : start + n_heads] = (pairs @ weights[rows])[..., 0]
    return log_softmax(scores)


def log_softmax(scores: FloatArray) -> FloatArray:
    """Turn scores [n, m] into log-probabilities, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores
