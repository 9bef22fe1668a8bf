r"""Make a file of plain English sentences, for a model to parse and a smaller one to learn from.

    python -m bench.silver download sources
    python -m bench.silver make sources words.conllu.xz \
        --not-in UD_English-EWT UD_English-GUM UD_English-PUD
    headwise parse words.conllu.xz --model models/en-accurate -o silver.conllu

The text comes from packages of PyPI and Debian (`packages.py`), so that anyone can get the same.
The segmenter of a model finds sentences and words. Left out are sentences that are too short or too
long, look like code, tables or another language, are duplicates, or are in the dev or test set of a
treebank given with `--not-in`. `words.json` says how many words came from which package.

The licences are those of the packages. If you distribute a model trained on the texts, check where
each of them comes from.
"""

import argparse
import hashlib
import json
import lzma
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import headwise
from bench.silver.packages import SOURCES, Source, download, find_package, read_source
from bench.silver.select import clean_paragraph, read_held_out, select_sentences
from headwise.files import whole_file
from headwise.text.segmenter import Segmenter
from headwise.treebank.sentence import Sentence


def sentences_of(
    source: Source, folder: Path, segmenter: Segmenter, max_words: int
) -> Iterator[Sentence]:
    """Find the sentences in about the first `max_words` words of a source."""

    def texts() -> Iterator[str]:
        n_words = 0
        for paragraph in read_source(source, folder):
            if n_words < max_words and (text := clean_paragraph(paragraph)):
                n_words += len(text.split())
                yield f"{text}\n\n"

    return segmenter.segment(texts())


def to_lines(sentence: Sentence, name: str) -> bytes:
    """Write a sentence as CoNLL-U with words only; `name` is its `sent_id`."""
    lines = [f"# sent_id = {name}"]
    for line in sentence.conllu.splitlines():
        if line and not line.startswith("#"):
            *columns, misc = line.split("\t")
            space = "SpaceAfter=No" if misc.startswith("SpaceAfter=No") else "_"
            lines.append("\t".join([*columns, space]))
    return ("\n".join(lines) + "\n\n").encode()


def make(given: argparse.Namespace) -> None:
    """Segment and select the sentences of all sources, and write them with a manifest."""
    segmenter = headwise.load(given.model).segmenter
    if segmenter is None:
        sys.exit(f"{given.model}: this model cannot read raw text")
    held_out = read_held_out(given.not_in)
    seen: set[tuple[str, ...]] = set()
    rows, n_by_package, genres = [], Counter[str](), Counter[str]()
    with whole_file(given.out) as stream, lzma.open(stream, "wb", preset=9) as packed:
        for source in SOURCES:
            started, n_words = time.monotonic(), 0
            n_before = n_by_package[source.package]
            found = sentences_of(source, given.sources, segmenter, given.words)
            for sentence in select_sentences(found, held_out, seen):
                n_by_package[source.package] += 1
                name = f"{source.package}-{n_by_package[source.package]}"
                packed.write(to_lines(sentence, name))
                n_words += len(sentence)
            genres[source.genre] += n_words
            package = find_package(given.sources, source.package)
            rows.append(
                {
                    "genre": source.genre,
                    "package": package.name,
                    "licence": source.licence,
                    "sentences": n_by_package[source.package] - n_before,
                    "words": n_words,
                    "sha256": hashlib.sha256(package.read_bytes()).hexdigest(),
                }
            )
            seconds = time.monotonic() - started
            print(f"{source.genre}, {package.name}: {n_words:,} words, {seconds:.0f} s", flush=True)
    manifest = {
        "words": genres.total(),
        "held out": [folder.name for folder in given.not_in],
        "genres": dict(genres.most_common()),
        "sources": rows,
    }
    path = given.out.with_name(given.out.name.partition(".")[0] + ".json")
    path.write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{given.out}: {genres.total():,} words")


def main() -> None:
    """Download packages, or make the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="what", required=True)
    downloading = commands.add_parser("download", help="download the packages")
    downloading.add_argument("sources", type=Path, help="folder for the packages")
    making = commands.add_parser("make", help="make the file of sentences")
    making.add_argument("sources", type=Path, help="folder of the packages")
    making.add_argument("out", type=Path, help="file to write, .conllu.xz")
    making.add_argument("--model", default="en", help="whose segmenter to use")
    making.add_argument("--not-in", type=Path, nargs="*", default=[], help="folders of treebanks")
    making.add_argument("--words", type=int, default=1_500_000, help="at most from each source")
    given = parser.parse_args()
    if given.what == "download":
        download(given.sources)
    else:
        make(given)


if __name__ == "__main__":
    main()
