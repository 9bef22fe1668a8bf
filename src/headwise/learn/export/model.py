"""The trained network as ONNX graphs, in float32 and int8, and as a model folder.

A network with LSTMs and without a transformer becomes the graphs of `learn.export.batches`. Any
other becomes three graphs, one for each step of the paper, so that the runtime can cut a sentence
into blocks between them:

    represent   words, tags, vectors [N+1], pieces, marks, letters, prior [N+1, k],
                in_context [N+1, .]                                                    (Eq. 1-4)
                -> states, inputs, heads, dependents [N+1, .]; for each predicted column positions
                   [N+1] (of FEATS [N+1, features]); for each log-probabilities [N+1, .]
    select      dependents [n, k], heads [N+1, k], rows [n] -> log P_head [n, N+1]  (Eq. 5-6)
    label       states, inputs [N+1, .], words and chosen heads [M] -> log-probabilities [M, R]

`represent` and `label` are matrix products and become int8. `select` is a sum and a tanh for each
pair of words; int8 would not make it faster, so it stays in float32.

A transformer becomes two graphs, its table of subwords and the rest, so that no file of a large one
is too large for code hosts. They take one window at a time, so that memory is bounded however long
a sentence is, and no mask, as no window has padding:

    subwords    subwords [L] -> embedded [L, k]
    encoder     embedded [L, k] -> states [L, size]

Kinds that are not in `network.encoder.PLAIN_KINDS` have one graph, from subwords to states.
"""

import copy
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from headwise.learn.export.batches import batch_graphs
from headwise.learn.export.graphs import (
    OPSET,
    RowsLinear,
    TracedFunction,
    example_ids,
    int8_rows,
    quantise,
    trace,
)
from headwise.learn.export.lstms import gates_for_onnx, with_onnx_letters
from headwise.model.bundle import LEXICON, SELECT, VOCAB, WEIGHTS, Description, write_bundle
from headwise.network.encoder import Encoder
from headwise.network.inputs import PriorReader
from headwise.network.label import arc_features
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.network.select import head_distribution
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.lexicon import N_COUNTS, pack_lexicon
from headwise.vocabulary.subwords import Subwords, subword_files
from headwise.vocabulary.vocab import Vocab, vocab_to_json

_LARGE_TABLE = 64
"""Rows of a transformer's table, of subwords or positions, that is worth storing in int8."""


class _OnnxLstm(nn.Module):
    """One LSTM layer as one node of ONNX; the exporter would unroll it to a fixed length.

    The gates have another order there (`gates_for_onnx`). The initial states are zero in both.
    """

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.size = lstm.hidden_size
        over_inputs, over_hidden, *biases = (
            torch.cat(gates_for_onnx(part)) for part in lstm.parameters()
        )
        self.over_inputs = nn.Parameter(over_inputs[None])  # [1, 4d, k]
        self.over_hidden = nn.Parameter(over_hidden[None])  # [1, 4d, d]
        self.bias = nn.Parameter(torch.cat(biases)[None])  # [1, 8d]

    def forward(self, inputs: Tensor) -> tuple[Tensor]:
        """Run over inputs [1, T, k]: states [1, T, d]."""
        outputs = torch.onnx.ops.symbolic(
            "LSTM",
            [inputs.transpose(0, 1), self.over_inputs, self.over_hidden, self.bias],
            {"hidden_size": self.size},
            dtype=inputs.dtype,
            shape=[inputs.shape[1], 1, inputs.shape[0], self.size],
            version=OPSET,
        )  # [T, 1, 1, d]
        return (outputs[:, 0].transpose(0, 1),)


class Int8Embedding(nn.Module):
    """An embedding table in int8 with one scale for each row: a quarter of the size."""

    def __init__(self, table: nn.Embedding) -> None:
        """Round a table."""
        super().__init__()
        weight = table.weight.detach()  # [ids, s]
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127  # [ids, 1]
        self.register_buffer("values", (weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.padding_idx = table.padding_idx

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [1, N+1]: float [1, N+1, s]."""
        values = functional.embedding(ids, self.get_buffer("values")).float()
        return values * functional.embedding(ids, self.get_buffer("scale"))


class Int8Prior(nn.Module):
    """`PriorReader` in int8, with a scale for each word: other words do not change its vector.

    The logarithm of a count is many times larger than any share, which would be rounded to little.
    It is multiplied as it is, and so is the length of the ending.
    """

    def __init__(self, reader: PriorReader) -> None:
        """Round the weights of both layers."""
        super().__init__()
        self.n_values = reader.n_values
        weight = reader.hidden.weight.detach()  # [size, 2 P + 2]
        of_shares = nn.Linear(weight.shape[1] - N_COUNTS, len(weight))
        of_shares.weight, of_shares.bias = nn.Parameter(weight[:, :-N_COUNTS]), reader.hidden.bias
        self.of_shares = RowsLinear(of_shares)
        self.register_buffer("of_counts", weight[:, -N_COUNTS:].T.contiguous())  # [2, size]
        self.out = RowsLinear(reader.out)

    def forward(self, prior: Tensor) -> Tensor:
        """Read shares and counts [1, N+1, k]: float [1, N+1, size]."""
        hidden = self.of_shares(prior[..., :-N_COUNTS])
        for i, weights in enumerate(self.get_buffer("of_counts"), -N_COUNTS):
            hidden = hidden + prior[..., i, None] * weights
        return torch.tanh(self.out(torch.relu(hidden)))


def with_int8_inputs(network: Network) -> Network:
    """Copy a network with its embedding tables, and the reader of its lexicon, in int8."""
    copied = copy.deepcopy(network)
    inputs = copied.inputs
    if inputs.prior is not None:
        inputs._modules["prior"] = Int8Prior(inputs.prior)
    for part in (inputs, inputs.spelling, inputs.mark):
        for name, table in list(part.named_children()) if part is not None else ():
            if isinstance(table, nn.Embedding):
                setattr(part, name, Int8Embedding(table))
    for module in list(copied.encoder.modules()) if copied.encoder is not None else ():
        for name, table in list(module.named_children()):
            if type(table) is nn.Embedding and table.num_embeddings >= _LARGE_TABLE:
                setattr(module, name, Int8Embedding(table))
    return copied


def export_model(
    network: Network,
    vocab: Vocab,
    description: Description,
    path: Path,
    others: Mapping[str, bytes],
) -> None:
    """Write a model folder: graphs in both precisions, vocabulary, weights, and other files."""
    network.cpu().eval()
    slim = with_int8_inputs(network)
    if isinstance(network.represent, BiLstm) and network.encoder is None:
        graphs = batch_graphs(network, slim.inputs)
    else:
        graphs = sentence_graphs(network, slim)
    if vocab.subwords is not None:
        graphs |= subword_files(vocab.subwords) | encoder_graphs(network, slim, vocab.subwords)
    weights = safetensors.torch.save(network.state_dict())
    files = {VOCAB: vocab_to_json(vocab), WEIGHTS: weights, **graphs, **others}
    if vocab.lexicon is not None:
        files[LEXICON] = pack_lexicon(vocab.lexicon)
    write_bundle(path, description, files)


def encoder_graphs(network: Network, slim: Network, subwords: Subwords) -> dict[str, bytes]:
    """Trace the transformer; its table of subwords, half of a small one, is in int8 in `slim`."""
    window = subwords.settings.window
    ids = torch.ones(min(9, window), dtype=torch.int32)
    free = {0: Dim("length", min=3, max=window)}
    files = {}
    for precision, network_of in (("float32", network), ("int8", slim)):
        assert network_of.encoder is not None
        encoder = network_of.encoder.for_export()
        if network_of is slim:
            int8_rows(encoder.model)
        if encoder.is_plain:
            lookup = TracedFunction(_embed, encoder=encoder)
            table = trace(lookup, {"subwords": ids}, {"subwords": free}, ["embedded"])
            files[f"subwords.{precision}.onnx"] = table
            example = {"embedded": _embed(encoder, ids).detach()}
            rest = TracedFunction(_read_embedded, encoder=encoder)
        else:
            example = {"subwords": ids}
            rest = TracedFunction(_read_window, encoder=encoder)
        graph = trace(rest, example, dict.fromkeys(example, free), ["states"])
        files[f"encoder.{precision}.onnx"] = graph
    return files


def _embed(encoder: Encoder, subwords: Tensor) -> Tensor:
    return encoder.embed(subwords[None].long())[0]


def _read_embedded(encoder: Encoder, embedded: Tensor) -> Tensor:
    return encoder.read(embedded[None])[0]


def _read_window(encoder: Encoder, subwords: Tensor) -> Tensor:
    return encoder.states(subwords[None].long())[0]


def sentence_graphs(network: Network, slim: Network) -> dict[str, bytes]:
    """Trace the graphs that take one sentence at a time."""
    files = {
        "represent.float32.onnx": export_represent(network),
        "represent.int8.onnx": quantise(export_represent(slim)),
        SELECT: export_select(network),
        "label.float32.onnx": export_label(network),
    }
    files["label.int8.onnx"] = quantise(files["label.float32.onnx"])
    return files


def _represent(
    network: Network,
    words: Tensor,
    tags: Tensor,
    pieces: Tensor,
    vectors: Tensor,
    marks: Tensor,
    letters: Tensor,
    prior: Tensor,
    in_context: Tensor,
) -> tuple[Tensor, ...]:
    arrays = (words, tags, pieces, vectors, marks, letters, prior)
    ids = WordIds(*(array[None] for array in arrays))
    inputs = network.inputs(ids, None if network.encoder is None else in_context[None])
    states = network.represent(inputs, None)
    heads, dependents = network.select.project(states)
    scores = [column[0] for column in network.tag(states, inputs)]
    predicted = [column.argmax(dim=-1) for column in scores]
    return states[0], inputs[0], heads[0], dependents[0], *predicted, *scores


def export_represent(network: Network) -> bytes:
    """Trace Eq. 1-4, and what `select` needs of it."""
    copied = copy.deepcopy(network)
    if isinstance(copied.represent, BiLstm):
        for stack in (copied.represent.forward_stack, copied.represent.backward_stack):
            for i, lstm in enumerate(stack):
                assert isinstance(lstm, nn.LSTM)
                stack[i] = _OnnxLstm(lstm)
    copied.inputs = with_onnx_letters(copied.inputs)
    slots = Dim("slots")
    example, free = example_ids(slots, network.inputs)
    example["in_context"] = torch.ones(7, network.encoder.size if network.encoder else 1)
    free["in_context"] = {0: slots}
    tags = list(network.tag.last)
    tags += [f"{column}_scores" for column in tags]
    return trace(
        TracedFunction(_represent, network=copied),
        example,
        free,
        ["states", "inputs", "heads", "dependents", *tags],
    )


def _select(network: Network, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
    scores = network.select(dependents[None], heads[None], rows)
    return head_distribution(scores, None)[0]


def export_select(network: Network) -> bytes:
    """Trace Eq. 5-6 for a block of dependents and all heads."""
    slots, block = Dim("slots"), Dim("block")
    states = torch.zeros(1, 7, network.represent.size)
    with torch.no_grad():
        heads, dependents = network.select.project(states)
    rows = torch.arange(5, dtype=torch.int32)
    return trace(
        TracedFunction(_select, network=network),
        {"dependents": dependents[0, :5], "heads": heads[0], "rows": rows},
        {"dependents": {0: block}, "heads": {0: slots}, "rows": {0: block}},
        ["head_log_probs"],
    )


def _label(
    network: Network, states: Tensor, inputs: Tensor, words: Tensor, chosen: Tensor
) -> Tensor:
    log_probs: Tensor = network.label(arc_features(states, inputs, words, chosen))
    return log_probs


def export_label(network: Network) -> bytes:
    """Trace the label network for any number of arcs."""
    slots, arcs = Dim("slots"), Dim("arcs")
    states = torch.zeros(7, network.represent.size)
    inputs = torch.zeros(7, network.inputs.size)
    words = torch.arange(5, dtype=torch.int32)
    return trace(
        TracedFunction(_label, network=network),
        {"states": states, "inputs": inputs, "words": words, "chosen": words.clone()},
        {"states": {0: slots}, "inputs": {0: slots}, "words": {0: arcs}, "chosen": {0: arcs}},
        ["label_log_probs"],
    )
