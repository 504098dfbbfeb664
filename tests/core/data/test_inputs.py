"""The same data as dicts, tuples, files and frames of every engine gives exactly the same numbers."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from oracle.random_cases import BATCHES, Batch
from support.equal_numbers import BATCH, MEASURES, NAMES, Rows, assert_equal_to_dicts, rows_of

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def columns(rows: Rows, kind: str) -> dict[str, list[object]]:
    """Turn rows into named columns."""
    return dict(zip(NAMES[kind], map(list, zip(*rows, strict=True)), strict=True))


def as_polars(rows: Rows, kind: str) -> object:
    """Build a Polars frame."""
    return pl.DataFrame(columns(rows, kind))


CONNECTION = duckdb.connect()


def as_duckdb(rows: Rows, kind: str) -> object:
    """Build a DuckDB relation."""
    return CONNECTION.from_arrow(pa.table(columns(rows, kind)))


SOURCES: dict[str, Callable[[Rows, str], object]] = {
    "tuples": lambda rows, _: rows,
    "polars": as_polars,
    "polars lazy": lambda rows, kind: pl.LazyFrame(columns(rows, kind)),
    "pandas": lambda rows, kind: pd.DataFrame(columns(rows, kind)),
    "pandas with pyarrow": lambda rows, kind: pa.table(columns(rows, kind)).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda rows, kind: pd.DataFrame(columns(rows, kind)).astype(
        {"query_id": "category", "doc_id": "category"}
    ),
    "pyarrow": lambda rows, kind: pa.table(columns(rows, kind)),
    "duckdb": as_duckdb,
    "class": lambda rows, kind: (dh.Qrels if kind == "qrels" else dh.Run)(rows),
}
ORDERED = [name for name in SOURCES if name != "duckdb"]


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "doc_id", "random"])
@pytest.mark.parametrize("source", SOURCES)
def test_source_changes_nothing(source: str, ties: str) -> None:
    """Every engine counts the same documents above and tied, and orders ids by the same bytes."""
    build = SOURCES[source]
    assert_equal_to_dicts(build(rows_of(BATCH.qrels), "qrels"), build(rows_of(BATCH.run), "run"), ties)


@pytest.mark.slow
@pytest.mark.parametrize("source", ORDERED)
def test_order_given_is_kept(source: str) -> None:
    """The policy input follows the rows of everything that has an order."""
    build = SOURCES[source]
    assert_equal_to_dicts(build(rows_of(BATCH.qrels), "qrels"), build(rows_of(BATCH.run), "run"), "input")


@pytest.mark.parametrize("score_precision", [None, 3])
def test_engine_without_an_order_refuses_the_policy_input(score_precision: int | None) -> None:
    """A relation in a database has no first row, and gets none where its rows are fetched to be rounded."""
    run = as_duckdb(rows_of(BATCH.run), "run")
    with pytest.raises(dh.DeadheatError, match="order"):
        dh.evaluate(BATCH.qrels, run, MEASURES, ties="input", score_precision=score_precision, missing="empty").means()


@pytest.mark.parametrize(
    "kinds", [("polars", "tuples"), ("pandas", "polars"), ("class", "duckdb"), ("pyarrow", "pandas")]
)
def test_sources_may_differ(kinds: tuple[str, str]) -> None:
    """Qrels in one form and run in another."""
    qrels = SOURCES[kinds[0]](rows_of(BATCH.qrels), "qrels")
    assert_equal_to_dicts(qrels, SOURCES[kinds[1]](rows_of(BATCH.run), "run"), "expected")


@pytest.mark.parametrize("source", SOURCES)
def test_integers_that_float64_merges_are_refused(source: str) -> None:
    """2^53 + 1 would silently tie with 2^53."""
    build = SOURCES[source]
    rows: Rows = [("q", "a", 2**53 + 1), ("q", "b", 2**53)]
    with pytest.raises(dh.DeadheatError, match="2\\*\\*53"):
        dh.evaluate({"q": {"a": 1}}, build(rows, "run"), ["RR"]).means()


def test_integers_that_float64_merges_are_refused_in_dicts() -> None:
    """A dict of dicts takes another path."""
    with pytest.raises(dh.DeadheatError, match="2\\*\\*53"):
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 2**53 + 1, "b": 2**53}}, ["RR"])
    assert dh.evaluate({"q": {"a": 1}}, {"q": {"a": 2**53, "b": 2**53 - 1}}, ["RR"])["RR"].values[0] == 1


def test_duckdb_connections_may_differ() -> None:
    """Qrels of one database, run of another."""
    other = duckdb.connect()
    qrels = other.from_arrow(pa.table(columns(rows_of(BATCH.qrels), "qrels")))
    assert_equal_to_dicts(qrels, as_duckdb(rows_of(BATCH.run), "run"), "expected")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".json"])
@pytest.mark.parametrize("ties", ["expected", "doc_id", "input"])
def test_files_change_nothing(tmp_path: Path, suffix: str, ties: str) -> None:
    """Write with other libraries, read with deadheat; infinite scores come back from all but JSON."""
    run = {query: docs for query, docs in BATCH.run.items() if np.isfinite(list(docs.values())).all()}
    qrels = {query: docs for query, docs in BATCH.qrels.items() if query in run}
    paths = {}
    for kind, nested in (("qrels", qrels), ("run", run)):
        paths[kind] = tmp_path / (kind + suffix)
        frame = pd.DataFrame(columns(rows_of(nested), kind))
        if suffix == ".parquet":
            frame.to_parquet(paths[kind])
        elif suffix == ".json":
            pd.Series(nested).to_json(paths[kind], double_precision=15)
        elif suffix == ".jsonl":
            frame.to_json(paths[kind], orient="records", lines=True, double_precision=15)
        else:
            frame.to_csv(paths[kind], sep="\t" if suffix == ".tsv" else ",", index=False)
    found = dh.evaluate(paths["qrels"], paths["run"], MEASURES, ties=ties, missing="empty")
    expected = dh.evaluate(qrels, run, MEASURES, ties=ties, missing="empty")
    for measure in MEASURES:
        np.testing.assert_array_equal(found[measure].values, expected[measure].values, err_msg=measure)


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("source", ["polars", "polars lazy", "pandas", "pyarrow", "duckdb"])
def test_every_source_gives_the_same_placements(source: str, batch: Batch) -> None:
    """As a count by hand."""
    build = SOURCES[source]
    qrels, run = batch.qrels, batch.run
    frames = build(rows_of(qrels), "qrels"), build(rows_of(run), "run")
    counted = dh.place(*frames).to_polars()
    by_hand = [
        (
            query,
            doc,
            float(relevance),
            sum(other > run[query][doc] for other in run[query].values()),
            sum(other == run[query][doc] for other in run[query].values()),
        )
        for query, judged in qrels.items()
        for doc, relevance in judged.items()
        if doc in run.get(query, {})
    ]
    assert sorted(counted.select("query_id", "doc_id", "relevance", "above", "tied").rows()) == sorted(by_hand)
    assert dh.place(qrels, run).to_polars().equals(counted)


@pytest.mark.parametrize("source", SOURCES)
def test_zero_has_no_sign(source: str) -> None:
    """A score of -0.0 ties with 0.0 in every engine."""
    scores = [0.0, -0.0, 1.0, -0.0, 0.0, -1.0]
    run = [(query, f"d{n}", score) for query in ("q1", "q2") for n, score in enumerate(scores)]
    qrels = [("q1", "d1", 1.0), ("q1", "d4", 1.0), ("q2", "d0", 1.0)]
    build = SOURCES[source]
    found = dh.place(build(qrels, "qrels"), build(run, "run")).to_polars()
    assert found["above"].to_list() == [1, 1, 1]
    assert found["tied"].to_list() == [4, 4, 4]
