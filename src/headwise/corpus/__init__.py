"""Corpora of any size, on one machine or many: `headwise corpus` and `parse_dataset`.

What is to be done is a plan: the inputs in sorted order, cut into units of work; unit k becomes
shard k. The cut depends on the inputs alone, and a unit on nothing but its bytes and the model, so
the shards are the same bytes whoever makes them and how often. Ray Data hands the units to
workers and hands them out again when a worker dies; there is no scheduler of ours.

    places     inputs as files: folders, patterns, file systems; opened and unpacked
    cut        a stream of bytes -> documents that begin in a range of it
    plan       what is to be done: Job, Source, Slice, Unit, Plan
    documents  Unit -> Document, or why it is none
    annotate   Document -> sentences with their parses
    columns    sentences -> Arrow tables; the schema
    shards     sentences -> one file, CoNLL-U or Parquet
    work       Unit -> its shard and its record; what was done already stays
    alone      a unit that kills its worker, in a process of its own
    engine     Units -> records, here or on Ray Data
    run        the whole: plan, engine, manifest
    dataset    the same for a `ray.data.Dataset`, and for tables
"""

from headwise.corpus.dataset import parse_dataset, parse_table

__all__ = ["parse_dataset", "parse_table"]
