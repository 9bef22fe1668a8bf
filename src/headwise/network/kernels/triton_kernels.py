"""GPU kernels for the LSTM (`network.recurrent`) and for pairs (`network.pairs`), in Triton.

Each kernel computes a small block of the result without storing anything in between, and always
adds up in the same order. A step of the LSTM is one kernel forward and one backward: the product
with R, the gates and the cell together. `network.kernels.launch` launches them with contiguous
arrays in the order given here.

Block sizes are powers of two; beyond the end of an array, zeros are read and nothing is written.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: N803

import triton
import triton.language as tl

ROW_BLOCK = tl.constexpr(16)
"""Sentences of a block of the LSTM."""
UNIT_BLOCK = tl.constexpr(16)
INNER_BLOCK = tl.constexpr(64)
"""Inputs of a product that are added up at once."""
PAIR_BLOCK = tl.constexpr(16)
"""Dependents, heads and units of a block of pairs."""
PAIR_BLOCK_BACK = tl.constexpr(8)
WARPS_BACK = 1
"""Small blocks of one warp: the fastest on the way back, on an H200."""


@triton.jit
def _tanh(x):
    """Give tanh to 1e-7, which is what counts in a sum."""
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _place(t, n_sentences, D):
    """Give the sentences and units of a block, and where it stands at step t.

    That is: the rows of its sentences, itself in an array [T, g, B, d], and in one [T, g, B, 4d].
    """
    rows = tl.program_id(0) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
    units = tl.program_id(1) * UNIT_BLOCK + tl.arange(0, UNIT_BLOCK)
    now = (t.to(tl.int64) * tl.num_programs(2) + tl.program_id(2)) * n_sentences + rows
    at = now[:, None] * D + units[None, :]
    return rows, units, now, at, at + now[:, None] * (3 * D)


@triton.jit
def _load_gates(start, mask, D):
    i = tl.load(start, mask, 0.0).to(tl.float32)
    f = tl.load(start + D, mask, 0.0).to(tl.float32)
    g = tl.load(start + 2 * D, mask, 0.0).to(tl.float32)
    o = tl.load(start + 3 * D, mask, 0.0).to(tl.float32)
    return i, f, g, o


@triton.jit
def _store_gates(start, mask, D, i, f, g, o):
    kind = start.dtype.element_ty
    tl.store(start, i.to(kind), mask)
    tl.store(start + D, f.to(kind), mask)
    tl.store(start + 2 * D, g.to(kind), mask)
    tl.store(start + 3 * D, o.to(kind), mask)


@triton.jit
def _add_product(h, r, is_row, is_unit, D: tl.constexpr, i, f, g, o):
    """Add R h_(t-1) to the gates: `h` are the rows of h, `r` the columns of R of a block."""
    for start in range(0, D, INNER_BLOCK):
        k = start + tl.arange(0, INNER_BLOCK)
        h_part = tl.load(h[:, None] + k[None, :], is_row[:, None] & (k < D)[None, :], 0.0)
        place = r[None, :] + k[:, None] * (4 * D)
        mask = (k < D)[:, None] & is_unit[None, :]
        i = tl.dot(h_part, tl.load(place, mask, 0.0), i, input_precision="ieee")
        f = tl.dot(h_part, tl.load(place + D, mask, 0.0), f, input_precision="ieee")
        g = tl.dot(h_part, tl.load(place + 2 * D, mask, 0.0), g, input_precision="ieee")
        o = tl.dot(h_part, tl.load(place + 3 * D, mask, 0.0), o, input_precision="ieee")
    return i, f, g, o


@triton.jit(do_not_specialize=["t", "n_sentences"])
def lstm_step(
    projected,  # W x_t [T, g, B, 4d]
    bias,  # [g, 4d]
    recurrent,  # R transposed [g, d, 4d]
    keep,  # float32 [T, g, B, d]
    gates,  # i, f, g, o: float32 [T, g, B, 4d], written at t
    cells,  # float32 [T, g, B, d], written at t
    hidden,  # [T, g, B, d], written at t
    t,
    n_sentences,
    D: tl.constexpr,
):
    """Run step t for some sentences and units of a direction: grid [B / rows, d / units, g]."""
    rows, units, now, at, gates_at = _place(t, n_sentences, D)
    is_row, is_unit = rows < n_sentences, units < D
    inside = is_row[:, None] & is_unit[None, :]
    first = tl.program_id(2) * 4 * D + units
    i, f, g, o = _load_gates(projected + gates_at, inside, D)
    b_i, b_f, b_g, b_o = _load_gates(bias + first, is_unit, D)
    i, f, g, o = i + b_i[None, :], f + b_f[None, :], g + b_g[None, :], o + b_o[None, :]
    cell = tl.zeros((ROW_BLOCK, UNIT_BLOCK), tl.float32)
    if t > 0:
        step = tl.num_programs(2) * n_sentences
        cell = tl.load(cells + at - step * D, inside, 0.0)
        h, r = hidden + (now - step) * D, recurrent + tl.program_id(2) * 4 * D * D + units
        i, f, g, o = _add_product(h, r, is_row, is_unit, D, i, f, g, o)
    i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), _tanh(g), tl.sigmoid(o)
    cell = f * cell + i * g * tl.load(keep + at, inside, 0.0)
    _store_gates(gates + gates_at, inside, D, i, f, g, o)
    tl.store(cells + at, cell, inside)
    tl.store(hidden + at, (o * _tanh(cell)).to(hidden.dtype.element_ty), inside)


@triton.jit
def _times_recurrent(sums, r, is_row, is_unit, D: tl.constexpr):
    """Give sums R: `sums` are rows [ROW_BLOCK] of summed gates, `r` the columns of R [UNIT_BLOCK].

    Like `_add_product` it has four products under way at a time, one for each gate.
    """
    i = tl.zeros((ROW_BLOCK, UNIT_BLOCK), tl.float32)
    f, g, o = i, i, i
    for start in range(0, D, INNER_BLOCK):
        k = start + tl.arange(0, INNER_BLOCK)
        part = sums[:, None] + k[None, :]
        is_part = is_row[:, None] & (k < D)[None, :]
        place = r[None, :] + k[:, None] * D
        mask = (k < D)[:, None] & is_unit[None, :]
        i = _add_gate(part, is_part, place, mask, i)
        f = _add_gate(part + D, is_part, place + D * D, mask, f)
        g = _add_gate(part + 2 * D, is_part, place + 2 * D * D, mask, g)
        o = _add_gate(part + 3 * D, is_part, place + 3 * D * D, mask, o)
    return (i + f) + (g + o)


@triton.jit
def _add_gate(part, is_part, place, mask, total):
    of_gate = tl.load(part, is_part, 0.0)
    return tl.dot(of_gate, tl.load(place, mask, 0.0), total, input_precision="ieee")


@triton.jit(do_not_specialize=["t", "n_steps", "n_sentences"])
def lstm_step_back(
    gates,  # as `lstm_step` wrote them, like the next
    cells,
    keep,
    recurrent,  # R [g, 4d, d]
    from_above,  # the gradient of h_t by what reads it outside of the layer [T, g, B, d]
    from_cell,  # that of c_t by what comes after it: float32 [g, B, d], replaced by that of c_(t-1)
    sums,  # that of W x_t + R h_(t-1) [T, g, B, 4d], read at t + 1 and written at t
    t,
    n_steps,
    n_sentences,
    D: tl.constexpr,
):
    """Go step t back, on the grid of `lstm_step`."""
    rows, units, now, at, gates_at = _place(t, n_sentences, D)
    is_row, is_unit = rows < n_sentences, units < D
    inside = is_row[:, None] & is_unit[None, :]
    step = tl.num_programs(2) * n_sentences
    shown = tl.load(from_above + at, inside, 0.0).to(tl.float32)
    if t + 1 < n_steps:
        r = recurrent + tl.program_id(2) * 4 * D * D + units
        shown += _times_recurrent(sums + (now + step) * (4 * D), r, is_row, is_unit, D)
    before = tl.zeros((ROW_BLOCK, UNIT_BLOCK), tl.float32)
    if t > 0:
        before = tl.load(cells + at - step * D, inside, 0.0)
    squashed = _tanh(tl.load(cells + at, inside, 0.0))
    kept = tl.load(keep + at, inside, 0.0)
    i, f, g, o = _load_gates(gates + gates_at, inside, D)
    later = from_cell + (tl.program_id(2) * n_sentences + rows)[:, None] * D + units[None, :]
    inner = tl.load(later, inside, 0.0) + shown * o * (1 - squashed * squashed)
    of_i, of_f = inner * g * kept * i * (1 - i), inner * before * f * (1 - f)
    of_g, of_o = inner * i * kept * (1 - g * g), shown * squashed * o * (1 - o)
    _store_gates(sums + gates_at, inside, D, of_i, of_f, of_g, of_o)
    tl.store(later, inner * f, inside)


@triton.jit(do_not_specialize=["n", "m"])
def pair_scores(
    dependents,  # d [B, n, k]
    heads,  # h [B, m, k]
    v,  # [k]
    scores,  # [B, n, m], written
    n,
    m,
    K: tl.constexpr,
):
    """Score some dependents with some heads: grid [n / PAIR_BLOCK, m / PAIR_BLOCK, B]."""
    sentence = tl.program_id(2).to(tl.int64)
    i = tl.program_id(0) * PAIR_BLOCK + tl.arange(0, PAIR_BLOCK)
    j = tl.program_id(1) * PAIR_BLOCK + tl.arange(0, PAIR_BLOCK)
    total = tl.zeros((PAIR_BLOCK, PAIR_BLOCK), tl.float32)
    for start in range(0, K, PAIR_BLOCK):
        k = start + tl.arange(0, PAIR_BLOCK)
        d_mask = (i < n)[:, None] & (k < K)[None, :]
        d = tl.load(dependents + (sentence * n + i)[:, None] * K + k[None, :], d_mask, 0.0)
        h_mask = (j < m)[:, None] & (k < K)[None, :]
        h = tl.load(heads + (sentence * m + j)[:, None] * K + k[None, :], h_mask, 0.0)
        weights = tl.load(v + k, k < K, 0.0)
        total += tl.sum(_tanh(d[:, None, :] + h[None, :, :]) * weights[None, None, :], axis=2)
    at = (sentence * n + i)[:, None] * m + j[None, :]
    tl.store(scores + at, total, (i < n)[:, None] & (j < m)[None, :])


@triton.jit(do_not_specialize=["n", "m", "row_stride", "column_stride"])
def pair_scores_back(
    ours,  # d [B, n, k], or h where the gradient is that of heads
    theirs,  # h [B, m, k], or d
    v,  # [k]
    gradient,  # of the scores, [B, n, m] or turned around; the strides are those of n and m
    of_ours,  # [B, n, k], written
    of_v,  # parts of the gradient of v, [B * n / PAIR_BLOCK_BACK, k], written if WITH_V
    n,
    m,
    row_stride,
    column_stride,
    K: tl.constexpr,
    WITH_V: tl.constexpr,
):
    """Add up what pairs give to some words and units, in blocks of PAIR_BLOCK_BACK: [n, k, B]."""
    sentence = tl.program_id(2).to(tl.int64)
    i = tl.program_id(0) * PAIR_BLOCK_BACK + tl.arange(0, PAIR_BLOCK_BACK)
    k = tl.program_id(1) * PAIR_BLOCK_BACK + tl.arange(0, PAIR_BLOCK_BACK)
    mask = (i < n)[:, None] & (k < K)[None, :]
    at = (sentence * n + i)[:, None] * K + k[None, :]
    own = tl.load(ours + at, mask, 0.0)
    total = tl.zeros((PAIR_BLOCK_BACK, PAIR_BLOCK_BACK), tl.float32)
    of_weights = tl.zeros((PAIR_BLOCK_BACK, PAIR_BLOCK_BACK), tl.float32)
    for start in range(0, m, PAIR_BLOCK_BACK):
        j = start + tl.arange(0, PAIR_BLOCK_BACK)
        other_mask = (j < m)[:, None] & (k < K)[None, :]
        other = tl.load(theirs + (sentence * m + j)[:, None] * K + k[None, :], other_mask, 0.0)
        place = sentence * n * m + i[:, None] * row_stride + j[None, :] * column_stride
        given = tl.load(gradient + place, (i < n)[:, None] & (j < m)[None, :], 0.0)
        t = _tanh(own[:, None, :] + other[None, :, :])
        total += tl.sum((1 - t * t) * given[:, :, None], axis=1)
        if WITH_V:
            of_weights += tl.sum(t * given[:, :, None], axis=1)
    tl.store(of_ours + at, total * tl.load(v + k, k < K, 0.0)[None, :], mask)
    if WITH_V:
        part = sentence * tl.num_programs(0) + tl.program_id(0)
        tl.store(of_v + part * K + k, tl.sum(of_weights, axis=0), k < K)
