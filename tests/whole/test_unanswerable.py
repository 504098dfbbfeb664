"""Queries that the qrels call unanswerable: which measures leave them out, and where that is kept."""

from __future__ import annotations

import json
import math
from collections import namedtuple
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, DeadheatError
from deadheat.plugins.compare.orders import list_order_values
from support.command import call, facts_of, names_in, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"query_id": "q1", "doc_id": "a", "relevance": 1, "answerable": True},
    {"query_id": "q2", "doc_id": None, "relevance": None, "answerable": False},
    {"query_id": "q3", "doc_id": "z", "relevance": 0, "answerable": False},  # judged, and called unanswerable
    {"query_id": "q4", "doc_id": "z", "relevance": 0, "answerable": True},  # nothing relevant, and not called so
    {"query_id": "q5", "doc_id": None, "relevance": None, "answerable": False},
]
RUN = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"x": 0.9}, "q3": {"z": 0.7, "y": 0.7}, "q4": {"z": 0.4}}
DECLARED = ("q2", "q3", "q5")
MEASURES = ["RR", "nDCG@10", "DCG", "AP", "Abstain", "NumQ", "NumRet", "Judged@1", "NumRel"]
RR = 0.75  # of q1: first or second
NDCG = (1 + 1 / math.log2(3)) / 2
SILENT: dict[str, Any] = {"missing": "empty"}
CSV = "".join(f"{','.join('' if one[name] is None else str(one[name]).lower() for name in ROWS[0])}\n" for one in ROWS)


@pytest.mark.parametrize(
    ("asked", "n", "extra"), [(None, 2, 0), ("zero", 5, 0), ("skip", 1, 0), ("correct_if_empty", 5, 1)]
)
def test_measures_leave_them_out_unless_asked(asked: str | None, n: int, extra: int) -> None:
    """By arithmetic on five queries: `extra` is the silence of q5."""
    found = dh.evaluate(ROWS, RUN, MEASURES, no_relevant=asked, missing="empty")
    assert found.unanswerable == DECLARED
    means = found.means()
    assert means["RR"] == pytest.approx((RR + extra) / n)
    assert means["AP"] == pytest.approx((RR + extra) / n)
    assert means["nDCG@10"] == pytest.approx((NDCG + extra) / n)
    assert means["DCG"] == pytest.approx(NDCG / n)
    assert found["RR"].n_queries == n
    # these look for nothing relevant, or count, and see all five
    assert (means["Abstain"], found["NumQ"].total, found["NumRet"].total, found["NumRel"].total) == (0.2, 5, 6, 1)
    # the first place of q1 is judged in half of the orders, that of q3 too, of q4 always
    assert found["Judged@1"].values.tolist() == [0.5, 0, 0.5, 1, 0]
    left = {query for query, own in found.to_dict().items() if "RR" not in own}
    assert left == {None: {*DECLARED}, "skip": {*DECLARED, "q4"}}.get(asked, set())
    bounds = (found["RR"].mean_tie_min, found["RR"].mean_tie_max)
    assert bounds == pytest.approx(((0.5 + extra) / n, (1 + extra) / n))


def test_relevance_of_no_document_is_not_read() -> None:
    rows = [ROWS[1] | {"relevance": "none"}, ROWS[0] | {"relevance": "high"}]
    with raises_parts(DataError, "'relevance' holds String", allowed="numbers"):
        dh.Qrels(rows)
    assert dh.Qrels([rows[0], ROWS[0]]).unanswerable == ("q2",)  # whose relevance is of no document


def test_lists_of_documents_can_be_of_an_unanswerable_query(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    judged = '{"query_id": "q1", "doc_id": ["a", "b"], "relevance": [1, 0]}'
    for documents in ("[]", "null", '""'):
        path.write_text(f'{judged}\n{{"query_id": "q2", "doc_id": {documents}, "answerable": false}}\n')
        assert dh.read_qrels(path).unanswerable == ("q2",)
    path.write_text(f'{judged}\n{{"query_id": "q2", "doc_id": ["z"], "relevance": [1], "answerable": false}}\n')
    with pytest.raises(DataError) as caught:
        dh.read_qrels(path)
    assert names_in(str(caught.value)) == ["q2", "z"]


@pytest.mark.parametrize("name", ["q.json", "q.jsonl"])
def test_files_in_which_no_query_is_answerable_have_no_row(name: str, tmp_path: Path) -> None:
    row = json.dumps(ROWS[1])
    path = tmp_path / name
    path.write_text(f"[{row}]" if name == "q.json" else row)
    with pytest.raises(DataError) as caught:
        dh.read_qrels(path)
    assert caught.value.problem == "qrels without a single row"


def test_arrays_of_documents_can_be_of_an_unanswerable_query() -> None:
    judged = {"query_id": "q1", "doc_id": np.array(["a", "b"]), "relevance": np.array([1, 0])}
    bare = {"query_id": "q2", "doc_id": np.array([]), "relevance": np.array([]), "answerable": False}
    assert dh.Qrels([judged, bare]).unanswerable == ("q2",)


def test_a_conversion_says_what_it_loses(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    told = call("convert", path, tmp_path / "q.csv").stderr
    assert "without 2 queries" in told
    assert "; q3 " in told
    assert dh.read_qrels(tmp_path / "q.csv").unanswerable == ()


def test_an_empty_list_is_not_called_unanswerable() -> None:
    nested: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {}}
    assert dh.Qrels(nested).unanswerable == ()
    assert dh.evaluate(nested, RUN, "RR").means() == {"RR": RR / 2}
    assert dh.Qrels(nested).fingerprint != dh.Qrels(ROWS[:2]).fingerprint


def test_where_several_runs_are_evaluated() -> None:
    """In comparisons, their values by document id, repeats and strata."""
    other = {**RUN, "q1": {"a": 2, "b": 1}, "q5": {"x": 1.0}}
    compared = dh.compare(ROWS, {"one": RUN, "other": other}, ["RR", "Abstain"], n_resamples=99, **SILENT)
    pairs = {pair.measure: (pair.n_queries, pair.difference) for pair in compared.pairs}
    assert pairs == {"RR": (2, 0.25 / 2), "Abstain": (5, -0.2)}
    by_id = compared.scores_by_doc_id("one", "RR")
    assert by_id is not None
    assert by_id.values[by_id.kept].tolist() == [0.5, 0.0]  # b is before a
    together: Any = dh.evaluate(ROWS, {"one": RUN, "other": other}, "RR", **SILENT)
    assert [one["RR"].mean for one in together.values()] == [RR / 2, 1 / 2]
    repeated = dh.evaluate(ROWS, dh.Repeats([RUN, other]), "RR", **SILENT)
    assert (repeated["RR"].mean, repeated["RR"].n_queries) == ((RR + 1) / 4, 2)
    kinds = [{"query_id": f"q{n}", "kind": "odd" if n % 2 else "even"} for n in range(1, 6)]
    strata = dh.evaluate(ROWS, RUN, ["RR", "Abstain"], **SILENT).by("kind", kinds)
    assert {name: (one["RR"].n_queries, one["Abstain"].n_queries) for name, one in strata.items()} == {
        "even": (1, 2),
        "odd": (1, 3),
    }
    bounds = dh.evaluate(ROWS, RUN, "P@1", unjudged="bounds", **SILENT)["P@1"]
    assert (bounds.n_queries, bounds.mean_unjudged_max) == (2, 1 / 2)


def test_a_query_without_a_judgment_has_one_order() -> None:
    """As a page lists the orders of the queries that it shows."""
    evaluation = dh.evaluate(ROWS, RUN, "RR", **SILENT)
    found = list_order_values(evaluation["RR"].measure, evaluation.placements, np.array([1, 0]))
    assert found is not None
    assert [(values.tolist(), chances.tolist()) for values, chances in found] == [([0], [1]), ([1, 0.5], [0.5, 0.5])]


def test_a_gate_sees_what_counts() -> None:
    evaluation = dh.evaluate(ROWS, RUN, ["RR", "Abstain"], **SILENT)
    assert dh.gate(evaluation, ["RR >= 0.375", "Abstain >= 0.2"]).passed
    skipped = dh.evaluate(ROWS, RUN, ["RR"], missing="skip")  # q5, which would not count
    assert "proves little" not in str(dh.gate(skipped, ["RR >= 0.375"]))


def test_saved_evaluations_keep_it(tmp_path: Path) -> None:
    """Rescored they are as new; one with an explicit zero, as all old ones have, stays as it is."""
    new = dh.evaluate(ROWS, RUN, ["RR", "Abstain"], **SILENT)
    old = dh.evaluate(ROWS, RUN, ["RR", "Abstain"], no_relevant="zero", **SILENT)
    for name, one, mean in (("new", new, RR / 2), ("old", old, RR / 5)):
        one.save(tmp_path / f"{name}.json")
        loaded = dh.load_evaluation(tmp_path / f"{name}.json")
        assert (loaded.unanswerable, loaded.conventions) == (DECLARED, one.conventions)
        for found in (loaded, loaded.rescored(), loaded.rescored(measures=["RR"])):
            assert found["RR"].mean == mean
        assert loaded.rescored(no_relevant="skip")["RR"].mean == RR
        assert loaded.rescored(no_relevant="zero")["RR"].mean == RR / 5
    with pytest.raises(DataError, match=r"\(no_relevant None and 'zero'\)"):
        dh.compare_evaluations({"new": new, "old": old})
    with pytest.raises(DataError, match="different conventions"):
        dh.history([tmp_path / "new.json", tmp_path / "old.json"])
    text = (tmp_path / "old.json").read_text().replace('"unanswerable": [', '"unknown": [')
    assert "unknown" in text  # what a file of before lacks


def test_zero_is_the_default_where_nothing_is_unanswerable(tmp_path: Path) -> None:
    """Old saved evaluations are compared with new ones; judgments may begin to say it."""
    plain: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {"z": 0}, "q4": {"z": 0}}
    one, other = (dh.evaluate(plain, RUN, "RR", no_relevant=choice) for choice in (None, "zero"))
    assert one["RR"].values.tolist() == other["RR"].values.tolist() == [RR, 0, 0]
    assert dh.compare_evaluations({"one": one, "other": other}, n_resamples=99).pairs[0].difference == 0
    for n, each in enumerate((one, other)):
        each.save(tmp_path / f"{n}.json")
    assert len(dh.history([tmp_path / "0.json", tmp_path / "1.json"]).steps) == 2
    told = [{"query_id": "q1", "doc_id": "a"}, {"query_id": "q2", "answerable": False}]
    assert one.rescored(told)["RR"].mean == RR
    assert other.rescored(told)["RR"].mean == RR / 2
    saved = dh.load_evaluation(tmp_path / "0.json")
    brought = dh.compare_evaluations({"before": saved, "now": dh.evaluate(told, RUN, "RR")}, n_resamples=99)
    assert [(pair.n_queries, pair.difference) for pair in brought.pairs] == [(1, 0.0)]


@pytest.mark.slow
def test_commands_say_who_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text(f"{','.join(ROWS[0])}\n{CSV}")
    (tmp_path / "a.run").write_text(
        "".join(f"{q} Q0 {d} 1 {score} t\n" for q, own in RUN.items() for d, score in own.items())
    )
    arguments = ["evaluate", "qrels.csv", "a.run", "-m", "RR Abstain", "--missing", "empty"]
    no_answer = facts_of(*arguments)["no answer"]
    assert no_answer.startswith("3 queries (q2, q3, q5), left out of RR")
    assert "Abstain" in no_answer
    held = json.loads(ok(*arguments, "--format", "json"))
    assert held["queries_unanswerable"] == {"queries": [*DECLARED], "left_out_of": ["RR"]}
    assert held["no_relevant"] is None
    assert {name: (one["value"], one["n_queries"]) for name, one in held["scores"]["a"].items()} == {
        "RR": (RR / 2, 2),
        "Abstain": (0.2, 5),
    }
    explicit = json.loads(ok(*arguments, "--no-relevant", "zero", "--format", "json"))
    assert "queries_unanswerable" not in explicit
    assert explicit["no_relevant"] == "zero"
    assert "left out of" not in ok(*arguments, "--no-relevant", "zero")
    compared = facts_of("compare", "qrels.csv", "a.run", "a.run", "--missing", "empty", "-m", "RR")
    assert "left out of RR" in compared["no answer"]
    explained = " ".join(ok("explain", "qrels.csv", "a.run", "--reported", "RR=0.375").split())
    assert "unanswerable left out" in explained
    for name, choice in (("new", []), ("old", ["--no-relevant", "zero"])):
        ok(*arguments, *choice, "--save", f"{name}.json")
    assert call("gate", "new.json", "-c", "RR >= 0.375").exit_code == 0
    assert call("gate", "old.json", "-c", "RR >= 0.375").exit_code == 1
    assert call("gate", "new.json", "--baseline", "old.json", "--no-regression").exit_code == 3


def test_a_relation_of_duckdb() -> None:
    rows = "(VALUES ('q1', 'd', 1, true), ('q2', NULL, NULL, false)) t(query_id, doc_id, relevance, answerable)"
    relation = duckdb.sql("FROM " + rows)
    found = dh.evaluate(relation, {"q1": {"d": 1}, "q2": {"d": 1}}, ["RR", "Abstain"])
    assert (found.means(), found["RR"].n_queries) == ({"RR": 1, "Abstain": 0}, 1)


NAMED = namedtuple("NAMED", ROWS[0])  # type: ignore[misc]  # noqa: PYI024 - as of other libraries


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        tuple(ROWS),
        [NAMED(**row) for row in ROWS],
        tuple(NAMED(**row) for row in ROWS),
        SimpleNamespace(to_polars=lambda: pl.DataFrame(ROWS)),
        SimpleNamespace(to_pandas=lambda: pl.DataFrame(ROWS).to_pandas()),
        pl.DataFrame(ROWS).to_arrow(),
    ],
    ids=["dicts", "a tuple", "named tuples", "a tuple of these", "a data set", "one of pandas", "Arrow"],
)
def test_every_form_of_rows_says_it(source: object) -> None:
    found = dh.evaluate(source, RUN, ["RR", "Abstain"], **SILENT)
    assert (found.unanswerable, found.means()) == (DECLARED, {"RR": RR / 2, "Abstain": 0.2})


def test_rows_that_are_read_once_say_it() -> None:
    for source in (iter(ROWS), (NAMED(**row) for row in ROWS), pl.DataFrame(ROWS).to_arrow().to_reader()):
        assert dh.Qrels(source).unanswerable == DECLARED


NONE = {"csv": "q2,,,false\n", "semicolons.csv": "q2;;;false\n", "jsonl": '{"query_id": "q2", "answerable": false}\n'}
HEADS = {"csv": "query_id,doc_id,relevance,answerable\n", "semicolons.csv": "query_id;doc_id;relevance;answerable\n"}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "q1,1.50,1,true\nq1,1e3,0,\n"),
        ("csv", "q1,a,9007199254740993,true\n"),
        ("csv", "q1,a\x07,1,true\n"),
        ("csv", "q1,a,,true\n"),
        ("csv", "q1,a,one,\n"),
        ("semicolons.csv", "q1;a;0,5;true\n"),
        ("semicolons.csv", "q1;a;1.500;true\nq1;b;2;\n"),
        ("jsonl", '{"query_id": 7, "doc_id": 1.50, "relevance": 1, "answerable": true}\n'),
        ("jsonl", '{"query_id": 7, "doc_id": "a", "relevance": true, "answerable": true}\n'),
        ("jsonl", '{"query_id": 7, "doc_id": "a", "relevance": 9007199254740993, "answerable": true}\n'),
        (
            "jsonl",
            (
                '{"query_id": 7, "doc_id": "a", "relevance": 1, "answerable": null}\n'
                '{"query_id": "7", "doc_id": "b", "relevance": 0, "answerable": true}\n'
            ),
        ),
        ("jsonl", '{"query_id": "q1", "doc_id": ["a", "b"], "answerable": true}\n'),
    ],
)
def test_the_column_changes_no_judgment(form: str, text: str, tmp_path: Path) -> None:
    """A file with rows of it is read as one without these, and without its column."""

    def read(content: str) -> object:
        (tmp_path / f"x.{form}").write_text(HEADS.get(form, "") + content)
        try:
            found = dh.Qrels(tmp_path / f"x.{form}")
        except DataError as error:
            return type(error), str(error)
        return {query: own for query, own in found.to_dict().items() if query not in found.unanswerable}, found.notes

    bare = text.replace(', "answerable": true', "").replace(', "answerable": null', "")
    assert read(text + NONE[form]) == read(text) == read(bare)
    assert (tmp_path / f"x.{form}").exists()


def test_rows_in_memory_and_in_a_json_list(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"query_id": "q0", "answerable": False}, *ROWS]))
    assert dh.Qrels(path).unanswerable == ("q0", *DECLARED)
    mixed = [{"query_id": query, "doc_id": "a", "relevance": 1, "answerable": True} for query in (7, "7")]
    for columns in ({*mixed[0]}, {*mixed[0]} - {"answerable"}):
        with raises_parts(DataError, "'query_id' .* several types", found="int, str"):
            dh.Qrels([{name: row[name] for name in columns} for row in mixed])
    (tmp_path / "x.csv").write_text(f"{HEADS['csv']}q1,a,1,TRUE\nq2,,,no\n")
    with raises_parts(DataError, path=tmp_path / "x.csv", line=3, given="no", allowed="true or false"):
        dh.Qrels(tmp_path / "x.csv")


def test_judgments_without_a_relevance(tmp_path: Path) -> None:
    """Of which each document is relevant: in every form the queries are kept that no document answers."""
    rows = [
        {"query_id": "q1", "doc_id": "a", "answerable": True},
        {"query_id": "q2", "doc_id": None, "answerable": False},
    ]
    frame = pl.DataFrame(rows)
    for name, separator in (("x.csv", ","), ("x.tsv", "\t"), ("semicolons.csv", ";")):
        frame.write_csv(tmp_path / name, separator=separator)
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_ndjson(tmp_path / "x.jsonl")
    (tmp_path / "x.json").write_text(json.dumps(rows))
    for source in (rows, frame, frame.lazy(), *sorted(tmp_path.iterdir())):
        found = dh.Qrels(source)
        assert (found.unanswerable, found.to_dict()) == (("q2",), {"q1": {"a": 1.0}, "q2": {}}), source


def test_an_unanswerable_query_in_a_row_with_a_list_is_counted_where_it_is_asked_for(tmp_path: Path) -> None:
    """It was lost: no_relevant="zero" and Abstain did not count it."""
    rows: list[dict[str, Any]] = [
        {"query_id": "a", "expected_ids": [], "answerable": False},
        {"query_id": "b", "expected_ids": ["d"], "answerable": True},
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "x.json").write_text(json.dumps(rows))
    run = {"b": ["d"], "a": []}
    for source in (rows, pl.DataFrame(rows), tmp_path / "x.jsonl", tmp_path / "x.json"):
        qrels = dh.Qrels(source)
        assert (qrels.unanswerable, qrels.bare, qrels.to_dict()) == (("a",), ("a",), {"a": {}, "b": {"d": 1}})
        found = [dh.evaluate(qrels, run, "RR", no_relevant=one).means()["RR"] for one in (None, "zero", "skip")]
        assert found == [1.0, 0.5, 1.0]
        assert dh.evaluate(qrels, run, "Abstain(of='recall')").means() == {"Abstain(of='recall')": 1.0}


def test_an_empty_list_counts_as_0_in_every_form(tmp_path: Path) -> None:
    lists = {"a": [], "b": ["d"]}
    rows = [{"query_id": query, "expected_ids": docs} for query, docs in lists.items()]
    ragas = [{"user_input": query, "reference_context_ids": docs} for query, docs in lists.items()]
    rated = [{"id": query, "ratings": [{"_id": doc, "rating": 1} for doc in docs]} for query, docs in lists.items()]
    sources: list[Any] = [lists, rows, pl.DataFrame(rows), pd.DataFrame(rows), ragas, {"requests": rated}]
    sources += [dh.Qrels.of_results(lists), {"a": {}, "b": {"d": 1}}]
    for name, text in {
        "x.json": json.dumps(lists),
        "rows.json": json.dumps(rows),
        "x.jsonl": "\n".join(map(json.dumps, rows)),
    }.items():
        (tmp_path / name).write_text(text)
        sources.append(tmp_path / name)
    run = {"a": ["d"], "b": ["d"]}
    for source in sources:
        found = [dh.evaluate(source, run, "RR", no_relevant=one).means()["RR"] for one in (None, "zero", "skip")]
        assert found == [0.5, 0.5, 1.0]
        (pair,) = dh.compare(source, {"x": run, "y": {"a": ["d"], "b": ["c", "d"]}}, "RR", no_relevant="zero").pairs
        assert abs(pair.difference) == 0.25
    assert dh.evaluate_dense(np.array([[0.1, 0.2], [0.3, 0.1]]), [[], [0]], ["RR"]).means() == {"RR": 0.5}


def test_the_catalogue_says_what_an_empty_list_is() -> None:
    printed = " ".join(ok("measures", "Abstain").split())
    assert "with an empty list as 0" in printed
    assert "one that is not answerable" in printed


def test_lists_of_ids_do_not_say_it(tmp_path: Path) -> None:
    """Lists of spans do. No advice takes the flag for an id; both that are named work."""
    run = {"q1": ["a"], "q2": ["b"]}
    given: list[Any] = [
        {"q1": ["a"], "q2": [{"answerable": False}]},
        {"q1": [{"doc_id": "a"}], "q2": [{"answerable": False}]},
    ]
    message = r"result 1 for query 'q2' has no id, but says answerable, .* in a table .*write \[\]"
    for qrels in given:
        (tmp_path / "qrels.json").write_text(json.dumps(qrels))
        for source in (qrels, tmp_path / "qrels.json"):
            with pytest.raises(DeadheatError, match=message) as caught:
                dh.evaluate(source, run, "R")
            assert "of_results" not in str(caught.value)
        with pytest.raises(DeadheatError, match=message):
            dh.Qrels.of_results(qrels)
    rows = [{"query_id": "q1", "doc_id": "a"}, {"query_id": "q2", "answerable": False}]
    assert dh.evaluate(rows, run, "R").means() == {"R": 1.0}
    assert dh.evaluate({"q1": ["a"], "q2": []}, run, "R").means() == {"R": 0.5}
