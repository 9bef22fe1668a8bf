"""Parse documents in Spark into one row for each sentence.

    pip install 'headwise[corpus]' pyspark      (on every machine; Spark needs Java)
    spark-submit examples/spark.py documents.parquet parsed.parquet

`documents.parquet` has the columns `id` and `text`; other columns are kept as JSON in `metadata`.
Spark takes `SCHEMA` as a string; `mapInPandas` calls `parse_frames` in each task.
"""

import sys
from collections.abc import Iterator
from functools import cache

import pandas as pd
import pyarrow as pa

from headwise.corpus.dataset import TABLE_SCHEMA, TableParser

SCHEMA = """
    document_id string, sentence_id string, text string, tokens array<string>,
    lemmas array<string>, upos array<string>, xpos array<string>, feats array<string>,
    heads array<int>, labels array<string>, starts array<bigint>, ends array<bigint>,
    probabilities array<float>, lemma_probabilities array<float>, upos_probabilities array<float>,
    xpos_probabilities array<float>, feats_probabilities array<float>,
    label_probabilities array<float>,
    multiword array<struct<first: int, last: int, form: string, start: bigint, end: bigint>>,
    how string, metadata string, error string
"""


@cache
def load() -> TableParser:
    """Load the model once for each Spark process, not once for each task."""
    return TableParser(text_column="text", id_column="id")


def parse_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Parse the documents of a partition, frame by frame."""
    parse = load()
    for frame in frames:
        # Python lists, because Spark needs them where a value may be null.
        rows = parse(pa.Table.from_pandas(frame, preserve_index=False)).to_pylist()
        yield pd.DataFrame(rows, columns=TABLE_SCHEMA.names)


def main(documents: str, parsed: str) -> None:
    """Parse a table of documents into a table of sentences."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("headwise").getOrCreate()
    spark.read.parquet(documents).mapInPandas(parse_frames, SCHEMA).write.parquet(parsed)


if __name__ == "__main__":
    main(*sys.argv[1:])
