"""What tells two sets of judgments, or two sets of queries, apart: hashes that do not depend on the order of rows."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def of_ids(ids: Sequence[str]) -> str:
    """Return the SHA-256 of a list of ids, which the caller has sorted.

    Examples
    --------
    >>> of_ids(["q1", "q2"]) == of_ids(["q1q2"])
    False
    """
    return hashlib.sha256(_written(ids)).hexdigest()


def of_judgments(judgments: pl.DataFrame) -> str:
    """Return the SHA-256 of rows of query_id, doc_id and relevance, in whatever order they stand."""
    from deadheat.io.forking import check_threads

    check_threads()
    rows = judgments.sort("query_id", "doc_id")
    found = hashlib.sha256()
    for column in ("query_id", "doc_id"):
        found.update(_written(rows[column].to_list()))
    found.update(rows["relevance"].to_numpy().astype("<f8").tobytes())
    return found.hexdigest()


def _written(ids: Sequence[str]) -> bytes:
    return json.dumps(ids).encode()  # quotes keep neighbours apart
