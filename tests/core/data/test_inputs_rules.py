"""What is wrong in one form of the data is wrong in every form, whatever else stands beside it."""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DataError, SourceTypeError
from support.command import call, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = list[tuple[str, str, Any]]
COLUMNS = ["query_id", "doc_id", "score"]
QRELS = {"q": {"a": 1}}


def columns(rows: Rows) -> dict[str, list[Any]]:
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def nested(rows: Rows) -> dict[str, dict[str, Any]]:
    return {query: {doc: value for other, doc, value in rows if other == query} for query, _, _ in rows}


def as_csv(rows: Rows, path: Path) -> object:
    path.write_text("".join(f'"{query}","{doc}",{value}\n' for query, doc, value in [tuple(COLUMNS), *rows]))
    return path


def as_jsonl(rows: Rows, path: Path) -> object:
    path.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows))
    return path


def as_json(rows: Rows, path: Path) -> object:
    path.write_text(json.dumps(nested(rows)))
    return path


def as_parquet(rows: Rows, path: Path) -> object:
    pl.DataFrame(columns(rows)).write_parquet(path)
    return path


CONNECTION = duckdb.connect()
FORMS: dict[str, Callable[[Rows, Path], object]] = {
    "dict": lambda rows, _: nested(rows),
    "tuples": lambda rows, _: rows,
    "polars": lambda rows, _: pl.DataFrame(columns(rows)),
    "polars lazy": lambda rows, _: pl.LazyFrame(columns(rows)),
    "pandas": lambda rows, _: pd.DataFrame(columns(rows)),
    "pyarrow": lambda rows, _: pa.table(columns(rows)),
    "duckdb": lambda rows, _: CONNECTION.from_arrow(pa.table(columns(rows))),
    "parquet": as_parquet,
    "csv": as_csv,
    "jsonl": as_jsonl,
    "json": as_json,
}
TYPED = [form for form in FORMS if form != "csv"]  # whose values are of a type, and not text alone
MIXED = ["dict", "tuples"]  # whose values need not be of one type


def evaluated(form: str, rows: Rows, tmp_path: Path) -> float:
    return dh.evaluate(QRELS, FORMS[form](rows, tmp_path / f"x.{form}"), ["RR"]).means()["RR"]


@pytest.mark.parametrize("row", [("q", "", 0.5), ("", "b", 0.5)])
@pytest.mark.parametrize("beside", [[], [("q", "c", 1e300)]])  # of which files are read in another way
@pytest.mark.parametrize("form", FORMS)
def test_an_empty_id_is_refused(form: str, beside: Rows, row: tuple[str, str, float], tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        evaluated(form, [("q", "a", 1.0), row, *beside], tmp_path)
    assert caught.value.line == {"csv": 3, "jsonl": 2}.get(form)


@pytest.mark.parametrize("value", [2**53 + 1, 2**60, -(2**60)])
@pytest.mark.parametrize("form", FORMS)
def test_an_integer_beyond_2_to_53_is_refused(form: str, value: int, tmp_path: Path) -> None:
    """Also those that float64 holds: the neighbours of 2^60 become 2^60."""
    with pytest.raises(DataError, match=r"beyond 2\*\*53") as caught:
        evaluated(form, [("q", "a", 1), ("q", "b", value)], tmp_path)
    assert caught.value.line == {"csv": 3, "jsonl": 2}.get(form)
    assert evaluated(form, [("q", "a", 2**53), ("q", "b", 2**53 - 1)], tmp_path) == 1


@pytest.mark.parametrize("form", [form for form in TYPED if "json" not in form])
def test_a_decimal_is_as_an_integer(form: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"740993.*beyond 2\*\*53"):
        evaluated(form, [("q", "a", Decimal(2**53 + 1)), ("q", "b", Decimal(2**53))], tmp_path)
    assert evaluated(form, [("q", "a", Decimal("0.2")), ("q", "b", Decimal("0.3"))], tmp_path) == 1 / 2


@pytest.mark.parametrize("value", [Fraction(2**54), Decimal("1e400"), 10**400, np.uint64(2**60), np.int64(-(2**63))])
def test_exact_numbers_in_dicts(value: float) -> None:
    with pytest.raises(DataError, match=r"beyond 2\*\*53"):
        dh.evaluate(QRELS, {"q": {"a": 1.0, "b": value}}, ["RR"])
    with pytest.raises(DataError, match=r"beyond 2\*\*53"):
        dh.evaluate({"q": {"a": value}}, {"q": {"a": 1.0}}, ["RR"])
    with pytest.raises(DataError, match=r"of digits,.*beyond 2\*\*53"):
        dh.evaluate(QRELS, {"q": {"a": 10**5000}}, ["RR"])
    infinite = {"q": {"a": 1.0, "b": Decimal("Infinity"), "c": Fraction(3, 2), "d": np.float32(0.5)}}
    assert dh.evaluate(QRELS, infinite, ["RR"]).means()["RR"] == 1 / 3


@pytest.mark.parametrize("form", [form for form in TYPED if "json" not in form])
def test_true_is_one_and_false_is_zero(form: str, tmp_path: Path) -> None:
    assert evaluated(form, [("q", "a", False), ("q", "b", True)], tmp_path) == 1 / 2


@pytest.mark.parametrize("form", MIXED)
def test_true_ties_with_one(form: str, tmp_path: Path) -> None:
    assert evaluated(form, [("q", "a", 1.0), ("q", "b", True)], tmp_path) == (1 + 1 / 2) / 2


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize("empty", [[], {}, (), np.array([])])
def test_a_query_with_an_empty_list_of_results_counts_0(empty: Any, tmp_path: Path) -> None:  # noqa: ANN401 - of several kinds
    """It was an error where it was the only one."""
    judged = {"q": ["a"]}
    run = dh.Run({"q": empty})
    assert (run.bare, run.to_dict(), len(run.to_polars()), run.facts().n_queries) == (("q",), {"q": {}}, 0, 1)
    measures = ["RR", "AP", "nDCG@10", "P@5", "R", "ERR", "bpref", "RBP", "Judged@5", "FRP@5"]
    wanted = [*[0.0] * 9, 6.0]
    for source in (run, {"q": empty}, dh.Run.of_results({"q": empty})):
        for options in ({}, {"missing": "skip"}, {"missing": "error"}, {"ties": "doc_id"}, {"then_by": {"q": ["a"]}}):
            found = dh.evaluate(judged, source, measures, **options)
            assert [*found.means().values()] == wanted
    several: Any = dh.evaluate(judged, {"x": run, "y": {"q": ["a"]}}, "RR")
    assert [one.means()["RR"] for one in several.values()] == [0.0, 1.0]
    saved = dh.evaluate(judged, run, "RR", missing="skip")
    saved.save(path := tmp_path / "saved.json")
    assert dh.load_evaluation(path).rescored(judged).means() == {"RR": 0.0}


def test_an_empty_list_is_asked_and_a_query_that_is_absent_is_not() -> None:
    judged = {"q": ["a"], "r": ["b"], "s": ["c"]}
    run: Any = {"q": [], "r": ["b"]}
    found = dh.evaluate(judged, run, "RR", missing="skip")
    assert (found.to_dict(), found.missing_queries) == ({"q": {"RR": 0.0}, "r": {"RR": 1.0}}, ("s",))
    with pytest.raises(DataError, match=r"lacks 1 of 3 queries .*: 's'"):
        dh.evaluate(judged, run, "RR", missing="error")
    found = dh.evaluate(judged, run, "RR", missing="empty")
    assert found.missing_queries == ("s",)
    assert found.facts.n_missing == 1
    assert found.notes[-1].startswith("1 query ")
    assert found.notes[-1].endswith(" (q)")
    assert "1 (s), counted as empty" in " ".join(str(found).split())
    with pytest.raises(DataError, match="share no query"):
        dh.evaluate(judged, {"x": []}, "RR")


@pytest.mark.plugins("topk")
def test_queries_that_are_called_by_their_places_are_told_from_others() -> None:
    """Lists of results without queries are those of 0, 1, 2, ...; named as the qrels are, they fit."""
    results = [["d"], ["e"]]
    paris = {"paris": {"d": 1}, "rome": {"d": 1}}
    with pytest.raises(DataError, match="called by their places"):
        dh.evaluate(paris, dh.Run.from_topk(results), "RR")
    assert dh.evaluate(paris, dict(zip(paris, results, strict=True)), "RR").means() == {"RR": 0.5}
    with pytest.raises(DataError, match="share no query") as caught:
        dh.evaluate({"7": {"d": 1}}, dh.Run.from_topk(results), "RR")
    assert "places" not in str(caught.value)


@pytest.mark.plugins("bench")
def test_cases_without_ids_are_told_what_a_run_calls_them(tmp_path: Path) -> None:
    cases = tmp_path / "our phrases.csv"
    cases.write_text("text;expected_ids\nfever;d1\ntremor;d2\n")
    run = {"fever": {"d1": 1.0}, "tremor": {"d1": 1.0}}
    with pytest.raises(DataError, match="column case_id with the queries of the run"):
        dh.evaluate(cases, run, "RR")
    cases.write_text("case_id;text;expected_ids\nfever;fever;d1\ntremor;tremor;d2\n")
    assert dh.evaluate(cases, run, "RR").means() == {"RR": 0.5}


@pytest.mark.plugins("recommender")
def test_runs_of_empty_lists_show_no_range_and_no_profile() -> None:
    """NumPy warned of 0 / 0, and the notebook's table said "nan to nan"."""
    run = dh.Run({"q": []})
    assert "nan" not in run._repr_html_()
    means = dh.item_profile(run).means()
    assert [*map(math.isnan, (means["coverage"], means["gini"], means["entropy"]))] == [True] * 3
    means = dh.item_profile(run, {"a": 2}, n_users=2).means()
    assert means["coverage"] == 0.0
    assert "average_popularity" in str(dh.item_profile(run, {"a": 2}, n_users=2))
    assert math.isnan(means["gini"])
    with pytest.raises(DataError, match="with results: none and 'q'"):
        dh.agree(run, {"q": ["a"]})


@pytest.mark.plugins("exports")
def test_what_is_empty_in_all_forms_that_hold_lists(tmp_path: Path) -> None:
    rows = [{"query_id": "q", "retrieved_ids": []}]
    sources: list[Any] = [
        rows,
        pd.DataFrame(rows),
        pl.DataFrame(rows, schema_overrides={"retrieved_ids": pl.List(str)}),
    ]
    sources += [dh.Run({"q": {"hits": {"hits": []}}}), dh.Run.of_results({"q": {"documents": []}})]
    for name, text in {"x.jsonl": json.dumps(rows[0]), "x.json": '{"q": []}', "rows.json": json.dumps(rows)}.items():
        (tmp_path / name).write_text(text)
        sources.append(tmp_path / name)
    for source in sources:
        assert dh.evaluate({"q": ["a"]}, source, "RR").means() == {"RR": 0.0}
    chroma = dh.Run.of_results({"ids": [[]], "distances": [[]]})
    assert dh.evaluate({"0": ["a"]}, chroma, "RR").means() == {"RR": 0.0}


@pytest.mark.plugins("more_measures")
def test_an_empty_list_of_both_sides_is_a_right_abstention() -> None:
    found = dh.evaluate({"q": []}, {"q": []}, ["Abstain", "Abstain(of='recall')", "Abstain(of='precision')"])
    assert [*found.means().values()] == [1.0, 1.0, 1.0]
    assert "with a relevant document" not in str(found)
    assert dh.evaluate({"q": []}, {"q": ["a"]}, ["RR", "Abstain(of='recall')"]).to_dict() == {
        "q": {"RR": 0.0, "Abstain(of='recall')": 0.0}
    }


@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.jsonl", "x.json"])
def test_an_empty_file_stays_an_error(name: str, tmp_path: Path) -> None:
    (path := tmp_path / name).write_text("{}" if name == "x.json" else "")
    with pytest.raises(DataError):
        dh.evaluate({"q": ["a"]}, path, "RR")
    sources: list[Any] = [{}, []]
    for source in sources:
        with pytest.raises(DataError):
            dh.evaluate({"q": ["a"]}, source, "RR")


@pytest.mark.plugins
def test_commands_count_an_empty_list_as_0(tmp_path: Path) -> None:
    """The exit code of a gate was 3, as for bad data."""
    (qrels := tmp_path / "q.json").write_text('{"q": ["a"]}')
    (run := tmp_path / "r.json").write_text('{"q": []}')
    assert "0.0000" in ok("evaluate", qrels, run, "-m", "RR")
    assert call("gate", qrels, run, "-c", "RR >= 0.5").exit_code == 1
    for command in (["ties", run], ["convert", run, tmp_path / "x.run", "--kind", "run"], ["trec_eval", qrels, run]):
        assert call(*command).exit_code == 3
    assert "map" in ok("trec_eval", "-c", qrels, run)
    (tmp_path / "empty.run").write_text("")
    assert call("gate", qrels, tmp_path / "empty.run", "-c", "RR >= 0.5").exit_code == 3


@pytest.mark.parametrize("value", [math.nan, None, "x"])
def test_a_score_without_judgments_is_checked_too(value: object) -> None:
    with pytest.raises(DataError, match=r"score .*'a' for query 'zz'"):
        dh.evaluate(QRELS, {"q": {"a": 1.0, "b": 1.0}, "zz": {"a": value}}, ["RR"])


@pytest.mark.parametrize("given", [7, None, b"a", math.nan])
def test_ids_in_dicts_are_text(given: object) -> None:
    """Wherever they are; in a run only where they become columns. Numbers are ids too, but not beside text."""
    said = r"ids are text(, got| \('.'\) and numbers \(7\))"
    with pytest.raises(SourceTypeError, match=said):
        dh.read_qrels({"p": {"a": 1}, "q": {"a": 1, given: 1}})
    with pytest.raises(SourceTypeError, match=said):
        dh.read_qrels({"q": {"a": 1}, given: {"a": 1}})
    run: Any = {"q": {"a": 1.0, given: 1.0}}
    with pytest.raises(SourceTypeError, match=said):
        dh.evaluate(QRELS, run, ["RR"], ties="doc_id")
    with pytest.raises(SourceTypeError, match=said):
        dh.evaluate(QRELS, {"p": {given: 1.0}, **run}, ["RR"])


def test_none_among_the_documents_of_a_run_is_found() -> None:
    with pytest.raises(SourceTypeError, match="ids are text, got None"):
        dh.evaluate(QRELS, {"q": {"a": 1.0, None: 2.0}}, ["RR"])


@pytest.mark.parametrize(
    "source",
    [
        {"q": {"a": 1.0, "\ud800": 1.0}},
        [("q", "a", 1.0), ("q", "\ud800", 1.0)],
        pd.DataFrame({"query_id": ["q"], "doc_id": pd.Series(["\ud800"], dtype=object), "score": [1.0]}),
    ],
    ids=["dict", "tuples", "pandas"],
)
def test_half_a_character_is_no_text(source: object) -> None:
    with pytest.raises(DataError, match=r"UTF-8 can(not)? hold"):
        dh.read_run(source).to_polars()
    with raises_parts(DataError, r"'\\ud800'", allowed="text that UTF-8 can hold", path=Path("qrels")):
        dh.read_qrels({"q": {"\ud800": 1}})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([["q", "a", 1.0]]), "without a column 'query_id': found 0, 1, 2, expected one of"),
        (pd.DataFrame([["q", "a", 1.0, 2.0]], columns=[*COLUMNS, "score"]), "'score' 2 times"),
        pytest.param(
            pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": np.array([1.0], np.longdouble)}),
            "of a type that cannot be read",
            marks=pytest.mark.skipif(np.finfo(np.longdouble).bits == 64, reason="it is float64 here"),
        ),
        (
            pl.DataFrame({"query_id": ["q"], "doc_id": [["a"]], "score": [1.0]}),
            "score of query 'q' is not a list of 1 number",
        ),
        (pl.LazyFrame({"query_id": ["q"], "doc_id": [{"a": 1}], "score": [1.0]}), "'doc_id' holds Struct"),
        (pl.DataFrame({"query_id": [True], "doc_id": ["a"], "score": [1.0]}), "'query_id' holds Boolean"),
    ],
)
def test_columns_that_hold_no_ids(frame: object, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        dh.read_run(frame)


@pytest.mark.parametrize("kind", ["qrels", "run"])
@pytest.mark.parametrize(
    "column", [pd.Series([1, 2], name="d"), pd.Series({("q", "a"): 1.0}, name="d"), pl.Series("d", [1.0])], ids=repr
)
def test_a_single_column_is_no_table(column: object, kind: str) -> None:
    with raises_parts(SourceTypeError, "got a single column of .*, 'd'", allowed="a table", path=Path(kind)):
        getattr(dh, f"read_{kind}")(column)


def test_bytes_in_duckdb_are_no_ids() -> None:
    r"""It would write those of an umlaut as \\xC3\\xBC."""
    with pytest.raises(ColumnError, match="'doc_id' holds Binary"):
        dh.read_run(CONNECTION.sql("select 'q' as query_id, 'a'::blob as doc_id, 1.0 as score"))


def test_anything_that_has_a_path_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q Q0 a 1 1 t\n")
    (entry,) = os.scandir(tmp_path)
    run = dh.read_run(entry)
    assert (run.path, run.name) == (tmp_path / "x.run", "x")
    assert dh.evaluate(QRELS, entry, ["RR"]).means()["RR"] == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(math.nan, "is NaN"), (2**60, r"is 11\d+, .*2\*\*53"), (Decimal(2**53 + 2), r"is Decimal.*2\*\*53")],
)
def test_a_number_in_doubt_is_found_among_many(wrong: float, message: str) -> None:
    run: dict[str, dict[str, float]] = {f"q{q}": {f"d{d}": -1.0 * d for d in range(q + 1)} for q in range(6)}
    for query, doc in (("q0", "d0"), ("q2", "d0"), ("q2", "d2"), ("q5", "d5")):
        run[query][doc] = -math.inf
    qrels = {query: {"d1": 1} for query in run}
    assert dh.evaluate(qrels, run, ["NumRet"])["NumRet"].values.tolist() == [1, 2, 3, 4, 5, 6]
    run["q4"]["d3"] = wrong
    with pytest.raises(DataError, match=f"'d3' for query 'q4' {message}"):
        dh.evaluate(qrels, run, ["NumRet"])


@pytest.mark.parametrize(("other", "said"), [(10, r"10 \(int\)"), (b"10", r"b'10' \(bytes\)")])
def test_what_is_not_text_for_an_id_does_not_miss_its_judgment(other: int | bytes, said: str) -> None:
    """Only the first id of a query is looked at, for speed: 10 was unjudged, and the RR .5, in silence."""
    qrels = {"0": {"x": 1}, "1": {"20": 0, "10": 1}}
    run: dict[str, dict[Any, float]] = {"0": {"x": 1.0}, "1": {"20": 0.4, other: 0.9}}
    with pytest.raises(SourceTypeError, match=f"ids are text, got {said}"):
        dh.evaluate(qrels, run, ["RR"])
