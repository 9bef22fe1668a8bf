"""Count a treebank (Table 1), and write it as plain files for other parsers.

    python -m bench.paper.treebank PLAN DATA DATASET FOLDER

Plain files are uncompressed CoNLL-U with words only: no ranges, no empty nodes, no comments.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.paper.plan import Dataset, read_plan
from bench.paper.scores import Treebank, TreebankPart
from headwise import Sentence, read_sentences
from headwise.files import whole_file
from headwise.trees.tree import is_projective
from headwise.vocabulary.encode import heads_array


def read_part(dataset: Dataset, data: Path, part: str) -> list[Sentence]:
    """Read train, dev or test, without blocks that have no words."""
    path = dataset.path(data, part)
    return [sentence for sentence in read_sentences(path, dataset.format) if len(sentence)]


def count_treebank(dataset: Dataset, data: Path) -> Treebank:
    """Count sentences, words and projective trees."""
    train, dev, test = (_count_part(dataset, data, part) for part in ("train", "dev", "test"))
    return Treebank(train=train, dev=dev, test=test)


def _count_part(dataset: Dataset, data: Path, part: str) -> TreebankPart:
    sentences = read_part(dataset, data, part)
    n_projective = sum(is_projective(heads_array(sentence)) for sentence in sentences)
    return TreebankPart(
        n_sentences=len(sentences),
        n_words=sum(map(len, sentences)),
        projective=round(100 * n_projective / max(1, len(sentences)), 4),
        sha256=hashlib.sha256(dataset.path(data, part).read_bytes()).hexdigest(),
    )


def write_plain(sentences: Iterable[Sentence], path: Path, with_trees: bool = True) -> None:
    """Write words with their tags and, if `with_trees`, their heads and labels."""
    with whole_file(path) as stream:
        for sentence in sentences:
            for word in sentence.words:
                gold = (word.head, word.deprel) if with_trees else ("_", "_")
                columns = (*word[:6], *gold, "_", "_")
                stream.write(("\t".join(columns) + "\n").encode())
            stream.write(b"\n")


def main(plan_path: str, data: str, name: str, folder: str) -> None:
    """Write the plain files of one dataset; the file `plain` marks them as complete."""
    dataset = read_plan(Path(plan_path)).datasets[name]
    for part in ("train", "dev", "test"):
        sentences = read_part(dataset, Path(data), part)
        write_plain(sentences, Path(folder) / f"{part}.conllu")
        if part != "train":
            write_plain(sentences, Path(folder) / f"{part}.input.conllu", with_trees=False)
    (Path(folder) / "plain").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
