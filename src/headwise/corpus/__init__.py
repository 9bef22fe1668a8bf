"""Parse corpora of any size, on one machine or many: `headwise corpus` and `parse_dataset`.

A plan lists the inputs in sorted order and divides them into units; unit k becomes shard k. The
division depends only on the inputs, and the result of a unit only on its bytes and the model, so
the shards are the same bytes whichever worker makes them, and however often. Ray Data hands units
to workers, and hands them out again when a worker dies; there is no scheduler of our own.

    storage          find input files in folders, by pattern, on any file system; open, decompress
    splitting        a byte stream -> the documents that start in a range of it
    plan             what to do: CorpusJob, Source, Slice, Unit, CorpusPlan
    documents        Unit -> SourceDocument, or Rejected with the reason
    parsing          SourceDocument -> sentences with their parses
    shards           sentences -> rows of Arrow tables; one file, CoNLL-U or Parquet
    units            Unit -> its shard and record; finished work is kept
    isolated_worker  a unit that killed its worker, in a process of its own
    engine           Units -> results, in this process or on Ray Data
    run              all of it: lock, plan, engine, manifest
    dataset          the same for a `ray.data.Dataset` and for Arrow tables
"""

from headwise.corpus.dataset import parse_dataset, parse_table

__all__ = ["parse_dataset", "parse_table"]
