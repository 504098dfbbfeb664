"""Rows that stand query by query take a way of their own; it gives what dicts give."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.data import rows
from deadheat.core.libraries import polars as pl
from deadheat.core.placements import contiguous as counting
from deadheat.errors import DuplicateError


def random_run(rng: np.random.Generator, *, levels: int, descending: bool) -> pl.DataFrame:
    """Return the rows of 30 queries of different lengths, query by query."""
    frames = []
    for query in range(30):
        size = int(rng.integers(1, 60))
        scores = rng.integers(0, levels, size).astype(float)
        scores = np.sort(scores)[::-1] if descending else scores
        docs = [f"d{doc}" for doc in rng.permutation(90)[:size]]
        frames.append(pl.DataFrame({"query_id": [f"q{query}"] * size, "doc_id": docs, "score": scores}))
    rng.shuffle(frames)
    return pl.concat(frames)


def random_qrels(rng: np.random.Generator) -> pl.DataFrame:
    pairs = {(f"q{rng.integers(33)}", f"d{rng.integers(95)}") for _ in range(400)}
    rows = [(query, doc, float(rng.integers(-1, 4))) for query, doc in sorted(pairs)]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")


@pytest.mark.slow
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("levels", [1, 3, 10, 1_000_000])
def test_equals_dicts(levels: int, *, descending: bool) -> None:
    rng = np.random.default_rng(levels)
    for _ in range(5):
        run, qrels = random_run(rng, levels=levels, descending=descending), random_qrels(rng)
        own, other = dh.place(qrels, run), dh.place(qrels, dh.Run(run).to_dict())
        assert own.to_polars().equals(other.to_polars())
        assert own.n_retrieved.tolist() == other.n_retrieved.tolist()
        assert own.unjudged_queries == other.unjudged_queries


@pytest.mark.slow
def test_pieces_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    run, qrels = random_run(rng, levels=3, descending=True), random_qrels(rng)
    twice = pl.concat([run, run.tail(1)])
    other = dh.place(qrels, dh.Run(run).to_dict()).to_polars()
    monkeypatch.setattr(pl, "thread_pool_size", lambda: 5)
    for size in (1, 7, 64):
        for module, name in (
            *((rows, "CACHED_ROWS"), (rows, "ROWS_OF_THREAD")),
            *((counting, "AT_ONCE"), (counting, "ROWS_OF_THREAD"), (counting, "ROWS_OF_PIECE")),
        ):
            monkeypatch.setattr(module, name, size)
        assert dh.place(qrels, run).to_polars().equals(other)
        with pytest.raises(DuplicateError, match="retrieved 2 times"):
            dh.place(qrels, twice)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 50])
def test_parts_have_whole_blocks_and_all_of_them(n_parts: int) -> None:
    run = pl.DataFrame(
        {"query_id": [*"abbbbbbbc"], "doc_id": [f"d{n}" for n in range(9)], "score": np.arange(9.0)[::-1]}
    )
    whole = rows.make_blocks(run)
    parts = whole.split(n_parts)
    assert 1 <= len(parts) <= min(n_parts, 3)
    assert pl.concat([part.frame for part in parts]).equals(run)
    assert pl.concat([part.query_ids for part in parts]).to_list() == [*"abc"]
    assert pl.concat([part.hashes for part in parts]).equals(whole.hashes)
    for part in parts:
        sizes = part.frame.group_by("query_id", maintain_order=True).len()
        assert sizes["query_id"].to_list() == part.query_ids.to_list()
        assert part.bounds.tolist() == [0, *sizes["len"].cum_sum().to_list()]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
def test_a_query_that_goes_on_in_the_next_part_is_one_block(monkeypatch: pytest.MonkeyPatch, n_threads: int) -> None:
    monkeypatch.setattr(rows, "ROWS_OF_THREAD", 1)
    monkeypatch.setattr(pl, "thread_pool_size", lambda: n_threads)
    for queries in ("aabbbbbbbc", "a", "aaaaaaaaaa", "abcdefghij", "aaaaabbbbb", "aabab", "a" * 6 + "b" + "a" * 6):
        run = pl.DataFrame({"query_id": [*queries]}).with_columns(
            doc_id=pl.int_range(pl.len()).cast(pl.String), score=1.0
        )
        found = rows.make_blocks(run)
        expected = [(query, len(list(own))) for query, own in groupby(queries)]
        assert sorted(found.frame.rows()) == sorted(run.rows())
        if len(expected) == len(set(queries)):
            assert found.query_ids.to_list() == [query for query, _ in expected]
            assert np.diff(found.bounds).tolist() == [size for _, size in expected]


@pytest.mark.slow
def test_documents_whose_hashes_are_equal_are_told_apart() -> None:
    docs = pl.Series([f"d{n}" for n in range(300_000)])
    alike = docs.filter((docs.hash(1) // 2**32).is_duplicated())
    assert len(alike) >= 4  # about ten pairs are to be expected
    run = pl.DataFrame({"query_id": "q", "doc_id": docs, "score": np.arange(len(docs)) // 3})
    for judged in (alike, alike[::2], alike[1::2]):
        qrels = pl.DataFrame({"query_id": "q", "doc_id": judged, "relevance": 1})
        own = dh.place(qrels, run)
        assert len(own.query) == len(judged)
        assert own.to_polars().equals(dh.place(qrels, dh.Run(run).to_dict()).to_polars())


def test_scores_may_be_infinite_and_zero_has_no_sign() -> None:
    run = pl.DataFrame(
        {"query_id": ["q"] * 5, "doc_id": list("abcde"), "score": [float("inf"), 0.0, -0.0, 0.0, float("-inf")]}
    )
    qrels = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "c", "e"], "relevance": [1, 1, 1]})
    rows = dh.place(qrels, run).to_polars()
    assert rows.select("doc_id", "above", "tied").rows() == [("a", 0, 1), ("c", 1, 3), ("e", 4, 1)]


def test_interleaved_queries_are_brought_together() -> None:
    rng = np.random.default_rng(1)
    run, qrels = random_run(rng, levels=3, descending=True), random_qrels(rng)
    shuffled = run.sample(fraction=1, shuffle=True, seed=0)
    assert dh.place(qrels, shuffled).to_polars().equals(dh.place(qrels, run).to_polars())


def test_a_repeated_document_is_found() -> None:
    run = pl.DataFrame(
        {"query_id": ["a", "b", "b", "b"], "doc_id": ["x", "x", "y", "x"], "score": [1.0, 3.0, 2.0, 1.0]}
    )
    blocks = rows.make_blocks(run)
    assert rows.may_repeat(blocks)
    with pytest.raises(DuplicateError, match=r"'x' .* for query 'b'"):
        dh.place({"b": {"x": 1}}, run)


def test_the_same_document_of_two_queries_is_no_repetition() -> None:
    run = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["x", "x"], "score": [1.0, 1.0]})
    blocks = rows.make_blocks(run)
    assert not rows.may_repeat(blocks)


def test_one_document_in_every_query_costs_no_look_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # the last row of a block has the hash of the next one's first: that is no repetition within a query
    run = pl.DataFrame({"query_id": [str(n) for n in range(50)], "doc_id": ["x"] * 50, "score": [1.0] * 50})
    blocks = rows.make_blocks(run)
    looks = []
    monkeypatch.setattr(pl.Series, "is_duplicated", lambda _: looks.append("series"))
    monkeypatch.setattr(pl.DataFrame, "is_duplicated", lambda _: looks.append("frame"))
    assert not rows.may_repeat(blocks)
    assert not looks


def test_equal_hashes_of_different_documents_are_no_repetition() -> None:
    run = pl.DataFrame(
        {"query_id": ["a", "a", "b", "b"], "doc_id": ["x", "y", "x", "x"], "score": [1.0, 2.0, 3.0, 4.0]}
    )
    blocks = rows.make_blocks(run.head(2))
    vars(blocks)["hashes"] = pl.Series([0, 0], dtype=pl.UInt32)
    assert not rows.may_repeat(blocks)
    both = rows.make_blocks(run)
    vars(both)["hashes"] = pl.Series([0] * 4, dtype=pl.UInt32)
    assert rows.may_repeat(both)
