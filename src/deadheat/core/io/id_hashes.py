"""Hashes of document ids, by which documents are found and repeated ones are seen."""

from deadheat.core.libraries import polars as pl

DOC_HASH = "doc_hash"
HASH_BITS = 32  # of the 64 of a hash: half the memory to sort


def hash_doc_ids() -> "pl.Expr":
    """Return the high bits of the hash of each doc_id, as a column of UInt32 that is named `DOC_HASH`."""
    high_bits = pl.col("doc_id").hash(1) // 2 ** (64 - HASH_BITS)
    return high_bits.cast(pl.UInt32).alias(DOC_HASH)
