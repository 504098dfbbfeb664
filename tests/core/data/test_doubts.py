"""Data that contradict themselves are said, and nothing is said of good data."""

from __future__ import annotations

import gzip
import re
import warnings
from pathlib import Path

import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DeadheatWarning, NothingJudgedWarning
from support.command import call, ok
from support.shared_data import LLMJUDGE, needs_shared_data

TREC = "".join(f"q{q} Q0 d{n} {n + 1} {n * 0.1} t\n" for q in range(5) for n in range(5))
TABLE = pl.DataFrame(
    [(f"q{q}", f"d{n}", n + 1, n * 0.1) for q in range(5) for n in range(5)],
    schema=["query_id", "doc_id", "rank", "score"],
    orient="row",
)


HIGHER_FIRST = "Higher scores rank first; ascending=True (--ascending) puts lower ones first"
SENTENCES = {
    "rise by rank": f"scores rise with the rank in 5 of 5 queries at its start: distances, or ranks? {HIGHER_FIRST}",
    "fall by rank": "scores fall with the rank in 5 of 5 queries at its start, and ascending puts the lowest first.",
    "disagree": "ranks and scores disagree in 4 of 4 queries at its start: the scores count, not the ranks.",
    "positions": "the scores of each query are 1, 2, 3, ... in the order of the rows: are they ranks? " + HIGHER_FIRST,
    "rise": f"the scores of all queries at its start rise from row to row: are they distances? {HIGHER_FIRST}",
    "fall": "the scores of all queries at its start fall from row to row, and ascending puts the lowest first: are they"
    " similarities? Without ascending the highest rank first",
}


def whole(key: str) -> str:
    """Return the pattern of a whole sentence, which no other test has."""
    return f": {re.escape(SENTENCES[key])}$"


@pytest.mark.parametrize("name", ["x.run", "x.run.gz", "x.csv", "x.tsv", "x.jsonl", "x.parquet"])
def test_scores_that_rise_with_the_rank(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.startswith("x.run"):
        path.write_bytes(gzip.compress(TREC.encode()) if name.endswith("gz") else TREC.encode())
    elif name.endswith("parquet"):
        TABLE.write_parquet(path)
    else:
        separator = "," if name.endswith("csv") else "\t"
        path.write_text(TABLE.write_ndjson() if name.endswith("jsonl") else TABLE.write_csv(separator=separator))
    with pytest.warns(DeadheatWarning, match=whole("rise by rank")):
        dh.read_run(path)
    with warnings.catch_warnings(action="error"):
        run = dh.read_run(path, ascending=True)
    assert dh.evaluate({"q0": "d0"}, run, ["RR"]).means() == {"RR": 1.0}
    (note,) = run.notes
    assert note.startswith("lower scores rank first")


def test_frames_with_ranks() -> None:
    for frame in (TABLE, TABLE.lazy(), TABLE.to_pandas()):
        with pytest.warns(DeadheatWarning):
            dh.read_run(frame)


def test_scores_that_count() -> None:
    ranks: dict[str, dict[str, float]] = {f"q{q}": {f"d{n}": n + 1 for n in range(4)} for q in range(3)}
    with pytest.warns(DeadheatWarning, match=whole("positions")):
        dh.read_run(ranks)
    run = dh.read_run(ranks, ascending=True)
    assert dh.evaluate({"q0": "d0"}, run, ["RR"]).means() == {"RR": 1.0}
    with pytest.warns(DeadheatWarning):
        dh.read_run([(query, doc, rank) for query, own in ranks.items() for doc, rank in own.items()])


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": 1, "b": 2, "c": 3}},  # too few to say
        {"q": {f"d{n}": 20 - n for n in range(20)}},
        {"q": [f"d{n}" for n in range(20)]},
        TABLE.drop("score"),
        TABLE.with_columns(score=-pl.col("score")),
        TABLE.with_columns(rank=pl.lit(0)),
        TABLE.with_columns(rank=pl.lit("x")),
        TABLE.with_columns(score=pl.lit(1.0)),
    ],
)
def test_nothing_is_said_of_good_runs(run: object) -> None:
    with warnings.catch_warnings(action="error"):
        dh.read_run(run)


@needs_shared_data
def test_nothing_is_said_of_real_runs() -> None:
    paths = sorted((LLMJUDGE / "runs").iterdir())
    assert len(paths) > 5
    with warnings.catch_warnings(action="error"):
        for path in paths:
            dh.read_run(path)


def test_ascending_keeps_ties_and_infinities() -> None:
    run = dh.read_run({"q": {"a": float("inf"), "b": 0.0, "c": -0.0}}, ascending=True)
    assert dh.evaluate({"q": "b"}, run, ["RR"]).means() == {"RR": 0.75}


def test_no_relevance_reaches_the_level() -> None:
    qrels = {"q": {"a": 0.9, "b": 0.7}}
    message = r"the highest relevance is 0.9, and RR, P@1 count documents as relevant from rel=1.*as in RR\(rel=0.9\)"
    with pytest.warns(DeadheatWarning, match=message):
        found = dh.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, ["nDCG@2", "RR", "P@1"])
    assert found.means() == {"nDCG@2": 1.0, "RR": 0.0, "P@1": 0.0}
    with warnings.catch_warnings(action="error"):
        assert dh.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, ["RR(rel=0.9)"]).means() == {"RR(rel=0.9)": 1.0}


def test_swapped_dicts() -> None:
    qrels = {f"q{q}": {f"d{n}": n % 3 for n in range(5)} for q in range(4)}
    run = {f"q{q}": {f"d{n}": (20 - n) / 7 + 0.01 for n in range(20)} for q in range(4)}
    with pytest.warns(DeadheatWarning, match="given in the wrong order"):
        dh.evaluate(run, qrels, ["nDCG@5"])
    with warnings.catch_warnings(action="error"):
        dh.evaluate(qrels, run, ["nDCG@5"])


def test_zeros_that_got_lost() -> None:
    with pytest.warns(NothingJudgedWarning, match="are lost on one side"):
        dh.evaluate({"q": {"007": 1}}, {"q": {"7": 1.0, "8": 0.5}}, ["RR"])
    with pytest.raises(dh.DeadheatError, match="read ids as text"):
        dh.evaluate({"012": {"d": 1}}, {"12": {"d": 1.0}}, ["RR"])


def test_facts() -> None:
    facts = dh.read_run({"q1": {"a": 2.0, "b": 2.0}, "q2": {"a": 1.0}}).facts()
    assert (facts.n_queries, facts.n_rows, facts.n_documents, facts.fewest, facts.most) == (2, 3, 2, 1, 2)
    assert (facts.lowest, facts.highest, facts.n_tied_queries, facts.notes) == (1.0, 2.0, 1, ())


@pytest.mark.plugins("compare")
def test_the_command_names_columns_and_turns_scores(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("asked,hit,grade\nq,a,1\n")
    (tmp_path / "r.csv").write_text("asked,hit,distance\nq,a,0.1\nq,b,0.7\n")
    columns = "query_id=asked,doc_id=hit,score=distance"
    for command in (["evaluate"], ["compare"]):
        runs = [str(tmp_path / "r.csv")]
        if command == ["compare"]:
            (tmp_path / "s.csv").write_text("asked,hit,distance\nq,a,0.9\nq,b,0.7\n")
            runs.append(str(tmp_path / "s.csv"))
        printed = ok(*command, str(tmp_path / "q.csv"), *runs, "-m", "RR", "--columns", columns, "--ascending")
        assert "lower scores rank first" in printed
        assert "1.0000" in printed
    wrong = call("evaluate", str(tmp_path / "q.csv"), str(tmp_path / "r.csv"), "--columns", "doc_id")
    assert wrong.exit_code == 2
    assert "doc_id=chunk,score=sim" in wrong.stderr
    wrong = call("evaluate", str(tmp_path / "q.csv"), str(tmp_path / "r.csv"), "--columns", columns + "x")
    assert wrong.exit_code == 3
    assert "no column 'distancex'" in wrong.stderr
    assert "Did you mean 'distance'?" in wrong.stderr


def test_ranks_that_say_something_else_than_scores() -> None:
    rows = [(f"q{q}", f"d{n}", n + 1, float(n * 7 % 11)) for q in range(4) for n in range(8)]
    run = pl.DataFrame(rows, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    with pytest.warns(DeadheatWarning, match=whole("disagree")):
        dh.read_run(run)


def test_ascending_against_the_ranks() -> None:
    with pytest.warns(DeadheatWarning, match=whole("fall by rank")):
        dh.read_run(TABLE.with_columns(score=-pl.col("score")), ascending=True)


def test_distances_without_ranks() -> None:
    run = [(f"q{q}", f"d{n}", n * 0.3 + 0.1) for q in range(4) for n in range(6)]
    with pytest.warns(DeadheatWarning, match=whole("rise")):
        dh.read_run(run)


def test_similarities_without_ranks_that_are_read_as_distances() -> None:
    run = [(f"q{q}", f"d{n}", 0.9 - n * 0.1) for q in range(4) for n in range(6)]
    frame = pl.DataFrame(run, schema=["query_id", "doc_id", "score"], orient="row")
    for source in (run, frame):
        with pytest.warns(DeadheatWarning, match=whole("fall")):
            dh.read_run(source, ascending=True)
    with warnings.catch_warnings(action="error"):
        dh.read_run(run)
        dh.read_run({"q": {f"d{n}": 0.9 - n * 0.1 for n in range(20)}}, ascending=True)  # dicts have no order


def test_zeros_that_got_lost_for_some() -> None:
    qrels = {"q": {f"{n:03}": 1 for n in range(90, 110)}}
    with pytest.warns(NothingJudgedWarning, match=r"^10 .* '09.' .*lost in run"):
        dh.evaluate(qrels, {"q": {f"{n}": float(n) for n in range(120, 80, -1)}}, ["R"])
    with warnings.catch_warnings(action="error"):
        dh.evaluate(qrels, {"q": {f"{n:03}": float(n) for n in range(100, 80, -1)}}, ["R"])


def test_a_zero_that_got_lost_for_a_single_document() -> None:
    with pytest.warns(NothingJudgedWarning, match=r"^1 .* '007' of qrels is not .* '7' is: .*lost in run"):
        dh.evaluate({"q": {"007": 1, "108": 1}}, {"q": {"7": 2.0, "108": 1.0}}, ["R"])


def test_a_document_that_another_query_retrieved_lost_no_zero() -> None:
    """It is judged for one query and retrieved for the other; zeros in front are those of a third document."""
    qrels = {"q": {"108": 1}, "r": {"300": 1, "007": 1, "108": 1}}
    with warnings.catch_warnings(action="error"):
        dh.evaluate(qrels, {"q": {"300": 2.0, "108": 1.0}, "r": {"108": 1.0}}, ["R"])


def test_columns_of_one_kind_of_files(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("q 0 a 1\n")
    (tmp_path / "r.csv").write_text("query_id,hit,sim\nq,a,0.1\nq,b,0.7\n")
    ok("evaluate", tmp_path / "q.txt", tmp_path / "r.csv", "-m", "RR", "--columns", "run.doc_id=hit,run.score=sim")
    result = call("evaluate", tmp_path / "q.txt", tmp_path / "r.csv", "-m", "RR", "--columns", "doc_id=hit,score=sim")
    assert result.exit_code == 2
    assert "run.doc_id=hit,run.score=sim" in result.stderr
