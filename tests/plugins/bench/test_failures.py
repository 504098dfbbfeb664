"""Cases that a retriever fails, against every order of the ties; and what the reports say of them."""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.core.report.as_data import as_json
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.text import as_text
from deadheat.errors import NoteWarning
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.report_data import data_of_bench
from deadheat.plugins.bench.result import failures_of
from deadheat.plugins.compare.report import adjusted_and_skewed
from support.workbook import write_workbook

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = Collection("docs", tuple("abcdef"), tuple(f"label {one}" for one in "abcdef"), ((),) * 6)
LEVELS = ["hard", "easy", "medium"]


def case(name: str, *expected: str, text: str = "", difficulty: str | None = None) -> Case:
    return Case(name, text or f"text of {name}", expected, (1.0,) * len(expected), difficulty=difficulty)


def run(**scores: dict[str, float]) -> pl.DataFrame:
    rows = [(query, doc, score) for query, docs in scores.items() for doc, score in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def test_ranks_are_those_of_all_orders() -> None:
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(60):
        docs = rng.permutation(list("abcdef"))[: rng.integers(1, 6)].tolist()
        scores = {doc: float(rng.integers(0, 3)) for doc in docs}
        expected = rng.permutation(list("abcdef"))[: rng.integers(1, 4)].tolist()
        ranked = [
            order for order in permutations(docs) if all(scores[one] >= scores[other] for one, other in pairwise(order))
        ]
        firsts = {next((n for n, doc in enumerate(order, 1) if doc in expected), None) for order in ranked}
        found = failures_of([case("q", *expected)], run(q=scores), DOCUMENTS.labels(None))
        seen.add(len(firsts))
        if firsts == {1}:
            assert found == ()
            continue
        (one,) = found
        ranks = [rank for rank in firsts if rank is not None]
        assert (one.low, one.high) == ((min(ranks), max(ranks)) if ranks else (None, None))
        above = {doc for order in ranked for doc in order[: next((n for n, d in enumerate(order) if d in expected), 9)]}
        assert one.n_above == len(above - set(expected))
        assert {document.doc_id for document in one.above} <= above - set(expected)
        assert all(document.label == f"label {document.doc_id}" for document in (*one.above, *one.expected))
    assert seen > {1, 2}


def test_the_worst_come_first() -> None:
    cases = [case("second", "a"), case("first", "a"), case("none", "a"), case("third", "a"), case("tied", "a", "zz")]
    found = run(
        second={"b": 2, "a": 1},
        first={"a": 2, "b": 1},
        third={"b": 3, "c": 2, "a": 1},
        tied={"a": 1, "b": 1},
    )
    failed = failures_of(cases, found, DOCUMENTS.labels(None))
    assert [(one.case_id, one.rank) for one in failed] == [
        ("none", "not found"),
        ("third", "3"),
        ("second", "2"),
        ("tied", "1 to 2"),
    ]
    assert [one.doc_id for one in failed[1].above] == ["b", "c"]
    assert [str(one) for one in failed[3].expected] == ["a label a", "zz"]
    assert failed[0].above == ()


@pytest.fixture(scope="module")
def result() -> dh.BenchResult:
    cases = Cases(
        "set",
        {},
        tuple(case(f"c{n:02}", "abcdef"[n % 6], difficulty=LEVELS[n % 3], text=f"<b>{n}</b>") for n in range(30)),
    )

    def good(texts: list[str], _: int) -> list[dict[str, float]]:
        return [
            {doc: float(doc == "abcdef"[n % 6]) + (n % 4 == 0) * (doc == "b") for doc in "abcdef"}
            for n in range(len(texts))
        ]

    def poor(texts: list[str], _: int) -> list[dict[str, float]]:
        return [dict.fromkeys("abcdef"[: 1 + n % 5], 1.0) for n in range(len(texts))]

    return dh.bench(cases, DOCUMENTS, {"good": good, "poor": poor}, ["RR", "Hit@1"], by="difficulty", n_resamples=200)


def test_json_has_all_failures_and_the_verdict(result: dh.BenchResult) -> None:
    document = json.loads(as_json(data_of_bench(result)))
    assert len(document["failures"]) == sum(map(len, result.failures.values()))
    first = document["failures"][0]
    (own, *_) = result.failures["set", "(none)", "good"]  # type: ignore[index]
    assert (first["case_id"], first["rank_low"], first["rank_high"]) == (own.case_id, own.low, own.high)
    assert first["expected"][0] == {"doc_id": own.expected[0].doc_id, "label": own.expected[0].label}
    verdict = document["verdict"]["parts"]["set"]
    pair = document["comparisons"]["set"]["(none)"][verdict["system"]][verdict["baseline"]]["RR"]
    assert (verdict["leader"], verdict["p_adjusted"]) == ("good", pair["p_adjusted"])
    assert "30 cases" in document["verdict"]["text"]


def test_failures_agree_with_hit_at_1(result: dh.BenchResult) -> None:
    for key, failed in result.failures.items():
        values = dict(
            zip(
                result.evaluations[key].query_ids.tolist(),
                result.evaluations[key]["Hit@1"].values.tolist(),
                strict=True,
            )
        )
        assert {one.case_id for one in failed} == {name for name, value in values.items() if value < 1}


def test_a_screen_shows_few_and_a_file_many(result: dh.BenchResult) -> None:
    few, many = (report_bench(result, full=full) for full in (False, True))
    for report, most in ((few, 3), (many, 20)):
        (table,) = [table for table in report.tables if table.key == "failures"]
        for name in result.retrievers:
            shown = [row.labels[1] for row in table.rows if row.labels[0] == name]
            assert shown == [one.case_id for one in result.failures["set", "(none)", name][:most]]  # type: ignore[index]
    assert "'<b>" in as_text(few).plain
    assert r"\<b>" in as_markdown(many)
    assert as_text(few).plain.startswith("good beats poor by about 64 points of RR.\n\nRR  ")


def test_differences_by_difficulty_are_in_its_order(result: dh.BenchResult) -> None:
    (comparison,) = result.comparisons.values()
    (part,) = result.parts.values()
    by = comparison.by("difficulty", part.cases.queries())
    assert list(by) == ["easy", "medium", "hard"]
    (table,) = [table for table in report_bench(result, full=False).tables if table.key == "strata_pairs"]
    expected = [(level, pair.measure, pair) for level, one in by.items() for pair in one.pairs]
    assert [row.labels[:2] for row in table.rows] == [(level, measure) for level, measure, _ in expected]
    keys = [column.key for column in table.columns]
    document = json.loads(as_json(data_of_bench(result)))["strata_comparisons"]["set"]["(none)"]
    for row, (level, measure, pair) in zip(table.rows, expected, strict=True):
        found = dict(zip(keys, row.cells[0], strict=True))
        assert (found["difference"], found["n_queries"]) == (pair.difference, 10)
        assert found["p_adjusted"] == adjusted_and_skewed(pair)
        assert document[level]["poor"]["good"][measure]["p_adjusted"] == pair.p_adjusted


def test_a_folder_keeps_them(result: dh.BenchResult, tmp_path: Path) -> None:
    cases = Cases("set", {}, (case("c1", "a", text="label b"), case("c2", "a", text="label a")))
    made = dh.bench(cases, DOCUMENTS, "bm25", "RR", output=tmp_path, n_resamples=200)
    told: list[str] = []
    again = dh.bench(cases, DOCUMENTS, "bm25", "RR", output=tmp_path, n_resamples=200, progress=told.append)
    assert told == ["bm25 on set: finished before"]
    assert again.failures == made.failures
    saved = json.loads((tmp_path / "bench.json").read_text())["failures"]
    assert [one["case_id"] for one in saved] == [one.case_id for failed in made.failures.values() for one in failed]
    assert "cases without an expected document first" in (tmp_path / "report.md").read_text()
    assert json.loads(as_json(data_of_bench(made)))["verdict"] is None
    assert result.failures


@pytest.mark.parametrize("order", [("es", "de"), ("de", "es")])
def test_documents_are_named_in_the_language_of_the_cases(order: tuple[str, str], tmp_path: Path) -> None:
    """Whatever tables of names there are, and in which order; without a name in it, as the collection has them."""
    terms = tmp_path / "terms.obo"
    terms.write_text(
        "".join(f"\n[Term]\nid: T:{n}\nname: {name}\n" for n, name in enumerate(["fever", "pain", "chill"]))
    )
    words = {"de": {"T:0": "Fieber", "T:1": "Schmerz"}, "es": {"T:0": "fiebre", "T:1": "dolor", "T:2": "escalofrío"}}
    for language, names in words.items():
        rows = "".join(f"{term}\tlabel\t{text}\t\n" for term, text in names.items())
        (tmp_path / f"terms-{language}.tsv").write_text(f"id\tkind\ttext\tenglish\n{rows}", encoding="utf-8")
    cases = tuple(
        Case(f"{language}{n}", "?", (f"T:{n}",), (1.0,), language=language)
        for language in ("de", "es", "en", "de-at", "it")
        for n in range(3)
    )
    with pytest.warns(NoteWarning):
        result = dh.bench(
            Cases("mine", {}, cases),
            terms,
            {"none": lambda texts, k: [{"T:0": 1.0, "T:1": 1.0, "T:2": 1.0}] * len(texts)},  # noqa: ARG005 - as others
            measures="RR",
            texts=[tmp_path / f"terms-{language}.tsv" for language in order],
            n_resamples=99,
        )
    named = {
        key.language: [one.expected[0].label for one in sorted(found, key=lambda one: one.case_id)]
        for key, found in result.failures.items()
    }
    first = words[order[0]]
    assert named == {
        "de": ["Fieber", "Schmerz", "escalofrío"],
        "es": ["fiebre", "dolor", "escalofrío"],
        "en": ["fever", "pain", "chill"],
        "de-at": ["Fieber", "Schmerz", "escalofrío"],
        "it": [first["T:0"], first["T:1"], "escalofrío"],
    }


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_failures_name_the_line_of_the_file(form: str, tmp_path: Path) -> None:
    rows: dict[int, list[object]] = {
        1: ["text", "expected_ids"],
        3: ["owl", "D1"],
        4: ["wren", "D9"],
        7: ["fish", "D9"],
    }
    path, documents = tmp_path / f"c.{form}", tmp_path / "d.csv"
    documents.write_text("doc_id,text\nD1,owl\nD9,bat\n")
    if form == "csv":
        path.write_text("\n".join(",".join(map(str, rows.get(n, []))) for n in range(1, 8)) + "\n")
    else:
        write_workbook(path, {"A": rows})
    result = dh.bench(path, documents, "bm25", "RR", n_resamples=99)
    assert [(one.text, one.line) for own in result.failures.values() for one in own] == [("wren", 4), ("fish", 7)]
    assert [one["line"] for one in result.failed()] == [4, 7]
    short, full = (report_bench(result, full=full).tables[-1] for full in (False, True))
    assert [column.heading for column in short.labels] == ["retriever", "line"]
    assert [column.heading for column in full.labels] == ["retriever", "case", "line"]
    assert [row.labels[-1] for row in short.rows] == [row.labels[-1] for row in full.rows] == ["4", "7"]
