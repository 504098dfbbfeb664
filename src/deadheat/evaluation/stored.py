"""The tables of queries and documents in a saved evaluation, checked like any input when they are read."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.evaluation.scores import Scores, StoredBounds, StoredSpread
from deadheat.io.forking import check_threads
from deadheat.measures import Measure
from deadheat.measures.unjudged import has_ends
from deadheat.placements.placements import Placements
from deadheat.placements.subtopics import Subtopics
from deadheat.wording import as_given

NUMBERS = ("value", "tie_mean", "tie_std", "tie_min", "tie_max", "standard_error")
IN_RANGE = ("value", "tie_mean", "tie_min", "tie_max")
SLACK = 1e-6  # a sum of rounded numbers may be this far outside the range of its measure
REACHABLE = "reachable"  # a column that files of earlier versions lack
UNJUDGED = ("unjudged_min", "unjudged_max")  # only with unjudged="bounds"; null for measures without bounds
SCORES: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(NUMBERS, pl.Float64),
    "has_relevant": pl.Boolean,
    REACHABLE: pl.Float64,
    **dict.fromkeys(UNJUDGED, pl.Float64),
}
CUT = "ends_in_tie"  # null if unknown
QUERIES: dict[str, type[pl.DataType]] = {"query_id": pl.String, "n_retrieved": pl.Int64, CUT: pl.Boolean}
RETRIEVED: dict[str, type[pl.DataType]] = {
    "query": pl.Int64,
    "doc_id": pl.String,
    "relevance": pl.Float64,
    "above": pl.Int64,
    "tied": pl.Int64,
}
JUDGED: dict[str, type[pl.DataType]] = {"query": pl.Int64, "relevance": pl.Float64}
SUBTOPICS: dict[str, type[pl.DataType]] = {  # only of qrels that have some
    "query": pl.Int64,
    "doc_id": pl.String,
    "topic": pl.Int64,
    "relevance": pl.Float64,
}
GRADED = "graded"  # the tables of placements once more, by an ontology's judgments; only with MaxRel on one
ENCODING = "Parquet in base64"


class StoredError(Exception):
    """A fault in the content of a saved evaluation; the caller adds the name of the file."""


def tables_of(
    query_ids: TextArray, scores: Sequence[Scores], placed: Placements | None, graded: Placements | None = None
) -> dict[str, object]:
    """Return the tables of an evaluation's queries and, if it has placements, of their documents.

    ``scores`` has a row for each measure and query, sorted by measure and then query; null means no value.
    """
    check_threads()
    held: dict[str, object] = {"encoding": ENCODING, "scores": packed(_score_rows(scores))}
    if placed is None:
        ids = {"query_id": query_ids.tolist()}
        return held | {"queries": packed(pl.DataFrame(ids, schema={"query_id": pl.String}))}
    return held | _placed_tables(placed) | ({} if graded is None else {GRADED: _placed_tables(graded)})


def _placed_tables(placed: Placements) -> dict[str, object]:
    ids = placed.query_ids.tolist()
    retrieved = {name: getattr(placed, "doc_ids" if name == "doc_id" else name).tolist() for name in RETRIEVED}
    judged = {"query": placed.judged_query, "relevance": placed.judged_relevance}
    ends = [None] * len(ids) if placed.ends_in_tie is None else placed.ends_in_tie.tolist()
    lengths = {"query_id": ids, "n_retrieved": placed.n_retrieved.tolist(), CUT: ends}
    own = placed.subtopics
    topics = {} if own is None else {name: getattr(own, f"{name}s" if name == "doc_id" else name) for name in SUBTOPICS}
    return {
        **({"subtopics": packed(pl.DataFrame(topics, schema=SUBTOPICS))} if topics else {}),
        "queries": packed(pl.DataFrame(lengths, schema=QUERIES)),
        "retrieved": packed(pl.DataFrame(retrieved, schema=RETRIEVED)),
        "judged": packed(pl.DataFrame(judged, schema=JUDGED)),
        "max_relevance": placed.max_relevance,
    }


def _score_rows(scores: Sequence[Scores]) -> pl.DataFrame:
    lacking = set() if all(one.spread.reachable is not None for one in scores) else {REACHABLE}
    lacking |= set() if any(one.unjudged is not None for one in scores) else set(UNJUDGED)
    frames = [
        pl.DataFrame(
            {
                **{name: np.asarray(getattr(one, "values" if name == "value" else name)) for name in NUMBERS},
                "has_relevant": one.spread.has_relevant,
                **({} if REACHABLE in lacking else {REACHABLE: one.spread.reachable}),
                **({} if lacking.issuperset(UNJUDGED) else _bounds(one)),
            },
            schema={name: dtype for name, dtype in SCORES.items() if name not in lacking},
        )
        for one in scores
    ]
    return pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None))


def _bounds(one: Scores) -> dict[str, FloatArray]:
    nothing = np.full(len(one.values), math.nan)
    return {name: getattr(one, name) if one.has_unjudged_bounds else nothing for name in UNJUDGED}


def packed(table: pl.DataFrame) -> str:
    """Return a table as text that JSON can hold."""
    held = io.BytesIO()
    table.write_parquet(held, compression="zstd")
    return base64.b64encode(held.getvalue()).decode()


def read_tables(
    data: Mapping[str, Any], measures: Sequence[Measure], n_queries: int, unjudged: tuple[str, ...]
) -> tuple[TextArray, list[Scores], dict[str, Placements | None]]:
    """Read what `tables_of` returned: the query ids, the scores of each measure, and the arguments of placements."""
    queries = unpacked(data, "queries")
    query_ids = _query_ids(queries, n_queries)
    scores = _all_scores(measures, query_ids, unpacked(data, "scores"))
    has_placements = "retrieved" in data or "judged" in data or queries.width > 1
    placed = _placements(data, queries, query_ids, unjudged) if has_placements else None
    if GRADED not in data:
        return query_ids, scores, {"placements": placed}
    own = data[GRADED]
    require(placed is not None and isinstance(own, dict), f"{GRADED!r} must be placements beside others")
    lengths = unpacked(own, "queries")
    require(lengths.equals(queries), f"the queries of {GRADED!r} are others")
    return query_ids, scores, {"placements": placed, "graded": _placements(own, lengths, query_ids, unjudged)}


def read_rows(
    data: bytes, measures: Sequence[Measure], n_queries: int
) -> tuple[TextArray, list[Scores], dict[str, Placements | None]]:
    """Read the Parquet file of the first format: a row for each measure and query, with both names; no placements."""
    rows = _parquet(data, "the Parquet file")
    is_text = rows.schema.get("query_id") == rows.schema.get("measure") == pl.String
    require(is_text, "its rows lack the text columns query_id and measure")
    require(0 <= n_queries <= rows.height, f"it holds {rows.height:,} rows but states {as_given(n_queries)} queries")
    query_ids = _query_ids(rows[:n_queries], n_queries)
    for n, measure in enumerate(measures):
        block = rows.slice(n * n_queries, n_queries)
        is_there = (block["measure"] == str(measure)).all() and block["query_id"].equals(rows["query_id"][:n_queries])
        require(is_there, f"the rows of {measure} are not where they belong")
    return query_ids, _all_scores(measures, query_ids, rows.drop("query_id", "measure")), {}


def unpacked(data: Mapping[str, Any], name: str) -> pl.DataFrame:
    """Read what `packed` returned, which is a member of `data`."""
    text = data.get(name)
    try:
        held = base64.b64decode(text if isinstance(text, str) else "", validate=True)
    except ValueError:
        held = b""
    return _parquet(held, f"the table {name!r}")


def _parquet(data: bytes, what: str) -> pl.DataFrame:
    check_threads()
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:  # a panic is not an Exception
        raise StoredError(f"{what} cannot be read as Parquet ({as_given(str(error))})") from None


def checked_columns(table: pl.DataFrame, expected: Mapping[str, type[pl.DataType]], name: str) -> pl.DataFrame:
    """Return the table; raise unless it has the expected columns, and no null among ids and integers."""
    if dict(table.schema) != dict(expected):
        given = ", ".join(f"{column} ({dtype})" for column, dtype in table.schema.items())
        wanted = ", ".join(f"{column} ({dtype})" for column, dtype in expected.items())
        raise StoredError(f"the table {name!r} has the columns {as_given(given)}, expected {wanted}")
    for column, dtype in expected.items():
        may_be_null = dtype == pl.Float64 or column == CUT
        require(may_be_null or not table[column].null_count(), f"{column} of {name!r} is null in some row")
    return table


def _query_ids(queries: pl.DataFrame, n_queries: int) -> TextArray:
    """Return the ids of a table; raise unless there are `n_queries`, sorted and all different."""
    require(queries.schema.get("query_id") == pl.String, "the table 'queries' lacks the text column query_id")
    require(queries.height == n_queries, f"it holds {queries.height:,} queries but states {as_given(n_queries)}")
    listed = queries["query_id"].to_list()
    require(None not in listed and "" not in listed, "a query id is empty")
    require(listed == sorted(set(listed)), "the query ids are not sorted, or one appears twice")
    return np.array(listed, dtype=object)


def _all_scores(measures: Sequence[Measure], query_ids: TextArray, rows: pl.DataFrame) -> list[Scores]:
    """Return the scores of each measure; `rows` are those of `_score_rows`."""
    lacking = {REACHABLE, *UNJUDGED}.difference(rows.columns)
    expected = {name: dtype for name, dtype in SCORES.items() if name not in lacking}
    rows, n_queries = checked_columns(rows, expected, "scores"), len(query_ids)
    n_expected = len(measures) * n_queries
    require(rows.height == n_expected, f"it holds {rows.height:,} scores, expected {n_expected:,}")
    blocks = (rows.slice(n * n_queries, n_queries) for n in range(len(measures)))
    return [_scores(measure, query_ids, block) for measure, block in zip(measures, blocks, strict=True)]


def _scores(measure: Measure, query_ids: TextArray, block: pl.DataFrame) -> Scores:
    numbers = {name: block[name].fill_null(math.nan).to_numpy() for name in NUMBERS}
    value, mean, std, low, high, error = numbers.values()
    for name, given in numbers.items():
        require(not np.isinf(given).any(), f"{name} of {measure} is infinite")
    smallest, largest = measure.range
    for name in IN_RANGE:
        is_inside = (numbers[name] >= smallest - SLACK) & (numbers[name] <= largest + SLACK)
        require(
            (is_inside | np.isnan(numbers[name])).all(), f"{name} of {measure} is outside {smallest:g} to {largest:g}"
        )
    require(not ((std < 0).any() or (error < 0).any()), f"a standard deviation or error of {measure} is below 0")
    widest = largest - smallest + SLACK
    require(not ((std > widest).any() or (error > widest).any()), f"the spread of {measure} is above {widest:g}")
    require(not (low > high + SLACK * np.maximum(1, np.abs(high))).any(), f"tie_min of {measure} is above tie_max")
    reachable = block[REACHABLE].fill_null(math.nan).to_numpy() if REACHABLE in block.columns else None
    return Scores(
        measure,
        query_ids,
        value,
        StoredSpread(mean, std, (low, high), error, block["has_relevant"].to_numpy(), reachable),
        _read_bounds(measure, block),
    )


def _read_bounds(measure: Measure, block: pl.DataFrame) -> StoredBounds | None:
    if not set(UNJUDGED).issubset(block.columns):
        return None
    low, high = (block[name].fill_null(math.nan).to_numpy() for name in UNJUDGED)
    smallest, largest = measure.range
    is_inside = (low >= smallest - SLACK) & (high <= largest + SLACK) & (low <= high + SLACK)
    require((is_inside | np.isnan(low)).all(), f"the bounds of {measure} over unjudged documents are impossible")
    require((np.isnan(low) == np.isnan(high)).all(), f"a bound of {measure} over unjudged documents is missing")
    return StoredBounds((low, high), is_known=has_ends(measure))


def _placements(
    data: Mapping[str, Any], queries: pl.DataFrame, query_ids: TextArray, unjudged: tuple[str, ...]
) -> Placements:
    """Return the placements; raise unless some run and judgments can have them."""
    lengths = checked_columns(queries, QUERIES, "queries")
    n_retrieved, ends = lengths["n_retrieved"].to_numpy(), lengths[CUT]
    require(ends.null_count() in {0, len(ends)}, f"{CUT} of 'queries' is null in some rows")
    rows = checked_columns(unpacked(data, "retrieved"), RETRIEVED, "retrieved")
    judged = checked_columns(unpacked(data, "judged"), JUDGED, "judged")
    largest = data.get("max_relevance")
    require(
        type(largest) is float and math.isfinite(largest), f"max_relevance is {as_given(largest)}, expected a number"
    )
    placed = Placements(
        query_ids,
        n_retrieved,
        rows["query"].to_numpy(),
        np.array(rows["doc_id"].to_list(), dtype=object),
        _finite(rows["relevance"]),
        rows["above"].to_numpy(),
        rows["tied"].to_numpy(),
        judged["query"].to_numpy(),
        _finite(judged["relevance"]),
        largest,  # type: ignore[arg-type]
        unjudged,
        ends_in_tie=None if ends.null_count() else ends.to_numpy(),
        subtopics=_subtopics(data) if "subtopics" in data else None,
    )
    _check_rows(placed)
    require(not (rows["doc_id"] == "").any(), "a document id is empty")
    require(not rows.select("query", "doc_id").is_duplicated().any(), "a document appears twice for one query")
    _check_judged(placed)
    if placed.subtopics is not None:
        _check_subtopics(placed, placed.subtopics)
    return placed


def _subtopics(data: Mapping[str, Any]) -> Subtopics:
    rows = checked_columns(unpacked(data, "subtopics"), SUBTOPICS, "subtopics")
    require(not rows.select("query", "doc_id", "topic").is_duplicated().any(), "a subtopic of a document appears twice")
    return Subtopics(
        rows["query"].to_numpy(),
        np.array(rows["doc_id"].to_list(), dtype=object),
        rows["topic"].to_numpy(),
        _finite(rows["relevance"]),
    )


def _finite(numbers: pl.Series) -> FloatArray:
    values = numbers.fill_null(math.nan).to_numpy()
    require(np.isfinite(values).all(), "a relevance is not a number")
    return values


def _check_rows(placed: Placements) -> None:
    """Raise unless the ranks of the documents are possible in a ranking of this length."""
    query, above, tied = placed.query, placed.above, placed.tied
    require(not (placed.n_retrieved < 0).any(), "n_retrieved is below 0")
    _check_order(query, (above, -placed.relevance), placed.n_queries, "retrieved")
    # compared by subtraction: a sum of large numbers would overflow
    require(not ((above < 0) | (tied < 1)).any(), "a document has an impossible rank")
    require(not (tied > placed.n_retrieved[query] - above).any(), "a document is below the end of its ranking")
    starts = placed.tie_starts
    sizes = np.diff(np.append(starts, len(query)))
    require((tied == np.repeat(tied[starts], sizes)).all(), "documents of one tie state different sizes")
    require((sizes <= tied[starts]).all(), "a tie has more documents than its size")
    upper, lower = starts[:-1], starts[1:]
    overlap = (query[upper] == query[lower]) & (above[upper] + tied[upper] > above[lower])
    require(not overlap.any(), "two ties of a query overlap")


def _check_judged(placed: Placements) -> None:
    """Raise unless the judgments include those of the retrieved documents; of a matrix, a query may have none."""
    query, relevance = placed.judged_query, placed.judged_relevance
    _check_order(query, (-relevance,), placed.n_queries, "judged")
    require(not (relevance > placed.max_relevance).any(), "a relevance is above max_relevance")
    retrieved, judged = (
        pl.DataFrame({"query": codes, "relevance": values + 0.0}).group_by("query", "relevance").len()
        for codes, values in ((placed.query, placed.relevance), (query, relevance))
    )
    both = retrieved.join(judged, on=["query", "relevance"], how="left")
    require(
        (both["len"] <= both["len_right"].fill_null(0)).all(),
        "a retrieved document has a relevance that its query's judgments lack",
    )


def _check_subtopics(placed: Placements, own: Subtopics) -> None:
    """Raise unless the judgments are the highest ones over subtopics."""
    _check_order(own.query, (), placed.n_queries, "subtopics")
    require(
        not (own.topic < 0).any() and own.topic.max(initial=0) < len(own.topic), "a subtopic has an impossible number"
    )
    highest = (
        pl.DataFrame({"query": own.query, "doc_id": own.doc_ids.tolist(), "relevance": own.relevance})
        .group_by("query", "doc_id")
        .agg(pl.col("relevance").max())
        .sort("query", "relevance", descending=[False, True])
    )
    are_those = np.array_equal(highest["query"], placed.judged_query)
    are_those &= np.array_equal(highest["relevance"], placed.judged_relevance)
    require(are_those, "the judgments are not the highest of those by subtopic")
    retrieved = pl.DataFrame({"query": placed.query, "doc_id": placed.doc_ids.tolist(), "relevance": placed.relevance})
    found = retrieved.join(highest, on=["query", "doc_id", "relevance"], how="semi")
    require(found.height == retrieved.height, "a retrieved document has another relevance than for its subtopics")


def _check_order(query: IntArray, then: Sequence[IntArray | FloatArray], n_queries: int, name: str) -> None:
    """Raise unless rows belong to known queries, and are sorted by query and then by other keys."""
    require(not ((query < 0) | (query >= n_queries)).any(), f"a row of {name!r} belongs to no query")
    order = np.lexsort((*reversed(then), query))
    require((order == np.arange(len(query))).all(), f"the rows of {name!r} are not sorted")


def require(holds: object, otherwise: str) -> None:
    """Raise `StoredError` unless something holds."""
    if not holds:
        raise StoredError(otherwise)
