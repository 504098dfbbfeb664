"""Runs that are read, placed and scored together have the values that each has alone, and that all orders give."""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import measures as registered
from deadheat.api import FloatArray
from deadheat.core.placements import stacked_runs
from deadheat.core.placements.stacked_runs import StackedRunsEngine
from deadheat.errors import DataError, MeasureError

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [f"q{n}" for n in range(7)]
Rows = list[tuple[str, str, float]]
UNORDERED = pytest.mark.filterwarnings("ignore::deadheat.core.errors.DeadheatWarning")
ARRAYS = ("values", "tie_mean", "tie_std", "tie_min", "tie_max")


def drawn(seed: int, queries: list[str] = QUERIES, depth: int = 30, levels: int = 8) -> Rows:
    """Rows of a run: tied scores, in no order, of queries that are not always adjacent."""
    rng = np.random.default_rng(seed)
    rows = [
        (query, f"d{doc}", float(rng.integers(levels) / 4))
        for query in queries
        for doc in rng.choice(60, rng.integers(3, depth), replace=False).tolist()
    ]
    return [rows[n] for n in rng.permutation(len(rows))] if seed % 2 else rows


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "x.qrels"
    rows = [f"{query} 0 d{doc} {rng.integers(4)}" for query in QUERIES for doc in rng.choice(70, 20, replace=False)]
    path.write_text("\n".join([*rows, "none 0 d1 0", "lacking 0 d1 2\n"]))
    return path


def written(path: Path, rows: Rows) -> Path:
    lines = (f"{query} Q0 {doc} {n} {score} T\n" for n, (query, doc, score) in enumerate(rows, 1))
    path.write_text("".join(lines))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    several: dict[str, Rows] = {
        "rows": drawn(2),
        "mixed": drawn(3),
        "other queries": drawn(4, [*QUERIES[2:], "unjudged", "none"]),
        "untied": [(query, doc, n) for n, (query, doc, _) in enumerate(drawn(6))],
        "short": drawn(8, QUERIES[:1]),
    }
    return {name: written(tmp_path / f"{name}.run", rows) for name, rows in several.items()}


def each(
    qrels: object,
    runs: dict[str, Any],
    measures: list[str],
    **options: Any,  # noqa: ANN401 - as of evaluate
) -> tuple[Any, dict[str, Any]]:
    """Evaluate together, and each run alone, without warnings."""
    with warnings.catch_warnings(action="ignore"):
        alone = {name: dh.evaluate(qrels, run, measures, **options) for name, run in runs.items()}
        return dh.evaluate(qrels, runs, measures, **options), alone


MEASURES = sorted(
    name
    for name, measure in registered().items()
    if not measure.__abstractmethods__ and name not in {"Custom", "Stored"}
)


def check(found: dict[str, Any], alone: dict[str, Any]) -> None:
    assert list(found) == list(alone)
    for name, expected in alone.items():
        own = found[name]
        assert own.name == name
        assert (own.missing_queries, own.unjudged_queries) == (expected.missing_queries, expected.unjudged_queries)
        assert (own.notes, own.conventions, own.qrels.where) == (
            expected.notes,
            expected.conventions,
            expected.qrels.where,
        )
        assert own.query_ids.tolist() == expected.query_ids.tolist()
        assert own.placements.to_polars().equals(expected.placements.to_polars())
        assert own.facts == expected.facts
        for scores, others in zip(own, expected, strict=True):
            for array in ARRAYS:
                np.testing.assert_allclose(getattr(scores, array), getattr(others, array), rtol=1e-12, atol=1e-12)
            assert scores.has_relevant.tolist() == others.has_relevant.tolist()


def test_runs_of_files_are_placed_together(qrels: Path, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    engines: list[StackedRunsEngine] = []

    def counted(*given: Any) -> StackedRunsEngine:  # noqa: ANN401 - as it takes them
        engines.append(StackedRunsEngine(*given))
        return engines[-1]

    monkeypatch.setattr(stacked_runs, "StackedRunsEngine", counted)
    found, alone = each(qrels, runs, ["nDCG@5", "AP", "RR"])
    assert len(engines) == 1
    check(found, alone)


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "best"},
        {"ties": "worst"},
        {"ties": "doc_id"},
        {"ties": "input"},
        {"ties": "random", "rng": 3},
        {"missing": "skip"},
        {"missing": "skip", "ties": "doc_id"},
        {"no_relevant": "skip", "rel": 2},
        {"score_precision": 0},
        {"depth": 3, "ties": "doc_id"},
        {"judged_only": True},
        {"unjudged": "bounds"},
        {"ascending": True},
        {"then_by": {query: {"d1": 2, "d2": 3} for query in QUERIES}},
        {"normalize_ids": "NFC"},
    ],
    ids=str,
)
def test_conventions(options: dict[str, Any], qrels: Path, runs: dict[str, Path]) -> None:
    check(*each(qrels, runs, ["nDCG@5", "AP", "P@3"], **options))


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_measures(name: str, qrels: Path, runs: dict[str, Path]) -> None:
    try:
        chosen = [str(dh.parse_measure(name))]
    except MeasureError:
        chosen = [f"{name}@5"]
    check(*each(qrels, runs, chosen))


def values_of_orders(rows: Rows, relevant: set[str]) -> list[float]:
    """RR of one query in every order of its ties, by its definition."""
    levels = sorted({score for *_, score in rows}, reverse=True)
    ties = [[doc for _, doc, score in rows if score == level] for level in levels]
    orders = itertools.product(*(itertools.permutations(tie) for tie in ties))
    return [
        next((1 / rank for rank, doc in enumerate(itertools.chain(*order), 1) if doc in relevant), 0.0)
        for order in orders
    ]


@UNORDERED
def test_all_orders(tmp_path: Path) -> None:
    rows = {name: drawn(seed, ["q0", "q1"], depth=6, levels=3) for seed, name in enumerate(["a", "b", "c"], 10)}
    qrels = {"q0": {f"d{n}": n % 3 == 0 for n in range(60)}, "q1": {f"d{n}": n % 2 == 0 for n in range(60)}}
    found = dh.evaluate(qrels, {name: written(tmp_path / f"{name}.run", own) for name, own in rows.items()}, "RR")
    for name, own in rows.items():
        for n, query in enumerate(["q0", "q1"]):
            relevant = {doc for doc, is_relevant in qrels[query].items() if is_relevant}
            values = values_of_orders([row for row in own if row[0] == query], relevant)
            scores = found[name]["RR"]
            expected = (np.mean(values), np.std(values), min(values), max(values))
            arrays: list[FloatArray] = [scores.values, scores.tie_std, scores.tie_min, scores.tie_max]
            assert [array[n] for array in arrays] == pytest.approx(expected, abs=1e-12)


@UNORDERED
def test_a_run_without_a_common_query_is_named(qrels: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    foreign = written(tmp_path / "foreign.run", drawn(5, ["x1", "x2"]))
    with pytest.raises(DataError, match=r"foreign\.run has 'x1', 'x2'"):
        dh.evaluate(qrels, {**runs, "foreign": foreign})


@UNORDERED
def test_missing_queries_are_an_error_where_asked(qrels: Path, runs: dict[str, Path]) -> None:
    with pytest.raises(DataError, match=r"rows\.run .*2 of 9 .*'lacking', 'none'"):
        dh.evaluate(qrels, runs, missing="error")


@UNORDERED
@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("q1 Q0 d2 2 0.4", "expected 6 fields"),
        ("q1 Q0 d2 2 high T", "high"),
        ("q1 Q0 d1 2 0.4 T", "document 'd1' is retrieved 2 times"),
        ("q1 Q0 d2 2 nan T", "nan"),
    ],
)
def test_a_damaged_file_among_others(row: str, match: str, qrels: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "broken.run").write_text(f"q1 Q0 d1 1 0.5 T\n{row}\n")
    with pytest.raises(DataError, match=rf"broken\.run:2: .*{match}"):
        dh.evaluate(qrels, {**runs, "broken": tmp_path / "broken.run"})


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d1 first 2 T\nq1 Q0 d2 second 1 T\n",
        "q1 Q0 d1 1.0 2 T\r\nq1 Q0 d2 2.0 1 T\r\n",
        "q1\tQ0\td1\t1\t2\tT7\nq1\tQ0\td2\t2\t1\tT7",
        "# comment\nq1 Q0 d1 1 2 T\n\nq1  Q0 d2 2 1 T\n",
        "q1 Q0 d1 99999999999999999999 2 T\nq1 Q0 d2 1 1 T\n",
    ],
)
def test_unusual_files_among_others(text: str, qrels: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "unusual.run").write_text(text)
    found, alone = each(qrels, {"unusual": tmp_path / "unusual.run", **runs}, ["RR", "nDCG"])
    check(found, alone)
    assert found["unusual"].run.to_polars().rows() == [("q1", "d1", 2.0), ("q1", "d2", 1.0)]


def test_ranks_that_contradict_scores_are_told_of_one_among_others(qrels: Path, tmp_path: Path) -> None:
    rows: Rows = [(query, f"d{n}", n) for query in QUERIES for n in range(10)]
    wrong, right = written(tmp_path / "wrong.run", rows), written(tmp_path / "right.run", rows[::-1])
    with pytest.warns(dh.DeadheatWarning, match=r"wrong\.run: .* rise .* 7 of 7") as told:
        dh.evaluate(qrels, {"wrong": wrong, "right": right}, missing="empty")
    assert len(told) == 1


def test_many_pieces(qrels: Path, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.core.io.splitting.PIECE", 1_500)  # two runs or so
    check(*each(qrels, {**runs, "again": runs["rows"]}, ["AP"]))


def test_a_bound_on_memory_reads_one_after_the_other(qrels: Path, runs: dict[str, Path]) -> None:
    expected, _ = each(qrels, runs, ["AP"])
    with dh.max_memory(1_000_000), warnings.catch_warnings(action="ignore"):
        found = dh.evaluate(qrels, runs, ["AP"])
    assert [one.means() for one in found.values()] == [one.means() for one in expected.values()]


@pytest.mark.slow
def test_saved_and_loaded(qrels: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    found, alone = each(qrels, runs, ["AP", "RR"])
    for name, one in found.items():
        one.save(tmp_path / "one.json")
        loaded = dh.load_evaluation(tmp_path / "one.json")
        assert loaded.to_polars().equals(one.to_polars())
        assert loaded.to_polars().equals(alone[name].to_polars())
