"""A query that was given with nothing relevant is one without a relevant document, whatever form holds it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import deadheat as dh
from deadheat import Qrels
from deadheat.errors import NothingJudgedWarning
from deadheat.plugins.bench.cases import Case
from support.command import call, ok
from support.small_bench import DOCUMENTS, known

SCORES = [[0.9, 0.1, 0.1], [0.2, 0.3, 0.3], [0.5, 0.5, 0.1], [0.4, 0.4, 0.4]]
RELEVANT: list[list[int]] = [[0], [], [1], []]
LISTS = {str(query): list(map(str, own)) for query, own in enumerate(RELEVANT)}
RUN = {str(query): {str(doc): score for doc, score in enumerate(own)} for query, own in enumerate(SCORES)}
ROWS = [(query, doc, score) for query, own in RUN.items() for doc, score in own.items()]
MEASURES = ["RR", "nDCG@2", "AP", "P@2", "R@2", "FRP", "NumRet", "NumRel", "Judged@2", "Hole@2", "bpref"]
FILES = {
    "lists.json": json.dumps(LISTS),
    "dicts.json": json.dumps({query: dict.fromkeys(own, 1) for query, own in LISTS.items()}),
    "records.json": json.dumps([{"query_id": query, "expected": own} for query, own in LISTS.items()]),
    "lists.jsonl": "".join(json.dumps({"query_id": query, "expected": own}) + "\n" for query, own in LISTS.items()),
    "cases.json": json.dumps(
        {"cases": [{"case_id": query, "text": f"text {query}", "expected_ids": own} for query, own in LISTS.items()]}
    ),
    "request.json": json.dumps(
        {
            "requests": [
                {"id": query, "request": {}, "ratings": [{"_id": doc, "rating": 1} for doc in own]}
                for query, own in LISTS.items()
            ]
        }
    ),
}
OBJECTS: dict[str, Any] = {
    "lists": LISTS,
    "dicts": {query: dict.fromkeys(own, 1) for query, own in LISTS.items()},
    "numbers as ids": {int(query): own for query, own in LISTS.items()},
    "sets": {query: set(own) for query, own in LISTS.items()},
    "tuples": {query: tuple(own) for query, own in LISTS.items()},
    "arrays": {query: np.array(own, str) for query, own in LISTS.items()},
    "Polars": pl.DataFrame({"query_id": list(LISTS), "doc_id": list(LISTS.values())}),
    "pandas": pd.DataFrame({"query_id": list(LISTS), "doc_id": list(LISTS.values())}),
    "results": dh.Qrels.of_results(
        {query: [{"id": doc, "relevance": 1} for doc in own] for query, own in LISTS.items()}
    ),
}
RUNS: dict[str, Any] = {
    "dicts": RUN,
    "tuples": ROWS,
    "grouped": pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row"),
    "mixed": pl.DataFrame(ROWS[::2] + ROWS[1::2], schema=["query_id", "doc_id", "score"], orient="row"),
    "lazy": pl.LazyFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row"),
}


def given(form: str, folder: Path) -> Any:  # noqa: ANN401 - whatever a user has
    """Return the judgments in a form."""
    if form in OBJECTS:
        return OBJECTS[form]
    (folder / form).write_text(FILES[form], encoding="utf-8")
    return folder / form


def dense(relevant: object, no_relevant: str) -> dict[str, float]:
    return dh.evaluate_dense(SCORES, relevant, MEASURES, no_relevant=no_relevant).means()


@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
@pytest.mark.parametrize("form", [*OBJECTS, *FILES])
def test_all_forms_say_the_same(form: str, no_relevant: str, tmp_path: Path) -> None:
    wanted = dense(RELEVANT, no_relevant)
    for run in RUNS.values():
        found = dh.evaluate(given(form, tmp_path), run, MEASURES, no_relevant=no_relevant)
        assert found.means() == pytest.approx(wanted, abs=1e-12)
        assert (found.without_relevant("RR"), found.unjudged_queries) == (("1", "3"), ())
    assert wanted["RR"] == pytest.approx((1 + 3 / 4) / (4 if no_relevant == "zero" else 2))


def test_matrices_too() -> None:
    matrix = np.zeros((4, 3))
    matrix[0, 0] = matrix[2, 1] = 1
    accumulator = dh.Accumulator(MEASURES)
    for part in (slice(0, 2), slice(2, 4)):
        accumulator.add(SCORES[part], RELEVANT[part])
    for means in (dense(matrix, "zero"), dense(csr_array(matrix), "zero"), accumulator.means()):
        assert means == pytest.approx(dense(RELEVANT, "zero"), abs=1e-12)
    qrels, run = dh.from_arrays(matrix, SCORES)
    found = dh.evaluate(qrels, run, ["RR", "nDCG@2", "AP", "R@2"])
    assert found.means() == pytest.approx({one: dense(RELEVANT, "zero")[one] for one in found.means()}, abs=1e-12)


@pytest.mark.parametrize("options", [{"ties": "doc_id"}, {"ties": "best"}, {"judged_only": True}, {"missing": "skip"}])
@pytest.mark.parametrize("run", RUNS)
def test_conventions_hold_for_them(run: str, options: dict[str, Any]) -> None:
    """As if an unretrieved document were judged not relevant, which nothing but Judged looks at."""
    judged = {query: dict.fromkeys(own, 1) or {"elsewhere": 0} for query, own in LISTS.items()}
    names = ["RR", "nDCG@2", "AP", "R@2", "bpref", "FRP"]
    wanted = dh.evaluate(judged, RUN, names, **options)
    found = dh.evaluate(LISTS, RUNS[run], names, **options)
    assert found.to_dict() == wanted.to_dict()
    for name in names:
        assert found[name].mean_tie_std == wanted[name].mean_tie_std
    (pair,) = dh.compare(LISTS, {"a": RUNS[run], "b": RUN}, ["RR"]).pairs
    assert (pair.n_queries, pair.difference) == (4, 0)


def test_a_run_may_lack_them() -> None:
    found = dh.evaluate(LISTS, {"0": RUN["0"]}, ["RR"], missing="empty")
    assert (found.means(), found.missing_queries) == ({"RR": 1 / 4}, ("1", "2", "3"))
    with pytest.warns(NothingJudgedWarning):
        assert dh.evaluate(LISTS, {"1": RUN["1"]}, ["RR"], missing="skip").means() == {"RR": 0.0}  # a common query


@pytest.mark.filterwarnings("ignore::deadheat.core.errors.DeadheatWarning")  # the ids look like chunks
@pytest.mark.parametrize("name", ["evaluate", "gate"])
def test_ids_that_differ_beside_a_query_with_nothing_relevant(name: str, tmp_path: Path) -> None:
    """The command looked for a judged document of the query that has none: exit 70."""
    (qrels := tmp_path / "q.json").write_text('{"b": ["d1"], "a": []}')
    (run := tmp_path / "r.json").write_text('{"b": {"d1#0": 1}, "a": {"d1#0": 1}}')
    found = call(name, qrels, run, *(["-m", "RR"] if name == "evaluate" else ["-c", "RR >= 0.5"]))
    assert found.exit_code == (0 if name == "evaluate" else 1)
    said = " ".join((found.stdout + found.stderr).split())
    assert "document ids" in said
    if name == "evaluate":
        assert "(run: 'd1#0'; qrels: 'd1')" in said
        (run := tmp_path / "r.json").write_text('{"a": {"d1#0": 1}}')
        assert "(run: 'd1#0'; qrels: 'd1')" in " ".join(ok(name, qrels, run, "-m", "RR").split())
    with pytest.warns(NothingJudgedWarning):
        evaluation = dh.evaluate(qrels, run, "RR")
    assert evaluation.to_dict() == {"a": {"RR": 0.0}, "b": {"RR": 0.0}}


def test_rows_cannot_hold_them(tmp_path: Path) -> None:
    """TREC and CSV have no place for such a query: it is absent, and a conversion to rows says so."""
    qrels = Qrels(given("lists.json", tmp_path))
    assert qrels.to_dict() == {"0": {"0": 1}, "1": {}, "2": {"1": 1}, "3": {}}
    assert (qrels.bare, qrels.facts().n_queries, qrels.facts().fewest) == (("1", "3"), 4, 0)
    assert len(qrels.to_polars()) == 2
    assert qrels.fingerprint != Qrels({"0": ["0"], "2": ["1"]}).fingerprint
    told = call("convert", tmp_path / "lists.json", tmp_path / "qrels.txt", "--kind", "qrels").stderr
    assert "2 rows of qrels as trec" in told
    assert "without 2 " in told
    assert list(dh.read_qrels(tmp_path / "qrels.txt").to_dict()) == ["0", "2"]


def test_how_many_there_are_is_said() -> None:
    accumulator = dh.Accumulator(["RR", "P@1"])
    accumulator.add(SCORES, RELEVANT)
    assert accumulator.summary()["n_without_relevant"].to_list() == [2, 2]
    for shown in (dh.evaluate(LISTS, RUN, ["RR"]), accumulator.evaluation(), dh.evaluate_dense(SCORES, RELEVANT)):
        assert "2 queries (1, 3), count as 0" in " ".join(str(shown).split())


@pytest.mark.slow
def test_commands_count_them(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in ROWS))
    for form in FILES:
        out = ok("evaluate", given(form, tmp_path), tmp_path / "a.run", "-m", "RR")
        assert ("0.4375" in out, "2 queries (1, 3), count as 0" in " ".join(out.split())) == (True, True)
    for engine in ("polars", *(["duckdb"] if find_spec("duckdb") else [])):
        RUNS["grouped"].write_parquet(tmp_path / "a.parquet")
        out = ok("evaluate", tmp_path / "lists.json", tmp_path / "a.parquet", "-m", "RR", "--engine", engine)
        assert "0.4375" in out
    warned = ok("validate", tmp_path / "cases.json")
    assert "They count as 0" in " ".join(warned.split())


def test_cases_that_expect_nothing() -> None:
    cases = [Case("e1", "fever", ("D1",), (1.0,), language="en"), Case("e2", "nothing", (), (), language="en")]
    result = dh.bench(dh.Cases("mine", {}, tuple(cases)), DOCUMENTS, {"known": known}, measures=["RR"], n_resamples=99)
    ((_, evaluation),) = result.evaluations.items()
    assert evaluation.to_dict() == {"e1": {"RR": 0.75}, "e2": {"RR": 0.0}}
    assert "1 of 2 cases of mine (en) (e2), which " in " ".join(str(result).split())
    assert [one.case_id for failed in result.failures.values() for one in failed] == ["e1"]
    result = dh.bench(dh.Cases("mine", {}, tuple(cases)), DOCUMENTS, {"known": known}, measures=["MR"], n_resamples=99)
    assert "1 of 2 cases of mine (en) (e2) " in " ".join(str(result).split())


def test_a_run_written_as_dicts_keeps_the_queries_without_a_document() -> None:
    """Else `missing="skip"` left them out of the means of what was read back."""
    qrels, run = {"q": ["a"], "r": ["b"]}, dh.Run({"q": {"a": 1.0}, "r": {}})
    assert run.to_dict() == {"q": {"a": 1.0}, "r": {}}
    means = [dh.evaluate(qrels, one, "RR", missing="skip").means() for one in (run, run.to_dict())]
    assert means == [{"RR": 0.5}] * 2
