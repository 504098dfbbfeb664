"""Embeddings give what a matrix of their products gives, whatever the block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.dense import tiles
from support.array_libraries import ELSEWHERE, IN_MEMORY, array_of, take_for_a_gpu

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "R@3", "bpref", "ERR@5"]
EVERY = (*IN_MEMORY, *ELSEWHERE)


def values(found: dh.Evaluation) -> list[bytes]:
    """Return all numbers of an evaluation, to the bit."""
    return [getattr(scores, name).tobytes() for scores in found for name in ("values", "tie_std", "tie_min", "tie_max")]


def random_case(seed: int, *, is_whole: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return queries and documents in float32, some of them identical, relevance and what is excluded."""
    rng = np.random.default_rng(seed)
    n_queries, n_documents, n_dimensions = rng.integers(1, 30), rng.integers(5, 90), rng.integers(1, 20)
    queries, documents = (
        (rng.integers(-3, 4, (n, n_dimensions)) if is_whole else rng.normal(size=(n, n_dimensions))).astype(np.float32)
        for n in (n_queries, n_documents)
    )
    copies = rng.random(n_documents) < 0.4
    documents[copies] = documents[rng.integers(0, n_documents, copies.sum())]
    shape = (int(n_queries), int(n_documents))
    relevance = rng.integers(-1, 4, shape) * (rng.random(shape) < 0.2)
    relevance[:, 0] = 1
    return queries, documents, relevance, (rng.random(shape) < 0.1) & (relevance == 0)


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have several tiles, the last of them padded, with little data."""
    monkeypatch.setattr(tiles, "IN_MEMORY", (4, 8))
    monkeypatch.setattr(tiles, "ON_DEVICE", (8, 16))


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("seed", range(5))
def test_what_the_matrix_of_exact_products_gives(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of small whole numbers are exact in any order of summation."""
    take_for_a_gpu(kind, monkeypatch)
    queries, documents, relevance, excluded = random_case(seed, is_whole=True)
    found = dh.evaluate_embeddings(
        array_of(kind, queries),
        array_of(kind, documents),
        relevance,
        MEASURES,
        exclude=sparse.csr_array(excluded),
        block=1 + seed,
    )
    products = np.einsum("qd,nd->qn", queries.astype(np.float64), documents.astype(np.float64))
    qrels = {f"{q}": {f"{d}": int(row[d]) for d in np.flatnonzero(row)} for q, row in enumerate(relevance)}
    run = {
        f"{q}": {f"{d}": float(score) for d, score in enumerate(row) if not excluded[q, d]}
        for q, row in enumerate(products)
    }
    wanted = dh.evaluate(qrels, run, MEASURES)
    assert values(found) == values(wanted)
    assert found.qrels_hash == wanted.qrels_hash
    assert found.placements.n_retrieved.tolist() == wanted.placements.n_retrieved.tolist()


@pytest.mark.parametrize("kind", [*IN_MEMORY, "strict on device1", "torch as on a GPU"])
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_the_same_bits_for_every_block(kind: str, similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    monkeypatch.setattr(tiles, "IN_MEMORY", (16, 128))
    monkeypatch.setattr(tiles, "ON_DEVICE", (32, 256))
    rng = np.random.default_rng(3)
    queries, documents = (rng.normal(size=(n, 33)).astype(np.float32) for n in (150, 700))
    documents[350:] = documents[:350]
    # nearly equal scores, which another order of summation would put in another order
    documents += (1e-7 * rng.normal(size=documents.shape)).astype(np.float32) * (rng.random((700, 1)) < 0.5)
    relevant = [rng.choice(700, 3, replace=False).tolist() for _ in range(150)]
    given = array_of(kind, queries), array_of(kind, documents)
    found = [
        dh.evaluate_embeddings(*given, relevant, MEASURES, similarity=similarity, block=block)
        for block in (1, 16, 40, 150, 10_000)
    ]
    assert all(values(one) == values(found[0]) for one in found)
    assert (found[0]["RR"].tie_std > 0).any()


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_it_is_the_matrix_of_the_tiles(similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores of all tiles, put together, are evaluated as any matrix."""
    monkeypatch.setattr(tiles, "IN_MEMORY", (8, 64))
    queries, documents, relevance, _ = random_case(11, is_whole=False)
    scored: list[tuple[Any, np.ndarray]] = []
    compute = tiles.Tiles.scores

    def scores(self: tiles.Tiles, left: Any, right: Any) -> Any:  # noqa: ANN401 - arrays of any library
        found = compute(self, left, right)
        scored.append((self, found))
        return found

    monkeypatch.setattr(tiles.Tiles, "scores", scores)
    found = dh.evaluate_embeddings(queries, documents, relevance, MEASURES, similarity=similarity, block=10_000)
    (some, _), n_columns = scored[0], len(scored[0][0].document)
    n_left, n_right = -(-len(queries) // 8), -(-n_columns // 64)
    last = [one for _, one in scored[-n_left * n_right :]]  # those that are counted, the documents' tiles outside
    whole = np.vstack([np.hstack([last[t * n_left + n] for t in range(n_right)]) for n in range(n_left)])
    matrix = whole[: len(queries), some.of_document]
    assert values(found) == values(dh.evaluate_dense(matrix, relevance, MEASURES))
    products = np.einsum("qd,nd->qn", queries.astype(np.float64), documents.astype(np.float64))
    if similarity == "cosine":
        products /= np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(documents, axis=1)
    np.testing.assert_allclose(matrix, products, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_identical_vectors_tie_wherever_they_are(kind: str, similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    rng = np.random.default_rng(7)
    queries, distinct = (rng.normal(size=(n, 101)).astype(np.float32) for n in (20, 50))
    documents = np.tile(distinct, (61, 1))[rng.permutation(50 * 61)]
    which = np.array([int(np.flatnonzero((distinct == one).all(axis=1))[0]) for one in documents])
    found = dh.evaluate_embeddings(
        array_of(kind, queries), array_of(kind, documents), [[q] for q in range(20)], ["RR"], similarity=similarity
    )
    assert found.placements.tied.tolist() == [61] * 20
    assert (found.placements.above % 61 == 0).all()
    assert np.bincount(which).tolist() == [61] * 50


def test_vectors_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    queries, documents, relevance, _ = random_case(5, is_whole=False)
    wanted = dh.evaluate_embeddings(queries, documents, relevance, MEASURES)
    first = tiles.first_identical(documents, "document")

    class Zeros:
        def integers(self, *arguments: Any) -> np.ndarray:  # noqa: ANN401 - those of NumPy
            return np.zeros(arguments[2], np.uint64)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Zeros())
    assert tiles.first_identical(documents, "document").tolist() == first.tolist()
    assert values(dh.evaluate_embeddings(queries, documents, relevance, MEASURES)) == values(wanted)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint8", "bool"])
def test_numbers_of_any_type(dtype: str) -> None:
    rng = np.random.default_rng(8)
    queries, documents = (rng.integers(0, 2 if dtype == "bool" else 100, (n, 30)).astype(dtype) for n in (5, 60))
    relevant = [[n, n + 7] for n in range(5)]
    products = np.einsum("qd,nd->qn", queries.astype(np.int64), documents.astype(np.int64))
    found = dh.evaluate_embeddings(queries, documents, relevant, MEASURES)
    assert values(found) == values(dh.evaluate_dense(products, relevant, MEASURES))


def test_minus_zero_is_zero() -> None:
    documents = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    assert tiles.first_identical(documents, "document").tolist() == [0, 0, 2]


def test_vectors_mapped_from_a_file(tmp_path: Path) -> None:
    queries, documents, relevance, _ = random_case(6, is_whole=False)
    np.save(tmp_path / "documents.npy", documents)
    mapped = np.load(tmp_path / "documents.npy", mmap_mode="r")
    found = dh.evaluate_embeddings(queries, mapped, relevance, MEASURES)
    assert values(found) == values(dh.evaluate_embeddings(queries, documents, relevance, MEASURES))


@pytest.mark.parametrize("ties", ["best", "worst", "random"])
def test_policies(ties: str) -> None:
    queries, documents, relevance, _ = random_case(9, is_whole=True)
    options: dict[str, Any] = {"ties": ties, "rng": 3 if ties == "random" else None}
    found = dh.evaluate_embeddings(queries, documents, relevance, MEASURES, **options)
    wanted = dh.evaluate_dense(queries @ documents.T, relevance, MEASURES, **options)
    assert values(found) == values(wanted)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0], [[1.0]]), {}, r"queries must be numbers of shape \(n_queries, n_dimensions\), got shape \(1,\)"),
        (([[1.0]], [["a"]]), {}, r"documents must be numbers of shape \(n_documents, n_dimensions\)"),
        (([[1.0]], [[1.0], [1.0, 2.0]]), {}, "documents must be .*got lists of several lengths"),
        (([[1.0]], [[1.0, 2.0]]), {}, "documents must be vectors of 1 dimensions, as the queries, got 2"),
        (([[1.0]], [[1.0]]), {"block": 0}, "block must be a whole number from 1 on, got 0"),
        (([[1.0]], [[1.0]]), {"similarity": "cos"}, "similarity must be one of 'dot', 'cosine'.*Did you mean 'cosine'"),
        (([[1.0]], [[1.0]]), {"exclude": [[0]]}, "exclude names document 0 of query 0, which is judged"),
        (([[1.0]], [[1.0]]), {"doc_ids": ["a", "b"]}, "doc_ids must be 1 ids"),
    ],
)
def test_bad_input(arguments: tuple[Any, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.evaluate_embeddings(*arguments, [[0]], ["RR"], **options)


def test_vectors_without_products() -> None:
    with pytest.raises(DataError, match="number 1 of document 2 is nan"):
        dh.evaluate_embeddings([[1.0, 1.0]], [[1.0, 1.0], [1.0, 2.0], [1.0, float("nan")]], [[0]], ["RR"])
    with pytest.raises(DataError, match="number 0 of query 0 is -inf"):
        dh.evaluate_embeddings([[-float("inf")]], [[1.0]], [[0]], ["RR"])
    with pytest.raises(DataError, match=r"query 1 .*zeros.* cosine"):
        dh.evaluate_embeddings([[1.0], [0.0]], [[1.0]], [[0], [0]], ["RR"], similarity="cosine")
    large = np.array([[3e38, -3e38]], np.float32)
    with pytest.raises(DataError, match=r"query 0 .*document 1 .*large"):
        dh.evaluate_embeddings(large, np.concatenate([np.ones_like(large), large]), [[0]], ["RR"])
    assert dh.evaluate_embeddings(large.astype(float), large, [[0]], ["RR"]).means() == {"RR": 1.0}


def test_vectors_on_two_devices() -> None:
    pytest.importorskip("array_api_compat")
    one, other = (array_of(kind, np.eye(2, dtype=np.float32)) for kind in ("strict", "strict on device1"))
    with pytest.raises(ParameterError, match=r"documents must be vectors on .*CPU_DEVICE.*, got some on"):
        dh.evaluate_embeddings(one, other, [[0], [1]], ["RR"])
    with pytest.raises(ParameterError, match="documents must be vectors on cpu"):
        dh.evaluate_embeddings(np.eye(2), other, [[0], [1]], ["RR"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("dtype", "powers"), [("float32", (-140, -100, 100, 125)), ("float64", (-1000, -600, 600, 1020))]
)
def test_no_length_is_too_large_for_a_cosine(
    kind: str, dtype: str, powers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power of two as a factor changes no cosine; whole numbers of few digits have no rounding below its range."""
    if kind.startswith("jax"):  # which takes numbers below the normal range as 0, and float64 as float32
        if dtype == "float64":
            pytest.skip("JAX makes float32 of float64")
        powers = powers[1:]
    take_for_a_gpu(kind, monkeypatch)
    queries, documents, relevance, _ = random_case(1, is_whole=True)
    queries[:, 0], documents[:, 0] = 4, 5
    plain = dh.evaluate_embeddings(queries, documents, relevance, MEASURES, similarity="cosine")
    wanted = dh.evaluate_embeddings(
        queries.astype(dtype), documents.astype(dtype), relevance, MEASURES, similarity="cosine"
    )
    assert plain["RR"].mean < 1
    for power in powers:
        left, right = (array_of(kind, np.ldexp(own.astype(dtype), power)) for own in (queries, documents))
        found = dh.evaluate_embeddings(left, right, relevance, MEASURES, similarity="cosine")
        assert values(found) == values(wanted)
