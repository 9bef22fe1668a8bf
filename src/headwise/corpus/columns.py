"""Sentences as rows of an Arrow table, the schema of Parquet shards and datasets.

A row is a sentence; the columns of its words are lists. Slot i of each list belongs to word i + 1,
so `heads` counts from 1, and 0 is ROOT. Offsets count the characters of the document as it was
given; a word of a multi-word token that does not occur in the text has none. `docs/scale.md` lists
the columns.
"""

import pyarrow as pa

from headwise.corpus.documents import Document
from headwise.treebank.sentence import Parse, Sentence, filled

_MULTIWORD = pa.struct(
    [
        pa.field("first", pa.int32(), nullable=False),
        pa.field("last", pa.int32(), nullable=False),
        pa.field("form", pa.string(), nullable=False),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
    ]
)
_NO_SPAN = (None, None)
SCHEMA = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("sentence_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("tokens", pa.list_(pa.string())),
        pa.field("upos", pa.list_(pa.string())),
        pa.field("xpos", pa.list_(pa.string())),
        pa.field("heads", pa.list_(pa.int32())),
        pa.field("labels", pa.list_(pa.string())),
        pa.field("starts", pa.list_(pa.int64())),
        pa.field("ends", pa.list_(pa.int64())),
        pa.field("probabilities", pa.list_(pa.float32())),
        pa.field("multiword", pa.list_(_MULTIWORD)),
        pa.field("how", pa.string()),
        pa.field("metadata", pa.string()),
    ]
)
"""`how` names the decoder that made the tree; `metadata` is a JSON object."""


def sentence_row(
    document: Document, number: int, sentence: Sentence, parse: Parse
) -> dict[str, object]:
    """Make the row of the `number`-th sentence of a document."""
    words = sentence.words
    spans = [word.span or _NO_SPAN for word in words]
    return {
        "document_id": document.id,
        "sentence_id": _sentence_id(document, number, sentence),
        "text": sentence.text,
        "tokens": [word.form for word in words],
        "upos": [filled(word.upos) for word in words],
        "xpos": [filled(word.xpos) for word in words],
        "heads": parse.heads,
        "labels": parse.labels,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "probabilities": parse.probabilities,
        "multiword": _multiword(sentence),
        "how": parse.how,
        "metadata": document.metadata or None,
    }


def _multiword(sentence: Sentence) -> list[dict[str, object]]:
    tokens = []
    for token in sentence.multi_word_tokens:
        start, end = token.span or _NO_SPAN
        tokens.append(
            {"first": token.first, "last": token.last, "form": token.form}
            | {"start": start, "end": end}
        )
    return tokens


def _sentence_id(document: Document, number: int, sentence: Sentence) -> str:
    """Give the `sent_id` of CoNLL-U, or the id of the document and a number if there is none."""
    if isinstance(document.content, bytes) and (value := sentence.metadata.get("sent_id")):
        return value
    return f"{document.id}-{number}"
