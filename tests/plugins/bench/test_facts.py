"""What a benchmark says beside its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.compare.report import report_comparison
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("bm25s", reason="BM25 needs the extra retrievers")

CASES = """case_id,text,expected_ids,language
a,red apple,d1,en
b,blue sky,d1,en
c,green tree,d3,en
"""
DOCUMENTS = """doc_id,text
d1,a red apple
d2,the blue sky
d3,a tree
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "cases.csv").write_text(CASES)
    (tmp_path / "documents.csv").write_text(DOCUMENTS)
    return tmp_path / "cases.csv", tmp_path / "documents.csv"


def told(result: dh.BenchResult) -> str:
    return " ".join(result.report().split())


def test_grades_below_one_are_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "graded.json"
    path.write_text('[{"case_id": "x", "text": "red apple", "expected_ids": ["d1", "d2"], "relevance": [1, 0.5]}]')
    result = dh.bench(path, files[1], ["bm25"], ["RR", "nDCG@5"])
    assert "1 case with grades below 1" in told(result)
    assert "grades below 1" not in told(dh.bench(*files, ["bm25"], ["RR"]))


def test_maxrel_without_an_ontology_is_explained(files: tuple[Path, Path]) -> None:
    result = dh.bench(*files, ["bm25"], ["MaxRel@5"])
    assert "without an ontology" in told(result)
    hit = dh.bench(*files, ["bm25"], ["Hit@5"])
    (one,), (other,) = result.evaluations.values(), hit.evaluations.values()
    assert one["MaxRel@5"].values.tolist() == other["Hit@5"].values.tolist()


def test_cases_that_share_an_answer_are_counted(files: tuple[Path, Path]) -> None:
    assert "they are 2 groups" in told(dh.bench(*files, ["bm25"], ["RR"]))
    files[0].write_text(CASES.replace("d3", "d1"))
    assert "they are 1 group, " in told(dh.bench(*files, ["bm25"], ["RR"]))


def test_tests_by_cluster_say_so(files: tuple[Path, Path]) -> None:
    two = ["bm25", "bm25(k1=0.5)"]
    result = dh.bench(*files, two, ["RR"], cluster="expected_ids")
    assert "by cluster" in told(result)
    assert "by cluster" not in told(dh.bench(*files, two, ["RR"]))


def test_intervals_and_tests_are_told_as_in_a_comparison(files: tuple[Path, Path]) -> None:
    result = dh.bench(*files, ["bm25", "bm25(b=0)"], ["RR"], rng=7, n_resamples=200, alternative="less")
    facts = facts_by_heading(report_bench(result))
    assert facts["intervals"].startswith("means: Gaffke's bounds; ")
    assert "over cases, two-sided" in facts["intervals"]
    assert numbers_in(facts["?"].partition("(")[0]) == [3]
    assert ", less, exact; corrected by max-t" in facts["test"]
    assert numbers_in(facts["*"]) == [0.05, 0, 1]
    (comparison,) = result.comparisons.values()
    of_bench = {fact.key: fact.value for fact in report_bench(result).facts}
    shared = [fact for fact in report_comparison(comparison, qrels="").facts if hasattr(comparison.design, fact.key)]
    assert vars(comparison.design).keys() - {fact.key for fact in shared} == {
        "is_default_correction",
        "is_fixed",
        "n_strata",
    }
    assert {fact.key: of_bench[fact.key] for fact in shared} == {fact.key: fact.value for fact in shared}
    assert "too narrow" not in told(dh.bench(*files, ["bm25"], ["RR"], method="t", cluster="text"))
