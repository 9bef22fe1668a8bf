import gzip
import hashlib
import json
import lzma
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from udtools import Validator  # type: ignore[import-untyped]

from headwise import sentence_from_words
from headwise.corpus.documents import SourceDocument
from headwise.corpus.parsing import ParsedDocument, parse_documents
from headwise.corpus.plan import Compression, ShardFormat
from headwise.corpus.shards import SCHEMA, ShardEntry, sentence_row, shard_name, write_shard
from headwise.errors import DataError
from headwise.runtime.parser import Parser

DOCUMENTS = [
    SourceDocument(
        "https://x.org/a b%", "s", 0, "Kids don't love candy. So do I.", '{"year":2026}'
    ),
    SourceDocument("two\nlines", "s", 1, "He can't.", '{"a":"\u2028"}'),
]
TREEBANK = SourceDocument(
    "conllu",
    "s",
    2,
    b"# sent_id = old\n1\tHi\thi\t_\t_\t_\t_\t_\t_\t_\n\n\n1\tHo\t_\t_\t_\t_\t_\t_\t_\t_\n",
)


def entries(parser: Parser, documents: list[SourceDocument]) -> Iterator[ShardEntry]:
    for item in parse_documents(parser, documents):
        assert isinstance(item, ParsedDocument)
        for number, (sentence, parse) in enumerate(item.sentences, 1):
            yield item.document, number, sentence, parse


def unpack(data: bytes, compression: Compression) -> bytes:
    if compression == "zstd":
        return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())
    return {"xz": lzma.decompress, "gzip": gzip.decompress, "none": bytes}[compression](data)  # type: ignore[operator]


@pytest.mark.parametrize("compression", ["xz", "zstd", "gzip", "none"])
def test_conllu(tmp_path: Path, parser: Parser, compression: Compression) -> None:
    path = tmp_path / shard_name(7, "conllu", compression)
    assert path.name.startswith("shard-00000007.conllu")
    digest = write_shard(path, "conllu", compression, entries(parser, DOCUMENTS))
    data = path.read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == digest
    text = unpack(data, compression).decode()
    assert text.startswith(
        '# newdoc id = https://x.org/a b%\n# metadata = {"year":2026}\n# newpar\n'
        "# sent_id = https:%2F%2Fx.org%2Fa%20b%25-1\n# text = Kids"
    )
    assert '# newdoc id = two lines\n# metadata = {"a":"\\u2028"}\n# newpar\n' in text
    assert "# sent_id = two%0Alines-1\n" in text
    assert text.count("# newdoc") == 2
    assert write_shard(path, "conllu", compression, entries(parser, DOCUMENTS)) == digest


def test_the_validator_of_ud_finds_no_error(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "a.conllu"
    write_shard(path, "conllu", "none", entries(parser, DOCUMENTS))
    state = Validator(level=2).validate_files([str(path)])
    assert state.passed(), [str(error) for error in state.error_tracker]


def test_the_page_lists_every_column() -> None:
    page = Path(__file__).parents[2] / "docs" / "corpus.md"
    for field in SCHEMA:
        kind = re.sub("list<(item|element): ", "list<", str(field.type))
        assert f"| `{field.name}` | `{kind}` |" in page.read_text(encoding="utf-8"), field


def test_parquet_has_the_documented_schema(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / shard_name(0, "parquet", "zstd")
    _, sha256 = write_shard(path, "parquet", "zstd", entries(parser, [*DOCUMENTS, TREEBANK]))
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    table = pq.read_table(path)
    assert table.schema.equals(SCHEMA)
    first, *_, he, old, new = table.to_pylist()
    assert first["sentence_id"] == "https://x.org/a b%-1"
    assert first["text"] == "Kids don't love candy."
    assert first["tokens"] == ["Kids", "do", "n't", "love", "candy", "."]
    content = str(DOCUMENTS[0].content)
    spans = zip(first["starts"], first["ends"], strict=True)
    assert [content[i:j] for i, j in spans] == first["tokens"]
    assert first["multiword"] == [{"first": 2, "last": 3, "form": "don't", "start": 5, "end": 10}]
    assert first["heads"].count(0) == 1
    assert all(0 < probability <= 1 for probability in first["probabilities"])
    assert json.loads(first["metadata"]) == {"year": 2026}
    assert json.loads(he["metadata"]) == {"a": "\u2028"}
    assert new["metadata"] is None
    assert (old["sentence_id"], new["sentence_id"]) == ("old", "conllu-2")
    assert (old["xpos"], old["starts"]) == (["UH"], [None])


def test_parquet_has_lemmas_features_and_probabilities(tmp_path: Path, parser: Parser) -> None:
    columns = ["form", "lemma", "upos", "xpos", "feats"]
    sentence = sentence_from_words(
        [("Hi", "hi", "INTJ", "UH", "_"), ("a", "_", "X", "_", "A=B")], columns
    )
    (parse,) = parser.parse([sentence])
    (without,) = [sentence_row(TREEBANK, 1, sentence, parse)]
    assert (without["lemmas"], without["feats"]) == (["hi", None], [None, "A=B"])
    assert not any(name.endswith("_probabilities") for name in without)
    probs = {"lemma": (0.5, math.nan), "feats": (0.25, 0.75)} | parse.column_probs
    path = tmp_path / "a.parquet"
    entry = (TREEBANK, 1, sentence, replace(parse, column_probs=probs))
    write_shard(path, "parquet", "none", [entry], with_probabilities=True)
    (row,) = pq.read_table(path).to_pylist()
    assert row["lemma_probabilities"] == [0.5, None]
    assert row["feats_probabilities"] == [0.25, 0.75]
    for name in ("upos", "xpos", "label"):
        assert all(0 < prob <= 1 for prob in row[f"{name}_probabilities"])
    write_shard(path, "parquet", "none", [entry])
    assert pq.read_table(path).to_pylist()[0]["label_probabilities"] is None


def test_row_groups_are_bounded(tmp_path: Path, parser: Parser, texts: list[str]) -> None:
    path = tmp_path / "a.parquet"
    document = SourceDocument("d", "s", 0, " ".join(texts[:20]))
    write_shard(path, "parquet", "snappy", entries(parser, [document]), row_group_words=100)
    assert pq.ParquetFile(path).num_row_groups > 2
    write_shard(path, "parquet", "none", entries(parser, []))
    assert pq.read_table(path).num_rows == 0


@pytest.mark.parametrize("shard_format", ["conllu", "parquet"])
@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_a_failure_leaves_no_file_behind(
    tmp_path: Path, parser: Parser, shard_format: ShardFormat, compression: Compression
) -> None:
    path = tmp_path / "out"

    def fail() -> Iterator[ShardEntry]:
        yield from entries(parser, DOCUMENTS)
        raise KeyError

    with pytest.raises(KeyError):
        write_shard(path, shard_format, compression, fail())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="No such file"):
        write_shard(path / "missing", shard_format, compression, entries(parser, DOCUMENTS))
