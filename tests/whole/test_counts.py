"""Counts: everything that is reported of them is of their sum over queries."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat import Cases, Collection
from deadheat.plugins.bench.cases import Case
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.report_data import data_of_bench
from oracle.orders import all_orders
from support.command import call, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 2, "x": 1}, "q3": {"a": 1}}
RUN = {
    "q1": {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5},
    "q2": {"a": 0.1, "b": 0.9, "c": 0.1},
    "q3": {"z": 1.0, "a": 0.5, "b": 0.5, "c": 0.5},
}
CUTOFF = 2


def totals_of_all_orders() -> list[int]:
    """NumRelRet@2 of every order of every query, summed over the queries."""
    relevant = {query: {doc for doc, level in judged.items() if level} for query, judged in QRELS.items()}
    orders = [[(query, order) for order in all_orders(RUN[query])] for query in QRELS]
    return [
        sum(len(relevant[query].intersection(order[:CUTOFF])) for query, order in chosen)
        for chosen in itertools.product(*orders)
    ]


def test_spread_of_a_total_is_that_of_the_sum_over_queries() -> None:
    """Mean, standard deviation and ends of the sum over all orders of all queries together."""
    totals = totals_of_all_orders()
    scores = dh.evaluate(QRELS, RUN, "NumRelRet@2")["NumRelRet@2"]
    assert scores.measure.total
    assert scores.total == pytest.approx(math.fsum(totals) / len(totals), abs=1e-12)
    assert scores.total_tie_std == pytest.approx(np.std(totals), abs=1e-12)
    assert (scores.total_tie_min, scores.total_tie_max) == (min(totals), max(totals))


def test_nothing_counts_without_a_query_that_has_a_value() -> None:
    """A sum over no query is 0, and so are its ends."""
    scores = dh.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "NumRel", no_relevant="skip")["NumRel"]
    assert (scores.total, scores.total_tie_std, scores.total_tie_min, scores.total_tie_max) == (0, 0, 0, 0)


OTHER = {
    "q1": {"c": 3.0, "d": 2.0, "a": 1.0, "b": 0.5},
    "q2": {"a": 0.9, "x": 0.5},
    "q3": {"a": 1.0},
}
NEVER_TIED = [0, 2, 1]  # relevant documents in the top 2 of OTHER, by hand


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, run in (("tied", RUN), ("other", OTHER)):
        rows = [f"{query} Q0 {doc} 1 {score} t" for query, docs in run.items() for doc, score in docs.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    rows = [f"{query} 0 {doc} {level}" for query, docs in QRELS.items() for doc, level in docs.items()]
    (tmp_path / "qrels.txt").write_text("\n".join(rows) + "\n")
    (tmp_path / "queries.csv").write_text("query_id,kind\nq1,x\nq2,y\nq3,y\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def ok(command: str, *arguments: str) -> str:
    result = call(*command.split(), *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def by_query() -> list[float]:
    """NumRelRet@2 of every query of the tied run: the mean over its orders."""
    relevant = {query: {doc for doc, level in judged.items() if level} for query, judged in QRELS.items()}
    found = []
    for query in QRELS:
        hits = [len(relevant[query].intersection(order[:CUTOFF])) for order in all_orders(RUN[query])]
        found.append(math.fsum(hits) / len(hits))
    return found


@pytest.mark.usefixtures("folder")
def test_evaluate_reports_totals() -> None:
    totals = totals_of_all_orders()
    mean, low, high = np.mean(totals), min(totals), max(totals)
    line = f"{mean:.4f} {np.std(totals):.4f} {low} {high}"
    command = "evaluate qrels.txt tied.run -m"
    text = " ".join(ok(command, "NumRelRet@2 RR").split())
    assert f"NumRelRet@2 {line}" in text
    facts = facts_of(*command.split(), "NumRelRet@2 RR")
    assert facts["counts"].startswith("NumRelRet@2: totals ")
    alone = " ".join(ok("evaluate qrels.txt tied.run -m NumRelRet@2").split())
    assert "measure total tie std" in alone
    moves = facts_of(*command.split(), "NumRelRet@2")["tie order"]
    assert moves.endswith(f" NumRelRet@2 of tied by up to {high - low}")
    document = json.loads(ok("evaluate qrels.txt tied.run --format json -m", "NumRelRet@2 RR"))
    cells = document["scores"]["tied"]
    assert cells["NumRelRet@2"]["total"] == cells["NumRelRet@2"]["value"] == pytest.approx(mean, abs=1e-12)
    assert cells["RR"]["total"] is None
    moved = json.loads(ok("evaluate qrels.txt tied.run --format json -m NumRelRet@2"))["effect_of_ties"]
    assert moved == {"run": "tied", "measure": "NumRelRet@2", "range": high - low}
    for form, row in (("markdown", " | ".join(["| NumRelRet@2", "tied", *line.split()])), ("latex", line)):
        shown = ok("evaluate qrels.txt tied.run -m NumRelRet@2 --format", form)
        assert row in shown.replace(" &", ""), form
        assert "total" in shown


@pytest.mark.usefixtures("folder")
def test_ties_reports_totals() -> None:
    totals = totals_of_all_orders()
    text = " ".join(ok("ties tied.run qrels.txt -m NumRelRet@2 --full").split())
    row = f"{np.mean(totals):.4f} {np.std(totals):.4f} {min(totals)} {max(totals)} {max(totals) - min(totals)}"
    assert f"NumRelRet@2 {row}" in text
    cells = json.loads(ok("ties tied.run qrels.txt -m NumRelRet@2 --format json"))["measures"]["NumRelRet@2"]
    assert cells["total"] == cells["value"] == pytest.approx(np.mean(totals), abs=1e-12)


@pytest.mark.usefixtures("folder")
def test_compare_reports_totals_and_their_differences() -> None:
    """The difference of totals, its interval (n times that of the mean) and the p value of the mean's t test."""
    t = ("--test", "t", "--ci-method", "t", "-m", "NumRelRet@2")
    document = json.loads(ok("compare qrels.txt tied.run other.run --format json", *t))
    pair = document["pairs"]["other"]["tied"]["NumRelRet@2"]
    tied = by_query()
    differences = np.array(NEVER_TIED) - np.array(tied)
    expected = scipy.stats.ttest_rel(NEVER_TIED, tied)
    interval = expected.confidence_interval(0.95)
    assert (pair["mean"], pair["baseline_mean"]) == (None, None)
    assert (pair["total"], pair["baseline_total"]) == pytest.approx((sum(NEVER_TIED), math.fsum(tied)), abs=1e-12)
    assert pair["difference"] == pytest.approx(differences.sum(), abs=1e-12)
    assert (pair["low"], pair["high"]) == pytest.approx((3 * interval.low, 3 * interval.high), abs=1e-9)
    assert pair["p_value"] == pytest.approx(expected.pvalue, abs=1e-9)
    system = document["systems"]["tied"]["NumRelRet@2"]
    assert (system["mean"], system["total"]) == (None, pytest.approx(math.fsum(tied), abs=1e-12))
    assert (system["tie_min"], system["tie_max"]) == (min(totals_of_all_orders()), max(totals_of_all_orders()))
    short = ok("compare qrels.txt tied.run other.run", *t)
    text = ok("compare qrels.txt tied.run other.run --full", *t)
    assert "NumRelRet@2: totals" in text
    assert "Totals over 3 queries" in short
    assert f"{differences.sum():.4f}" in short
    assert "NumRelRet@2: differences of totals" in text
    assert f"{math.fsum(tied):.4f}" in text
    assert f"{differences.sum():.4f}" in text


@pytest.mark.usefixtures("folder")
def test_a_margin_of_a_count_is_one_of_the_total() -> None:
    """That of 3 for the totals of three queries is that of 1 for their means."""
    pair = json.loads(ok("compare qrels.txt tied.run other.run -m NumRelRet@2 --format json --margin 3 --detect 3"))
    differences = np.array(NEVER_TIED) - np.array(by_query())
    expected = scipy.stats.ttest_1samp(differences, -1, alternative="greater").pvalue
    found = pair["equivalence"]["other"]["tied"]["NumRelRet@2"]
    assert found["p_no_worse"] == pytest.approx(expected, abs=1e-9)
    assert found["difference"] == pytest.approx(differences.sum(), abs=1e-12)


@pytest.mark.usefixtures("folder")
def test_strata_have_totals_and_no_average_of_them() -> None:
    command = "evaluate qrels.txt tied.run --queries queries.csv --by kind --full -m"
    text = " ".join(ok(command, "NumRelRet@2 RR").split())
    first, *others = by_query()
    assert f"x NumRelRet@2 1 {first:.0f}" in text
    assert f"y NumRelRet@2 2 {math.fsum(others):.4f}" in text
    assert "none of NumRelRet@2" in facts_of(*command.split(), "NumRelRet@2 RR")["averages"]
    alone = ok("evaluate qrels.txt tied.run --queries queries.csv --by kind -m NumRelRet@2")
    assert "macro" not in alone
    assert "Averages" not in alone


def found(texts: Sequence[str], k: int) -> list[dict[str, float]]:  # noqa: ARG001 - as every retriever
    return [{"D1": 1.0, "D2": 1.0} for _ in texts]


def test_bench_reports_totals_and_no_average_of_them() -> None:
    rows = [("e1", "fever", "D1", "en"), ("e2", "pain", "D2", "en"), ("g1", "Fieber", "D1", "de")]
    cases = Cases("mine", {}, tuple(Case(name, text, (doc,), (1.0,), language=of) for name, text, doc, of in rows))
    documents = Collection("terms", ("D1", "D2"), ("fever", "pain"), ((), ()))
    result = dh.bench([cases], documents, [found], ["NumRel", "RR"], n_resamples=99)
    tables = {(table.key, table.title.split(":")[0]): table for table in report_bench(result).tables}
    ((level, *_),) = tables["means", "mine (en)"].rows[0].cells
    assert level == 2
    (averages,) = [table for (key, _), table in tables.items() if key == "averages"]
    assert [row.labels for row in averages.rows] == [("RR",)]
    data = {table.key: table for table in data_of_bench(result).tables}
    names = [column.key for column in data["means"].columns]
    numbers: dict[Any, Any] = {
        row.labels[1::2]: dict(zip(names, *row.cells, strict=True)) for row in data["means"].rows
    }
    assert (numbers["en", "NumRel"]["mean"], numbers["en", "NumRel"]["total"]) == (None, 2)
    assert numbers["en", "NumRel"]["tie_max"] == 2
    assert (numbers["en", "RR"]["mean"], numbers["en", "RR"]["total"]) == (0.75, None)
    assert {row.labels[1] for row in data["averages"].rows} == {"RR"}
