"""Scores of other libraries give what dicts of the same scores give, to the last bit."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.core.data.rounding import ScorePrecision
from deadheat.errors import DataError, MissingDependencyError, ParameterError
from deadheat.plugins.dense import comparing, counting
from support.array_libraries import ELSEWHERE, IN_MEMORY, array_of, take_for_a_gpu

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "R@3", "bpref", "Judged@4", "ERR@5", "Q", "RBP"]
EVERY = (*IN_MEMORY, *ELSEWHERE)


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return scores in float32, relevance, what is left out, and what is retrieved."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 9)), int(rng.integers(2, 40)))
    scores = (rng.integers(0, 6, shape) / rng.choice([1, 3])).astype(np.float32)
    relevance = rng.integers(-1, 4, shape) * (rng.random(shape) < 0.4)
    relevance[:, 0] = 1  # a query without judgments is none of the qrels
    excluded = (rng.random(shape) < 0.2) & (relevance == 0)
    return scores, relevance, excluded, rng.random(shape) < 0.8


def of_dicts(
    scores: np.ndarray,
    relevance: np.ndarray,
    retrieved: np.ndarray,
    *,
    ties: str = "expected",
    precision: ScorePrecision = None,
) -> dh.Evaluation:
    qrels = {f"{q}": {f"{d}": int(row[d]) for d in np.flatnonzero(row)} for q, row in enumerate(relevance)}
    run = {
        f"{q}": {f"{d}": float(score) for d, score in enumerate(row) if retrieved[q, d]} for q, row in enumerate(scores)
    }
    return dh.evaluate(qrels, run, MEASURES, missing="empty", ties=ties, score_precision=precision)


def same(found: dh.Evaluation, wanted: dh.Evaluation) -> None:
    assert found.query_ids.tolist() == wanted.query_ids.tolist()
    for mine, theirs in zip(found, wanted, strict=True):
        for name in ("values", "tie_std", "tie_min", "tie_max"):
            assert getattr(mine, name).tobytes() == getattr(theirs, name).tobytes(), (mine.measure, name)
    assert found.qrels_hash == wanted.qrels_hash


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("seed", range(6))
def test_what_dicts_give(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    ties = ("expected", "best", "worst")[seed % 3]
    scores, relevance, excluded, mask = random_case(seed)
    found = dh.evaluate_dense(
        array_of(kind, scores),
        array_of(kind, relevance),
        MEASURES,
        exclude=array_of(kind, excluded),
        mask=array_of(kind, mask),
        ties=ties,
    )
    same(found, of_dicts(scores, relevance, mask & ~excluded, ties=ties))


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("pieces", [(1, 1, 1), (7, 1, 1), (40, 3, 3), (40, 3, 99), (1 << 17, 1, 1), (1 << 17, 1, 99)])
def test_pieces_of_any_size_say_the_same(
    kind: str, pieces: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    take_for_a_gpu(kind, monkeypatch)
    size, long, wide = pieces
    for name in ("IN_CACHE", "IN_ROW", "ON_DEVICE"):
        monkeypatch.setattr(comparing, name, size)
    for name, value in {"LONG": long, "WIDE": wide, "MANY": 2 if size < 1 << 17 else 24}.items():
        monkeypatch.setattr(comparing, name, value)
    scores, relevance, excluded, mask = random_case(100 + size)
    found = dh.evaluate_dense(
        array_of(kind, scores), relevance, MEASURES, exclude=sparse.csr_array(excluded), mask=array_of(kind, mask)
    )
    same(found, of_dicts(scores, relevance, mask & ~excluded))


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint8", "bool"])
def test_numbers_of_any_type(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    scores = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 120, (4, 300)).astype(dtype)
    relevance = np.zeros(scores.shape, np.int64)
    relevance[:, ::7] = 1
    found = dh.evaluate_dense(array_of(kind, scores), relevance, MEASURES)
    same(found, of_dicts(scores, relevance, np.ones(scores.shape, bool)))


@pytest.mark.parametrize("kind", ["numpy", "torch", "jax", "torch as on a GPU", "jax as on a GPU"])
@pytest.mark.parametrize("short", ["float16", "bfloat16"])
def test_short_floats_tie_where_they_tie(kind: str, short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(size=(3, 500)), [[0.0, -0.0] * 250]]).astype(np.float32)
    scores[0, :3] = (np.inf, -np.inf, np.inf)
    relevance = np.zeros(scores.shape, np.int64)
    relevance[:, ::50] = rng.integers(1, 3, (4, 10))
    if short == "float16":
        given = array_of(kind, scores.astype(np.float16))
    elif kind == "numpy":
        given = scores.astype(pytest.importorskip("ml_dtypes").bfloat16)
    else:
        module = pytest.importorskip("torch" if kind.startswith("torch") else "jax.numpy")
        wide = array_of(kind, scores)
        given = wide.to(module.bfloat16) if kind.startswith("torch") else wide.astype(module.bfloat16)
    found = dh.evaluate_dense(given, relevance, MEASURES)
    wanted = of_dicts(scores, relevance, np.ones(scores.shape, bool), precision=short)
    same(found, wanted)
    assert (found["AP"].tie_std > 0).any()
    same(dh.evaluate_dense(given, relevance.astype(np.float64), MEASURES), wanted)


@pytest.mark.parametrize("kind", EVERY)
def test_nan_counts_only_where_it_is_retrieved(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    scores = np.array([[0.5, np.nan, 0.5], [0.1, 0.2, 0.3]], np.float32)
    mask = np.array([[True, False, True], [True, True, True]])
    found = dh.evaluate_dense(array_of(kind, scores), [[0, 1], [2]], ["RR", "R"], mask=array_of(kind, mask))
    assert found.to_dict() == {"0": {"RR": 0.75, "R": 0.5}, "1": {"RR": 1.0, "R": 1.0}}
    assert found.placements.n_retrieved.tolist() == [2, 3]
    with pytest.raises(DataError, match=r"document 1 .*query 0 is NaN"):
        dh.evaluate_dense(array_of(kind, scores), [[0], [2]], ["RR"])


@pytest.mark.parametrize("kind", EVERY)
def test_shapes_that_do_not_fit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    scores = array_of(kind, np.zeros((2, 3), np.float32))
    with pytest.raises(ParameterError, match=r"scores must be numbers of shape.*got shape \(2, 3, 1\)"):
        dh.evaluate_dense(array_of(kind, np.zeros((2, 3, 1), np.float32)), [[0], [1]], ["RR"])
    with pytest.raises(ParameterError, match=r"relevant must be .*got an array of shape \(3, 2\)"):
        dh.evaluate_dense(scores, array_of(kind, np.ones((3, 2), np.int64)), ["RR"])
    with pytest.raises(ParameterError, match=r"mask must be .*of shape \(2, 3\).*got shape \(3, 2\)"):
        dh.evaluate_dense(scores, [[0], [1]], ["RR"], mask=array_of(kind, np.ones((3, 2), bool)))
    with pytest.raises(ParameterError, match=r"mask must be an array of True and False.*dtype .*int"):
        dh.evaluate_dense(scores, [[0], [1]], ["RR"], mask=array_of(kind, np.ones((2, 3), np.int64)))


def test_a_mask_on_another_device() -> None:
    pytest.importorskip("array_api_compat")
    scores = array_of("strict on device1", np.zeros((2, 3), np.float32))
    for kind in ("strict", "numpy"):
        mask = array_of(kind, np.ones((2, 3), bool))
        with pytest.raises(ParameterError, match=r"on the device of the scores, .*device1"):
            dh.evaluate_dense(scores, [[0], [1]], ["RR"], mask=mask)


def test_judgments_from_another_device() -> None:
    pytest.importorskip("array_api_compat")
    relevance = np.array([[0, 2, 0], [1, 0, 0]])
    scores = np.array([[1, 1, 0], [0, 1, 1]], np.float32)
    found = dh.evaluate_dense(array_of("strict on device1", scores), array_of("strict", relevance), ["nDCG"])
    assert found.to_dict() == dh.evaluate_dense(scores, relevance, ["nDCG"]).to_dict()
    lists = [array_of("strict on device1", np.array([1])), array_of("strict", np.array([0]))]
    assert dh.evaluate_dense(scores, lists, ["RR"]).to_dict() == dh.evaluate_dense(scores, [[1], [0]], ["RR"]).to_dict()


def test_a_tensor_that_numpy_cannot_hold() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ParameterError, match=r"got a tensor of torch.float32, torch.sparse_coo.*as by .to_dense\(\)"):
        dh.evaluate_dense(torch.eye(2).to_sparse(), [[0], [1]], ["RR"])


@pytest.mark.parametrize("kind", ["torch", "torch as on a GPU"])
def test_gradients_are_not_needed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    take_for_a_gpu(kind, monkeypatch)
    scores = torch.nn.Parameter(torch.tensor([[0.5, 0.5]]))
    assert dh.evaluate_dense(scores, [[0]], ["RR"]).means() == {"RR": 0.75}
    assert dh.evaluate_embeddings(scores, scores, [[0]], ["RR"]).means() == {"RR": 1.0}
    assert scores.requires_grad
    assert scores.grad is None


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_the_matrix_stays_on_its_device(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_a_gpu(kind, monkeypatch)
    travelled: list[int] = []
    really = comparing.to_memory

    def to_memory(array: object) -> np.ndarray:
        found = really(array)
        travelled.append(found.size)
        return found

    for module in (comparing, counting):
        monkeypatch.setattr(module, "to_memory", to_memory)
    scores = np.random.default_rng(2).integers(0, 9, (20, 500)).astype(np.float32)
    relevance = np.zeros(scores.shape, bool)
    relevance[:, 7] = True
    first, second, mask = (array_of(kind, one) for one in (scores, relevance, scores > 0))
    found = dh.evaluate_dense(first, second, ["RR"], mask=mask)
    assert found.to_dict() == dh.evaluate_dense(scores, relevance, ["RR"], mask=scores > 0).to_dict()
    assert 0 < max(travelled) <= 40  # above and tied of each relevant document


@pytest.mark.parametrize("index", [2**63 + 1, 2**64 - 1, 3])
def test_an_index_too_large_does_not_wrap_around(index: int) -> None:
    with pytest.raises(ParameterError, match=f"names document {index} of query 0, expected a column from 0 to 2"):
        dh.evaluate_dense(np.zeros((1, 3)), [np.array([index], np.uint64)], ["RR"])


def test_a_relevance_that_float64_would_round() -> None:
    with pytest.raises(dh.DeadheatError, match="document 1 is 9007199254740993"):
        dh.evaluate_dense(np.zeros((1, 3)), np.array([[0, 2**53 + 1, 0]]), ["DCG"])
    scores = np.array([[2**53, 2**53 + 1]])  # integers are compared as integers
    assert dh.evaluate_dense(scores, [[0]], ["RR"]).means() == {"RR": 0.5}


def test_counts_of_8_and_16_bits_do_not_wrap_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "LONG", 1 << 20)
    scores = np.zeros((2, 70_000), np.float32)
    scores[1, :300] = 1
    placements = dh.evaluate_dense(scores, [[0], [69_999]], ["RR"]).placements
    assert placements.above.tolist() == [0, 300]
    assert placements.tied.tolist() == [70_000, 69_700]


class OnAGpu:
    """As an array of a library that nobody has here."""

    shape, dtype, device = (2, 3), "float32", "gpu:0"

    def __array_namespace__(self) -> None:
        """Say as the standard does that this is an array."""


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    message = r"on gpu:0 need the package array-api-compat, which is not installed: pip install 'deadheat\[dense\]'"
    with pytest.raises(MissingDependencyError, match=message):
        dh.evaluate_dense(OnAGpu(), [[0], [1]], ["RR"])  # type: ignore[arg-type]
    with pytest.raises(MissingDependencyError, match=message):
        dh.evaluate_embeddings(OnAGpu(), OnAGpu(), [[0], [1]], ["RR"])  # type: ignore[arg-type]
