"""Kinds of judgments: a class of anybody's that makes qrels for each run is taken where qrels are."""

# ruff: noqa: ARG002 - methods have the parameters of the protocol

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
import pytest

import deadheat as dh
from deadheat.api import KindOfJudgments, Measure
from deadheat.core.data.changes import compare_judgments
from deadheat.core.data.judging import find_kind, find_kind_of_qrels, judges_runs
from deadheat.core.data.kind_of_judgments import DOCUMENTS
from deadheat.errors import DataError, MeasureError, ParameterError
from support.error_parts import raises_parts

RUNS = {"up": dh.Run({"q": {"aa": 2.0, "b": 1.0}}), "down": dh.Run({"q": {"aa": 1.0, "b": 2.0}})}


def measures(asked: Sequence[Measure]) -> Sequence[Measure]:
    for measure in asked:
        if measure.label == "AP":
            raise MeasureError("AP is not for lengths")
    return asked


class Lengths:
    """Documents with ids of a length or more are relevant."""

    kind_of_judgments: ClassVar[KindOfJudgments] = KindOfJudgments(
        "lengths",
        goes_with=("compare", "compare_evaluations", "depth"),
        default_measures=lambda: ["RR", "P@1"],
        measures=measures,
        retrieved="texts",
    )

    def __init__(self, length: int) -> None:
        self.length = length

    def judge(self, run: object, *, name: str | None = None, ascending: bool = False) -> tuple[dh.Qrels, dh.Run]:
        found = dh.Run.of(run, ascending=ascending, name=name)
        return self.judge_documents(found.to_dict()), found

    def judge_documents(self, found: Mapping[str, Mapping[str, float]]) -> dh.Qrels:
        ids = {query: {doc: int(len(doc) >= self.length) for doc in docs} for query, docs in found.items()}
        qrels = dh.Qrels(ids, name="lengths")
        qrels.judging_rule = LengthRule(self.length)
        return qrels

    def judge_again(self, qrels: dh.Qrels) -> dh.Qrels:
        return self.judge_documents(qrels.to_dict())


@dataclass(frozen=True)
class LengthRule:
    """By which length documents were judged."""

    length: int
    kind: ClassVar[KindOfJudgments] = Lengths.kind_of_judgments

    def fingerprint(self, qrels: dh.Qrels) -> str:
        return f"{self.length}"

    def list_judged(self, qrels: dh.Qrels) -> pl.DataFrame:
        return pl.DataFrame({"query_id": [""], "doc_id": ["length"], "relevance": [float(self.length)]})

    def judge_again(self, judgments: dh.Qrels, qrels: dh.Qrels) -> dh.Qrels:
        return Lengths(self.length).judge_again(qrels)

    def knows_any(self, qrels: dh.Qrels) -> bool:
        return self.length < 100

    def describe_change(self, other: object) -> str:
        return "" if other == self else f"{self} became {other}"

    def have_common_document(self, old: str, new: str) -> bool:
        return old == new

    def describe_renamed(self, shown: str) -> str:
        return f"{shown}: other lengths"

    def describe_unknown(self, name: str, reference: str) -> str:
        return f"{name} has nothing as long as {reference}"


def test_the_kind_is_that_of_the_class() -> None:
    assert judges_runs(Lengths(2))
    assert find_kind(Lengths(2)).what == "lengths"
    for source in ("qrels.txt", {"q": {"a": 1}}, dh.Qrels({"q": {"a": 1}})):
        assert not judges_runs(source)
        assert find_kind(source) is DOCUMENTS


@pytest.mark.plugins("compare")
def test_each_run_is_evaluated_under_its_own_judgments() -> None:
    alone = dh.evaluate(Lengths(2), RUNS["down"])
    assert alone.means() == {"RR": 0.5, "P@1": 0.0}
    both = dh.evaluate(Lengths(2), RUNS, "P@1")
    assert {name: one.means() for name, one in both.items()} == {"up": {"P@1": 1.0}, "down": {"P@1": 0.0}}
    (pair,) = dh.compare(Lengths(2), RUNS, "P@1").pairs
    assert pair.difference == -1.0


@pytest.mark.plugins("compare")
def test_what_does_not_go_with_them_is_refused() -> None:
    for asked in (dh.evaluate, dh.compare):
        with pytest.raises(ParameterError, match=r"judge.*lengths") as refused:
            asked(Lengths(2), RUNS, "P@1", depth=1, judge={"q": {"aa": 1}})
        assert "None" in str(refused.value)
    with pytest.raises(ParameterError, match=r"then_by.*lengths"):
        dh.evaluate(Lengths(2), RUNS, "P@1", then_by=RUNS["up"])
    with pytest.raises(MeasureError, match="AP is not for lengths"):
        dh.evaluate(Lengths(2), RUNS, ["P@1", "AP"])


def test_qrels_know_what_made_them() -> None:
    before, after = (dh.evaluate(Lengths(length), RUNS["down"], ["P@1", "RR"]) for length in (1, 2))
    assert find_kind_of_qrels(before.qrels).what == "lengths"
    assert (before.qrels_hash, after.qrels_hash) == ("1", "2")
    assert find_kind_of_qrels(dh.Qrels({"q": {"a": 1}})) is DOCUMENTS
    found = compare_judgments(before.qrels, after.qrels)
    assert found.rules == (str(LengthRule(1)), str(LengthRule(2)))
    assert str(found).startswith("1 query: 1 with changed judgments")
    assert re.findall(r"\w+Rule\(.*?\)", str(found)) == [str(LengthRule(1)), str(LengthRule(2))]
    assert found.documents.rows() == [("", "length", 1.0, 2.0)]


@pytest.mark.plugins("weeks")
def test_a_ranking_is_scored_under_other_judgments_of_its_kind() -> None:
    before, after = (dh.evaluate(Lengths(length), RUNS["down"], ["P@1", "RR"]) for length in (1, 2))
    for newer in (Lengths(2), after.qrels):
        assert before.rescored(newer).means() == after.means() == {"P@1": 0.0, "RR": 0.5}
    with pytest.raises(ParameterError, match="renames documents"):
        before.rescored(Lengths(2), ids={"a": "b"})
    with pytest.raises(MeasureError, match="AP is not for lengths"):
        before.rescored(Lengths(2), "AP")


@pytest.mark.plugins("weeks")
def test_judgments_of_two_kinds_are_not_mixed() -> None:
    of_lengths = dh.evaluate(Lengths(1), RUNS["down"], "P@1")
    of_documents = dh.evaluate({"q": {"aa": 1}}, RUNS["down"], "P@1")
    with raises_parts(DataError, "of lengths, .* of documents", hint="give lengths"):
        of_lengths.rescored({"q": {"aa": 1}})
    problem = "run has judgments of documents, and the new ones are of lengths"
    with raises_parts(DataError, problem=problem, hint="evaluate a run of texts against the lengths"):
        of_documents.rescored(Lengths(1))
    with pytest.raises(DataError, match="lengths"):
        dh.compare_evaluations({"one": of_lengths, "other": of_documents})
