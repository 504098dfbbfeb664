"""Hashes of document ids: they find candidates fast, and the ids themselves decide."""

from __future__ import annotations

import polars as pl

DOC_HASH = "doc_hash"  # of the column in which a reader of files keeps them
HASH_BITS = 32  # that are kept of each: half the memory to sort


def hash_of(column: str) -> pl.Expr:
    """Return the high bits of the hash of each id, as UInt32."""
    return (pl.col(column).hash(1) // 2 ** (64 - HASH_BITS)).cast(pl.UInt32)
