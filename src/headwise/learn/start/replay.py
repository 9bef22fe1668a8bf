"""What a trained model is not to forget: sentences that are learned again beside the new ones.

They are of treebanks that the model was trained on, or plain text, which the model annotates
itself. What it annotated is kept in the folder of the run, so that a resumed run does not need the
model again. How many of them an epoch sees is decided in `learn.fit.loop`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import torch

from headwise.errors import DataError
from headwise.files import whole_file
from headwise.learn.data.treebanks import (
    Data,
    in_treebank,
    join_examples,
    make_examples,
    sources_of,
)
from headwise.learn.scorer import load_torch_scorer
from headwise.learn.start.model import KEPT
from headwise.model.bundle import WEIGHTS, Bundle
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import load_scorer
from headwise.settings.parsing import GPU_CHUNK_SIZE, ParserSettings
from headwise.settings.recipe import Recipe
from headwise.text.read import read_any
from headwise.text.segmenter import load_segmenter
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import BLANK, Sentence


def add_replay(
    recipe: Recipe,
    data: Data,
    folder: Path,
    bundle: Bundle | None,
    device: torch.device,
    keep: bool,
) -> Data:
    """Add the sentences of `start.replay` to the data, after all others.

    Without a `bundle` the run is resumed, and reads what the model annotated before. `keep` writes
    that down.
    """
    config = recipe.start
    if config is None or not config.replay:
        return data
    parser = None if bundle is None else _load_parser(bundle, device)
    parts, sentences, names = [], [], []
    for number, (name, source) in enumerate(sources_of(config.replay, "train").items()):
        kept_path = folder / KEPT / f"replay-{number}.{recipe.data.format}"
        if parser is None and kept_path.exists():
            read, is_gold = list(read_sentences(kept_path, recipe.data.format)), False
        else:
            read = list(_read(recipe, source, parser))
            is_gold = all(map(_has_heads, read))
            if not is_gold and parser is not None:
                read = list(_annotate(parser, read))
                if keep:
                    _write(kept_path, read)
        short = [one for one in read if 0 < len(one) <= recipe.train.max_length]
        if not short:
            what = f"no sentence of at most {recipe.train.max_length} words to replay"
            raise DataError(what, source)
        # The words of a treebank that the model was trained on are in its lexicon.
        is_in_lexicon = is_gold and config.vocabulary == "joined"
        vocab = in_treebank(data.vocab, name)
        parts.append(make_examples(short, vocab, is_in_lexicon=is_in_lexicon))
        sentences += short
        names += [name] * len(short)
    n_before = len(data.sentences)
    return replace(
        data,
        train=join_examples([data.train, *parts]),
        sentences=[*data.sentences, *sentences],
        treebanks=[*data.treebanks, *names],
        drawn=range(n_before, n_before + len(sentences)),
    )


def _load_parser(bundle: Bundle, device: torch.device) -> Parser:
    """Load the trained model, without weights on the CPU; what is annotated already stays."""
    settings = ParserSettings(
        decode=bundle.manifest.decode, keep=("lemma", "upos", "xpos", "feats")
    )
    if WEIGHTS not in bundle.contents:
        return Parser(load_scorer(bundle), load_segmenter(bundle), settings)
    settings = msgspec.structs.replace(settings, chunk_size=GPU_CHUNK_SIZE, look_ahead=1)
    return Parser(load_torch_scorer(bundle, str(device)), load_segmenter(bundle), settings)


def _read(recipe: Recipe, source: str, parser: Parser | None) -> Iterator[Sentence]:
    """Read a treebank, or text, which the model cuts into words."""
    form = recipe.data.format
    if parser is None:
        yield from read_sentences(source, form)
        return
    for item in read_any(source, "auto" if form == "conllu" else form, parser.segmenter):
        assert isinstance(item, Sentence)
        yield item


def _has_heads(sentence: Sentence) -> bool:
    """Return whether a sentence is annotated, at least in part."""
    return not len(sentence) or any(word.head != BLANK for word in sentence.words)


def _annotate(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Let the model annotate the sentences without heads."""
    annotated = parser.annotate([one for one in sentences if not _has_heads(one)])
    for sentence in sentences:
        item = sentence if _has_heads(sentence) else next(annotated)[0]
        assert isinstance(item, Sentence)
        yield item


def _write(path: Path, sentences: Sequence[Sentence]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        for sentence in sentences:
            stream.write(sentence.data)
