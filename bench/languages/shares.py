"""Take a share of each treebank of a group, so that the largest do not outweigh the others.

    python -m bench.languages.shares PLAN DATA GROUP FOLDER

Writes `FOLDER/NAME-train.conllu.xz` for each member: its training sentences, or as many of them,
drawn at random, as make up the `most_words` of the group. The file `shares.json` comes last and
lists the words of each. The same plan and data give the same sentences.
"""

import lzma
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import headwise
from bench.experiment.results import write_json
from bench.languages.plan import SHARES, read_plan
from headwise import Sentence
from headwise.files import whole_file


def take_share(sentences: Sequence[Sentence], most_words: int) -> list[Sentence]:
    """Draw sentences until they have so many words; they stay in the order of the treebank."""
    chosen, n_words = [], 0
    for number in np.random.default_rng(0).permutation(len(sentences)).tolist():
        if n_words >= most_words:
            break
        chosen.append(number)
        n_words += len(sentences[number])
    return [sentences[number] for number in sorted(chosen)]


def main(plan_path: str, data: str, group: str, folder: str) -> None:
    """Write the shares of one group."""
    plan = read_plan(Path(plan_path))
    n_words = {}
    for name in plan.members(group):
        path = plan.path(name, Path(data), "train")
        share = take_share(list(headwise.read_sentences(path)), plan.treebanks[group].most_words)
        target = plan.share_path(name, Path(data), Path(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as stream, lzma.open(stream, "wb") as packed:
            for sentence in share:
                packed.write(sentence.data)
        n_words[name] = sum(map(len, share))
    write_json(Path(folder) / SHARES, n_words)


if __name__ == "__main__":
    main(*sys.argv[1:])
