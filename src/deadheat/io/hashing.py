"""Hashes of document ids: they find candidates fast, and the ids themselves decide."""

import polars as pl

DOC_HASH = "doc_hash"
HASH_BITS = 32  # that are kept of each: half the memory to sort


def doc_hash() -> pl.Expr:
    """Return the high bits of the hash of each doc_id, as a column of UInt32 that is named `DOC_HASH`."""
    return (pl.col("doc_id").hash(1) // 2 ** (64 - HASH_BITS)).cast(pl.UInt32).alias(DOC_HASH)
