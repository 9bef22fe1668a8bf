"""Move the weights of a trained network into a new one whose vocabulary differs.

Each axis of a tensor that stands for strings or for parts of the input has names: words, letters,
labels, values of features, numbers of the lexicon's prior, units of x_i. Entries with the
same name on both sides are taken over; the others keep their random values. An axis without names
must have the same size, or the whole tensor keeps its random values.

    inputs.word.weight   rows: words, specials first
    label.first.weight   columns: units of [a_i; a_j; x_i; x_j], by the part of the input
"""

from collections.abc import Callable, Hashable, Iterable, Sequence, Set

import torch
from torch import Tensor

from headwise.arrays import BoolArray
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.vocabulary.letters import N_LETTER_SPECIALS
from headwise.vocabulary.vocab import N_SPECIALS, Vocab

Names = Sequence[Hashable]
Axes = tuple[Names | None, ...]
"""The names along each axis of a tensor; None for an axis that has no names."""
Taken = tuple[dict[str, tuple[int, int]], int, list[str], list[str]]
"""What was taken over, as `learn.fit.reports.TakenReport` has it: rows, n_whole, anew, unused."""


def take_weights(
    network: Network,
    vocab: Vocab,
    trained: Network,
    trained_vocab: Vocab,
    skipped: Set[str] = frozenset(),
    fixed_words: BoolArray | None = None,
) -> Taken:
    """Copy what fits from `trained` into `network`; the tensors `skipped` are left as they are.

    Rows of words that are `fixed` [ids] keep their pre-trained vectors.
    """
    axes, trained_axes = name_axes(network, vocab), name_axes(trained, trained_vocab)
    old = {name: weight.detach().cpu() for name, weight in trained.named_parameters()}
    whole, anew = 0, []
    for name, parameter in network.named_parameters():
        if name in skipped:
            continue
        new = parameter.detach().cpu().clone()
        plain: Axes = (None,) * new.dim()
        matched = name in old and _match(
            new, axes.get(name, plain), old[name], trained_axes.get(name, plain)
        )
        if not matched:
            anew.append(name)
            continue
        whole += name not in axes
        if name == "inputs.word.weight" and fixed_words is not None:
            rows = torch.from_numpy(fixed_words)
            new[rows] = parameter.detach().cpu()[rows]
        with torch.no_grad():
            parameter.copy_(new)
    unused = set(old) - {name for name, _ in network.named_parameters()}
    return _count_rows(vocab, trained_vocab), whole, anew, sorted(unused)


def _match(new: Tensor, axes: Axes, old: Tensor, old_axes: Axes) -> bool:
    """Copy the part of `old` whose names are on all axes of `new`; tell whether there is any."""
    if new.dim() != old.dim():
        return False
    places, sources = [], []
    for axis, (names, old_names) in enumerate(zip(axes, old_axes, strict=True)):
        if names is None or old_names is None:
            if new.shape[axis] != old.shape[axis]:
                return False
            place = source = torch.arange(new.shape[axis])
        else:
            at = {name: i for i, name in enumerate(old_names)}
            pairs = [(i, at[name]) for i, name in enumerate(names) if name in at]
            if not pairs:
                return False
            place, source = torch.tensor(pairs).T
        shape = [-1 if i == axis else 1 for i in range(new.dim())]
        places.append(place.view(shape))
        sources.append(source.view(shape))
    new[tuple(places)] = old[tuple(sources)]
    return True


def name_axes(network: Network, vocab: Vocab) -> dict[str, Axes]:
    """Name the axes of all tensors that have names, by the name of the tensor."""
    axes: dict[str, Axes] = {
        "inputs.word.weight": (_with_specials(vocab.words.strings), None),
        "inputs.tag.weight": (_with_specials(vocab.tags.strings), None),
        "inputs.mark.table.weight": (_with_specials(vocab.marks.strings), None),
        "inputs.vector.weight": (_with_specials(vocab.vectors.strings), None),
        "inputs.letters.table.weight": (
            _with_specials(vocab.alphabet.letters, N_LETTER_SPECIALS),
            None,
        ),
    }
    if vocab.lexicon is not None:
        axes["inputs.prior.hidden.weight"] = (None, vocab.lexicon.prior_names)
    outputs: dict[str, Names] = {"label.last": vocab.labels.strings}
    outputs |= {f"tag.last.{column}": index.strings for column, index in vocab.predicted.items()}
    if vocab.features is not None:
        outputs["tag.last.feats"] = vocab.features.score_names
    if vocab.rules is not None:
        outputs["tag.last.lemma"] = vocab.rules.strings
    for name, strings in outputs.items():
        axes |= {f"{name}.weight": (strings, None), f"{name}.bias": (strings,)}
    return axes | _name_readers(network)


def _with_specials(strings: Iterable[str], n_specials: int = N_SPECIALS) -> Names:
    return [*range(n_specials), *strings]


def _name_readers(network: Network) -> dict[str, Axes]:
    """Name the columns of what reads x_i or a_i: units of parts of the input, and of states."""
    inputs = [
        (part, size, unit)
        for part, size in network.inputs.part_sizes.items()
        for unit in range(size)
    ]
    n_units = network.represent.size
    states = [("state", n_units, unit) for unit in range(n_units)]
    readers: dict[str, Names] = {}
    if isinstance(network.represent, BiLstm):
        if len(network.represent.forward_stack):
            for stack in ("forward_stack", "backward_stack"):
                readers[f"represent.{stack}.0.weight_ih_l0"] = inputs
        else:  # a_i is x_i
            states = inputs
            readers |= {f"select.{part}.weight": inputs for part in ("U_a", "W_a")}
    readers["label.first.weight"] = _both_ends(states) + _both_ends(inputs)
    for column in network.tag.hidden:
        readers[f"tag.hidden.{column}.weight"] = [("a", *n) for n in states] + [
            ("x", *n) for n in inputs
        ]
    return {name: (None, names) for name, names in readers.items()}


def _both_ends(names: Iterable[tuple[str, int, int]]) -> list[Hashable]:
    """Name the units of a dependent and of its head."""
    units = list(names)
    return [(end, *unit) for end in ("dependent", "head") for unit in units]


def _count_rows(vocab: Vocab, trained: Vocab) -> dict[str, tuple[int, int]]:
    """Count the strings of each kind that both know, and all that the new vocabulary has."""
    strings: list[tuple[str, Callable[[Vocab], Iterable[Hashable]]]] = [
        ("words", lambda v: v.words.strings),
        ("tags that are read", lambda v: v.tags.strings),
        ("marks", lambda v: v.marks.strings),
        ("letters", lambda v: v.alphabet.letters),
        ("vectors", lambda v: v.vectors.strings),
        ("labels", lambda v: v.labels.strings),
        ("UPOS", lambda v: v.predicted["upos"].strings if "upos" in v.predicted else ()),
        ("XPOS", lambda v: v.predicted["xpos"].strings if "xpos" in v.predicted else ()),
        ("values of features", lambda v: v.features.score_names if v.features else ()),
        ("lemma rules", lambda v: v.rules.strings if v.rules else ()),
    ]
    rows = {}
    for name, of in strings:
        own = set(of(vocab))
        if own:
            rows[name] = (len(own & set(of(trained))), len(own))
    return rows
