"""Which rows are excluded: of a frame in memory, and of a lazy frame in its engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    import narwhals as nw

KEYS = ["query_id", "doc_id"]
SEPARATOR = "\x1f"  # between the ids of a pair, where an engine compares pairs as texts


def find_excluded(frame: pl.DataFrame, pairs: pl.DataFrame | None) -> pl.Series:
    """Tell which rows of a frame are excluded.

    Examples
    --------
    >>> frame = pl.DataFrame({"query_id": ["a", "a", "b"], "doc_id": ["a", "b", "a"]})
    >>> find_excluded(frame, None).to_list()
    [True, False, False]
    >>> find_excluded(frame, pl.DataFrame({"query_id": ["b"], "doc_id": ["a"]})).to_list()
    [False, False, True]
    """
    if pairs is None:
        return frame.select(pl.col("query_id") == pl.col("doc_id")).to_series()
    # a join on one text column needs no row encoding, and leaves few rows for that on two
    documents = pairs.lazy().select("doc_id").unique()
    candidates = frame.lazy().select(KEYS).with_row_index("row").join(documents, on="doc_id", how="semi")
    rows = candidates.join(pairs.lazy(), on=KEYS, how="semi").select("row").collect()["row"]
    is_excluded = np.zeros(len(frame), np.bool_)
    is_excluded[rows.to_numpy()] = True
    return pl.Series(is_excluded)


def split_in_engine(
    frame: nw.LazyFrame[Any], pairs: pl.DataFrame | None
) -> tuple[nw.LazyFrame[Any], nw.LazyFrame[Any]]:
    """Return the rows of a lazy frame that remain, and those that are excluded, both in the engine of the frame."""
    import narwhals as nw  # only frames of engines need it

    if pairs is not None and frame.implementation.is_polars():
        native = cast("pl.LazyFrame", frame.to_native())
        remaining = native.join(pairs.lazy(), on=KEYS, how="anti", maintain_order="left")
        return nw.from_native(remaining), nw.from_native(native.join(pairs.lazy(), on=KEYS, how="semi"))
    if pairs is None:
        is_excluded = nw.col("query_id") == nw.col("doc_id")
    else:
        is_excluded = _is_pair(pairs)
    return frame.filter(~is_excluded), frame.filter(is_excluded)


def _is_pair(pairs: pl.DataFrame) -> nw.Expr:
    """Return an expression that tells, in any engine, whether a row is one of some pairs."""
    import narwhals as nw

    ids = pl.concat([pairs["query_id"], pairs["doc_id"]])
    if not ids.str.contains(SEPARATOR, literal=True).any():
        texts = pairs.select(pl.concat_str(KEYS, separator=SEPARATOR)).to_series().to_list()
        return nw.concat_str(*map(nw.col, KEYS), separator=SEPARATOR).is_in(texts)
    is_excluded = nw.lit(value=False)
    for (query,), documents in pairs.group_by("query_id"):
        is_excluded = is_excluded | (
            (nw.col("query_id") == query) & nw.col("doc_id").is_in(documents["doc_id"].to_list())
        )
    return is_excluded
