"""Run.from_topk(): arrays of neighbours have the numbers of the same documents as dicts."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.sparse import csr_array

import deadheat as dh
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, ParameterError, SourceTypeError
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

MEASURES = ["nDCG@3", "AP", "RR", "P@2", "R@4", "Judged@3"]
NAN = float("nan")
Array: TypeAlias = "np.ndarray[Any, Any]"


def drawn(seed: int, n_queries: int = 30, k: int = 6) -> tuple[Array, Array, list[dict[int, int]]]:
    """Return ids with -1 and scores with NaN here and there, ties among them, and judgments by position."""
    rng = np.random.default_rng(seed)
    ids = np.argsort(rng.random((n_queries, 12)), axis=1)[:, :k]
    ids[rng.random(ids.shape) < 0.15] = -1
    scores = rng.integers(0, 4, ids.shape) / 4
    scores[rng.random(ids.shape) < 0.1] = NAN
    judged = [{int(doc): int(rng.integers(0, 3)) for doc in rng.permutation(12)[:4]} for _ in range(n_queries)]
    return ids, scores, judged


def as_dicts(ids: Array, scores: Array, *, ascending: bool = False) -> dict[str, dict[str, float]]:
    """Return a run by the definition, in Python alone."""
    run: dict[str, dict[str, float]] = {}
    for query, (documents, numbers) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True)):
        held = {}
        for document, number in zip(documents, numbers, strict=True):
            if document != -1 and number == number:  # noqa: PLR0124 - not NaN
                held[str(document)] = -number if ascending else number
        run[str(query)] = held
    return run


def named(judged: list[dict[int, int]]) -> dict[str, dict[str, int]]:
    return {str(query): {str(doc): grade for doc, grade in own.items()} for query, own in enumerate(judged)}


def test_a_tie_by_hand() -> None:
    """9 is second or third: (1/2 + 1/3) / 2; 6 is first or second: (1 + 1/2) / 2; what is NaN or -1 is not there."""
    run = dh.Run.from_topk([[3, 1, 9], [5, 6, -1]], [[0.9, 0.5, 0.5], [0.7, 0.7, NAN]])
    scores = dh.evaluate([[9], [6]], run, "RR")["RR"]
    assert scores.mean == pytest.approx((5 / 12 + 3 / 4) / 2, rel=1e-15)
    assert run.to_dict() == {"0": {"3": 0.9, "1": 0.5, "9": 0.5}, "1": {"5": 0.7, "6": 0.7}}


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_numbers_of_dicts(seed: int, *, ascending: bool) -> None:
    ids, scores, judged = drawn(seed)
    run = dh.Run.from_topk(ids, scores, ascending=ascending)
    expected = dh.evaluate(named(judged), as_dicts(ids, scores, ascending=ascending), MEASURES)
    for qrels in (judged, named(judged)):
        found = dh.evaluate(qrels, run, MEASURES)
        assert_frame_equal(found.to_polars(), expected.to_polars())
    assert run.bare == dh.Run(as_dicts(ids, scores)).bare


POLICIES = [{"ties": "doc_id"}, {"ties": "input"}, {"score_precision": 0}, {"depth": 2, "ties": "doc_id"}]


@pytest.mark.parametrize("options", POLICIES)
def test_policies(options: dict[str, Any]) -> None:
    ids, scores, judged = drawn(11)
    expected = dh.evaluate(named(judged), as_dicts(ids, scores), MEASURES, **options)
    found = dh.evaluate(judged, dh.Run.from_topk(ids, scores), MEASURES, **options)
    assert_frame_equal(found.to_polars(), expected.to_polars())


def test_ids_alone_rank_in_their_order() -> None:
    run = dh.Run.from_topk([[3, -1, 9], [5, 6, 2]])
    assert dh.evaluate([[9], [2]], run, "RR")["RR"].mean == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert dh.evaluate([[9], [2]], run, "RR")["RR"].mean_tie_std == 0


@pytest.mark.parametrize(
    "qrels",
    [
        [[9], [6, 5]],
        [{9}, {5, 6}],
        [np.array([9]), np.array([5, 6])],
        [["9"], ["6", "5"]],
        [{9: 1}, {5: 1, 6: 1}],
        np.array([[9, -1], [5, 6]]),
        csr_array(([1.0, 1.0, 1.0], ([0, 1, 1], [9, 5, 6])), shape=(2, 10)),
        {"0": {"9": 1}, "1": {"5": 1, "6": 1}},
        {0: [9], 1: [5, 6]},
        pl.DataFrame({"query_id": ["0", "1", "1"], "doc_id": ["9", "5", "6"], "relevance": [1, 1, 1]}),
    ],
    ids=lambda given: type(given).__name__,
)
def test_forms_of_judgments(qrels: object) -> None:
    run = dh.Run.from_topk([[3, 1, 9], [5, 6, -1]], [[0.9, 0.5, 0.5], [0.7, 0.7, NAN]])
    assert dh.evaluate(qrels, run, "AP")["AP"].mean == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1) / 2)


def test_graded_judgments_of_a_sparse_matrix() -> None:
    ids, scores, judged = drawn(3)
    rows = [(query, doc, grade) for query, own in enumerate(judged) for doc, grade in own.items() if grade]
    query, document, grade = zip(*rows, strict=True)
    matrix = csr_array((grade, (query, document)), shape=(len(ids), 12))
    expected = dh.evaluate(named(judged), as_dicts(ids, scores), "nDCG")["nDCG"].mean
    assert dh.evaluate(matrix, dh.Run.from_topk(ids, scores), "nDCG")["nDCG"].mean == pytest.approx(expected)


def test_a_query_without_relevant_documents() -> None:
    run = dh.Run.from_topk([[3], [5]])
    by_dict = dh.evaluate({"0": {"3": 1}, "1": {}}, {"0": {"3": 1.0}, "1": {"5": 1.0}}, "RR")
    assert dh.evaluate([[3], []], run, "RR")["RR"].mean == by_dict["RR"].mean


def test_ids_of_queries() -> None:
    run = dh.Run.from_topk([[3, 9], [5, 6]], [[0.9, 0.5], [0.7, 0.8]], query_ids=[17, 4], name="hnsw")
    assert run.to_dict() == {"17": {"3": 0.9, "9": 0.5}, "4": {"5": 0.7, "6": 0.8}}
    assert dh.evaluate({"17": {"9": 1}, "4": {"6": 1}}, run, "RR")["RR"].mean == 0.75
    assert run.name == "hnsw"
    with pytest.raises(SourceTypeError, match="lists of ids do not say their queries"):
        dh.evaluate([[9], [6]], run, "RR")


def test_a_query_that_finds_itself() -> None:
    """An id of a query may be that of a document; a place among the queries is none."""
    found = dh.place({"3": {"9": 1}, "5": {"6": 1}}, dh.Run.from_topk([[3, 9], [7, 6]], query_ids=[3, 5]))
    assert found.retrieves_itself is not None
    assert found.retrieves_itself.tolist() == [True, False]
    by_position = dh.place({"0": {"9": 1}, "1": {"6": 1}}, dh.Run.from_topk([[0, 9], [7, 6]]))
    assert by_position.retrieves_itself is not None
    assert not by_position.retrieves_itself.any()


def test_texts_and_large_numbers() -> None:
    ids: list[list[str | None]] = [["a", "b"], ["c", None]]
    texts = dh.Run.from_topk(ids, [[0.5, 0.5], [1.0, 1.0]])
    assert texts.to_dict() == {"0": {"a": 0.5, "b": 0.5}, "1": {"c": 1.0}}
    large = dh.Run.from_topk(np.array([[2**64 - 1, 7]], np.uint64))
    assert dh.evaluate({"0": {str(2**64 - 1): 1}}, large, "RR")["RR"].mean == 1
    floats = dh.Run.from_topk(np.array([[3.0, NAN], [4.0, 1.0]]))
    assert floats.to_dict() == {"0": {"3": -1.0}, "1": {"4": -1.0, "1": -2.0}}


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_arrays_of_other_libraries(library: str) -> None:
    arrays: Any = pytest.importorskip(library)
    make = arrays.tensor if library == "torch" else arrays.array
    run = dh.Run.from_topk(make([[3, 1, 9], [5, 6, -1]]), make([[0.9, 0.5, 0.5], [0.7, 0.7, NAN]]))
    assert dh.evaluate([[9], [6]], run, "RR")["RR"].mean == pytest.approx((5 / 12 + 3 / 4) / 2)


def test_the_index_itself() -> None:
    faiss = pytest.importorskip("faiss")
    vectors = np.random.default_rng(5).random((50, 4), dtype=np.float32)
    index = faiss.IndexFlatL2(4)
    index.add(vectors)
    distances, ids = index.search(vectors[:20], 60)  # of 50 documents: ten places hold -1
    run = dh.Run.from_topk(ids, distances, ascending=True)
    assert dh.evaluate([[query] for query in range(20)], run, "RR")["RR"].mean == 1


def test_an_id_that_is_written_in_another_way() -> None:
    """ "9" is the number 9; "09" beside it is an error; what is no number is not retrieved."""
    run = dh.Run.from_topk([[3, 9]])
    assert dh.evaluate({"0": {"9": 1, "x9": 1}}, run, "R@2")["R@2"].mean == 0.5
    with pytest.raises(DataError, match="'09' and run the number 9"):
        dh.evaluate({"0": {"09": 1}}, run, "RR")


def test_a_document_that_comes_twice() -> None:
    run = dh.Run.from_topk([[3, 4], [9, 9]], [[2, 1], [2, 1]])
    with pytest.raises(DuplicateError, match=r"'9' .* query '1'"):
        dh.evaluate([[3], [9]], run, "RR")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": [1, 2]}, r"shape \(2,\)"),
        ({"ids": [[1, 2]], "scores": [[1.0]]}, r"the shape of ids, \(1, 2\)"),
        ({"ids": [[1, -2]]}, "ids hold -2"),
        ({"ids": [[1.5]]}, "ids hold 1.5"),
        ({"ids": [[True]]}, "array of bool"),
        ({"ids": [[]]}, "ids are empty"),
        ({"ids": [[1]], "scores": [["a"]]}, "scores"),
        ({"ids": [[1]], "scores": [[2**53 + 1]]}, "beyond 2"),
        ({"ids": [[1], [2]], "query_ids": ["a"]}, "one id for each of 2 rows"),
        ({"ids": [[1], [2]], "query_ids": ["a", "a"]}, "'a' twice"),
        ({"ids": [[1]], "ascending": True}, "ascending"),
    ],
)
def test_arrays_that_are_wrong(given: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, ParameterError), match=message):
        dh.Run.from_topk(**given)


def test_judgments_of_another_number_of_queries() -> None:
    with pytest.raises(ParameterError, match="relevant documents of 3 queries"):
        dh.evaluate([[1], [2], [3]], dh.Run.from_topk([[1], [2]]), "RR")


def test_what_is_done_with_a_run(tmp_path: Path) -> None:
    """It is compared, checked, saved, listed and reported as any other."""
    ids, scores, judged = drawn(21)
    runs = {"flat": dh.Run.from_topk(ids, scores), "ivf": dh.Run.from_topk(ids[:, ::-1], scores)}
    dicts = {"flat": as_dicts(ids, scores), "ivf": as_dicts(ids[:, ::-1], scores)}
    found = dh.compare(judged, runs, "nDCG@3", rng=1)
    expected = dh.compare(named(judged), dicts, "nDCG@3", rng=1)
    assert_frame_equal(found.to_polars(), expected.to_polars())

    evaluations = dh.evaluate(judged, runs, "nDCG@3")
    assert dh.gate(evaluations["flat"], "nDCG@3 >= 0").passed
    evaluations["flat"].save(tmp_path / "flat.json")
    saved = dh.load_evaluation(tmp_path / "flat.json")
    assert saved["nDCG@3"].mean == evaluations["flat"]["nDCG@3"].mean
    assert saved.rescored(named(judged))["nDCG@3"].mean == pytest.approx(saved["nDCG@3"].mean)


def test_a_file_of_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids, scores, judged = drawn(31)
    np.savez(tmp_path / "flat.npz", ids=ids, scores=scores)
    qrels = dh.Qrels(named(judged))
    qrels.to_polars().write_csv(tmp_path / "qrels.csv")
    monkeypatch.chdir(tmp_path)
    table = json.loads(ok("evaluate", "qrels.csv", "flat.npz", "-m", "nDCG@3", "--format", "json"))
    expected = dh.evaluate(qrels, as_dicts(ids, scores), "nDCG@3")["nDCG@3"].mean
    assert table["scores"]["flat"]["nDCG@3"]["value"] == pytest.approx(expected)

    ok("convert", "flat.npz", "flat.run")
    ok("convert", "flat.run", "again.npz")
    assert dh.Run("again.npz").to_dict() == dh.Run("flat.npz").to_dict()
    assert call("evaluate", "flat.npz", "flat.npz").exit_code != 0
    assert "runs alone" in call("evaluate", "flat.npz", "flat.npz").stderr


def _npz(**arrays: Any) -> bytes:  # noqa: ANN401 - whatever NumPy takes
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(("scores", "ascending"), [([[0.1, 0.2, 0.2]], False), ([[0.3, 0.2, NAN]], True)])
def test_distances_that_are_taken_for_similarities(scores: list[list[float]], *, ascending: bool) -> None:
    with pytest.warns(DeadheatWarning, match="last result ranks first"):
        dh.Run.from_topk([[1, 2, 3]], scores, ascending=ascending)
    run = dh.Run.from_topk([[1, 2, 3]], scores, ascending=not ascending)
    assert dh.evaluate([[1]], run, "RR")["RR"].mean == 1


def test_a_file_without_scores_has_ranks(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", ids=[[3, 9]])
    assert dh.Run(tmp_path / "a.npz").notes == dh.Run.from_topk([[3, 9]]).notes == dh.Run({"q": ["3", "9"]}).notes
    with pytest.raises(ParameterError, match="ascending"):
        dh.Run(tmp_path / "a.npz", ascending=True)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_files_are_read_or_refused(tmp_path: Path, save: Any) -> None:  # noqa: ANN401 - a function of NumPy
    ids, scores, _ = drawn(41)
    path = tmp_path / "a.npz"
    save(path, ids=ids, scores=scores)
    content = path.read_bytes()
    expected = dh.Run(path).to_dict()
    rng = np.random.default_rng(1)
    n_refused = 0
    for place in rng.integers(0, len(content), 200).tolist():
        damaged = bytes([content[place] ^ 1 << int(rng.integers(8))])
        path.write_bytes(content[:place] + damaged + content[place + 1 :])
        try:
            assert dh.Run(path).to_dict() == expected
        except DataError:
            n_refused += 1
    assert n_refused > 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK", "no arrays of NumPy"),
        (_npz(D=[[1.0]], I=[[1]]), "arrays D, I"),
        (_npz(ids=[[1]], distances=[[1.0]]), "arrays ids, distances"),
        (_npz(ids=np.array([[{}]], object)), "no arrays"),
        (_npz(ids=[[1]])[:-30], "no arrays of NumPy"),
        (_npz(ids=[[1, 2]], scores=[[1.0]]), "the shape of ids"),
    ],
    ids=["short", "names", "another", "objects", "cut", "shapes"],
)
def test_files_that_are_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(DataError, match=message):
        dh.Run(tmp_path / "a.npz")
