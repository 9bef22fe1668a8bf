"""The trained network as ONNX graphs, in float32 and int8, and as a model folder.

A network with LSTMs and without a transformer becomes the graphs of `learn.export.batches`. Any
other becomes three graphs, one for each step of the paper, so that the runtime can cut a sentence
into blocks between them:

    represent   words, tags, vectors [N+1], pieces, marks [N+1, k], in_context [N+1, .]   (Eq. 1-4)
                -> states, inputs, heads, dependents [N+1, .], predicted tags [N+1],
                   log-probabilities of these [N+1, tags]
    select      dependents [n, k], heads [N+1, k], rows [n] -> log P_head [n, N+1]  (Eq. 5-6)
    label       states, inputs [N+1, .], words and chosen heads [M] -> log-probabilities [M, R]

`represent` and `label` are matrix products and become int8. `select` is a sum and a tanh for each
pair of words; int8 would not make it faster, so it stays in float32.

A transformer is a graph of its own, which takes one window at a time, so that memory is bounded
however long a sentence is, and no mask, as no window has padding:

    encoder     subwords [L] -> states [L, size]
"""

import copy
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from headwise.learn.export.batches import batch_graphs, gates_for_onnx
from headwise.learn.export.graphs import OPSET, TracedFunction, example_ids, quantise, trace
from headwise.model.bundle import SELECT, VOCAB, WEIGHTS, Description, write_bundle
from headwise.network.encoder import Encoder
from headwise.network.label import arc_features
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.network.select import head_distribution
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.subwords import Subwords, subword_files
from headwise.vocabulary.vocab import Vocab, vocab_to_json


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

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [1, N+1]: float [1, N+1, s]."""
        values = functional.embedding(ids, self.get_buffer("values")).float()
        return values * functional.embedding(ids, self.get_buffer("scale"))


def _with_int8_tables(network: Network) -> Network:
    """Copy a network with its embedding tables in int8."""
    copied = copy.deepcopy(network)
    for part in (copied.inputs, copied.inputs.spelling, copied.inputs.mark):
        for name, table in list(part.named_children()) if part is not None else ():
            if isinstance(table, nn.Embedding):
                setattr(part, name, Int8Embedding(table))
    if copied.encoder is not None:
        table = copied.encoder.model.get_input_embeddings()
        if type(table) is nn.Embedding:
            copied.encoder.model.set_input_embeddings(Int8Embedding(table))
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
    slim = _with_int8_tables(network)
    if isinstance(network.represent, BiLstm) and network.encoder is None:
        graphs = batch_graphs(network, slim.inputs)
    else:
        graphs = sentence_graphs(network, slim)
    if vocab.subwords is not None:
        graphs |= subword_files(vocab.subwords) | encoder_graphs(network, slim, vocab.subwords)
    weights = safetensors.torch.save(network.state_dict())
    files = {VOCAB: vocab_to_json(vocab), WEIGHTS: weights, **graphs, **others}
    write_bundle(path, description, files)


def encoder_graphs(network: Network, slim: Network, subwords: Subwords) -> dict[str, bytes]:
    """Trace the transformer; its table of subwords, half of a small one, is in int8 in `slim`."""
    window = subwords.settings.window
    example = {"subwords": torch.ones(min(9, window), dtype=torch.int32)}
    free = {"subwords": {0: Dim("length", min=3, max=window)}}
    exact, light = (
        trace(TracedFunction(_read_window, encoder=encoder), example, free, ["states"])
        for encoder in (network.encoder, slim.encoder)
        if encoder is not None
    )
    return {"encoder.float32.onnx": exact, "encoder.int8.onnx": quantise(light)}


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
    in_context: Tensor,
) -> tuple[Tensor, ...]:
    ids = WordIds(words, tags, pieces, vectors, marks).map(lambda array: array[None])
    inputs = network.inputs(ids, None if network.encoder is None else in_context[None])
    states = network.represent(inputs, None)
    heads, dependents = network.select.project(states)
    scores = [column[0] for column in network.tag(states)]
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
    slots = Dim("slots")
    example, free = example_ids(slots)
    example["in_context"] = torch.ones(7, network.encoder.size if network.encoder else 1)
    free["in_context"] = {0: slots}
    tags = list(network.tag.columns)
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
