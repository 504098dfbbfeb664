"""Values of other tools as files and objects have them: what is read, under which names, and what is refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DataError, DuplicateError, MalformedRowError, ParameterError
from deadheat.plugins.compat.trec_measures import list_measures, list_printed_values, parse_requests
from deadheat.plugins.values.forms import is_values
from deadheat.plugins.values.names import find_same_measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VALUES = {"q1": {"map": 0.25, "P_5": 0.2, "own score": 3.5}, "q2": {"map": 0.75, "P_5": 0.4, "own score": 1.25}}
MEANS = {"AP": 0.5, "P@5": 0.3, "own score": 2.375}
ROWS = [
    {"query_id": query, "measure": measure, "value": value}
    for query, of_query in VALUES.items()
    for measure, value in of_query.items()
]
PRINTED = """runid                 \tall\tAnserini
num_q                 \tall\t2
map                   \tq1\t0.2500
num_ret               \tq1\t10
relstring_10          \tq1\t'1--0'
map                   \tq2\t0.7500
num_ret               \tq2\t20
map                   \tall\t0.5000
num_ret               \tall\t30
gm_map                \tall\t0.4330
"""


def in_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def printed(path: Path, *changes: tuple[str, str]) -> Path:
    """Write what trec_eval printed, with some texts replaced."""
    text = PRINTED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return in_file(path, text)


def test_trec_eval_is_read_line_by_line(tmp_path: Path) -> None:
    evaluation = dh.load_evaluation(printed(tmp_path / "bm25.eval"))
    assert evaluation.name == "bm25"
    assert evaluation.means() == {"AP": 0.5, "NumRet": 30.0}
    assert evaluation.to_dict() == {"q1": {"AP": 0.25, "NumRet": 10.0}, "q2": {"AP": 0.75, "NumRet": 20.0}}


class Point(NamedTuple):
    """As ir_measures.Metric."""

    query_id: str
    measure: str
    value: float


def points() -> Iterator[Point]:
    for query, of_query in VALUES.items():
        for measure, value in of_query.items():
            yield Point(query, measure, value)


OBJECTS: dict[str, Callable[[], Any]] = {
    "dict": lambda: VALUES,
    "records": lambda: ROWS,
    "polars": lambda: pl.DataFrame(ROWS),
    "pandas": lambda: pd.DataFrame(ROWS).rename(columns={"query_id": "qid"}),
    "metrics": lambda: [*points()],
    "metrics one by one": points,
}


@pytest.mark.parametrize("form", OBJECTS)
def test_objects_give_the_same(form: str) -> None:
    assert dh.load_evaluation(OBJECTS[form]()).means() == pytest.approx(MEANS)


FILES = {
    "values.csv": "query_id,measure,value\n" + "".join(f"{q},{m},{v}\n" for q, m, v in map(dict.values, ROWS)),
    "values.tsv": "qid\tmetric\tscore\n" + "".join(f"{q}\t{m}\t{v}\n" for q, m, v in map(dict.values, ROWS)),
    "decimal.csv": "query_id;measure;value\n"
    + "".join(f"{q};{m};{str(v).replace('.', ',')}\n" for q, m, v in map(dict.values, ROWS)),
    "values.jsonl": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "values.json": json.dumps(VALUES),
    "rows.json": json.dumps(ROWS),
}


@pytest.mark.parametrize("name", FILES)
def test_files_give_the_same(name: str, tmp_path: Path) -> None:
    path = in_file(tmp_path / name, FILES[name])
    assert name == "rows.json" or is_values(path)
    assert dh.load_evaluation(path).means() == pytest.approx(MEANS) if name != "rows.json" else True


def test_compressed_files_are_known_by_their_ending(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "bm25.eval.gz"
    path.write_bytes(gzip.compress(PRINTED.encode()))
    evaluation = dh.load_evaluation(path)
    assert (evaluation.name, evaluation.means()["AP"]) == ("bm25", 0.5)


def test_what_ir_measures_prints_is_read(tmp_path: Path) -> None:
    text = "q1\tAP\t0.2500\nq1\tnDCG@10\t0.5000\nq2\tAP\t0.7500\nq2\tnDCG@10\t1.0000\nall\tAP\t0.5000\n"
    assert dh.load_evaluation(in_file(tmp_path / "x.txt", text)).means() == {"AP": 0.5, "nDCG@10": 0.75}


@pytest.mark.parametrize("version", [9, 10])
def test_names_of_trec_eval_are_those_of_the_measures_that_compute_them(version: int) -> None:
    values = list_printed_values(parse_requests(list_measures(version), version), 1, version)
    for one in values:
        same = find_same_measure(one.name)
        if one.measure is None or one.trec_measure.is_geometric:
            assert same is None, one.name
        else:
            assert same is not None, one.name
            assert type(same) is type(one.measure), one.name
            assert getattr(same, same.at, None) == getattr(one.measure, one.measure.at, None), one.name


@pytest.mark.parametrize("name", ["accuracy", "mrr@10", "recall@5", "hit_rate", "MAP", "ndcg_cut", "P_5x", "x", "AP@"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert find_same_measure(name) is None
    evaluation = dh.load_evaluation({"q1": {name: 0.5}, "q2": {name: 1.0}})
    assert [one.label for one in evaluation.measures] == [name]


def test_a_missing_value_is_left_out_of_its_measure() -> None:
    frame = pl.DataFrame({"query_id": ["q1", "q2", "q1"], "measure": ["map", "map", "P_5"], "value": [0.5, None, 0.2]})
    evaluation = dh.load_evaluation(frame)
    assert evaluation.means() == {"AP": 0.5, "P@5": 0.2}
    assert evaluation.to_dict() == {"q1": {"AP": 0.5, "P@5": 0.2}, "q2": {}}


def test_systems_of_a_table_are_told_apart() -> None:
    rows = [{**row, "system": system} for system in ("bm25", "dense") for row in ROWS]
    assert dh.load_evaluation(rows, system="dense").name == "dense"
    with pytest.raises(ParameterError, match=r"bm25.*dense"):
        dh.load_evaluation(rows)
    with pytest.raises(ParameterError, match=r"bm25.*dense"):
        dh.load_evaluation(rows, system="sparse")


WRONG: dict[str, tuple[tuple[str, str], type[DataError], str]] = {
    "two fields": (("map                   \tq2\t0.7500", "map q2"), MalformedRowError, r"x\.eval:6: .*measure, query"),
    "four fields": (("\tq2\t0.7500", "\tq 2\t0.7500"), MalformedRowError, r"x\.eval:6"),
    "no number": (("\tq2\t0.7500", "\tq2\t0.75OO"), DataError, r"x\.eval:6: .*finite number.*0.75OO"),
    "infinity": (("\tq2\t0.7500", "\tq2\tinf"), DataError, r"x\.eval:6: .*finite"),
    "twice": (("\tq2\t0.7500", "\tq1\t0.7500"), DuplicateError, "map of query 'q1' is there twice on lines 3 and 6"),
    "another mean": (("\tall\t0.5000", "\tall\t0.5002"), DataError, r"x\.eval:8: map of all queries is 0.5002.* 0.5"),
    "another total": (("\tall\t30", "\tall\t31"), DataError, r"x\.eval:9: num_ret of all queries is 31.* 30"),
    "another number": (("num_q                 \tall\t2", "num_q\tall\t3"), DataError, "num_q is 3, and 2 queries"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_named(name: str, tmp_path: Path) -> None:
    change, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        dh.load_evaluation(printed(tmp_path / "x.eval", change))


def test_means_may_differ_by_rounding(tmp_path: Path) -> None:
    changes = (("\tq1\t0.2500", "\tq1\t0.3333"), ("\tq2\t0.7500", "\tq2\t0.6667"), ("\tall\t0.5000", "\tall\t0.5001"))
    assert dh.load_evaluation(printed(tmp_path / "x.eval", *changes)).means()["AP"] == 0.5


def test_what_is_not_a_number_of_all_queries_is_not_checked(tmp_path: Path) -> None:
    changes = (("num_q                 \tall\t2", "num_q\tall\tnan"), ("\tall\t0.5000", "\tall\tnan"))
    assert dh.load_evaluation(printed(tmp_path / "x.eval", *changes)).means()["AP"] == 0.5


def test_queries_that_trec_eval_counts_without_a_row_are_left_out_and_said(tmp_path: Path) -> None:
    """trec_eval -c: those that the run lacks count as 0 in the mean, and are not printed."""
    changes = (("num_q                 \tall\t2", "num_q\tall\t4"), ("\tall\t0.5000", "\tall\t0.2500"))
    evaluation = dh.load_evaluation(printed(tmp_path / "x.eval", *changes))
    assert evaluation.means()["AP"] == 0.5
    assert any("2 queries without a row" in note for note in evaluation.notes)


def test_values_of_all_queries_alone_are_refused(tmp_path: Path) -> None:
    path = in_file(tmp_path / "x.eval", "num_q\tall\t2\nmap\tall\t0.5000\n")
    with pytest.raises(DataError, match=r"single query.*trec_eval -q"):
        dh.load_evaluation(path)


def test_two_names_of_one_measure_are_refused() -> None:
    with pytest.raises(DataError, match="recip_rank and RR are"):
        dh.load_evaluation({"q1": {"recip_rank": 0.5, "RR": 0.5}})


def test_what_has_no_value_is_refused(tmp_path: Path) -> None:
    path = in_file(tmp_path / "x.eval", "")
    with pytest.raises(DataError, match="empty"):
        dh.load_evaluation(path)
    with pytest.raises(ParameterError, match="query_id, measure and value"):
        dh.load_evaluation(pl.DataFrame({"query_id": ["q"], "value": [0.5]}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.run", "q1 Q0 a 1 0.5 t\n"),
        ("x.qrels", "q1 0 a 1\n"),
        ("x.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\n"),
        ("x.csv", "query_id,doc_id,score\nq1,a,0.5\n"),
        ("measured.csv", "query_id,doc_id,score,measure\nq1,a,0.5,cosine\n"),
        ("tasks.csv", "task,model,query_id,measure,value\nt,m,q1,AP,0.5\n"),
        ("x.json", '{"q1": {"a": 0.5}}'),
        ("x.jsonl", '{"query_id": "q1", "doc_id": "a", "score": 0.5}\n'),
        ("x.txt", "q1 a 0.5\n"),
        ("x.bin", "\x00\x01"),
        ("empty.txt", ""),
    ],
)
def test_runs_and_judgments_are_no_values(name: str, text: str, tmp_path: Path) -> None:
    assert not is_values(in_file(tmp_path / name, text))


def test_rounded_digits_are_said_and_others_are_not(tmp_path: Path) -> None:
    (note,) = dh.load_evaluation(printed(tmp_path / "x.eval")).notes
    assert "values of trec_eval" in note
    assert "rounded to 4 decimals" in note
    (note,) = dh.load_evaluation({"q1": {"map": 1 / 3}, "q2": {"map": 0.5}}).notes
    assert "rounded" not in note


def test_column_error_names_what_is_there(tmp_path: Path) -> None:
    path = in_file(tmp_path / "x.csv", "query_id,measure,value\nq1,map,\nq2,map,0.5\n")
    assert math.isnan(dh.load_evaluation(path)["AP"].values[0])
    assert issubclass(ColumnError, DataError)
