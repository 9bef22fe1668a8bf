"""A treebank in figures (Table 1), and as plain files for outside parsers.

    python -m bench.paper.treebank PLAN DATA DATASET figures OUTPUT
    python -m bench.paper.treebank PLAN DATA DATASET plain FOLDER

Plain is CoNLL-U, not packed, with the words alone: no ranges, no empty nodes, no comments.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.paper.plan import PARTS, Dataset, read_plan
from bench.paper.results import Treebank, TreebankPart, write_json
from headwise import Sentence, read_sentences
from headwise.files import whole_file
from headwise.trees.tree import is_projective
from headwise.vocabulary.encode import heads_array


def read_part(dataset: Dataset, data: Path, part: str) -> list[Sentence]:
    """Read train, dev or test; blocks without words are left out."""
    path = dataset.path(data, part)
    return [sentence for sentence in read_sentences(path, dataset.format) if len(sentence)]


def describe(dataset: Dataset, data: Path) -> Treebank:
    """Count sentences, words and projective trees."""
    train, dev, test = (_describe_part(dataset, data, part) for part in PARTS)
    return Treebank(train=train, dev=dev, test=test)


def _describe_part(dataset: Dataset, data: Path, part: str) -> TreebankPart:
    sentences = read_part(dataset, data, part)
    n_projective = sum(is_projective(heads_array(sentence)) for sentence in sentences)
    return TreebankPart(
        n_sentences=len(sentences),
        n_words=sum(map(len, sentences)),
        projective=round(100 * n_projective / max(1, len(sentences)), 4),
        sha256=hashlib.sha256(dataset.path(data, part).read_bytes()).hexdigest(),
    )


def write_plain(sentences: Iterable[Sentence], path: Path, with_trees: bool = True) -> None:
    """Write words with their tags, and their heads and labels if asked for."""
    with whole_file(path) as stream:
        for sentence in sentences:
            for word in sentence.words:
                gold = (word.head, word.deprel) if with_trees else ("_", "_")
                columns = (*word[:6], *gold, "_", "_")
                stream.write(("\t".join(columns) + "\n").encode())
            stream.write(b"\n")


def main(plan_path: str, data: str, name: str, what: str, target: str) -> None:
    """Write the figures or the plain files of one dataset."""
    dataset = read_plan(Path(plan_path)).datasets[name]
    if what == "figures":
        write_json(Path(target), describe(dataset, Path(data)))
        return
    for part in PARTS:
        sentences = read_part(dataset, Path(data), part)
        write_plain(sentences, Path(target) / f"{part}.conllu")
        if part != "train":
            write_plain(sentences, Path(target) / f"{part}.input.conllu", with_trees=False)
    (Path(target) / "plain").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
