"""Hashes of judgments and of ids, to see later whether they are still the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from deadheat.core.libraries import polars as pl


def hash_ids(ids: Sequence[str]) -> str:
    """Return the SHA-256 of a list of ids, which the caller has sorted.

    Examples
    --------
    >>> hash_ids(["q1", "q2"]) == hash_ids(["q1q2"])
    False
    """
    return hash_parts([ids_to_bytes(ids)])


def hash_parts(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 of bytes in several parts."""
    return hashlib.sha256(b"".join(parts)).hexdigest()


def ids_to_bytes(ids: Sequence[str]) -> bytes:
    """Return a list of ids as bytes that no other list has."""
    return json.dumps(ids).encode()  # quotes keep neighbours apart


def numbers_to_bytes(numbers: pl.Series) -> bytes:
    """Return numbers as bytes, the same on every machine."""
    return numbers.to_numpy().astype("<f8").tobytes()
